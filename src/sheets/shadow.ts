import { bareCell, type Cell, equalCells } from '../core/cell.ts';
import type { SetStep } from '../core/table.ts';
import type { FieldName } from '../core/value.ts';
import { quoteTitle } from './a1.ts';
import type { Request, Spreadsheet } from './client.ts';
import { blocksBySheet, cellAt, type Grid, readRows } from './grid.ts';
import type { BoundTab } from './read.ts';
import { grow } from './room.ts';
import type { TaggedSpreadsheet } from './tabs.ts';

/*
 * Google has no write that refuses to replace a value which changed since it was read. So the cells that a batch is about to overwrite are
 * copied first, in the same atomic batch, to a hidden tab of ours, and are read back in its reply: what a person typed between our read and
 * our write is seen, and can be put back.
 */

/** Its title as we make it. */
export const shadowTitle = 'crm-sheet-sync, please leave';

/** The hidden tab, as it was last seen. */
export type Shadow = Pick<Grid, 'sheetId' | 'title' | 'rowCount' | 'columnCount'>;

/** The hidden tab that the spreadsheet's tag names, or that has its title. */
export const findShadow = ({ link, grids }: TaggedSpreadsheet): Shadow | undefined =>
  grids.find(({ sheetId }) => sheetId === link?.shadow) ?? grids.find(({ title }) => title === shadowTitle);

export const createShadow = (sheetId: number): Request => ({
  addSheet: {
    properties: {
      sheetId,
      title: shadowTitle,
      hidden: true,
      gridProperties: { rowCount: 100, columnCount: 26 },
    },
  },
});

/** Cells of one row that are overwritten, side by side from `column` on, and the row of the hidden tab that keeps them. */
interface KeptRun {
  readonly step: SetStep;
  readonly sheetId: number;
  readonly column: number;
  /** From left to right. */
  readonly fields: readonly FieldName[];
  readonly shadowRow: number;
}

/** What has to go before the writes of a batch, and where it is read back. */
export interface Keeping {
  readonly shadow: Shadow | undefined;
  readonly requests: readonly Request[];
  readonly ranges: readonly string[];
  readonly runs: readonly KeptRun[];
}

/** The sets of one tab, and the tab as it was read. */
interface TabSets {
  readonly before: BoundTab;
  readonly steps: { readonly sets: readonly SetStep[] };
}

/**
 * Plans to keep the cells that the sets of a batch overwrite; the ID and the Sync cell are nobody's to type in. Without the hidden tab
 * nothing is kept.
 */
export function planKeeping(shadow: Shadow | undefined, writes: readonly TabSets[]): Keeping {
  const runs: KeptRun[] = [];
  for (const { before, steps } of shadow ? writes : []) {
    for (const step of steps.sets) {
      for (const run of runsOf(before, step))
        runs.push({ ...run, step, sheetId: before.sheetId, shadowRow: runs.length });
    }
  }
  if (!shadow || runs.length === 0) return { shadow, requests: [], ranges: [], runs };
  const width = Math.max(...runs.map(({ fields }) => fields.length));
  return {
    shadow,
    requests: [...makeRoom(shadow, runs.length, width), ...copies(shadow, runs)],
    ranges: [`${quoteTitle(shadow.title)}!1:${runs.length}`],
    runs,
  };
}

/** The columns of a set that lie side by side. */
function runsOf({ columns }: BoundTab, { cells }: SetStep): { column: number; fields: FieldName[] }[] {
  const placed = Object.keys(cells)
    .flatMap((field) => {
      const column = columns.fields.get(field)?.index;
      return column === undefined ? [] : [{ column, field }];
    })
    .toSorted((one, other) => one.column - other.column);
  const runs: { column: number; fields: FieldName[] }[] = [];
  for (const { column, field } of placed) {
    const last = runs.at(-1);
    if (last && last.column + last.fields.length === column) last.fields.push(field);
    else runs.push({ column, fields: [field] });
  }
  return runs;
}

/** An empty cell that is copied may leave what stood there before, so that the rows are emptied first. */
function makeRoom({ sheetId, rowCount, columnCount }: Shadow, height: number, width: number): Request[] {
  return [
    ...grow(sheetId, 'ROWS', height - rowCount),
    ...grow(sheetId, 'COLUMNS', width - columnCount),
    {
      updateCells: { range: { sheetId, startRowIndex: 0, endRowIndex: height }, fields: 'userEnteredValue' },
    },
  ];
}

/** Runs of the same columns in rows below each other are copied at once. */
function copies(shadow: Shadow, runs: readonly KeptRun[]): Request[] {
  const blocks: { first: KeptRun; height: number }[] = [];
  for (const run of runs) {
    const last = blocks.at(-1);
    const isNext =
      last?.first.sheetId === run.sheetId &&
      last.first.column === run.column &&
      last.first.fields.length === run.fields.length &&
      last.first.step.position + last.height === run.step.position;
    if (last && isNext) last.height += 1;
    else blocks.push({ first: run, height: 1 });
  }
  return blocks.map(({ first: { column, fields, sheetId, shadowRow, step }, height }) => ({
    copyPaste: {
      source: area(sheetId, step.position, column, height, fields.length),
      destination: area(shadow.sheetId, shadowRow, 0, height, fields.length),
      pasteType: 'PASTE_FORMULA',
    },
  }));
}

const area = (sheetId: number, row: number, column: number, height: number, width: number) => ({
  sheetId,
  startRowIndex: row,
  endRowIndex: row + height,
  startColumnIndex: column,
  endColumnIndex: column + width,
});

const isTyped = ({ kind }: Cell): boolean => kind !== 'formula' && kind !== 'error';

/** What each set replaced, by field. A formula moved when it was copied, so that its text is not what was typed: it is left out. */
export function readKept(
  { runs, shadow }: Keeping,
  reply: Spreadsheet,
): ReadonlyMap<SetStep, Readonly<Record<FieldName, Cell>>> {
  const [block] = (shadow && blocksBySheet(reply).get(shadow.sheetId)) ?? [];
  const rows = readRows(block);
  const kept = new Map<SetStep, Record<FieldName, Cell>>();
  for (const { step, fields, shadowRow } of runs) {
    const cells = kept.get(step) ?? {};
    for (const [column, field] of fields.entries()) {
      const cell = bareCell(cellAt(rows, shadowRow, column));
      if (isTyped(cell)) cells[field] = cell;
    }
    kept.set(step, cells);
  }
  return kept;
}

/** Of the cells that a set replaced in its own row, those that were not as they had been read: somebody typed them in the same moment. */
export function findTyped(
  { columns, rows }: BoundTab,
  { position }: SetStep,
  kept: Readonly<Record<FieldName, Cell>>,
): Readonly<Record<FieldName, Cell>> {
  return Object.fromEntries(
    Object.entries(kept).filter(([field, cell]) => {
      const column = columns.fields.get(field)?.index ?? -1;
      const before = bareCell(cellAt(rows, position, column));
      return isTyped(before) && !equalCells(cell, before);
    }),
  );
}
