import type { Lane } from '../ports.ts';
import type { RecordId } from '../record.ts';
import { findCovered, findOrder } from './covered.ts';
import { countNew, learn, moveOn, type PageNews, type PageState } from './learned.ts';

/*
 * Which page of a list is read next. The CRM does not tell what changed, so lists are read again and again, page by page,
 * newest first. Three kinds of turn share the requests:
 *
 * - `hot`: the page whose reading is worth most, by what was found on it and around it before. The first page is none: reading it
 *   together with the pages of a sweep would say that another sweep begins.
 * - `newest`: the first page, as often as `sweepMs`, or more seldom where no record came for an hour, unless it is worth most.
 * - `sweep`: the next page of a pass from the first page to the last, which proves what is missing. It passes over pages that were
 *   read for another reason since it began, where the list is sorted by id (see `covered.ts`) and less than a page of records comes
 *   meanwhile. Else it reads all of them in order, with every second turn. It takes as long as two passes that do
 *   nothing else, and a turn only where it would be late.
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

/** In which lane the request of a turn goes: to the listing, the first page of a lane begins a pass, and pages out of turn are put aside for it. */
export const laneOf = ({ kind }: PageTurn): Lane => (kind === 'newest' ? 'newest' : 'sweep');

export interface ReadingTimes {
  /** From the start of a sweep to the start of the next one, and from reading a page to reading it again outside of sweeps. */
  readonly sweepMs: number;
  /** From page to page while hardly anything changes. */
  readonly idlePauseMs: number;
}

/** A sweep on its way. */
interface Pass {
  readonly nextPage: number;
  /** Whether no page of it failed, not even once. */
  readonly isUnbroken: boolean;
  /** Whether pages count that were read for another reason. */
  readonly hasPassedOver: boolean;
  /** The turn at which it read the first page, and how many pages of records had come by then. */
  readonly begunTurn: number;
  readonly begunCame: number;
  /** When it read a page last, or was not late. */
  readonly onTimeAt: number;
}

/** How far the reading of one list has come. */
export interface Reading {
  readonly pages: readonly PageState[];
  /** Changes that are expected on all pages together in a millisecond. */
  readonly rate: number;
  readonly pass: Pass | undefined;
  readonly sweepsDone: number;
  readonly sweepBegunAt: number;
  /** When a sweep last read a page. */
  readonly sweepReadAt: number;
  readonly lastKind: TurnKind;
  /** How many reads there were, when the last one was, and how long it is from one to the next. */
  readonly turns: number;
  readonly readAt: number;
  readonly pageMs: number;
  /** How many pages of records came to the top, and when one was last found there, or else the first read was. */
  readonly came: number;
  readonly cameAt: number;
  /** Whether the last sweep showed a list that is sorted by id, to which less than a page came meanwhile: its pages may be read in any order. */
  readonly isFree: boolean;
}

/** Nothing is known yet, as after every start: what was learned comes back within some sweeps. */
export const emptyReading: Reading = {
  pages: [],
  rate: 0,
  pass: undefined,
  sweepsDone: 0,
  sweepBegunAt: Number.NEGATIVE_INFINITY,
  sweepReadAt: Number.NEGATIVE_INFINITY,
  lastKind: 'hot',
  turns: 0,
  readAt: Number.NEGATIVE_INFINITY,
  pageMs: 0,
  came: 0,
  cameAt: Number.NEGATIVE_INFINITY,
  isFree: false,
};

/** Lists of so many pages are only swept. */
const shortPages = 3;
/** A sweep that did not get on for so long begins again: its first pages are too old to say what the list lacks. */
const resumeWithinMs = 300_000;

/** Where no record came for so long, looking for new ones as often as else takes turns from those that change. */
const quietMs = 3_600_000;
const quietSweeps = 4;

/** Whether no record came to the top of a list that has the newest there. */
const isQuiet = ({ cameAt, pages }: Reading, now: number): boolean =>
  now - cameAt >= quietMs && pages[0]?.order === 'falling';

/** Whether the list is so short that nothing but sweeps is needed. */
export const isShort = ({ pages }: Reading): boolean => pages.length <= shortPages;

/** The page to read next. */
export function nextPageTurn(reading: Reading, now: number, times: ReadingTimes): PageTurn {
  const sweep = nextSweepTurn(reading, now, times);
  if (isShort(reading)) return sweep;
  const newestMs = isQuiet(reading, now) ? quietSweeps * times.sweepMs : times.sweepMs;
  const newest: PageTurn = { kind: 'newest', page: 1, at: (reading.pages[0]?.readAt ?? 0) + newestMs };
  if (reading.lastKind !== 'sweep' && sweep.at <= now && isLate(reading)) return sweep;
  if (newest.at <= now) return newest;
  const hot = findHotTurn(reading, now, times);
  return hot ?? (sweep.at <= newest.at ? sweep : newest);
}

/**
 * Whether a sweep has to get on, to be at its end within as many turns as two that do nothing else. Where the list is sorted by id other
 * turns read its pages for it, and it gets on once only the end of the list is left, or what they did not read in time.
 */
function isLate({ isFree, pages, pass, sweepsDone, turns }: Reading): boolean {
  if (!pass || sweepsDone === 0) return true;
  const pageIsDueAfter = isFree && pass.nextPage < pages.length ? pages.length : pass.nextPage - 1;
  return turns - pass.begunTurn >= 2 * pageIsDueAfter || (isFree && pass.nextPage >= pages.length);
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
  if (pass && now - pass.onTimeAt > resumeWithinMs) return firstSweepTurn(now);
  const pauseMs = isIdle(reading, times) && !isShort(reading) ? times.idlePauseMs : 0;
  const at = Math.max(now, sweepReadAt + pauseMs);
  if (pass) return { kind: 'sweep', page: pass.nextPage, at };
  return { kind: 'sweep', page: 1, at: Math.max(at, sweepReadAt + 1, sweepBegunAt + times.sweepMs) };
}

