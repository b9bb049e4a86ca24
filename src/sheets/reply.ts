import { SyncError } from '../core/errors.ts';
import type { TabKind } from '../core/layout.ts';
import {
  type Hit,
  type Keeping,
  type KeptRow,
  keptSteps,
  type RowStep,
  type WriteReply,
} from '../core/table.ts';
import type { SheetsClient } from './client.ts';
import { findHit, findKeptColumns, type KeptColumns, toKeptRow } from './kept.ts';
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
  readonly slots: ReadonlyMap<RowStep, number>;
  readonly entities: ReadonlyMap<number, TabKind>;
}

/** Gives each step that reaches a row its place in what is kept. */
export function planSlots(steps: readonly RowStep[], keeping: Keeping): KeepingPlan {
  const kept = keptSteps(steps);
  return {
    keeping,
    slots: new Map(kept.map((step, slot) => [step, slot])),
    entities: new Map(kept.map(({ entity }, slot) => [slot, entity])),
  };
}

/** Those of the steps whose rows are kept, with their places. */
export function keptStepsOf(steps: readonly RowStep[], { slots }: KeepingPlan): KeptStep[] {
  return steps.flatMap((step): KeptStep[] => {
    const slot = slots.get(step);
    if (slot === undefined || step.kind === 'append') return [];
    const { entity, position } = step;
    return [{ slot, entity, position }];
  });
}

/** Reads everything that a write kept. */
export async function readAllKept(
  client: SheetsClient,
  shadow: Shadow,
  keeping: Keeping,
  slots: readonly number[],
): Promise<KeptCells> {
  const ranges = keptRange(shadow, keeping, Math.max(...slots) + 1);
  const answer = ranges.length > 0 ? await client.get(keptFields, ranges) : undefined;
  return readKept(shadow, keeping, slots, answer ?? {});
}

/** The columns that a write met in each tab; a tab is absent whose ID column was gone. */
export const findColumns = (tabs: Tabs, { headers }: KeptCells): ReadonlyMap<TabKind, KeptColumns> =>
  new Map(
    [...headers].flatMap(([kind, row]) => {
      const tab = tabs.get(kind);
      const columns = tab && findKeptColumns(tab, row);
      return columns ? [[kind, columns] as const] : [];
    }),
  );

/**
 * What the steps hit in whose tabs columns had moved. Fails with SHEET_UNREACHABLE where the ID column was gone: nobody knows which rows
 * the write reached.
 */
export function findHits(
  steps: readonly RowStep[],
  tabs: Tabs,
  columns: ReadonlyMap<TabKind, KeptColumns>,
): WriteReply['hits'] {
  const hits = new Map<RowStep, Hit>();
  for (const step of steps) {
    const [tab, met] = [tabs.get(step.entity), columns.get(step.entity)];
    if (!tab || !met) {
      throw new SyncError('SHEET_UNREACHABLE', `“${tab?.title}” lost its ID column while it was written.`);
    }
    const hit = step.kind === 'delete' ? undefined : findHit(tab, step, met);
    if (hit) hits.set(step, hit);
  }
  return hits;
}

/** The kept rows by what they mean. */
export function toKeptRows(
  keeping: Keeping,
  { rows }: KeptCells,
  columns: ReadonlyMap<TabKind, KeptColumns>,
  entities: ReadonlyMap<number, TabKind>,
): ReadonlyMap<number, KeptRow> {
  return new Map(
    [...rows].flatMap(([slot, cells]) => {
      const entity = entities.get(slot);
      const met = entity && columns.get(entity);
      return met ? [[slot, toKeptRow(met, cells, rowOfSlot(keeping, slot))] as const] : [];
    }),
  );
}
