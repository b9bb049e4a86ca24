import { bareCell, type Cell, emptyCell, equalCells, isSameKept, isUnfilled } from '../../sheet/port/cell.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import { rowRange } from '../a1.ts';
import type { Spreadsheet } from '../client.ts';
import { type Rows, readGrids } from '../grid.ts';
import type { BoundTab } from '../read.ts';
import type { MetColumns } from './judge.ts';
import { deletedAbove, isSameRow, overlay, type PlannedStep, type Row, type Tabs } from './planned.ts';
import { type KeptCells, spans } from './shadow.ts';

/** A row that is read after a batch, because nothing of it can be copied before. */
interface ReadRow {
  readonly step: PlannedStep;
  readonly tab: BoundTab;
  /** Where the row is after the batch. */
  readonly row: number;
}

/** What of the tabs is read after a batch instead of being copied before it. */
export interface ReadBack {
  readonly rows: readonly ReadRow[];
  /** Tabs whose header row is not copied either: no batch of ours changes it. */
  readonly tabs: Tabs;
}

/** What has to be read after a batch in tabs of which a filter hides rows, and in those of which Google refuses copies. */
export function planReadBack(
  steps: readonly PlannedStep[],
  tabs: Tabs,
  uncopied: ReadonlySet<TabKind>,
): ReadBack {
  const rows = steps.flatMap((step): ReadRow | [] => {
    const tab = tabs.get(step.entity);
    if (step.kind !== 'set' || !tab || (tab.hiddenRows.size === 0 && !uncopied.has(step.entity))) return [];
    return { step, tab, row: step.position - deletedAbove(steps, step) };
  });
  return { rows, tabs: new Map([...tabs].filter(([kind]) => uncopied.has(kind))) };
}

/** Where that is read in the reply. */
export const rangesOf = ({ rows, tabs }: ReadBack): string[] => [
  ...[...tabs.values()].map(({ title }) => rowRange(title, 0, 1)),
  ...[...Map.groupBy(rows, ({ tab }) => tab.title)].flatMap(([title, own]) =>
    spans(own.map(({ row }) => row)).map(({ start, end }) => rowRange(title, start, end)),
  ),
];

/** The rows, by the numbers of their steps, and the header rows after the batch. */
export function readBack({ rows, tabs }: ReadBack, answer: Spreadsheet): KeptCells {
  const rowsBySheet = new Map(readGrids(answer).map((grid) => [grid.sheetId, grid.rows]));
  const rowAt = ({ sheetId }: BoundTab, row: number): Row => rowsBySheet.get(sheetId)?.[row] ?? [];
  return {
    rows: new Map(rows.map(({ row, step, tab }) => [step.number, rowAt(tab, row)])),
    headers: new Map([...tabs].map(([kind, tab]) => [kind, rowAt(tab, 0)])),
  };
}

/**
 * The row that a set met, by how it is after it: the one that was read there, or another one, if that shows the same but for what was
 * written; by its ID where that was not written. Rows that move show what they showed: where no row does, a user retyped the one that is
 * there, if most of it is as it was. `undefined` where several do, or none is much alike: nothing is made up.
 */
export function findMet(
  { placed, position }: PlannedStep,
  { id, names, oldIndexes }: MetColumns,
  rows: Rows,
  now: Row,
): Row | undefined {
  const written = new Set(placed.map(({ column }) => column));
  const cellIn = (row: Row, column: number): Cell => row[oldIndexes[column] ?? column] ?? emptyCell;
  const met = (row: Row): Row =>
    Array.from({ length: Math.max(oldIndexes.length, row.length) }, (_, column) => cellIn(row, column));
  const own = met(rows[position] ?? []);
  if (isSameRow(overlay(own, placed), now)) return own;
  const idNow = bareCell(now[id ?? -1] ?? emptyCell);
  const isNamed = !written.has(id ?? -1) && idNow.kind !== 'empty';
  const unwritten = [...names.keys()].filter((column) => !written.has(column));
  const isFilled = unwritten.some((column) => !isUnfilled(now[column] ?? emptyCell));
  const isSame = (row: Row): boolean =>
    isNamed
      ? equalCells(bareCell(cellIn(row, id ?? -1)), idNow)
      : isFilled && unwritten.every((column) => isSameKept(cellIn(row, column), now[column]));
  if (isSame(rows[position] ?? [])) return own;
  const [found, ...others] = rows.slice(1).filter(isSame).map(met);
  if (found) return others.every((row) => isSameRow(row, found)) ? found : undefined;
  const filled = unwritten.filter((column) => !isUnfilled(own[column] ?? emptyCell));
  const left = filled.filter((column) => isSameKept(own[column], now[column]));
  if (isNamed || left.length * 2 <= filled.length) return undefined;
  return own.map((cell, column) => (written.has(column) ? cell : (now[column] ?? emptyCell)));
}
