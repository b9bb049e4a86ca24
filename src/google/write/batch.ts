import { isSyncError, SyncError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import { cellName } from '../a1.ts';
import type { Request, SheetsClient } from '../client.ts';
import { isFullRefusal } from '../errors.ts';
import { type Stored, tagWrite, type WriteTag } from '../metadata.ts';
import type { Batch, PlannedStep, Row, Tabs } from './planned.ts';
import { planReadBack, rangesOf, readBack } from './read-back.ts';
import { placeOfRefusal, sheetsOfCopies } from './refused-place.ts';
import { tabRequests } from './requests.ts';
import { type KeptCells, keptFields, planKeeping, readKept, type Shadow } from './shadow.ts';
import { applySteps, sortSteps } from './steps.ts';

/** What was found where a batch was sent to. */
export interface Ground {
  readonly tabs: Tabs;
  readonly shadow: Shadow | undefined;
  /** Absent where the batch does not put its name there. */
  readonly lastWrite: Stored<WriteTag> | undefined;
  /** What goes with the first part that Google takes. */
  readonly besides: readonly Request[];
}

/** What a batch left behind: what was there before it, and after it where nothing could be copied. */
export interface Sent extends KeptCells {
  /** By the numbers of the steps. */
  readonly after: ReadonlyMap<number, Row>;
  /** Tabs of which Google took no copies. */
  readonly uncopied: ReadonlySet<TabKind>;
  /** By the number of each step that was refused. */
  readonly refused: ReadonlyMap<number, SyncError>;
  /** The hidden tab as it is then. */
  readonly shadow: Shadow | undefined;
}

/** Google recommends at most 2 MB a request: https://developers.google.com/workspace/sheets/api/limits */
const batchBytesMax = 1_800_000;

/**
 * Sends a batch, which is atomic. Steps that are too many for one are halved until each part fits; then each part is atomic, in the order
 * sets, appends, deletes. A batch that Google refuses is sent again in a part for each tab, so that one protected cell does not keep all
 * other tabs from being written.
 */
export async function sendBatch(client: SheetsClient, log: Log, batch: Batch, ground: Ground): Promise<Sent> {
  let { tabs, shadow, lastWrite, besides } = ground;

  async function sendPart(
    steps: readonly PlannedStep[],
    uncopied: ReadonlySet<TabKind> = new Set(),
  ): Promise<Sent> {
    if (steps.length === 0) return nothingSent;
    const part = planPart(steps, batch, { tabs, shadow, lastWrite, besides }, uncopied);
    const { back, keep, ownTabs, requests } = part;
    const send = (some: readonly PlannedStep[]) => sendPart(some, uncopied);
    if (steps.length > 1 && Buffer.byteLength(JSON.stringify(requests)) > batchBytesMax) {
      const half = Math.ceil(steps.length / 2);
      return sendParts([steps.slice(0, half), steps.slice(half)], send);
    }
    const answer = await client
      .batchUpdate(requests, keptFields, [...keep.ranges, ...rangesOf(back)])
      .catch((error: unknown) => asRefusal(namePlace(error, requests, ownTabs, keep.shadow)));
    if (answer instanceof SyncError) {
      const blamed = findBlamed(answer, requests, ownTabs, uncopied);
      if (blamed.size === 0) return sendTabs(answer, steps, send);
      log.warn('sheet.copies_refused', { tabs: [...blamed].join(' ') });
      return sendPart(steps, uncopied.union(blamed));
    }
    tabs = part.after;
    shadow = keep.shadow;
    if (part.isTagged) lastWrite = undefined;
    besides = [];
    const found = readKept(keep.shadow, batch, answer);
    const { headers, rows } = readBack(back, answer);
    return {
      headers: new Map([...found.headers, ...headers]),
      rows: found.rows,
      after: rows,
      uncopied,
      refused: new Map(),
      shadow,
    };
  }

  return sendPart(inOrder(batch.steps));
}

const nothingSent: Sent = {
  headers: new Map(),
  rows: new Map(),
  after: new Map(),
  uncopied: new Set(),
  refused: new Map(),
  shadow: undefined,
};

const joinSent = (one: Sent, other: Sent): Sent => ({
  headers: new Map([...one.headers, ...other.headers]),
  rows: new Map([...one.rows, ...other.rows]),
  after: new Map([...one.after, ...other.after]),
  uncopied: one.uncopied.union(other.uncopied),
  refused: new Map([...one.refused, ...other.refused]),
  shadow: other.shadow ?? one.shadow,
});

function planPart(
  steps: readonly PlannedStep[],
  batch: Batch,
  { besides, lastWrite, shadow, tabs }: Ground,
  uncopied: ReadonlySet<TabKind>,
) {
  const ownTabs: Tabs = new Map([...tabs].filter(([kind]) => steps.some(({ entity }) => entity === kind)));
  const keep = planKeeping(shadow, batch, ownTabs, steps, uncopied);
  const after = new Map(tabs);
  const parts: Request[][] = [];
  for (const [entity, tab] of ownTabs) {
    const sorted = sortSteps(steps.filter((step) => step.entity === entity));
    parts.push(tabRequests(tab, sorted, shadow, !uncopied.has(entity)));
    after.set(entity, applySteps(tab, sorted));
  }
  // Questions say nothing of records: a daemon that may not touch those yet asks, and is no reason for another one to stop.
  const isOfRecords = steps.some(({ entity }) => entity !== 'question');
  const tag = lastWrite && isOfRecords ? tagWrite(lastWrite, batch.run) : [];
  return {
    // Flat, not spread: what a long tab is given back is more than a call takes as arguments.
    requests: [keep.requests, parts.flat(), tag, besides].flat(),
    back: planReadBack(steps, ownTabs, uncopied),
    isTagged: tag.length > 0,
    after,
    keep,
    ownTabs,
  };
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

/** Returns the error with the cell where the refused request begins: Google gives only the number of the request in the batch. */
function namePlace(
  error: unknown,
  requests: readonly Request[],
  tabs: Tabs,
  shadow: Shadow | undefined,
): unknown {
  if (!isSyncError(error, 'SHEET_REFUSED')) return error;
  const { sheetId, start } = placeOfRefusal(error, requests);
  if (shadow && shadow.sheetId === sheetId)
    return error.reworded(`${error.message} It is about the hidden tab “${shadow.title}”.`);
  const tab = [...tabs.values()].find((each) => each.sheetId === sheetId);
  if (!tab) return error;
  const cell = start && cellName(start.rowIndex ?? 0, start.columnIndex ?? 0);
  const from = cell === undefined ? '' : `, from ${cell} on`;
  return error.reworded(`${error.message} It is about “${tab.title}”${from}.`);
}

/** Sends some steps of a batch. */
type SendPart = (steps: readonly PlannedStep[]) => Promise<Sent>;

/** One part after the other. What comes later for a tab that is refused builds on what it did not take, and is not sent. */
async function sendParts(parts: readonly (readonly PlannedStep[])[], send: SendPart): Promise<Sent> {
  let sent = nothingSent;
  for (const steps of parts) {
    const refusals = new Map(
      steps.flatMap(({ entity, number }) => {
        const error = findRefusal(parts, sent, entity);
        return error ? [[number, error] as const] : [];
      }),
    );
    sent = { ...sent, refused: new Map([...sent.refused, ...refusals]) };
    sent = joinSent(sent, await send(steps.filter(({ number }) => !refusals.has(number))));
  }
  return sent;
}

const findRefusal = (parts: readonly (readonly PlannedStep[])[], { refused }: Sent, entity: TabKind) =>
  parts.flat().flatMap((step) => (step.entity === entity ? (refused.get(step.number) ?? []) : []))[0];

/** What becomes of the steps of a batch that was refused, of which nothing has landed. Questions go first, because they may stop the rest. */
async function sendTabs(error: SyncError, steps: readonly PlannedStep[], send: SendPart): Promise<Sent> {
  const byTab = Map.groupBy(steps, ({ entity }) => entity);
  if (byTab.size === 1) {
    const parts = isFullRefusal(error) ? smallerParts(steps) : [];
    return parts.length > 0 ? sendParts(parts, send) : refusedSteps(error, steps);
  }
  const { question = [], ...records } = Object.fromEntries(byTab);
  return sendParts([question, ...Object.values(records)], send);
}

/**
 * What may be written of a tab although the spreadsheet has no room for all of it: what is set goes first, and then the rows that make room
 * for the new ones. Where the hidden tab would grow too large for all that is set, it goes by halves; the rest comes in later cycles.
 */
function smallerParts(steps: readonly PlannedStep[]): PlannedStep[][] {
  const kinds = (['set', 'delete', 'append'] as const)
    .map((wanted) => steps.filter(({ kind }) => kind === wanted))
    .filter(({ length }) => length > 0);
  if (kinds.length > 1) return kinds;
  const half = Math.ceil(steps.length / 2);
  return steps.length > 1 && steps[0]?.kind === 'set' ? [steps.slice(0, half), steps.slice(half)] : [];
}

/** Returns the refusal of a batch; throws every other error. */
function asRefusal(error: unknown): SyncError {
  if (isSyncError(error, 'SHEET_REFUSED')) return error;
  throw error;
}

/** A question that cannot be taken away keeps its answer, which would count once more if the same is asked again: then nothing may go on. */
function refusedSteps(error: SyncError, steps: readonly PlannedStep[]): Sent {
  if (steps.some(({ entity, kind }) => entity === 'question' && kind === 'delete')) throw error;
  return { ...nothingSent, refused: new Map(steps.map(({ number }) => [number, error])) };
}

/** In which order parts of a batch that is too large go. */
function inOrder(steps: readonly PlannedStep[]): PlannedStep[] {
  const { sets, appends, deletes } = sortSteps(steps);
  return [...sets, ...appends, ...deletes];
}
