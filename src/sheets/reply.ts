import { SyncError } from '../core/errors.ts';
import type { TabKind } from '../core/layout.ts';
import {
  type Hit,
  type Keeping,
  type KeptRow,
  numberSteps,
  type RowStep,
  type WriteReply,
} from '../core/table.ts';
import type { SheetsClient } from './client.ts';
import { findMet } from './filtered-rows.ts';
import type { Rows } from './grid.ts';
import { findHit, findKeptColumns, type KeptColumns, toKeptRow } from './kept.ts';
import type { PlannedTab } from './placed-cells.ts';
import type { BoundTab } from './read.ts';
import {
  type KeptCells,
  type KeptStep,
  keptFields,
  keptRange,
  readKept,
  rowOfSlot,
  type Shadow,
} from './shadow.ts';

/** The tabs as they were read. */
export type Tabs = ReadonlyMap<TabKind, BoundTab>;

/** Which row of the hidden tab keeps what each step reaches. */
export interface KeepingPlan {
  readonly keeping: Keeping;
  /** The number of each step. */
  readonly numbers: ReadonlyMap<RowStep, number>;
}

export const planKept = (steps: readonly RowStep[], keeping: Keeping): KeepingPlan => ({
  keeping,
  numbers: new Map([...numberSteps(steps)].map(([number, step]) => [step, number])),
});

/** These steps by their numbers. */
export const numbered = (steps: readonly RowStep[], { numbers }: KeepingPlan): ReadonlyMap<number, RowStep> =>
  new Map(steps.flatMap((step) => (numbers.has(step) ? [[numbers.get(step) ?? 0, step] as const] : [])));

/** Those of the steps whose rows are kept, with their places. */
export const keptStepsOf = (steps: ReadonlyMap<number, RowStep>): KeptStep[] =>
  [...steps].flatMap(([slot, step]) =>
    step.kind === 'append' ? [] : [{ slot, entity: step.entity, position: step.position }],
  );

/** Reads everything that a write kept. */
export async function readAllKept(
  client: SheetsClient,
  shadow: Shadow,
  keeping: Keeping,
  slots: readonly number[],
): Promise<KeptCells> {
  // A write to a long tab has more of them than a call takes arguments.
  const last = slots.reduce((highest, slot) => Math.max(highest, slot), -1);
  const ranges = keptRange(shadow, keeping, last + 1);
  const answer = ranges.length > 0 ? await client.get(keptFields, ranges) : undefined;
  return readKept(shadow, keeping, slots, answer ?? {});
}

/** The columns that a write met in each tab; a tab is absent whose ID column was gone. */
const findColumns = (
  tabs: ReadonlyMap<TabKind, PlannedTab>,
  { headers }: KeptCells,
): ReadonlyMap<TabKind, KeptColumns> =>
  new Map(
    [...headers].flatMap(([kind, row]) => {
      const tab = tabs.get(kind);
      const columns = tab && findKeptColumns(tab, row);
      return columns ? [[kind, columns] as const] : [];
    }),
  );

/**
 * What a write did by what it kept, and where nothing was copied by the rows `after` it. Of tabs whose ID column was gone nothing is known.
 * `uncopied` are the tabs of which nothing was copied at all.
 */
export function toReply(
  keeping: Keeping,
  steps: ReadonlyMap<number, RowStep>,
  tabs: ReadonlyMap<TabKind, PlannedTab>,
  cells: KeptCells,
  after: ReadonlyMap<RowStep, Rows[number]> = new Map(),
  uncopied: ReadonlySet<TabKind> = new Set(),
): WriteReply {
  const columns = findColumns(tabs, cells);
  const [rows, hits] = [new Map<number, KeptRow>(), new Map<number, Hit>()];
  for (const [number, step] of steps) {
    const [tab, met, kept] = [tabs.get(step.entity), columns.get(step.entity), cells.rows.get(number)];
    if (!tab || !met) continue;
    const isCopied = !uncopied.has(step.entity);
    const nothing = isCopied || step.kind === 'append' ? undefined : { cells: [], isCopied };
    const copy = kept && isCopied ? { cells: kept, row: rowOfSlot(keeping, number), isCopied } : nothing;
    const reached = copy && findReached(tab, step, met, copy, after.get(step));
    if (reached) rows.set(number, reached);
    const hit = step.kind === 'delete' ? undefined : findHit(tab, step, met);
    if (hit) hits.set(number, hit);
  }
  return { rows, hits };
}

/** The row as a step reached it. Of one that a filter hid nothing is copied: a set tells by how it stands `now`, where that is known. */
function findReached(
  tab: PlannedTab,
  step: RowStep,
  met: KeptColumns,
  copy: { readonly cells: Rows[number]; readonly row?: number; readonly isCopied: boolean },
  now: Rows[number] | undefined,
): KeptRow | undefined {
  const isTold =
    copy.isCopied && (tab.hiddenRows.size === 0 || copy.cells.some(({ kind }) => kind !== 'empty'));
  if (isTold || step.kind !== 'set') return toKeptRow(met, copy.cells, copy.row);
  return now && findMet(tab, step, met, now);
}

/** Fails with SHEET_UNREACHABLE where the ID column was gone: nobody knows which rows the write reached. */
export function expectIdColumns(tabs: Tabs, cells: KeptCells): void {
  const columns = findColumns(tabs, cells);
  for (const kind of cells.headers.keys()) {
    if (columns.has(kind)) continue;
    const title = tabs.get(kind)?.title;
    throw new SyncError('SHEET_UNREACHABLE', `“${title}” lost its ID column while it was written.`);
  }
}
