/**
 * What steers a terminal: a value of the CRM may hold it, and could hide or forge what the operator reads. Ends of lines and tabs only lay
 * out.
 */
const steering = /(?![\n\t])\p{Cc}/gu;

/** Written as JSON writes them, so that JSON stays what it is. */
const showControls = (text: string): string =>
  text.replaceAll(steering, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Says something on the standard output. */
export const print = (text: string): void => console.log(showControls(text));

/** When an answer is carried out. */
export const whenDone = 'It is done in the next cycle; with manual writes, once the next plan is applied.';

/** Says on the standard error what went wrong. */
export const printError = (text: string): void => console.error(showControls(text));
