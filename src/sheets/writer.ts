import { SyncError } from '../core/errors.ts';
import type { TabKind } from '../core/layout.ts';
import type { Log, Table } from '../core/ports.ts';
import {
  type Hit,
  type Keeping,
  type KeptRow,
  keptSteps,
  type RowStep,
  type WriteReply,
} from '../core/table.ts';
import type { Request, SheetsClient } from './client.ts';
import { findHit, findKeptColumns, type KeptColumns, toKeptRow } from './kept.ts';
import type { BoundTab } from './read.ts';
import {
  type KeptCells,
  type KeptStep,
  keptFields,
  keptRange,
  planKeeping,
  readKept,
  rowOfSlot,
  type Shadow,
} from './shadow.ts';
import { applySteps, sortSteps } from './steps.ts';
import { tabRequests } from './write.ts';

/** Writes steps to the tabs as they were read last. */
export interface Writer extends Pick<Table, 'write' | 'recall'> {
  /** Takes over what a read found. */
  start(tabs: Tabs, shadow: Shadow | undefined): void;
}

type Tabs = ReadonlyMap<TabKind, BoundTab>;

/** Google recommends at most 2 MB a request: https://developers.google.com/workspace/sheets/api/limits */
const batchBytesMax = 1_800_000;

/**
 * A batch is atomic. Steps that are too many for one are halved until each part fits; then each part is
 * atomic, in the order sets, appends, deletes. A new read must come before the next write.
 */
export function createWriter(client: SheetsClient, log: Log): Writer {
  let tabs: Tabs = new Map();
  let read: Tabs = new Map();
  let shadow: Shadow | undefined;

  /** The requests of some steps, and the tabs as they stand after them. */
  function planSteps(steps: readonly RowStep[]): { requests: Request[]; after: Tabs } {
    const after = new Map(tabs);
    const requests: Request[] = [];
    for (const [entity, own] of Map.groupBy(steps, (step) => step.entity)) {
      const before = tabs.get(entity);
      if (!before) throw new Error(`The tab of ${entity} was written without a read before it.`);
      const sorted = sortSteps(own);
      requests.push(...tabRequests(before, sorted, shadow));
      after.set(entity, applySteps(before, sorted));
    }
    return { requests, after };
  }

  async function writeBatch(steps: readonly RowStep[], plan: KeepingPlan | undefined): Promise<WriteReply> {
    const { requests, after } = planSteps(steps);
    if (requests.length === 0) return emptyReply;
    const used = new Map([...tabs].filter(([kind]) => steps.some(({ entity }) => entity === kind)));
    const kept = plan && keptStepsOf(steps, plan);
    const keep = plan && kept && planKeeping(shadow, plan.keeping, used, kept);
    const all = [...(keep?.requests ?? []), ...requests];
    if (steps.length > 1 && Buffer.byteLength(JSON.stringify(all)) > batchBytesMax) {
      const half = Math.ceil(steps.length / 2);
      const first = await writeBatch(steps.slice(0, half), plan);
      const rest = await writeBatch(steps.slice(half), plan);
      return { rows: new Map([...first.rows, ...rest.rows]), hits: new Map([...first.hits, ...rest.hits]) };
    }
    const answer = await client.batchUpdate(all, keptFields, keep?.ranges ?? []);
    const met = tabs;
    tabs = after;
    if (!plan || !keep) return emptyReply;
    shadow = keep.shadow;
    const slots = (kept ?? []).map(({ slot }) => slot);
    return tellReply(steps, plan, met, readKept(shadow, plan.keeping, slots, answer), slots);
  }

  /** Where columns moved, everything that was kept has to be known, also what the reply did not have to tell. */
  async function tellReply(
    steps: readonly RowStep[],
    plan: KeepingPlan,
    met: Tabs,
    told: KeptCells,
    slots: readonly number[],
  ): Promise<WriteReply> {
    const columns = findColumns(met, told);
    for (const { entity } of steps) {
      const { title } = met.get(entity) ?? {};
      if (!columns.has(entity))
        throw new SyncError('SHEET_UNREACHABLE', `“${title}” lost its ID column while it was written.`);
    }
    const hits = findHits(steps, met, columns);
    if (hits.size > 0) log.warn('sheet.columns_moved', { steps: hits.size });
    const cells = hits.size > 0 && shadow ? await readAll(shadow, plan.keeping, slots) : told;
    return { rows: toRows(plan.keeping, cells, columns, (slot) => plan.entities.get(slot)), hits };
  }

  async function readAll(known: Shadow, keeping: Keeping, slots: readonly number[]): Promise<KeptCells> {
    const ranges = keptRange(known, keeping, Math.max(...slots) + 1);
    const answer = ranges.length > 0 ? await client.get(keptFields, ranges) : undefined;
    return readKept(known, keeping, slots, answer ?? {});
  }

  return {
    start(nowRead, nowShadow) {
      tabs = nowRead;
      read = nowRead;
      shadow = nowShadow;
    },
    async write(steps, keeping) {
      try {
        return await writeBatch(inOrder(steps), keeping && planOf(steps, keeping));
      } finally {
        tabs = new Map();
      }
    },
    async recall(keeping, steps) {
      if (!shadow || steps.size === 0) return new Map();
      const slots = [...steps.keys()];
      const cells = await readAll(shadow, keeping, slots);
      return toRows(keeping, cells, findColumns(read, cells), (slot) => steps.get(slot));
    },
  };
}

