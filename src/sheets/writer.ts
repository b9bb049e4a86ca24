import { isSyncError, SyncError } from '../core/errors.ts';
import type { TabKind } from '../core/layout.ts';
import type { Log, Table } from '../core/ports.ts';
import type { RowStep, WriteReply } from '../core/table.ts';
import { columnLetters } from './a1.ts';
import type { Request, SheetsClient } from './client.ts';
import { placesOf, toPlannedTab } from './kept.ts';
import { type Stored, tagWrite, type WriteTag } from './metadata.ts';
import {
  expectIdColumns,
  type KeepingPlan,
  keptStepsOf,
  numbered,
  planKept,
  readAllKept,
  type Tabs,
  toReply,
} from './reply.ts';
import { keptFields, planKeeping, readKept, type Shadow } from './shadow.ts';
import { applySteps, sortSteps } from './steps.ts';
import { tabRequests } from './write.ts';

/** Writes steps to the tabs as they were read last. */
export interface Writer extends Pick<Table, 'write' | 'places' | 'recall'> {
  /** Takes over what a read found. */
  start(tabs: Tabs, shadow: Shadow | undefined, lastWrite: Stored<WriteTag> | undefined): void;
}

/** Google recommends at most 2 MB a request: https://developers.google.com/workspace/sheets/api/limits */
const batchBytesMax = 1_800_000;

/**
 * A batch is atomic. Steps that are too many for one are halved until each part fits; then each part is
 * atomic, in the order sets, appends, deletes. A new read must come before the next write.
 */
export function createWriter(client: SheetsClient, log: Log): Writer {
  let read: Tabs = new Map();
  /** The tabs as they stand after the parts that were written. */
  let tabs: Tabs = new Map();
  let shadow: Shadow | undefined;
  /** Absent once this write has put its name there. */
  let lastWrite: Stored<WriteTag> | undefined;

  async function writeBatch(steps: readonly RowStep[], plan: KeepingPlan | undefined): Promise<WriteReply> {
    if (steps.length === 0) return emptyReply;
    const { requests, after } = planSteps(steps, tabs, shadow);
    const own = plan ? numbered(steps, plan) : new Map<number, RowStep>();
    const kept = keptStepsOf(own);
    const keep = plan && planKeeping(shadow, plan.keeping, tabsOf(steps, tabs), kept);
    // Questions say nothing of records: a daemon that may not touch those yet asks, and is no reason for another one to stop.
    const isOfRecords = steps.some(({ entity }) => entity !== 'question');
    const tag = plan && lastWrite && isOfRecords ? tagWrite(lastWrite, plan.keeping.run) : [];
    const all = [...(keep?.requests ?? []), ...requests, ...tag];
    if (steps.length > 1 && Buffer.byteLength(JSON.stringify(all)) > batchBytesMax) {
      const half = Math.ceil(steps.length / 2);
      const first = await writeBatch(steps.slice(0, half), plan);
      return joinReplies(first, await writeBatch(steps.slice(half), plan));
    }
    const answer = await client.batchUpdate(all, keptFields, keep?.ranges ?? []).catch((error: unknown) => {
      throw namePlace(error, all, tabs);
    });
    const met = tabs;
    tabs = after;
    if (tag.length > 0) lastWrite = undefined;
    if (!plan || !keep) return emptyReply;
    shadow = keep.shadow;
    const slots = kept.map(({ slot }) => slot);
    const cells = readKept(keep.shadow, plan.keeping, slots, answer);
    expectIdColumns(met, cells);
    const reply = toReply(plan.keeping, own, met, cells);
    if (reply.hits.size > 0) log.warn('sheet.columns_moved', { steps: reply.hits.size });
    return reply;
  }

  return {
    start(nowRead, nowShadow, nowLastWrite) {
      read = nowRead;
      tabs = nowRead;
      shadow = nowShadow;
      lastWrite = nowLastWrite;
    },
    async write(steps, keeping) {
      try {
        return await writeBatch(inOrder(steps), keeping && planKept(steps, keeping));
      } finally {
        tabs = new Map();
      }
    },
    places: () => Object.fromEntries([...read].map(([kind, tab]) => [kind, placesOf(tab)])),
    async recall({ keeping, places, steps }) {
      if (!shadow) return undefined;
      const slots = [...steps.keys()].filter((number) => number >= 0);
      const cells = await readAllKept(client, shadow, keeping, slots);
      if (cells.headers.size === 0) return undefined;
      const planned = Object.entries(places).map(
        ([kind, tab]) => [kind as TabKind, toPlannedTab(tab)] as const,
      );
      return toReply(keeping, steps, new Map(planned), cells);
    },
  };
}

/** Google names what it refuses by its number in the batch, which tells people nothing: the error with the cell where it begins. */
function namePlace(error: unknown, requests: readonly Request[], tabs: Tabs): unknown {
  if (!isSyncError(error, 'SHEET_REFUSED')) return error;
  const [, number] = /requests\[(\d+)\]/.exec(error.message) ?? [];
  const start = requests[Number(number)]?.updateCells?.start;
  const tab = [...tabs.values()].find(({ sheetId }) => sheetId === start?.sheetId);
  if (!start || !tab) return error;
  const cell = `${columnLetters(start.columnIndex ?? 0)}${(start.rowIndex ?? 0) + 1}`;
  return new SyncError(error.code, `${error.message} It is about “${tab.title}”, from ${cell} on.`);
}

const emptyReply: WriteReply = { rows: new Map(), hits: new Map() };

const joinReplies = (one: WriteReply, other: WriteReply): WriteReply => ({
  rows: new Map([...one.rows, ...other.rows]),
  hits: new Map([...one.hits, ...other.hits]),
});

/** In which order parts of a batch that is too large go. */
function inOrder(steps: readonly RowStep[]): RowStep[] {
  const { sets, appends, deletes } = sortSteps(steps);
  return [...sets, ...appends, ...deletes];
}

const tabsOf = (steps: readonly RowStep[], tabs: Tabs): Tabs =>
  new Map([...tabs].filter(([kind]) => steps.some(({ entity }) => entity === kind)));

/** The requests of some steps, and the tabs as they stand after them. */
function planSteps(
  steps: readonly RowStep[],
  tabs: Tabs,
  shadow: Shadow | undefined,
): { readonly requests: readonly Request[]; readonly after: Tabs } {
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
