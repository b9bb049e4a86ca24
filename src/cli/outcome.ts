import { type ErrorCode, explainError, framesOf, isSyncError } from '../core/errors.ts';
import { printError } from './print.ts';

/** What the exit code of every command means. */
export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, needsPerson: 3, unreachable: 4 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const wrongUsageCodes: readonly ErrorCode[] = ['CONFIG_INVALID', 'COMMAND_UNCLEAR'];

const unreachableCodes: readonly ErrorCode[] = [
  'DAEMON_UNREACHABLE',
  'CRM_UNREACHABLE',
  'SHEET_UNREACHABLE',
  'QUEUE_UNREACHABLE',
];

/** Says on stderr what went wrong and what to do. Answers the exit code for it. */
export function reportError(error: unknown): ExitCode {
  if (!isSyncError(error)) {
    printError(explainError(error), ...(error instanceof Error ? framesOf(error) : []));
    return exitCodes.failed;
  }
  const { lines } = error;
  printError(...(lines.length > 1 ? [...lines, error.hint] : [explainError(error)]));
  if (wrongUsageCodes.includes(error.code)) return exitCodes.wrongUsage;
  return unreachableCodes.includes(error.code) ? exitCodes.unreachable : exitCodes.failed;
}
