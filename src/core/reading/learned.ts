import type { RecordId } from '../record.ts';
import { type Shown, show } from './covered.ts';

/** What a page brought: its records, which of them are new or changed, and whether more pages follow it. */
export interface PageNews {
  readonly ids: readonly RecordId[];
  readonly changed: readonly RecordId[];
  readonly hasMore: boolean;
}

/** What is known of a page. */
export interface PageState extends Shown {
  readonly readAt: number;
  /** How many changes there probably were, and the time in which they came; older ones weigh less. */
  readonly changes: number;
  readonly watchedMs: number;
  /** The records that had most of them, each with how many. */
  readonly busy: readonly BusyRecord[];
  /** Expected changes per millisecond. */
  readonly rate: number;
}

type BusyRecord = readonly [id: RecordId, changes: number];

/** How many pages of records came to the top since the first page was read last. */
export function countNew(pages: readonly PageState[], { ids }: PageNews): number {
  const [top] = pages;
  if (top?.order !== 'falling' || ids.length === 0) return 0;
  const place = ids.indexOf(String(top.first));
  return place < 0 ? 1 : place / ids.length;
}

/** What was learned is about records: as many as fill a page move them all on by one. */
export const moveOn = (pages: readonly PageState[]): readonly PageState[] =>
  pages.map((page, index) => {
    const { busy, changes, watchedMs, rate } = pages[Math.max(0, index - 1)] ?? page;
    return { ...page, busy, changes, watchedMs, rate };
  });

/** What was found weighs this much less with every further read of its page. */
const memory = 0.998;
/** What is known around a page counts like so many changes found on it. */
const trustInNeighbours = 2;
/** One change in a hundred days: nothing is expected to change more rarely, so that no page is ever forgotten. */
const rateMin = 1 / (100 * 86_400_000);

export function learn(
  pages: readonly PageState[],
  page: number,
  { changed, ids }: PageNews,
  turn: number,
  now: number,
): readonly PageState[] {
  const index = page - 1;
  const before = pages[index];
  const shown = show(before, ids, turn);
  // All records of a page that is read for the first time are new: that says nothing about how it changes.
  if (!before)
    return pages.toSpliced(index, 0, {
      ...shown,
      readAt: now,
      changes: 0,
      watchedMs: 0,
      busy: [],
      rate: rateMin,
    });
  const stepMs = now - before.readAt;
  const { busy, changes } = countChanges(before, changed, stepMs);
  const seen: PageState = {
    ...before,
    ...shown,
    readAt: now,
    changes: before.changes * memory + changes,
    watchedMs: before.watchedMs * memory + stepMs,
    busy,
  };
  const around = rateAround(pages, index);
  const rate = (seen.changes + trustInNeighbours) / (seen.watchedMs + trustInNeighbours / around);
  return pages.with(index, { ...seen, rate });
}

/** The busiest records of a page that are remembered. */
const busyMax = 8;
/**
 * A record that was expected to change once since the last read counts as this many changes more, and any record as at most so many: without a
 * bound the rate would feed on itself.
 */
const hiddenChanges = 2;
const hiddenChangesMax = 8;

/**
 * Returns how many changes there probably were. A record that changes more often than its page is read is found changed once each time,
 * however often it was. So one that was changed before as well counts as more, by how many were expected of it. Without this the busiest
 * pages are read too seldom to ever learn how busy they are.
 */
function countChanges({ busy, watchedMs }: PageState, changed: readonly RecordId[], stepMs: number) {
  const known = new Map(busy.map(([id, changes]) => [id, changes * memory]));
  let all = 0;
  for (const id of changed) {
    const before = known.get(id) ?? 0;
    const expected = (before * stepMs) / Math.max(1, watchedMs + stepMs);
    const changes = 1 + Math.min(hiddenChangesMax, hiddenChanges * expected);
    known.set(id, before + changes);
    all += changes;
  }
  const busiest = [...known].sort(([, one], [, other]) => other - one).slice(0, busyMax);
  return { busy: busiest, changes: all };
}

/**
 * The mean rate of the pages around one. Lists are sorted by age and what is younger changes more, in proportion rather than in steps:
 * the further back, the more pages are alike.
 */
function rateAround(pages: readonly PageState[], index: number): number {
  const reach = Math.max(1, Math.floor(index / 4));
  const last = Math.min(pages.length - 1, index + reach);
  let changes = 0;
  let watchedMs = 1;
  for (let other = Math.max(0, index - reach); other <= last; other += 1) {
    changes += pages[other]?.changes ?? 0;
    watchedMs += pages[other]?.watchedMs ?? 0;
  }
  return Math.max(rateMin, changes / watchedMs);
}
