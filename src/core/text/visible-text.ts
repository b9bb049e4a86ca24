/**
 * Controls of a terminal that JSON does not write out, and marks that end a line or turn the direction of writing around: a text can pass
 * for another one by them. https://trojansource.codes
 */
const marks = /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;

const steering = /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu;

const show = (character: string): string =>
  character === '\n' ? '\\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The text on one line, with what steers a terminal written as JSON writes it: JSON stays the JSON that it is. */
export const showControls = (text: string): string => text.replaceAll(steering, show);

/** Lines of JSON, or made of it, with what JSON lets through written out as well. */
export const showMarks = (lines: string): string => lines.replaceAll(marks, show);
