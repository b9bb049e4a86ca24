import type { GridRange } from './grid-range.ts';

/** `A` for column 0, `AA` for column 26. */
export function columnLetters(index: number): string {
  const rest = Math.floor(index / 26) - 1;
  return (rest >= 0 ? columnLetters(rest) : '') + String.fromCharCode(65 + (index % 26));
}

export function columnIndex(letters: string): number {
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const CORNER = /^\$?([A-Za-z]{1,3})?\$?([1-9]\d*)?$/;

/** Reads the part behind the `!` (`A1`, `A1:C`, `2:5`, `A5:A`) as half open indexes; undefined if it is none. */
export function parseA1(text: string): GridRange | undefined {
  const [first, last, ...rest] = text.split(':').map((part) => CORNER.exec(part.trim()));
  if (!first?.[0] || last === null || rest.length > 0 || (last && !last[0])) return undefined;
  if (!last && !(first[1] && first[2])) return undefined;
  const rows = span(first[2], (last ?? first)[2], (digits) => Number(digits) - 1);
  const columns = span(first[1], (last ?? first)[1], columnIndex);
  return {
    startRowIndex: rows.start,
    endRowIndex: rows.end,
    startColumnIndex: columns.start,
    endColumnIndex: columns.end,
  };
}

function span(first: string | undefined, last: string | undefined, indexOf: (text: string) => number) {
  const from = first === undefined ? undefined : indexOf(first);
  const to = last === undefined ? undefined : indexOf(last);
  if (from === undefined || to === undefined) return { start: from ?? to, end: undefined };
  return { start: Math.min(from, to), end: Math.max(from, to) + 1 };
}

/** Splits `'It''s'!A1:B2` into the tab's title and the rest; a title without a range has no `reference`. */
export function splitTitle(text: string): { title?: string; reference?: string; isQuoted: boolean } {
  const quoted = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(text);
  if (quoted?.[1] !== undefined) {
    const title = quoted[1].replaceAll("''", "'");
    return { title, isQuoted: true, ...(quoted[2] !== undefined && { reference: quoted[2] }) };
  }
  const bang = text.lastIndexOf('!');
  if (bang < 0) return { reference: text, isQuoted: false };
  return { title: text.slice(0, bang), reference: text.slice(bang + 1), isQuoted: false };
}

/** A title is quoted when it is not a plain word or could be read as a cell. */
export function quoteTitle(title: string): string {
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(title) && !/^[A-Za-z]{1,3}\d+$/.test(title);
  const isRowColumn = /^[Rr]\d*([Cc]\d*)?$|^[Cc]\d*$/.test(title);
  return isPlain && !isRowColumn ? title : `'${title.replaceAll("'", "''")}'`;
}
