import { showControls } from '../core/text/visible-text.ts';

/** Says something on the standard output, each text on one line: a value of the CRM or a cell may hold ends of lines, and forge one of ours. */
export const print = (...lines: readonly string[]): void => {
  for (const line of lines) console.log(showControls(line));
};

/** Says on the standard error what went wrong, each text on one line. */
export const printError = (...lines: readonly string[]): void => {
  for (const line of lines) console.error(showControls(line));
};
