import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { isSyncError, SyncError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { isUnfilled } from '../../sheet/port/cell.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import { cellName } from '../a1.ts';
import type { Request, SheetsClient } from '../client.ts';
import { isFullRefusal } from '../errors.ts';
import { type Stored, type WriteTag, writeTag, writeTags } from '../metadata.ts';
import { type Moment, meetColumns } from './judge.ts';
import { applySteps, type Batch, type PlannedStep, type Row, sortSteps, type Tabs } from './planned.ts';
import { findMet, planReadBack, rangesOf, readBack } from './read-back.ts';
import { tabRequests } from './requests.ts';
import { keptFields, planKeeping, readMarked, type Shadow, sortKept } from './shadow.ts';

/** What was found where a batch was sent to. */
export interface Ground {
  readonly tabs: Tabs;
  readonly shadow: Shadow | undefined;
  /** Absent where the batch does not put its name there. */
  readonly lastWrite: Stored<WriteTag> | undefined;
  /** What goes with the first part that Google takes. */
  readonly besides: readonly Request[];
}

/** What is known of the moment in which a batch landed. */
export interface Sent extends Omit<Moment, 'others'> {
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
  let now = ground;
  const headers = new Map<TabKind, Row>();
  const rows = new Map<number, Row>();
  const refused = new Map<number, SyncError>();
  const uncopiedRows = new Set<number>();
  const refusedTabs = new Map<TabKind, SyncError>();

  const refuse = (steps: readonly PlannedStep[]): void => {
    for (const { entity, number } of steps) {
      const error = refusedTabs.get(entity);
      if (error) refused.set(number, error);
    }
  };

  async function sendPart(steps: readonly PlannedStep[], uncopied: ReadonlySet<TabKind>): Promise<void> {
    if (steps.length === 0) return;
    const { back, keep, next, ownTabs, requests } = planPart(steps, batch, now, uncopied);
    if (steps.length > 1 && Buffer.byteLength(JSON.stringify(requests)) > batchBytesMax)
      return sendParts(halves(steps), uncopied);
    const answer = await client
      .batchUpdate(requests, keptFields, [...keep.ranges, ...rangesOf(back)])
      .catch((error: unknown) => refusalAt(error, requests, ownTabs, keep.shadow));
    if (answer instanceof SyncError) {
      const blamed = findBlamed(answer, requests, ownTabs, uncopied);
      if (blamed.size > 0) {
        log.warn('sheet.copies_refused', { tabs: [...blamed].join(' ') });
        return sendPart(steps, uncopied.union(blamed));
      }
      const parts = smallerParts(answer, steps);
      if (parts.length > 0) return sendParts(parts, uncopied);
      // A question that cannot be taken away keeps its answer, which would count once more if the same is asked again: then nothing may go on.
      if (steps.some(({ entity, kind }) => entity === 'question' && kind === 'delete')) throw answer;
      // What is left is of one tab.
      for (const { entity } of steps) refusedTabs.set(entity, answer);
      return refuse(steps);
    }
    now = next;
    const kept = sortKept(batch, readMarked(keep.shadow, batch.run, answer));
    const read = readBack(back, answer);
    for (const [kind, row] of [...kept.headers, ...read.headers]) headers.set(kind, row);
    for (const step of steps) {
      const { entity, kind, number } = step;
      const [planned, header] = [batch.tabs.get(entity), headers.get(entity)];
      if (!planned || !header || kind === 'append') continue;
      const [copy = [], after] = [kept.rows.get(number), read.rows.get(number)];
      // A row that was not copied is found by how it is after the batch.
      const isCopied = !after || (!copy.every(isUnfilled) && !uncopied.has(entity));
      if (!isCopied) uncopiedRows.add(number);
      const before = ground.tabs.get(entity)?.rows ?? [];
      rows.set(number, isCopied ? copy : (findMet(step, meetColumns(planned, header), before, after) ?? []));
    }
  }

  /** One part after the other. What comes later for a tab that is refused builds on what it did not take, and is not sent. */
  async function sendParts(
    parts: readonly (readonly PlannedStep[])[],
    uncopied: ReadonlySet<TabKind>,
  ): Promise<void> {
    for (const steps of parts) {
      refuse(steps);
      const left = steps.filter(({ entity }) => !refusedTabs.has(entity));
      await sendPart(left, uncopied);
    }
  }

  const { sets, appends, deletes } = sortSteps(batch.steps);
  await sendPart([...sets, ...appends, ...deletes], new Set());
  return { headers, rows, refused, uncopied: uncopiedRows, shadow: now.shadow };
}

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
    parts.push(tabRequests(tab, sorted, uncopied.has(entity) ? undefined : shadow));
    after.set(entity, applySteps(tab, sorted));
  }
  // Questions say nothing of records: a daemon that may not touch those yet asks, and is no reason for another one to stop.
  const isOfRecords = steps.some(({ entity }) => entity !== 'question');
  const tag = lastWrite && isOfRecords ? writeTag(writeTags, lastWrite, { run: batch.run }) : [];
  return {
    // Flat, not spread: what a long tab is given back is more than a call takes as arguments.
    requests: [keep.requests, parts.flat(), tag, besides].flat(),
    back: planReadBack(steps, ownTabs, uncopied),
    // The ground of the part that comes next.
    next: {
      tabs: after,
      shadow: keep.shadow,
      lastWrite: tag.length > 0 ? undefined : lastWrite,
      besides: [],
    } satisfies Ground,
    keep,
    ownTabs,
  };
}

