import { type Environment, readSources } from '../app/config.ts';
import { nameSources } from '../app/settings/sources.ts';
import { explainError, framesOf, isSyncError } from '../core/errors.ts';
import { showControls } from '../core/text/visible-text.ts';

/** What every command gets: the environment, and where to leave its exit code. */
export interface CommandContext {
  readonly environment: Environment;
  finish(code: ExitCode): void;
}

/** What the exit code of every command means. */
export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, needsPerson: 3, unreachable: 4 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Says something on the standard output, each text on one line: a value of the CRM or a cell may hold ends of lines, and forge one of ours. */
export const print = (...lines: readonly string[]): void => {
  for (const line of lines) console.log(showControls(line));
};

/** Says on the standard error what went wrong, each text on one line. */
export const printError = (...lines: readonly string[]): void => {
  for (const line of lines) console.error(showControls(line));
};

/**
 * Says on stderr what went wrong and what to do, with the place of each setting for its name. What is wrong in the settings themselves names
 * its own. Returns the exit code for it.
 */
export function reportError(error: unknown, environment: Environment = {}): ExitCode {
  if (!isSyncError(error)) {
    printError(explainError(error), ...(error instanceof Error ? framesOf(error) : []));
    return exitCodes.failed;
  }
  const { lines } = error;
  if (isSyncError(error, 'CONFIG_INVALID'))
    printError(...(lines.length > 1 ? [...lines, error.hint] : [explainError(error)]));
  else printError(nameSources(explainError(error), readSources(environment)));
  if (['CONFIG_INVALID', 'COMMAND_UNCLEAR'].includes(error.code)) return exitCodes.wrongUsage;
  return error.code.endsWith('_UNREACHABLE') ? exitCodes.unreachable : exitCodes.failed;
}