const emptyReply: WriteReply = { rows: new Map(), hits: new Map() };

/** In which order parts of a batch that is too large go. */
function inOrder(steps: readonly RowStep[]): RowStep[] {
  const { sets, appends, deletes } = sortSteps(steps);
  return [...sets, ...appends, ...deletes];
}

/** Which row of the hidden tab keeps what each step reaches. */
interface KeepingPlan {
  readonly keeping: Keeping;
  readonly slots: ReadonlyMap<RowStep, number>;
  readonly entities: ReadonlyMap<number, TabKind>;
}

function planOf(steps: readonly RowStep[], keeping: Keeping): KeepingPlan {
  const kept = keptSteps(steps);
  return {
    keeping,
    slots: new Map(kept.map((step, slot) => [step, slot])),
    entities: new Map(kept.map(({ entity }, slot) => [slot, entity])),
  };
}

/** A Sync cell alone does no harm in a row that is not its own: it is written again anyway. */
function keptStepsOf(steps: readonly RowStep[], { slots }: KeepingPlan): KeptStep[] {
  return steps.flatMap((step): KeptStep[] => {
    const slot = slots.get(step);
    if (slot === undefined || step.kind === 'append') return [];
    const { entity, position } = step;
    const isWhole = step.kind === 'delete';
    const isTold = isWhole || step.id !== undefined || Object.keys(step.cells).length > 0;
    return [{ slot, entity, position, isWhole, isTold }];
  });
}

/** The columns that a write met in each tab; a tab is absent whose ID column was gone. */
const findColumns = (tabs: Tabs, { headers }: KeptCells): ReadonlyMap<TabKind, KeptColumns> =>
  new Map(
    [...headers].flatMap(([kind, row]) => {
      const tab = tabs.get(kind);
      const columns = tab && findKeptColumns(tab, row);
      return columns ? [[kind, columns] as const] : [];
    }),
  );

function findHits(
  steps: readonly RowStep[],
  tabs: Tabs,
  columns: ReadonlyMap<TabKind, KeptColumns>,
): ReadonlyMap<RowStep, Hit> {
  const hits = new Map<RowStep, Hit>();
  for (const step of steps) {
    const [tab, met] = [tabs.get(step.entity), columns.get(step.entity)];
    const hit = tab && met && step.kind !== 'delete' ? findHit(tab, step, met) : undefined;
    if (hit) hits.set(step, hit);
  }
  return hits;
}

function toRows(
  keeping: Keeping,
  { rows }: KeptCells,
  columns: ReadonlyMap<TabKind, KeptColumns>,
  entityOf: (slot: number) => TabKind | undefined,
): ReadonlyMap<number, KeptRow> {
  return new Map(
    [...rows].flatMap(([slot, cells]) => {
      const entity = entityOf(slot);
      const met = entity && columns.get(entity);
      return met ? [[slot, toKeptRow(met, cells, rowOfSlot(keeping, slot))] as const] : [];
    }),
  );
}
