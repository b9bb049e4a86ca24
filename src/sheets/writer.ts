import { isSyncError, SyncError } from '../core/errors.ts';
import type { TabKind } from '../core/layout.ts';
import type { Log, Table } from '../core/ports.ts';
import type { Keeping, RowStep, WriteRefusal, WriteReply } from '../core/table.ts';
import { cellName } from './a1.ts';
import type { Request, SheetsClient, Spreadsheet } from './client.ts';
import { isFullRefusal } from './errors.ts';
import { planReadBack, rangesOf, readBack } from './filtered-rows.ts';
import { placesOf, toPlannedTab } from './kept.ts';
import { type Stored, tagWrite, type WriteTag } from './metadata.ts';
import { placeOfRefusal, sheetsOfCopies } from './refused-place.ts';
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
export interface Writer extends Pick<Table, 'places' | 'recall'> {
  /** As {@link Table.write}; `besides` goes with the first batch that Google takes. */
  write(
    steps: readonly RowStep[],
    keeping?: Keeping,
    besides?: readonly Request[],
  ): ReturnType<Table['write']>;
  /** Takes over what a read found. */
  start(tabs: Tabs, shadow: Shadow | undefined, lastWrite: Stored<WriteTag> | undefined): void;
}

/** Google recommends at most 2 MB a request: https://developers.google.com/workspace/sheets/api/limits */
const batchBytesMax = 1_800_000;

/**
 * A batch is atomic. Steps that are too many for one are halved until each part fits; then each part is
 * atomic, in the order sets, appends, deletes. A batch that Google refuses is sent again in a part for each tab, so that one protected
 * cell does not keep all other tabs from being written. A new read must come before the next write.
 */