/**
 * The tabs of which a batch copies, or to which it copies back, where that may be why it was refused, as where a filter hides a row of them:
 * in the request that Google names, or in all where it names none. Without copies the batch may be accepted.
 */
function findBlamed(
  error: SyncError,
  requests: readonly Request[],
  tabs: Tabs,
  uncopied: ReadonlySet<TabKind>,
): ReadonlySet<TabKind> {
  if (isFullRefusal(error)) return new Set();
  const number = numberIn(error);
  const named = number === undefined ? requests : requests.slice(number, number + 1);
  const copies = named.flatMap(({ copyPaste }) => copyPaste ?? []);
  const isCopied = (id: number) =>
    copies.some(({ destination, source }) => source?.sheetId === id || destination?.sheetId === id);
  const kinds = [...tabs].flatMap(([kind, { sheetId }]) => (isCopied(sheetId) ? [kind] : []));
  return new Set(kinds).difference(uncopied);
}

/**
 * Returns a refusal with the cell where the refused request begins: Google gives only the number of the request in the batch. Throws every
 * other error.
 */
function refusalAt(error: unknown, requests: readonly Request[], tabs: Tabs, shadow: Shadow): SyncError {
  if (!isSyncError(error, 'SHEET_REFUSED')) throw error;
  const { sheetId, start } = placeOfRefusal(error, requests);
  if (shadow.sheetId === sheetId)
    return error.reworded(`${error.message} It is about the hidden tab “${shadow.title}”.`);
  const tab = [...tabs.values()].find((each) => each.sheetId === sheetId);
  if (!tab) return error;
  const cell = start && cellName(start.rowIndex ?? 0, start.columnIndex ?? 0);
  const from = cell === undefined ? '' : `, from ${cell} on`;
  return error.reworded(`${error.message} It is about “${tab.title}”${from}.`);
}

/**
 * What is sent in place of a batch that was refused, of which nothing has landed: each tab alone, questions first, because they may stop the
 * rest. Of a tab that is alone already something may be written although the spreadsheet has no room for all of it: what is set goes first,
 * and then the rows that make room for the new ones. Where the hidden tab would grow too large for all that is set, it goes by halves; the
 * rest comes in later cycles.
 */
function smallerParts(error: SyncError, steps: readonly PlannedStep[]): (readonly PlannedStep[])[] {
  const byTab = Map.groupBy(steps, ({ entity }) => entity);
  const { question = [], ...records } = Object.fromEntries(byTab);
  if (byTab.size > 1) return [question, ...Object.values(records)];
  if (!isFullRefusal(error)) return [];
  const { sets, appends, deletes } = sortSteps(steps);
  const kinds = [sets, deletes, appends].filter(({ length }) => length > 0);
  if (kinds.length > 1) return kinds;
  return steps.length > 1 && steps[0]?.kind === 'set' ? halves(steps) : [];
}

function halves(steps: readonly PlannedStep[]): PlannedStep[][] {
  const half = Math.ceil(steps.length / 2);
  return [steps.slice(0, half), steps.slice(half)];
}

/** How requests say where they begin: with their first cell, where they write cells one by one, or with a range. */
interface Placed extends Pick<sheets_v4.Schema$UpdateCellsRequest, 'start' | 'range'> {
  readonly destination?: sheets_v4.Schema$GridRange;
  readonly developerMetadata?: sheets_v4.Schema$DeveloperMetadata;
}

/** The number of the request that Google names; `undefined` where it names none. */
function numberIn({ message }: SyncError): number | undefined {
  const [, number] = /requests\[(\d+)\]/.exec(message) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** What the request is about that Google names by its number in the batch; nothing where it names none, or none of a tab. */
export function placeOfRefusal(error: SyncError, requests: readonly Request[]) {
  // A request has one member, which names its kind.
  const [body]: readonly Placed[] = Object.values(requests[numberIn(error) ?? -1] ?? {});
  const range = body?.range ?? body?.destination ?? body?.developerMetadata?.location?.dimensionRange;
  return { sheetId: body?.start?.sheetId ?? range?.sheetId, start: body?.start };
}
