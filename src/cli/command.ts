import type { Environment } from '../app/config.ts';
import type { ExitCode } from './outcome.ts';

/** What every command gets: the environment, and where to leave its exit code. */
export interface CommandContext {
  readonly environment: Environment;
  finish(code: ExitCode): void;
}
