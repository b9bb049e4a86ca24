import { plainText } from './plain-text.ts';

/** A sheet and a double hold so many digits; a longer number would be another one. */
const digitsMax = 15;

/** Turks and Basques put it in front. */
const percentSign = /^([-+]?)%\s*|\s*%$/;

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const currencyMark = /^(?:[A-Z]{0,2}\p{Sc}|kr\.?|zł|[A-Z]{3})/iu;
const currencyMarkBehind = /(?:\p{Sc}|kr\.?|zł|[A-Z]{3})$/iu;

/** Germans write `1250,-` and the Swiss `1250.–` where there are no cents: behind the decimal sign a dash is no minus. */
const noCents = /(?<=\d[.,])[-–—]{1,2}$/;

/**
 * Reads a number that a person typed as text: with a currency, a percent sign, a sign in front or behind or brackets for a loss, and the
 * separators of any country. Both `1.234,56` and `1,234.56` mean one number everywhere, `1.234` does not. Returns no number when it is
 * none, several when people of different countries read it differently, and whether these stand before a percent sign.
 */
export function readTypedNumber(text: string) {
  const bare = plainText(text);
  const isPercent = percentSign.test(bare);
  const amount = isPercent ? bare.replace(percentSign, '$1') : stripCurrency(bare);
  const { digits, isNegative } = stripSign(amount.replace(noCents, '00'));
  const numbers = readDigits(isPercent ? digits : stripCurrency(digits));
  return {
    numbers: numbers.map((number) => (isNegative && number !== 0 ? -number : number)),
    isPercent: isPercent && numbers.length > 0,
  };
}

function stripCurrency(text: string): string {
  for (const pattern of [currencyMark, currencyMarkBehind]) {
    const mark = pattern.exec(text)?.[0] ?? '';
    const isKnown = !/^[A-Z]{3}$/i.test(mark) || currencies.has(mark.toUpperCase());
    if (mark !== '' && isKnown) return text.replace(pattern, '').trim();
  }
  return text;
}

function stripSign(text: string): { digits: string; isNegative: boolean } {
  const [, bracketed] = /^\((.+)\)$/.exec(text) ?? [];
  if (bracketed !== undefined) return { digits: bracketed.trim(), isNegative: true };
  const [, sign = '', digits = '', signBehind = ''] = /^([-+]?)(.*?)(-?)$/s.exec(text) ?? [];
  const isSignedTwice = sign !== '' && signBehind !== '';
  return isSignedTwice
    ? { digits: '', isNegative: false }
    : { digits: digits.trim(), isNegative: sign === '-' || signBehind === '-' };
}

const groupedPattern = /^([1-9]\d{0,2})(?:([.,'’ ])\d{3})(?:\2\d{3})*(?:([.,])(\d+))?$/;
const decimalPattern = /^(\d*)([.,])(\d*)$/;

function readDigits(digits: string): number[] {
  if (!/\d/.test(digits)) return [];
  const [, , group, mark] = groupedPattern.exec(digits) ?? [];
  const isGrouped = group !== undefined && group !== mark;
  const readings: string[] = [];
  if (/^\d+$/.test(digits)) readings.push(digits);
  else if (isGrouped) readings.push(digits.replaceAll(group, '').replace(',', '.'));
  if (decimalPattern.test(digits)) readings.push(digits.replace(',', '.'));
  const isTooLong = (reading: string) => reading.replace(/^[0.]+|\.|0+$/g, '').length > digitsMax;
  return readings.some(isTooLong) ? [] : readings.map(Number);
}
