import { parseForeignJson } from '../../core/text/parse-json.ts';
import { newSheetError } from '../../sheet/port/errors.ts';

/** The values of neighbouring columns, each as the bytes of a JSON list: equal bytes, equal values. */
export interface PolledRange {
  readonly sheetId: number;
  readonly startColumn: number;
  readonly columns: readonly Buffer[];
}

/** The part of an answer that is read as a whole, with a number in place of each column. */
interface Outline {
  readonly valueRanges?: readonly {
    readonly valueRange?: { readonly values?: readonly number[] };
    readonly dataFilters?: readonly {
      readonly gridRange?: { readonly sheetId?: number; readonly startColumnIndex?: number };
    }[];
  }[];
}

/**
 * Splits the answer to a poll into its columns without reading their values: of a long tab most columns are the same as before, and need
 * not be read at all, nor looked through where they are in the order in which they were `known`. Fails with SHEET_UNREADABLE.
 */
export function splitColumns(answer: Buffer, known: readonly Buffer[] = []): PolledRange[] {
  const { columns, outline } = cutLists(answer, known);
  const { valueRanges = [] } = (parseForeignJson(outline) as Outline | undefined) ?? unreadable();
  return valueRanges.map(({ dataFilters: [filter] = [], valueRange }) => ({
    sheetId: filter?.gridRange?.sheetId ?? 0,
    startColumn: filter?.gridRange?.startColumnIndex ?? 0,
    columns: (valueRange?.values ?? []).map((number) => columns[number] ?? unreadable()),
  }));
}

/** The values of a column, from its header on. */
export function readColumn(column: Buffer): readonly unknown[] {
  const values = parseForeignJson(column.toString());
  return Array.isArray(values) ? values : unreadable();
}

const unreadable = (): never => {
  throw newSheetError('SHEET_UNREADABLE', 'The answer to a request for values is not one.');
};

const [quote, backslash, opening, closing] = ['"', '\\', '[', ']'].map((sign) => sign.charCodeAt(0));
/** Lists within lists: of ranges, of columns, of values. */
const depthOfColumns = 3;

/** Cuts the lists of values out of a text in JSON. No byte of a character of several bytes is one of the signs that are looked for. */
function cutLists(text: Buffer, known: readonly Buffer[]) {
  const columns: Buffer[] = [];
  const outline: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === quote) {
      at += 1;
      while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
    } else if (sign === opening) {
      depth += 1;
      if (depth !== depthOfColumns) continue;
      outline.push(text.toString('utf8', begin, at), String(columns.length));
      begin = at;
      // Where values came behind the last one, its end alone is another: from there on all is as for any other.
      const head = known[columns.length]?.subarray(0, -1);
      if (head && text.subarray(at, at + head.length).equals(head)) at += head.length - 1;
    } else if (sign === closing) {
      if (depth === depthOfColumns) {
        columns.push(text.subarray(begin, at + 1));
        begin = at + 1;
      }
      depth -= 1;
    }
  }
  outline.push(text.toString('utf8', begin));
  return { columns, outline: outline.join('') };
}
