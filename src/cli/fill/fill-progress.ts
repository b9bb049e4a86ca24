import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusAnswer } from '../../app/answers.ts';
import { explainError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { answersTo } from '../../core/waiting/answer.ts';
import { isOfWhole } from '../../core/waiting/waiting.ts';
import type { ProgressLine } from './progress-line.ts';

/** What a status says of the first fill. */
export type FillStatus = Pick<StatusAnswer, 'brakes' | 'holds' | 'progress' | 'standing' | 'tabs'>;

/** How far the first fill is. Reading the CRM has a total once each list that is still read has said how long it is. */
export interface FillProgress {
  readonly phase: 'reading' | 'filling';
  readonly done: number;
  readonly total?: number;
  readonly endsAt?: number | undefined;
  /** A person has to answer a brake, or to mend a tab, before it goes on. */
  readonly isStopped?: true;
}

const nothingNow = { phase: 'filling', done: 0, total: 0 } as const;
/** What is still being found out goes on by itself. */
const isAsked = ({ scope }: { readonly scope: string }) => answersTo(scope).length > 0;

/** What a status says of the first fill, of the tabs that are not full yet; `undefined` once it is done. */
export function fillOf({ brakes, holds, progress, standing }: FillStatus): FillProgress | undefined {
  const [reading, filling] = [workOf(progress, 'reading'), workOf(progress, 'filling')];
  const total = sum(filling.map((each) => each.total ?? 0));
  // What is to be filled has been read.
  if (reading.length > 0)
    return { phase: 'reading', ...sumOf([...reading, { done: total, total }]), endsAt: lastEnd(reading) };
  if (filling.length === 0 && standing.state !== 'filling') {
    if (brakes.some(isAsked) || holds.some(isOfWhole)) return { ...nothingNow, isStopped: true };
    return brakes.length === 0 ? undefined : nothingNow;
  }
  return { phase: 'filling', done: sum(filling.map(({ done }) => done)), total, endsAt: filling[0]?.endsAt };
}

/**
 * Follows the first fill of one link: of a tab that is full, or that a brake stops, nobody is told any more, and the sum would shrink while
 * others are filled.
 */
export class LinkFill {
  /** Titles of the tabs that there was something to fill in. */
  readonly #titles = new Set<string>();

  /** What a status says of it, with the tabs that are not filled now. */
  read(status: FillStatus): FillProgress | undefined {
    const fill = fillOf(status);
    if (!fill || fill.phase === 'reading' || fill.isStopped) return fill;
    for (const { title } of workOf(status.progress, 'filling')) this.#titles.add(title);
    const begun = status.tabs.filter(({ title }) => this.#titles.has(title));
    return {
      ...fill,
      done: sum(begun.map(({ recordsInTable, recordsWanted }) => Math.min(recordsWanted, recordsInTable))),
      total: sum(begun.map(({ recordsWanted }) => recordsWanted)),
    };
  }
}

const workOf = (progress: FillStatus['progress'], work: FillProgress['phase']) =>
  progress.filter((each) => each.work === work);
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

type Part = Pick<FillProgress, 'done' | 'total' | 'endsAt'>;

/** How far all of them are, with a total where each has one. */
export function sumOf(parts: readonly Part[]): Pick<FillProgress, 'done' | 'total'> {
  const totals = parts.flatMap(({ total }) => total ?? []);
  const isKnown = totals.length === parts.length;
  return { done: sum(parts.map(({ done }) => done)), ...(isKnown ? { total: sum(totals) } : {}) };
}

/** When the last of them ends; `undefined` while that is not known of each. */
export function lastEnd(parts: readonly Part[]): number | undefined {
  const ends = parts.flatMap(({ endsAt }) => endsAt ?? []);
  return ends.length > 0 && ends.length === parts.length ? Math.max(...ends) : undefined;
}

const names = { reading: 'Reading the CRM', filling: 'Filling the rows' };

const askEveryMs = 2_000;
const logEveryMs = 10_000;
const idleShare = 20;

/**
 * How long to wait after an answer that took so long. Asking costs the daemon time that the fill needs, so it is so many times as long; but
 * not longer than a line of the log is due: an answer takes long also where the whole machine is busy with something else.
 */
export const pauseAfterMs = (answerMs: number): number =>
  Math.min(Math.max(askEveryMs, idleShare * answerMs), logEveryMs);

/**
 * Follows the first fill until it is done, stopped by a brake or `stopping`: in a terminal by a bar, else by a line in the log now and then. Nothing is said
 * where nothing is to be filled. It never fails: that it could not be followed is logged, and the fill goes on.
 */
export async function followFill(
  readFill: () => Promise<FillProgress | undefined>,
  line: ProgressLine,
  log: Log,
  stopping: AbortSignal,
): Promise<void> {
  const tale = createTale(line, log);
  try {
    while (!stopping.aborted) {
      const askedAt = Date.now();
      const fill = await readFill();
      if (!fill || fill.isStopped) return tale.end(fill);
      tale.tell(fill, askedAt);
      await sleep(pauseAfterMs(Date.now() - askedAt), undefined, { signal: stopping });
    }
  } catch (error) {
    if (!stopping.aborted) log.warn('fill.not-followed', { message: explainError(error) });
  } finally {
    line.end();
  }
}

const stoppedAdvice = 'A tab waits for a person: status says for what.';

/** Tells of a fill as it goes on, and of its end if there was anything to tell. */
function createTale(line: ProgressLine, log: Log) {
  const startedAt = Date.now();
  let phase: { name: FillProgress['phase']; startedAt: number; doneBefore: number } | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;

  /** What is read counts from the start; what stood in the sheet before was not filled now. */
  function enter({ done, phase: name }: FillProgress, now: number) {
    if (phase?.name === name) return phase;
    loggedAt = Number.NEGATIVE_INFINITY;
    const begun = name === 'reading' ? { startedAt, doneBefore: 0 } : { startedAt: now, doneBefore: done };
    phase = { name, ...begun };
    return phase;
  }

  return {
    tell(fill: FillProgress, now: number): void {
      if (fill.total === 0) return;
      const entered = enter(fill, now);
      if (line.isInPlace) line.show({ ...fill, ...entered, name: names[fill.phase] });
      else if (now - loggedAt >= logEveryMs) {
        const { endsAt, ...counts } = fill;
        const end = endsAt === undefined ? {} : { endsAt: new Date(endsAt).toISOString() };
        log.info('fill.progress', { ...counts, ...end });
        loggedAt = now;
      }
    },
    /** Takes what is left of it, where it was stopped. */
    end(left?: FillProgress): void {
      line.end();
      if (!phase) return;
      const seconds = Math.round((Date.now() - startedAt) / 1_000);
      if (left) log.warn('fill.stopped', { seconds, advice: stoppedAdvice });
      else log.info('fill.done', { seconds });
    },
  };
}
