import { DATE_TYPES } from '../display/number-format.ts';
import { columnIndex } from '../grid/a1.ts';
import { argumentsOf, splitAtTop, wholeCall } from './expression.ts';

/** A kind of format and its pattern; without one that of the kind in the spreadsheet's country. */
export interface ResultFormat {
  type: string;
  pattern?: string | undefined;
}

/** Where a reference points: a name of its own, or a cell of a tab, this one where none is named. */
export type Reference = { name: string } | { tab: string | undefined; row: number; column: number };

type FormatAt = (reference: Reference) => ResultFormat | undefined;

/** Functions whose results are days and times whatever they are given. */
const MAKERS: Readonly<Record<string, string>> = {
  NOW: 'DATE_TIME',
  TODAY: 'DATE',
  DATE: 'DATE',
  EDATE: 'DATE',
  EOMONTH: 'DATE',
  WORKDAY: 'DATE',
  'WORKDAY.INTL': 'DATE',
  TIME: 'TIME',
};

/** Functions that give back what they are given, or more of its kind; some begin with a condition. */
const KEEPERS = new Set(
  (
    'SUM SUMIFS MIN MAX AVERAGE AVERAGEIFS MEDIAN LARGE SMALL ABS ROUND ROUNDUP ROUNDDOWN CEILING FLOOR IFERROR IFNA ' +
    'ARRAYFORMULA INDEX OFFSET SORT UNIQUE FILTER TRANSPOSE'
  ).split(' '),
);
const CONDITIONED = new Set(['IF', 'IFS', 'SUMIF', 'AVERAGEIF']);

/** The format that a formula's number takes over from what it is made of; undefined where it is a bare number. */
export function resultFormat(expression: string, formatAt: FormatAt): ResultFormat | undefined {
  const text = expression.trim();
  if (text.startsWith('(') && splitAtTop(text, isOperator).parts.length === 1)
    return resultFormat(text.slice(1, -1), formatAt);
  if (splitAtTop(text, (part, at) => '&=<>'.includes(part.charAt(at))).parts.length > 1) return undefined;
  const sum = splitAtTop(text, isSum);
  if (sum.parts.length > 1) return formatOfSum(sum, formatAt);
  const product = splitAtTop(text, (part, at) => '*/'.includes(part.charAt(at)));
  if (product.parts.length > 1) return formatOfProduct(product, formatAt);
  if (/^[-+]/.test(text)) return resultFormat(text.slice(1), formatAt);
  const call = wholeCall(text);
  if (call) return formatOfCall(call.name, argumentsOf(call.inner), formatAt);
  const reference = referenceIn(text);
  return reference && formatAt(reference);
}

/** A sign between two operands, and not before one or in an exponent such as `1E-5`. */
function isSum(text: string, at: number): boolean {
  const before = text.slice(0, at).trimEnd();
  return (
    '+-'.includes(text.charAt(at)) && /[^-+*/^(,;]$/.test(before) && !/(?:^|[^\w.])[\d.]+E$/i.test(before)
  );
}

const isOperator = (text: string, at: number): boolean =>
  '&=<>*/^'.includes(text.charAt(at)) || isSum(text, at);

interface Operation {
  parts: string[];
  separators: string[];
}

const isMoment = (format: ResultFormat | undefined): boolean => DATE_TYPES.has(format?.type ?? '');

/** Days and a number are a day; what lies between two days is a number. */
function formatOfSum({ parts, separators }: Operation, formatAt: FormatAt): ResultFormat | undefined {
  const formats = parts.map((part) => resultFormat(part, formatAt));
  const isTaken = (_: unknown, index: number) => index > 0 && separators[index - 1] === '-';
  const isDistance = isMoment(formats[0]) && formats.filter(isTaken).some(isMoment);
  return isDistance ? undefined : formats.find((format) => format !== undefined);
}

/** An amount of money times or by a number is money; by money it is a number. */
function formatOfProduct({ parts, separators }: Operation, formatAt: FormatAt): ResultFormat | undefined {
  const formats = parts.map((part) => resultFormat(part, formatAt));
  const isMoney = (format: ResultFormat | undefined) => format?.type === 'CURRENCY';
  const isRatio = formats.some((format, index) => isMoney(format) && separators[index - 1] === '/');
  if (isRatio) return undefined;
  const isPercent = formats.every((format) => format?.type === 'PERCENT');
  return isPercent ? formats[0] : formats.find(isMoney);
}

function formatOfCall(name: string, args: readonly string[], formatAt: FormatAt): ResultFormat | undefined {
  const made = MAKERS[name];
  if (made !== undefined) return { type: made };
  if (!KEEPERS.has(name) && !CONDITIONED.has(name)) return undefined;
  const given = CONDITIONED.has(name) ? [...args.slice(1), ...args.slice(0, 1)] : args;
  for (const argument of given) {
    const format = resultFormat(argument, formatAt);
    if (format) return format;
  }
  return undefined;
}

const CELL = /^(?:('(?:[^']|'')*'|[^\s!'"(){}]+)!)?\$?([A-Z]{1,3})\$?(\d*)(?::\$?[A-Z]{0,3}\$?\d*)?$/i;

function referenceIn(text: string): Reference | undefined {
  const [, tab, letters, digits = ''] = CELL.exec(text) ?? [];
  const isCell = letters !== undefined && (digits !== '' || text.includes(':'));
  if (isCell) {
    const title = tab?.replace(/^'|'$/g, '').replaceAll("''", "'");
    return { tab: title, row: Math.max(0, Number(digits || 1) - 1), column: columnIndex(letters) };
  }
  return /^[\p{L}_][\p{L}\w.]*$/u.test(text) ? { name: text } : undefined;
}
