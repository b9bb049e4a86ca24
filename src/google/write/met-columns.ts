import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import { bareCell, type Cell, describeCell } from '../../sheet/port/cell.ts';
import type { ColumnIndexes } from '../columns.ts';
import type { PlannedTab, Row } from './planned.ts';

/** Where the columns of a tab were when a write reached it. */
export interface MetColumns {
  readonly headers: Row;
  /** The column of the plan that each of them was; -1 for a new one. */
  readonly oldIndexes: readonly number[];
  /** The ID column; `undefined` where it was gone. */
  readonly id: number | undefined;
  /** What each managed column carries: a field, or the header of the ID and the Sync column. */
  readonly names: ReadonlyMap<number, string>;
}

/** Finds the columns of a tab, as it was planned from, under another header row. */
export function meetColumns(
  { columns, headers: planned }: Pick<PlannedTab, 'columns' | 'headers'>,
  headers: Row,
): MetColumns {
  const oldIndexes = findOldIndexes(planned, headers);
  const names = new Map(
    namesOf(columns).flatMap(([index, name]) => {
      const column = oldIndexes.indexOf(index);
      return column < 0 ? [] : [[column, name] as const];
    }),
  );
  const id = columns.id < 0 ? -1 : oldIndexes.indexOf(columns.id);
  return { headers, oldIndexes, id: id < 0 ? undefined : id, names };
}

const namesOf = ({ fields, id, sync }: ColumnIndexes): [number, string][] => [
  ...(id < 0 ? [] : [[id, idHeader] as [number, string]]),
  ...(sync === undefined ? [] : [[sync, syncHeader] as [number, string]]),
  ...[...fields].map(([field, { index }]): [number, string] => [index, field]),
];

/** Whether a column is another one than was planned. */
export const hasMoved = ({ oldIndexes }: MetColumns, column: number): boolean =>
  (oldIndexes[column] ?? column) !== column;

/**
 * A column is known again by its header, one without a header by its place; of several with one header, as where a user calls a managed
 * column like one of people's own, by their order. A header that is new where another one vanished was only rewritten, unless it is above
 * another column too: then that may have been copied, and its copy is where the other column was.
 */
export function findOldIndexes(oldHeaders: Row, headers: Row): number[] {
  const [oldNames, names] = [nameHeaders(oldHeaders), nameHeaders(headers)];
  const hasNone = (list: readonly string[], index: number) => (list[index] ?? '') === '';
  const indexIn = (list: readonly string[], name = '') => (name === '' ? -1 : list.indexOf(name));
  // A row of headers ends with the last one: also behind it there are columns.
  return Array.from({ length: Math.max(headers.length, oldHeaders.length) }, (_, index) => {
    if (hasNone(names, index) && hasNone(oldNames, index)) return index;
    const oldIndex = indexIn(oldNames, names[index]);
    const isVanished = index < oldNames.length && indexIn(names, oldNames[index]) < 0;
    const isRewritten = oldIndex < 0 && isVanished && !isRepeated(names[index]);
    return isRewritten ? index : oldIndex;
  });
}

/** Whether another column with the header is before the one with this name. */
const isRepeated = (name = ''): boolean => name !== '' && !name.startsWith('0 ');

/** A name for each header that no other one has, with how many others with its text are before it, and an empty one where there is none. */
function nameHeaders(headers: Row): string[] {
  const counts = new Map<string, number>();
  return headers.map((header) => {
    if (header.kind === 'empty') return '';
    const text = JSON.stringify(bareCell(header));
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${count} ${text}`;
  });
}

/** What a user calls a column. */
export const headerOf = (headers: Row, column: number): string => {
  const header: Cell | undefined = headers[column];
  return header && header.kind !== 'empty' ? describeCell(header) : `column ${column + 1}`;
};