/** The reading after a turn that succeeded. */
export function noteRead(before: Reading, turn: PageTurn, found: PageNews, now: number): Reading {
  const turns = before.turns + 1;
  const came = before.came + (turn.page === 1 ? countNew(before.pages, found) : 0);
  const moved = Math.floor(came) > Math.floor(before.came);
  const known = moved && before.isFree ? moveOn(before.pages) : before.pages;
  const pages = learn(known, turn.page, found, turns, now);
  const pageMs = turns === 1 ? 0 : averageStep(before.pageMs, now - before.readAt);
  const reading = {
    ...before,
    pages,
    rate: sumRates(pages),
    turns,
    readAt: now,
    pageMs,
    lastKind: turn.kind,
    came,
    cameAt: came > before.came || turns === 1 ? now : before.cameAt,
  };
  const { pass } = before;
  if (turn.kind !== 'sweep') {
    const onTimeAt = isLate(reading) ? {} : { onTimeAt: now };
    return pass ? { ...reading, pass: passOver(reading, { ...pass, ...onTimeAt }) } : reading;
  }
  const swept = {
    ...reading,
    sweepBegunAt: turn.page === 1 ? turn.at : before.sweepBegunAt,
    sweepReadAt: now,
  };
  if (found.hasMore) {
    const begun =
      turn.page === 1 || !pass ? { begunTurn: turns, begunCame: came, hasPassedOver: false } : pass;
    const next = { ...begun, nextPage: turn.page + 1, isUnbroken: isUnbroken(before, turn), onTimeAt: now };
    return { ...swept, pass: passOver(swept, next) };
  }
  const whole = pages.slice(0, turn.page);
  return {
    ...swept,
    pages: whole,
    rate: sumRates(whole),
    pass: undefined,
    sweepsDone: before.sweepsDone + 1,
    isFree: findOrder(whole) !== 'none' && came - (pass?.begunCame ?? came) < 1,
  };
}

/** A sweep behind the pages that were read since it began. Where a list ends is known from its last pages, which it reads itself. */
function passOver({ isFree, pages }: Reading, pass: Pass): Pass {
  let { nextPage } = pass;
  const isRead = (page: PageState | undefined) =>
    page?.first !== undefined && page.turn > pass.begunTurn && pages[nextPage]?.first !== undefined;
  while (isFree && isRead(pages[nextPage - 1])) nextPage += 1;
  return nextPage === pass.nextPage ? pass : { ...pass, nextPage, hasPassedOver: true };
}

/**
 * Whether a sweep that ended with this turn proves of an id that the list lacks it, if it was not shown; `undefined` where it proves nothing.
 * One that read its pages from the first to the last itself proves it of all.
 */
export function findProof(
  before: Reading,
  turn: PageTurn,
  { pages }: Reading,
): ((id: RecordId) => boolean) | undefined {
  if (!isUnbroken(before, turn)) return undefined;
  if (findOrder(pages) !== 'none') return findCovered(pages);
  return before.pass?.hasPassedOver && turn.page > 1 ? undefined : () => true;
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
const averageStep = (meanMs: number, stepMs: number): number =>
  meanMs === 0 ? stepMs : 0.9 * meanMs + 0.1 * stepMs;

/** Whether a sweep at the idle pace is expected to find less than one change. */
const isIdle = ({ pages, rate, sweepsDone }: Reading, { idlePauseMs }: ReadingTimes): boolean =>
  sweepsDone > 0 && rate * pages.length * idlePauseMs < 1;

const sumRates = (pages: readonly PageState[]): number => pages.reduce((sum, { rate }) => sum + rate, 0);

/** No page is left alone for longer than two sweeps: from this part of that on, the oldest is read before any other, if no pass in order comes by. */
const oldPart = 0.99;

/**
 * The page that gains most by being read now, if any may be read again. The delay that piles up on a page is its rate × age² / 2.
 * Reading where that is largest reads every page as often as the square root of its rate, which makes the mean delay of all changes
 * as short as it can be. At the idle pace only those are read that would grow too old.
 */
function findHotTurn(reading: Reading, now: number, times: ReadingTimes): PageTurn | undefined {
  const { isFree, pages, pageMs, pass, sweepsDone } = reading;
  const { idlePauseMs, sweepMs } = times;
  if (sweepsDone === 0) return undefined;
  const nextIndex = (pass?.nextPage ?? 1) - 1;
  const isAtEase = isIdle(reading, times);
  const stepMs = isAtEase ? idlePauseMs : oldPart * Math.max(idlePauseMs, 2 * pageMs);
  let [oldest, oldestAt] = [-1, now - pages.length * stepMs];
  let [best, bestGain] = [-1, 0];
  for (let index = 0; index < pages.length; index += 1) {
    const { readAt, rate } = pages[index]!;
    const age = now - readAt;
    if (age < sweepMs) continue;
    if (isFree && readAt < oldestAt) [oldest, oldestAt] = [index, readAt];
    // A pass in order comes by: a page that has more than twice as long to wait for it as it is old gains in full.
    const pagesAhead = (index - nextIndex + pages.length) % pages.length;
    const gain = rate * age * (isFree ? age : Math.min(age, 4 * pagesAhead * pageMs));
    if (gain > bestGain) [best, bestGain] = [index, gain];
  }
  const chosen = oldest >= 0 || isAtEase ? oldest : best;
  return chosen < 0 ? undefined : { kind: chosen === 0 ? 'newest' : 'hot', page: chosen + 1, at: now };
}
