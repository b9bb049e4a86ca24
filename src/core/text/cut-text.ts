/** In a sentence more of a value only hides what is said of it. */
const quotedLengthMax = 80;

/** A text of at most so many characters, and an ellipsis where there is more. It is never cut through a character: no request can carry a half. */
export function cutText(text: string, lengthMax: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= lengthMax) return whole;
  return `${whole.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Quotes a typed text, or one to be typed, in a sentence; cut where it is too long for one. */
export const quoteText = (text: string, lengthMax = quotedLengthMax): string =>
  `“${cutText(text, lengthMax)}”`;

/** The first of many in a sentence, and how many more there are. */
export function listFew(all: readonly (string | number)[], max = 12): string {
  const shown = all.slice(0, max).join(', ');
  return all.length > max ? `${shown} and ${all.length - max} more` : shown;
}
