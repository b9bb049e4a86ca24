/*
 * Which page of a list is read next. The CRM does not tell what changed, so lists are read again and again, page by page,
 * newest first. Three kinds of turn share the requests:
 *
 * - `sweep`: the next page of a pass from the first page to the last. Only a pass proves that a record is missing, and no page is
 *   older than one pass. It has every second turn, so it takes as long as two passes that do nothing else.
 * - `newest`: the first page, as often as `sweepMs`.
 * - `hot`: the page whose reading is worth most, by what was found on it and around it before.
 *
 * A list of up to three pages is only swept: that is as quick as anything. All times are milliseconds of one monotonic clock.
 */

export type TurnKind = 'sweep' | 'newest' | 'hot';

/** A page to read, and the earliest time for it. Pages count from 1. */
export interface PageTurn {
  readonly kind: TurnKind;
  readonly page: number;
  readonly at: number;
}

/** What a page brought: new and changed records, and whether more pages follow it. */
export interface PageNews {
  readonly changes: number;
  readonly hasMore: boolean;
}

export interface ReadingTimes {
  /** From the start of a sweep to the start of the next one, and from reading a page to reading it again outside of sweeps. */
  readonly sweepMs: number;
  /** From page to page while hardly anything changes. */
  readonly idlePauseMs: number;
}

/** What is known of a page. */
interface PageState {
  readonly readAt: number;
  /** Changes found, and the time over which they came together; what is older weighs less. */
  readonly changes: number;
  readonly watchedMs: number;
  /** Expected changes per millisecond. */
  readonly rate: number;
}

/** A sweep on its way. */
interface Pass {
  readonly nextPage: number;
  /** Whether no page of it failed, not even once. */
  readonly isUnbroken: boolean;
}

/** How far the reading of one list has come. */
export interface Reading {
  readonly pages: readonly PageState[];
  readonly pass: Pass | undefined;
  readonly sweepsDone: number;
  readonly sweepBegunAt: number;
  /** When a sweep last read a page. */
  readonly sweepReadAt: number;
  readonly lastKind: TurnKind;
  /** How long the sweep takes from page to page, with the turns in between. */
  readonly sweepPageMs: number;
}

/** Nothing is known yet, as after every start: what was learned comes back within some sweeps. */
export const emptyReading: Reading = {
  pages: [],
  pass: undefined,
  sweepsDone: 0,
  sweepBegunAt: Number.NEGATIVE_INFINITY,
  sweepReadAt: Number.NEGATIVE_INFINITY,
  lastKind: 'hot',
  sweepPageMs: 0,
};

/** Lists of so many pages are only swept. */
const shortPages = 3;
/** A sweep that did not get on for so long begins again: its first pages are too old to say what the list lacks. */
const resumeWithinMs = 300_000;

/** Whether the list is so short that nothing but sweeps is needed. */
export const isShort = ({ pages }: Reading): boolean => pages.length <= shortPages;

/** The page to read next. */
export function nextPageTurn(reading: Reading, now: number, times: ReadingTimes): PageTurn {
  const sweep = nextSweepTurn(reading, now, times);
  if (isShort(reading)) return sweep;
  const newest: PageTurn = { kind: 'newest', page: 1, at: (reading.pages[0]?.readAt ?? 0) + times.sweepMs };
  if (reading.lastKind !== 'sweep' && sweep.at <= now) return sweep;
  if (newest.at <= now) return newest;
  const hot = isIdle(reading, times) ? undefined : findHotTurn(reading, now, times);
  return hot ?? (sweep.at <= newest.at ? sweep : newest);
}

/** Begins a sweep now, whatever else is on its way. */
export const firstSweepTurn = (now: number): PageTurn => ({ kind: 'sweep', page: 1, at: now });

/**
 * The sweep's next page. While a whole sweep finds less than one change it goes at the idle pause, so that a list in which nothing
 * happens leaves room to others who use the key; the first sweep never waits. None begins within the millisecond in which the last one
 * ended: what that one saw then would pass for seen by this one too, and of many deletes some would not be missed yet when the others
 * are proven.
 */
export function nextSweepTurn(reading: Reading, now: number, times: ReadingTimes): PageTurn {
  const { pass, sweepBegunAt, sweepReadAt } = reading;
  if (pass && now - sweepReadAt > resumeWithinMs) return firstSweepTurn(now);
  const pauseMs = isIdle(reading, times) && !isShort(reading) ? times.idlePauseMs : 0;
  const at = Math.max(now, sweepReadAt + pauseMs);
  if (pass) return { kind: 'sweep', page: pass.nextPage, at };
  return { kind: 'sweep', page: 1, at: Math.max(at, sweepReadAt + 1, sweepBegunAt + times.sweepMs) };
}

