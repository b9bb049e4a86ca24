import { idHeader, syncHeader } from '../core/fields/headers.ts';
import { labelKey } from '../core/text/label-key.ts';
import { type Cell, describeCell } from '../sheet/port/cell.ts';
import type { Rows } from './grid.ts';
import type { Managed } from './managed.ts';

/** Headers are looked for no further down: below, any text may be one of the list itself. */
const rowsMax = 50;

/** So many of them are named. */
const namedMax = 3;

/**
 * Why a tab of people has its headers elsewhere than in row 1, as it seems, and what to do; `undefined` where row 1 may be its header row.
 * Columns that were added beside the wrong row would have the list among their records.
 */
export function explainHeaderRow(rows: Rows, managed: readonly Managed[], title: string): string | undefined {
  const keys = new Set(managed.map(({ header }) => labelKey(header)));
  const isKnown = (cell: Cell) => keys.has(labelKey(describeCell(cell)));
  const filledOf = (row: readonly Cell[]) => row.filter(({ kind }) => kind !== 'empty');
  const shown = rows.slice(0, rowsMax).map(filledOf);
  const known = shown.map(
    (row) => new Set(row.filter(isKnown).map((cell) => labelKey(describeCell(cell)))).size,
  );
  const [first = []] = shown;
  const [knownFirst = 0, ...knownBelow] = known;
  const most = Math.max(0, ...knownBelow);
  // The only cell of its row is a title. One known name alone may be a cell of the list, where row 1 has more than a title.
  const isTitle = first.length <= 1 && knownFirst === 0;
  const isHeaded = most > knownFirst && knownFirst < 2 && (most > 1 || isTitle);
  const isLonger = (row: readonly Cell[], at: number) => at > 0 && row.length > first.length;
  const found = isHeaded ? known.indexOf(most, 1) : isTitle ? shown.findIndex(isLonger) : -1;
  const cells = shown[found];
  if (!cells) return undefined;
  const named = (isHeaded ? cells.filter(isKnown) : cells).slice(0, namedMax).map(quoteCell).join(', ');
  const otherwise = isHeaded ? '' : ' If row 1 is the header row, put a header above each of its columns.';
  return `The headers of “${title}” seem to be in row ${found + 1} (${named}), and they have to be in row 1. Delete the rows above that one, or move it to row 1.${otherwise}`;
}

const quoteCell = (cell: Cell): string => `“${describeCell(cell)}”`;

/** A header row that was sorted in between the rows is recognised by its content; -1 where there is none. */
export function findHeaderRow(rows: Rows, managed: readonly Managed[]): number {
  const others = managed.filter(({ name }) => name !== idHeader && name !== syncHeader);
  return rows.findIndex((row, index) => {
    if (index === 0) return false;
    const keys = new Set(row.flatMap((cell) => (cell.kind === 'empty' ? [] : labelKey(describeCell(cell)))));
    return keys.has(labelKey(idHeader)) && others.some(({ header }) => keys.has(labelKey(header)));
  });
}
