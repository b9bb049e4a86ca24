import { rewriteCalls } from './expression.ts';

/** What a formula shows: a number, a text, yes or no, or an error cell. */
export type FormulaResult =
  | { numberValue: number }
  | { stringValue: string }
  | { boolValue: boolean }
  | { errorValue: ErrorValue };

export type ErrorValue = { type: string; message: string };

/** How an error cell is displayed. */
export const ERROR_TEXTS: Record<string, string> = {
  DIVIDE_BY_ZERO: '#DIV/0!',
  N_A: '#N/A',
  NAME: '#NAME?',
  NUM: '#NUM!',
  NULL_VALUE: '#NULL!',
  REF: '#REF!',
  VALUE: '#VALUE!',
  ERROR: '#ERROR!',
  LOADING: 'Loading...',
};

/** Errors by what the engine shows, in Google's types. */
const ERRORS: Record<string, ErrorValue> = {
  '#DIV/0!': { type: 'DIVIDE_BY_ZERO', message: 'Function DIVIDE parameter 2 cannot be zero.' },
  '#N/A': { type: 'N_A', message: 'Did not find a value.' },
  '#NAME?': { type: 'NAME', message: 'Unknown function or range name.' },
  '#N/IMPL!': { type: 'NAME', message: 'Unknown function or range name.' },
  '#NUM!': { type: 'NUM', message: 'The number is out of range.' },
  '#NULL!': { type: 'NULL_VALUE', message: 'The ranges do not meet.' },
  '#REF!': { type: 'REF', message: 'Reference does not exist.' },
  '#CIRC!': { type: 'REF', message: 'Circular dependency detected.' },
  '#SPILL!': { type: 'REF', message: 'Array result was not expanded because it would overwrite data.' },
  '#VALUE!': { type: 'VALUE', message: 'A value is of the wrong kind.' },
  '#CALC!': { type: 'N_A', message: 'No matches are found.' },
};

export const errorResult = (shown: string): FormulaResult => ({
  errorValue: ERRORS[shown] ?? { type: 'ERROR', message: 'Formula parse error.' },
});

/** What comes from elsewhere never arrives here, as it looks when nobody has the spreadsheet open. */
export const loading: FormulaResult = { errorValue: { type: 'LOADING', message: 'Loading...' } };

const FROM_ELSEWHERE = /\b(?:IMPORT(?:XML|HTML|DATA|FEED|RANGE)|GOOGLEFINANCE|GOOGLETRANSLATE|AI)\s*\(/i;

/** Texts and quoted names of tabs in a formula, where nothing is to be read. */
const QUOTED = /("(?:[^"]|"")*"|'(?:[^']|'')*')/;

const unquoted = (formula: string): string =>
  formula
    .split(QUOTED)
    .filter((_, index) => index % 2 === 0)
    .join(' ');

export const isFromElsewhere = (formula: string): boolean => FROM_ELSEWHERE.test(unquoted(formula));

/**
 * A formula of Google Sheets in the words of the engine, which follows Excel: ranges to the end of a column have an end, arrays spill
 * without being told so, and separators are those of English.
 */
export function toEngine(formula: string, rowCount: number, decimal: string): string {
  const translate = (part: string) => {
    const separated = decimal === ',' ? part.replace(/(\d),(\d)/g, '$1.$2') : part;
    return separated
      .replace(/\bARRAYFORMULA\s*(?=\()/gi, '')
      .replace(/(\$?[A-Z]{1,3}\$?\d+):(\$?[A-Z]{1,3})(?![\w$(])/gi, `$1:$2${rowCount}`)
      .replace(/;/g, formula.includes('{') ? ';' : ',');
  };
  const translated = formula
    .split(QUOTED)
    .map((part, index) => (index % 2 === 0 ? translate(part) : part))
    .join('');
  return rewriteCalls(translated, GOOGLES_OWN);
}

/** Functions that only Google has, in those of the engine. */
const GOOGLES_OWN: Readonly<Record<string, (args: readonly string[]) => string>> = {
  HYPERLINK: ([url = '', label = url]) => `(${label})`,
  JOIN: ([delimiter = '', ...values]) => `TEXTJOIN(${[delimiter, 'FALSE', ...values].join(',')})`,
  SPLIT: ([text = '', delimiter = '', isEach = 'TRUE', isFilled = 'TRUE']) => {
    const split = `TEXTSPLIT(${text},${/false/i.test(isEach) ? delimiter : eachOf(delimiter)},,${isFilled})`;
    return `IFERROR(VALUE(${split}),${split})`;
  },
};

/** Every character of a delimiter delimits alone, unless the formula says otherwise. */
function eachOf(delimiter: string): string {
  const [, characters = ''] = /^\s*"([^"]+)"\s*$/.exec(delimiter) ?? [];
  return characters.length > 1
    ? `{${[...characters].map((character) => `"${character}"`).join(',')}}`
    : delimiter;
}

/** The address of a formula that is nothing but a link. */
export function linkOf(formula: string): string | undefined {
  return /^=\s*HYPERLINK\(\s*"([^"]+)"/i.exec(formula)?.[1];
}
