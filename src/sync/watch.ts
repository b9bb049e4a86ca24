import { isSyncError } from '../core/errors.ts';
import {
  addSample,
  type RequestUsage,
  type Sample,
  sampleEveryMs,
  sentBetween,
} from '../core/reading/samples.ts';
import { listedEntities } from '../core/record.ts';
import { judgeStanding, type Standing, type StandingFacts } from '../core/standing.ts';
import { isNeeded } from '../core/waiting/waiting.ts';
import type { Condition } from './conditions.ts';
import type { Engine } from './engine.ts';
import type { Health } from './health.ts';
import { readUnderWay } from './pushing/under-way.ts';
import { readSwept } from './reading/lists.ts';

/**
 * Keeps in memory what only somebody who looks all the time can tell: the last hour in samples, and since when the sides stand to each
 * other as they do. Both begin anew with the daemon.
 */
export class Watch {
  readonly #engine: Engine;
  readonly #health: Health;
  readonly readUsage: () => RequestUsage;
  /** Oldest first. */
  samples: readonly Sample[] = [];
  #standing: Standing;
  #sampledAt: number;
  #sent: RequestUsage['sent'];
  #tableSteps = 0;
  /** When everything was found to be read once. */
  #readAt: number | undefined;
  #isFilled = false;

  constructor(engine: Engine, health: Health, readUsage: () => RequestUsage) {
    this.#engine = engine;
    this.#health = health;
    this.readUsage = readUsage;
    this.#sent = readUsage().sent;
    this.#sampledAt = engine.link.clock.monotonicMs();
    this.#standing = { state: 'filling', since: engine.link.clock.now() };
  }

  /** Looks now. */
  readStanding(): Standing {
    const state = unlessUnreadable(() => judgeStanding(this.#readFacts())) ?? 'failing';
    if (state !== this.#standing.state) this.#standing = { state, since: this.#engine.link.clock.now() };
    return this.#standing;
  }

  /** To be called about once a second. */
  look(): void {
    this.readStanding();
    const sampledMs = this.#engine.link.clock.monotonicMs() - this.#sampledAt;
    if (sampledMs >= sampleEveryMs) unlessUnreadable(() => this.#sample());
  }

  #sample(): void {
    const { lags, link, tally } = this.#engine;
    const { requests, sent, waiting, windowMs } = this.readUsage();
    const sample: Sample = {
      at: link.clock.now(),
      sent: sentBetween(this.#sent, sent),
      allowed: Math.round((requests / windowMs) * 60_000),
      waiting: Object.values(waiting).reduce((sum, count) => sum + count, 0),
      pending: readUnderWay(link).length,
      rowsWritten: tally.tableSteps - this.#tableSteps,
      ...lags.takeLongest(),
    };
    this.samples = addSample(this.samples, sample);
    // A machine that slept makes one long stretch of it, not many.
    this.#sampledAt = link.clock.monotonicMs();
    this.#sent = sent;
    this.#tableSteps = tally.tableSteps;
  }

  #readFacts(): StandingFacts {
    const { found, link, problems, reports } = this.#engine;
    const questions = countAsked(found);
    const conditions = this.#health.read().filter(isFailure);
    const isToWrite = reports.some(({ hasWork }) => hasWork);
    const isPlanned = isToWrite && link.isManual === true;
    const isMoving = (isToWrite && !isPlanned) || found.restlessRows > 0;
    const steps = readUnderWay(link).length + Number(isMoving);
    this.#noteFilled(questions > 0 || steps === 0);
    return {
      problems: problems.list().length + conditions.length,
      isFilled: this.#isFilled,
      questions,
      steps,
      isPlanned,
    };
  }

  /** Filled is once everything was read and a cycle after that left nothing to write; later readings do not change that. */
  #noteFilled(isAtRest: boolean): void {
    const { isCompared, link, reports } = this.#engine;
    if (this.#isFilled) return;
    const swept = readSwept(link.mirror);
    if (listedEntities.every((entity) => swept.has(entity))) this.#readAt ??= link.clock.now();
    const readAt = this.#readAt ?? Number.POSITIVE_INFINITY;
    this.#isFilled = isAtRest && isCompared && reports.every(({ at }) => at > readAt);
  }
}

const countAsked = ({ brakes, conflicts, holds, refusals }: Engine['found']): number =>
  brakes.length +
  conflicts.length +
  holds.filter(isNeeded).length +
  refusals.filter(({ isIgnored }) => !isIgnored).length;

/** What is seen; nothing while the mirror can not be read, which is for the health to tell: other links of the process go on. */
export function unlessUnreadable<Seen>(look: () => Seen): Seen | undefined {
  try {
    return look();
  } catch (error) {
    if (!isSyncError(error)) throw error;
    return undefined;
  }
}

/** Whether the daemon does not do its work. That not everything was read yet has a word of its own. */
const isFailure = ({ makes, name }: Condition): boolean => makes !== 'degraded' && name !== 'NOT_READ_YET';
