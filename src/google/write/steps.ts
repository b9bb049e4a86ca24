import type { Cell } from '../../sheet/port/cell.ts';
import { type BoundTab, endOfRows } from '../read.ts';
import { afterSteps } from '../typed-columns.ts';
import { overlay, type PlannedStep } from './planned.ts';

/**
 * The steps of one tab by kind. They are applied in this order, so that no step moves a row that a later one
 * names.
 */
export interface TabSteps {
  readonly sets: readonly PlannedStep[];
  readonly appends: readonly PlannedStep[];
  /** From the bottom to the top. */
  readonly deletes: readonly PlannedStep[];
}

export function sortSteps(steps: readonly PlannedStep[]): TabSteps {
  return {
    sets: steps.filter((step) => step.kind === 'set').toSorted((one, other) => one.position - other.position),
    appends: steps.filter((step) => step.kind === 'append'),
    deletes: steps
      .filter((step) => step.kind === 'delete')
      .toSorted((one, other) => other.position - one.position),
  };
}

/** How many rows a tab has of which so many are `left`: where none is but the header and what is frozen, a blank one is added. */
export const rowsAfter = ({ frozenRows = 0, rowCount }: BoundTab, left: number): number =>
  left < Math.min(rowCount, Math.max(frozenRows, 1) + 1) ? left + 1 : left;

/** The tab as it is after the steps, if no user changed it. */
export function applySteps(tab: BoundTab, { sets, appends, deletes }: TabSteps): BoundTab {
  const rows = tab.rows.map((row) => [...row]);
  for (const step of sets) {
    while (rows.length <= step.position) rows.push([]);
    rows[step.position] = [...overlay(rows[step.position] ?? [], step.placed)];
  }
  const end = endOfRows(tab.rows, tab.columns);
  const appended = appends.map((step): Cell[] => [...overlay([], step.placed)]);
  const areHidden = Array.from({ length: tab.rowCount }, (_, row) => tab.hiddenRows.has(row));
  rows.splice(end, 0, ...appended);
  areHidden.splice(end, 0, ...appended.map(() => false));
  for (const { position } of deletes) {
    rows.splice(position, 1);
    areHidden.splice(position, 1);
  }
  const hiddenRows = new Set(areHidden.flatMap((isHidden, row) => (isHidden ? [row] : [])));
  const left = tab.rowCount + appends.length - deletes.length;
  const added = { at: end, count: appends.length };
  const deleted = deletes.map(({ position }) => position);
  return {
    ...tab,
    rows,
    hiddenRows,
    tables: tab.tables.map((area) => afterSteps(area, added, deleted)),
    typed: tab.typed.map((column) => afterSteps(column, added, deleted)),
    rowCount: rowsAfter(tab, left),
  };
}
