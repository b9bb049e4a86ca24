/** Arabic signs; digits are grouped by what groups them and nothing else. */
const plainSigns: Readonly<Record<string, string>> = { '٪': '%', '٫': '.', '٬': '’', '−': '-' };

/**
 * A text that may be a number or a date, in the digits and signs of ASCII, whatever its script and its widths, and without marks that
 * nobody sees. A raised or circled digit is no digit of a number: `5²` is not 52.
 */
export function plainText(text: string): string {
  // Most texts are plain already, and there are many of them.
  if (/^[ -~]*$/.test(text)) return text.trim();
  return text
    .replace(/\p{No}/gu, '?')
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Nd}/gu, plainDigit)
    .replace(/[٪٫٬−]/g, (sign) => plainSigns[sign] ?? sign)
    .trim();
}

/** The digits of a script stand in a row, from its zero on. */
function plainDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}
