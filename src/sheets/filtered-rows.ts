import { emptyCell, equalCells } from '../core/cell.ts';
import { isMostlyAlike } from '../core/kept-cell.ts';
import type { TabKind } from '../core/layout.ts';
import type { KeptRow, RowStep, SetStep } from '../core/table.ts';
import { rowRange } from './a1.ts';
import type { Spreadsheet } from './client.ts';
import { blocksBySheet, type Rows, readRows } from './grid.ts';
import { type KeptColumns, toKeptRow, toReadRow } from './kept.ts';
import { type PlannedTab, placedCells } from './placed-cells.ts';
import type { BoundTab } from './read.ts';
import { spans } from './shadow.ts';

type Row = Rows[number];

/**
 * A set in a tab of which rows are not copied. Nothing is copied of a row that a filter hides, and any row may have moved to where another one
 * was read, so that what the set met is found out from the row after the write where there is no copy.
 */
interface UncopiedSet {
  readonly step: SetStep;
  readonly tab: BoundTab;
  /** Where the row is after the batch. */
  readonly row: number;
}

/** What of the tabs is read after a batch instead of being copied before it. */
export interface ReadBack {
  readonly sets: readonly UncopiedSet[];
  /** Tabs whose header row is not copied either: no batch of ours changes it. */
  readonly tabs: Tabs;
}

type Tabs = ReadonlyMap<TabKind, BoundTab>;

/** What has to be read after a batch in tabs of which a filter hides rows, and in those of which nothing can be copied. */
export function planReadBack(
  steps: readonly RowStep[],
  tabs: Tabs,
  uncopied: ReadonlySet<TabKind>,
): ReadBack {
  const deletes = steps.filter((step) => step.kind === 'delete');
  const sets = steps.flatMap((step): UncopiedSet | [] => {
    const tab = tabs.get(step.entity);
    if (step.kind !== 'set' || !tab || (tab.hiddenRows.size === 0 && !uncopied.has(step.entity))) return [];
    const above = deletes.filter(
      ({ entity, position }) => entity === step.entity && position < step.position,
    );
    return { step, tab, row: step.position - above.length };
  });
  return { sets, tabs: new Map([...tabs].filter(([kind]) => uncopied.has(kind))) };
}

/** Where that is read in the reply. */
export const rangesOf = ({ sets, tabs }: ReadBack): string[] => [
  ...[...tabs.values()].map(({ title }) => rowRange(title, 0, 1)),
  ...[...Map.groupBy(sets, ({ tab }) => tab.title)].flatMap(([title, own]) =>
    spans(own.map(({ row }) => row)).map(({ start, end }) => rowRange(title, start, end)),
  ),
];

/** The rows and the header rows after the write. */
export function readBack(
  { sets, tabs }: ReadBack,
  answer: Spreadsheet,
): { readonly rows: ReadonlyMap<RowStep, Row>; readonly headers: ReadonlyMap<TabKind, Row> } {
  const rowsBySheet = new Map(
    [...blocksBySheet(answer)].map(([sheetId, blocks]) => {
      const read = blocks.flatMap((block) => [...readRows(block).entries()].slice(block.startRow ?? 0));
      return [sheetId, new Map(read)];
    }),
  );
  const rowAt = ({ sheetId }: BoundTab, row: number): Row => rowsBySheet.get(sheetId)?.get(row) ?? [];
  return {
    rows: new Map(sets.map(({ row, step, tab }) => [step, rowAt(tab, row)])),
    headers: new Map([...tabs].map(([kind, tab]) => [kind, rowAt(tab, 0)])),
  };
}

/**
 * The row that a set met, by how it stands now: the one that was read if it has the ID for which the set was meant, another one that was
 * read if it has that one's, or looks like it where the ID was written over; else whatever is there without what was written.
 */
export function findMet(tab: PlannedTab, step: SetStep, met: KeptColumns, now: Row): KeptRow {
  const { columns } = met;
  const written = new Set(placedCells(tab, step).map(({ column }) => column));
  const before = toKeptRow(
    met,
    now.map((cell, column) => (written.has(column) ? emptyCell : cell)),
  );
  const toRead = (row: Row): KeptRow => toReadRow(met, row);
  const read = toRead(tab.rows[step.position] ?? []);
  const isNamed = !written.has(columns.id) && before.id.kind !== 'empty';
  if (isNamed && equalCells(read.id, before.id)) return read;
  const unwritten = [...columns.fields].filter(([, { index }]) => !written.has(index));
  const showsSame = ({ cells, id }: KeptRow): boolean => {
    if (isNamed) return equalCells(id, before.id);
    const seen = Object.fromEntries(unwritten.map(([field]) => [field, cells[field] ?? emptyCell]));
    return isMostlyAlike(seen, before.cells);
  };
  if (showsSame(read)) return read;
  const [first, ...others] = tab.rows.slice(1).map(toRead).filter(showsSame);
  // Copies of a row have its ID.
  return first && others.every(({ id }) => equalCells(id, first.id)) ? first : before;
}