export function createWriter(client: SheetsClient, log: Log): Writer {
  let read: Tabs = new Map();
  /** The tabs as they stand after the parts that were written. */
  let tabs: Tabs = new Map();
  let shadow: Shadow | undefined;
  /** Absent once this write has put its name there. */
  let lastWrite: Stored<WriteTag> | undefined;
  let besides: readonly Request[] = [];

  async function writeBatch(
    steps: readonly RowStep[],
    plan: KeepingPlan | undefined,
    uncopied: ReadonlySet<TabKind> = new Set(),
  ): Promise<WriteReply> {
    if (steps.length === 0) return emptyReply;
    const batch = planBatch(steps, plan, { tabs, shadow, lastWrite, besides, uncopied });
    const { back, keep, ownTabs, requests } = batch;
    const writePart = (part: readonly RowStep[]) => writeBatch(part, plan, uncopied);
    if (steps.length > 1 && Buffer.byteLength(JSON.stringify(requests)) > batchBytesMax) {
      const half = Math.ceil(steps.length / 2);
      return writeParts([steps.slice(0, half), steps.slice(half)], writePart);
    }
    const answer = await client
      .batchUpdate(requests, keptFields, keep ? [...keep.ranges, ...rangesOf(back)] : [])
      .catch((error: unknown) => asRefusal(namePlace(error, requests, ownTabs, keep?.shadow)));
    if (answer instanceof SyncError) {
      const blamed = findBlamed(answer, requests, ownTabs, uncopied);
      if (blamed.size === 0) return writeTabs(answer, steps, writePart);
      log.warn('sheet.copies_refused', { tabs: [...blamed].join(' ') });
      return writeBatch(steps, plan, uncopied.union(blamed));
    }
    const met = tabs;
    tabs = batch.after;
    if (batch.isTagged) lastWrite = undefined;
    besides = [];
    if (!plan || !keep) return emptyReply;
    shadow = keep.shadow;
    const reply = readReply(batch, met, plan, keep.shadow, answer);
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
    async write(steps, keeping, more = []) {
      besides = more;
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

/** What a batch is planned from. */
interface Ground {
  readonly tabs: Tabs;
  readonly shadow: Shadow | undefined;
  readonly lastWrite: Stored<WriteTag> | undefined;
  /** What goes with the first batch that Google takes. */
  readonly besides: readonly Request[];
  /** Tabs of which Google refuses copies, so that their rows are read back alone. */
  readonly uncopied: ReadonlySet<TabKind>;
}

type Batch = ReturnType<typeof planBatch>;

function planBatch(steps: readonly RowStep[], plan: KeepingPlan | undefined, ground: Ground) {
  const { besides, lastWrite, shadow, tabs, uncopied } = ground;
  const { requests, after } = planSteps(steps, ground);
  const own = plan ? numbered(steps, plan) : new Map<number, RowStep>();
  const kept = keptStepsOf(own);
  const ownTabs = tabsOf(steps, tabs);
  const keep = plan && planKeeping(shadow, plan.keeping, ownTabs, kept, uncopied);
  // Questions say nothing of records: a daemon that may not touch those yet asks, and is no reason for another one to stop.
  const isOfRecords = steps.some(({ entity }) => entity !== 'question');
  const tag = plan && lastWrite && isOfRecords ? tagWrite(lastWrite, plan.keeping.run) : [];
  return {
    requests: [...(keep?.requests ?? []), ...requests, ...tag, ...besides],
    back: planReadBack(steps, ownTabs, uncopied),
    isTagged: tag.length > 0,
    after,
    keep,
    kept,
    own,
    ownTabs,
    uncopied,
  };
}

/** Fails with SHEET_UNREACHABLE where the ID column of a tab was gone. */
function readReply(
  { back, kept, own, uncopied }: Batch,
  met: Tabs,
  { keeping }: KeepingPlan,
  shadow: Shadow,
  answer: Spreadsheet,
): WriteReply {
  const slots = kept.map(({ slot }) => slot);
  const found = readKept(shadow, keeping, slots, answer);
  const { headers, rows } = readBack(back, answer);
  const cells = { ...found, headers: new Map([...found.headers, ...headers]) };
  expectIdColumns(met, cells);
  return toReply(keeping, own, met, cells, rows, uncopied);
}

/** The tabs whose copies may be why a batch was refused, as where a filter hides a row of them: without copies it may be accepted. */
function findBlamed(
  error: SyncError,
  requests: readonly Request[],
  tabs: Tabs,
  uncopied: ReadonlySet<TabKind>,
): ReadonlySet<TabKind> {
  if (isFullRefusal(error)) return new Set();
  const sheetIds = sheetsOfCopies(error, requests);
  const kinds = [...tabs].flatMap(([kind, { sheetId }]) => (sheetIds.has(sheetId) ? [kind] : []));
  return new Set(kinds).difference(uncopied);
}

/** Google names what it refuses by its number in the batch, which tells people nothing: the error with the cell where it begins. */
function namePlace(
  error: unknown,
  requests: readonly Request[],
  tabs: Tabs,
  shadow: Shadow | undefined,
): unknown {
  if (!isSyncError(error, 'SHEET_REFUSED')) return error;
  const { sheetId, start } = placeOfRefusal(error, requests);
  if (shadow && shadow.sheetId === sheetId)
    return new SyncError(error.code, `${error.message} It is about the hidden tab “${shadow.title}”.`);
  const tab = [...tabs.values()].find((each) => each.sheetId === sheetId);
  if (!tab) return error;
  const cell = start && cellName(start.rowIndex ?? 0, start.columnIndex ?? 0);
  const from = cell === undefined ? '' : `, from ${cell} on`;
  return new SyncError(error.code, `${error.message} It is about “${tab.title}”${from}.`);
}

/** Writes some steps of a write. */
type WritePart = (steps: readonly RowStep[]) => Promise<WriteReply>;

/** One part after the other. What comes later for a tab that is refused builds on what it did not take, and is not sent. */
async function writeParts(parts: readonly (readonly RowStep[])[], write: WritePart): Promise<WriteReply> {
  let reply = emptyReply;
  for (const steps of parts) {
    const { refusal } = reply;
    const refused = new Set([...(refusal?.steps ?? [])].map(({ entity }) => entity));
    const held = steps.filter(({ entity }) => refused.has(entity));
    if (refusal) reply = joinReplies(reply, refusedReply(refusal.error, held));
    reply = joinReplies(reply, await write(steps.filter(({ entity }) => !refused.has(entity))));
  }
  return reply;
}

/** What becomes of the steps of a batch that was refused, of which nothing has landed. Questions go first, because they may stop the rest. */
async function writeTabs(error: SyncError, steps: readonly RowStep[], write: WritePart): Promise<WriteReply> {
  const byTab = Map.groupBy(steps, ({ entity }) => entity);
  if (byTab.size === 1) {
    const parts = isFullRefusal(error) ? smallerParts(steps) : [];
    return parts.length > 0 ? writeParts(parts, write) : refusedReply(error, steps);
  }
  const { question = [], ...records } = Object.fromEntries(byTab);
  return writeParts([question, ...Object.values(records)], write);
}

/**
 * What may be written of a tab although the spreadsheet has no room for all of it: what is set goes first, and then the rows that make room
 * for the new ones. Where the hidden tab would grow too large for all that is set, it goes by halves; the rest comes in later cycles.
 */
function smallerParts(steps: readonly RowStep[]): RowStep[][] {
  const kinds = (['set', 'delete', 'append'] as const)
    .map((wanted) => steps.filter(({ kind }) => kind === wanted))
    .filter(({ length }) => length > 0);
  if (kinds.length > 1) return kinds;
  const half = Math.ceil(steps.length / 2);
  return steps.length > 1 && steps[0]?.kind === 'set' ? [steps.slice(0, half), steps.slice(half)] : [];
}

/** Answers the refusal of a batch instead of throwing it. */
function asRefusal(error: unknown): SyncError {
  if (isSyncError(error, 'SHEET_REFUSED')) return error;
  throw error;
}

/** A question that can not be taken away keeps its answer, which would count once more if the same is asked again: then nothing may go on. */
function refusedReply(error: SyncError, steps: readonly RowStep[]): WriteReply {
  if (steps.some(({ entity, kind }) => entity === 'question' && kind === 'delete')) throw error;
  return { ...emptyReply, refusal: { error, steps: new Set(steps) } };
}

const emptyReply: WriteReply = { rows: new Map(), hits: new Map() };

function joinReplies(one: WriteReply, other: WriteReply): WriteReply {
  const refusal = joinRefusals(one.refusal, other.refusal);
  return {
    rows: new Map([...one.rows, ...other.rows]),
    hits: new Map([...one.hits, ...other.hits]),
    ...(refusal ? { refusal } : {}),
  };
}

/** The first error is told; what else is wrong shows once that is mended. */
const joinRefusals = (
  one: WriteRefusal | undefined,
  other: WriteRefusal | undefined,
): WriteRefusal | undefined =>
  one && other ? { ...one, steps: one.steps.union(other.steps) } : (one ?? other);

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
  { shadow, tabs, uncopied }: Ground,
): { readonly requests: readonly Request[]; readonly after: Tabs } {
  const after = new Map(tabs);
  const parts: Request[][] = [];
  for (const [entity, own] of Map.groupBy(steps, (step) => step.entity)) {
    const before = tabs.get(entity);
    if (!before) throw new Error(`The tab of ${entity} was written without a read before it.`);
    const sorted = sortSteps(own);
    parts.push(tabRequests(before, sorted, shadow, !uncopied.has(entity)));
    after.set(entity, applySteps(before, sorted));
  }
  // Flat, not spread: what a long tab is given back is more than a call takes as arguments.
  return { requests: parts.flat(), after };
}