/** The reading after a turn that succeeded. */
export function noteRead(reading: Reading, turn: PageTurn, found: PageNews, now: number): Reading {
  const pages = learn(reading.pages, turn.page, found.changes, now);
  const seen = { ...reading, pages, lastKind: turn.kind };
  if (turn.kind !== 'sweep') return seen;
  const swept = {
    ...seen,
    sweepBegunAt: turn.page === 1 ? turn.at : reading.sweepBegunAt,
    sweepReadAt: now,
    sweepPageMs: averageStep(reading, turn, now),
  };
  if (found.hasMore) {
    return { ...swept, pass: { nextPage: turn.page + 1, isUnbroken: isUnbroken(reading, turn) } };
  }
  return {
    ...swept,
    pages: pages.slice(0, turn.page),
    pass: undefined,
    sweepsDone: reading.sweepsDone + 1,
  };
}

/**
 * The reading after a turn that failed. A sweep goes on at that page, so that its records stay fresh, but it is broken: deletions during
 * the wait may have moved records past it, and it does not say what the list lacks. One that was to begin has not begun, and the one before
 * does not go on: where a list ends is known from its first page on, and that one may have been read.
 */
export function noteFailure(reading: Reading, turn: PageTurn): Reading {
  const { pass } = reading;
  if (turn.kind === 'sweep' && turn.page === 1) return { ...reading, lastKind: turn.kind, pass: undefined };
  const isBroken = turn.kind === 'sweep' && pass?.nextPage === turn.page;
  return { ...reading, lastKind: turn.kind, pass: isBroken ? { ...pass, isUnbroken: false } : pass };
}

/** Whether a sweep that comes to its end with this turn was read without any failure. */
export const isUnbroken = ({ pass }: Reading, turn: PageTurn): boolean =>
  turn.page === 1 || (pass?.isUnbroken ?? false);

/** A mean over the last ten steps or so. */
function averageStep({ sweepPageMs, sweepReadAt }: Reading, turn: PageTurn, now: number): number {
  if (turn.page === 1) return sweepPageMs;
  const stepMs = now - sweepReadAt;
  return sweepPageMs === 0 ? stepMs : 0.9 * sweepPageMs + 0.1 * stepMs;
}

/** Whether a sweep at the idle pace is expected to find less than one change. */
function isIdle({ pages, sweepsDone }: Reading, { idlePauseMs }: ReadingTimes): boolean {
  if (sweepsDone === 0) return false;
  let rate = 0;
  for (const page of pages) rate += page.rate;
  return rate * pages.length * idlePauseMs < 1;
}

/**
 * The page that gains most by being read now, if any may be read again. The delay that piles up on a page is its rate × age² / 2.
 * Reading where that is largest reads every page as often as the square root of its rate, which makes the mean delay of all changes
 * as short as it can be. Where the sweep comes by soon there is less to gain: a page that has more than twice as long to wait for it
 * as it is old gains in full. (The twice was found by measuring.)
 */
function findHotTurn(reading: Reading, now: number, { sweepMs }: ReadingTimes): PageTurn | undefined {
  const { pages, pass, sweepPageMs, sweepsDone } = reading;
  if (sweepsDone === 0) return undefined;
  const next = (pass?.nextPage ?? 1) - 1;
  let best: number | undefined;
  let bestGain = 0;
  for (const [index, { readAt, rate }] of pages.entries()) {
    const age = now - readAt;
    if (age < sweepMs) continue;
    const pagesAhead = (index - next + pages.length) % pages.length;
    const gain = rate * age * Math.min(age, 2 * pagesAhead * sweepPageMs);
    if (gain <= bestGain) continue;
    best = index;
    bestGain = gain;
  }
  return best === undefined ? undefined : { kind: 'hot', page: best + 1, at: now };
}

/** What was found weighs this much less with every further read of its page. */
const memory = 0.99;
/** What is known around a page counts like so many changes found on it. */
const trustInNeighbours = 2;
/** One change in a hundred days: nothing is expected to change more rarely, so that no page is ever forgotten. */
const rateMin = 1 / (100 * 86_400_000);

function learn(pages: Reading['pages'], page: number, changes: number, now: number): Reading['pages'] {
  const index = page - 1;
  const before = pages[index];
  // All records of a page that is read for the first time are new: that says nothing about how it changes.
  if (!before) return pages.toSpliced(index, 0, { readAt: now, changes: 0, watchedMs: 0, rate: rateMin });
  const seen: PageState = {
    ...before,
    readAt: now,
    changes: before.changes * memory + changes,
    watchedMs: before.watchedMs * memory + (now - before.readAt),
  };
  const around = rateAround(pages, index);
  const rate = (seen.changes + trustInNeighbours) / (seen.watchedMs + trustInNeighbours / around);
  return pages.with(index, { ...seen, rate });
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
