import { idHeader } from '../../core/fields/headers.ts';
import {
  bareCell,
  type Cell,
  describeCell,
  emptyCell,
  isComputed,
  isUnfilled,
} from '../../sheet/port/cell.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import type { ColumnIndexes } from '../columns.ts';
import type { Rows } from '../grid.ts';
import { findOldIndexes, type GridDamage, idOf } from './judge.ts';
import { isSameId, isSameRow, type Row } from './planned.ts';

/** A tab as it is when damage is to be undone. */
export interface SeenTab {
  readonly rows: Rows;
  readonly hiddenRows: ReadonlySet<number>;
  /** What each field's column holds, among others. */
  readonly columns: Pick<ColumnIndexes, 'fields'>;
  /** Rows that a filter hid from the read before the write; known where something was deleted. */
  readonly unseen?: Rows;
  /** Whether a step was planned for such a row, so that it is known what became of it; for none where absent. */
  readonly isPlanned?: (row: Row) => boolean;
}

/** A tab under the columns that a damage knows. Of a long one few rows matter: the others are not looked at but for their IDs, once. */
export interface Seen {
  readonly tab: SeenTab;
  /** Where a column is now; negative where it is gone. */
  columnNow(column: number): number;
  /** The row at a position; empty for the header row, and where there is none. */
  rowAt(position: number): Row;
  /** Of the rows with the ID of `wanted`, or without an ID where that has none: where those are for which something is true. */
  find(wanted: Row, isIt: (row: Row) => boolean): number[];
  /** Whether the row is there: one with its ID or, where it has none, one that holds the same. */
  has(wanted: Row): boolean;
}

type Columns = Pick<GridDamage, 'headers' | 'names'>;

/** Finds how damage sees its tab, which is the same for all that met the same columns; `undefined` where the tab is gone. */
export function seeTabs(tabs: ReadonlyMap<TabKind, SeenTab>) {
  const known = new Map<string, Seen>();
  return ({ entity, headers, names }: GridDamage): Seen | undefined => {
    const tab = tabs.get(entity);
    const key = JSON.stringify([entity, headers, [...names]]);
    const seen = known.get(key) ?? (tab && see(tab, { headers, names }));
    if (seen) known.set(key, seen);
    return seen;
  };
}

function see(tab: SeenTab, { headers, names }: Columns): Seen {
  const columnsNow = findOldIndexes(headers, tab.rows[0] ?? []);
  const columnNow = (column: number) => {
    const now = columnsNow.indexOf(column);
    return now < 0 && column >= columnsNow.length ? column : now;
  };
  const rowAt = (position: number): Row => {
    const row = position > 0 ? (tab.rows[position] ?? []) : [];
    const width = position > 0 ? Math.max(row.length, headers.length) : 0;
    return Array.from({ length: width }, (_, column) => row[columnNow(column)] ?? emptyCell);
  };
  const [id] = [...names].find(([, name]) => name === idHeader) ?? [];
  const idColumn = id === undefined ? -1 : columnNow(id);
  let byId: ReadonlyMap<string, readonly number[]> | undefined;
  const find = (wanted: Row, isIt: (row: Row) => boolean) => {
    byId ??= Map.groupBy(positionsIn(tab), (position) => keyOf(tab.rows[position]?.[idColumn]));
    const wantedId = idOf(wanted, names);
    // A formula counts as the same as any other, so that its text finds none of them.
    const positions = isComputed(wantedId) ? positionsIn(tab) : (byId.get(keyOf(wantedId)) ?? []);
    return positions.filter((position) => isIt(rowAt(position)));
  };
  const has = (wanted: Row) => {
    const wantedId = idOf(wanted, names);
    const isIt = (row: Row) =>
      wantedId.kind === 'empty' ? isSameRow(wanted, row) : isSameId(idOf(row, names), wantedId);
    return find(wanted, isIt).length > 0;
  };
  return { tab, columnNow, rowAt, find, has };
}

const positionsIn = ({ rows }: SeenTab): number[] => [...rows.keys()].slice(1);

/** Two cells that may be the same ID have the same key, and so have those that are none. */
const keyOf = (id: Cell = emptyCell): string => (isUnfilled(id) ? '' : describeCell(bareCell(id)));
