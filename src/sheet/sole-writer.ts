import { isSyncError, type SyncError } from '../core/errors.ts';
import type { SheetLink } from './link.ts';
import { newSheetError } from './port/errors.ts';
import {
  describeInstance,
  type Instance,
  type Mark,
  type Marks,
  type Sighting,
  sight,
} from './port/instance.ts';
import type { ObservedTable } from './port/table.ts';

/** A stop waits for so long until its mark is taken away. */
const leavingMs = 3_000;

type Surroundings = Pick<SheetLink, 'clock' | 'log' | 'own' | 'table' | 'times'>;

/** When a mark of this instance was sent, monotonic ms. */
interface Sent {
  readonly count: number;
  readonly at: number;
}

/**
 * Holds that of all instances that work on one table one alone writes, to the table and to the CRM. It keeps its mark moving there; an
 * instance that comes later sees it move, and rests. Clocks are never compared: a mark lives if its count is seen to move.
 */
export class SoleWriter {
  readonly #link: Surroundings;
  /** Whether the table says at all who keeps it; `undefined` before it was read. */
  #isSigned: boolean | undefined;
  #keeper: Sighting | undefined;
  #waiting: Sighting | undefined;
  #count = 0;
  /** The last mark of a keeper that may have arrived, and the last that did. */
  #sent: Sent = { count: 0, at: 0 };
  #arrived: Sent = { count: 0, at: Number.NEGATIVE_INFINITY };
  #waitedAt = Number.NEGATIVE_INFINITY;

  constructor(link: Surroundings) {
    this.#link = link;
  }

  /**
   * Whether this instance may write now. It knows before anybody can take its mark for one of the dead: what it sends arrives in the time
   * that is left until then.
   */
  get mayWrite(): boolean {
    if (this.#isSigned !== true) return this.#isSigned === false;
    const { clock, times } = this.#link;
    return this.#isOwn(this.#keeper) && clock.monotonicMs() - this.#arrived.at < 2 * times.markMs;
  }

  /** Another instance that waits until this one stops. */
  get waiting(): Instance | undefined {
    const seen = this.#waiting;
    return seen && this.mayWrite && !this.#isOwn(seen) && !this.#isOver(seen)
      ? seen.mark.instance
      : undefined;
  }

  /** Takes note of a table that was just read, and takes it where no instance keeps it. Fails with SHEET_KEPT where another instance does. */
  async enter({ marks }: ObservedTable): Promise<void> {
    this.#isSigned = marks !== undefined;
    if (!marks) return;
    this.#look(marks);
    const isFree = !this.#keeper || this.#isOver(this.#keeper);
    if (isFree || (this.#isOwn(this.#keeper) && !this.mayWrite)) await this.#take();
    if (this.mayWrite) return;
    await this.#wait();
    throw this.#kept();
  }

  /** The mark that is to be written next, once it is time for it; to be sent by the table with what else it writes. */
  takeMark(): Mark | undefined {
    const { clock, times } = this.#link;
    const isDue = clock.monotonicMs() - this.#sent.at >= times.markMs;
    return this.#isSigned && isDue && this.mayWrite ? this.#nextMark() : undefined;
  }

  /** Writes a mark that nothing else carries. */
  async renew(mark: Mark): Promise<void> {
    const isStale = this.#waiting && this.#isOver(this.#waiting) && !this.#isOwn(this.#waiting);
    this.#look(await this.#link.table.sign({ keeper: mark, ...(isStale ? { waiting: 'none' } : {}) }));
  }

  /** Takes its marks away, so that the next instance can begin at once. What does not arrive in time is left to be found dead. */
  async leave(): Promise<void> {
    const { clock, log, table } = this.#link;
    const keeper = this.mayWrite && this.#isOwn(this.#keeper);
    const waiting = this.#isOwn(this.#waiting);
    if (!keeper && !waiting) return;
    this.#isSigned = undefined;
    const isDone = new AbortController();
    const taken = table
      .sign({ ...(keeper ? { keeper: 'none' } : {}), ...(waiting ? { waiting: 'none' } : {}) })
      .catch((error: unknown) => {
        if (!isSyncError(error)) throw error;
        log.warn('sheet.mark_left', { code: error.code });
      });
    await Promise.race([taken, clock.sleep(leavingMs, isDone.signal)]);
    isDone.abort();
  }

  /** Fails with SHEET_KEPT where another instance keeps the table. */
  expectWriter(): void {
    if (this.#isSigned && !this.mayWrite && this.#keeper && !this.#isOwn(this.#keeper)) throw this.#kept();
  }

  #isOwn(seen: Sighting | undefined): boolean {
    return seen?.mark.instance.id === this.#link.own.instance.id;
  }

  #look({ keeper, waiting }: Marks): void {
    const { clock, times } = this.#link;
    const now = clock.monotonicMs();
    this.#keeper = sight(this.#keeper, keeper, now, times.goneMs / 2);
    this.#waiting = sight(this.#waiting, waiting, now, times.goneMs / 2);
    if (this.#isOwn(this.#keeper) && this.#sent.count === keeper?.count) this.#arrived = this.#sent;
  }

  #isOver({ lookedAt, mark, since }: Sighting): boolean {
    const { own, times } = this.#link;
    if (mark.instance.id === own.instance.id) return false;
    return lookedAt - since >= times.goneMs || own.isOver(mark.instance);
  }

  async #take(): Promise<void> {
    const { log, table } = this.#link;
    const before = this.#keeper?.mark.instance;
    const isWaiting = this.#isOwn(this.#waiting);
    this.#look(await table.sign({ keeper: this.#nextMark(), ...(isWaiting ? { waiting: 'none' } : {}) }));
    if (!this.mayWrite || before?.id === this.#link.own.instance.id) return;
    log.info('sheet.taken', before ? { fromHost: before.host, fromProcess: before.pid } : {});
  }

  /** Says that it waits, once it is sure that the other one lives: a dead one needs no such mark. */
  async #wait(): Promise<void> {
    const { clock, log, own, table, times } = this.#link;
    const now = clock.monotonicMs();
    const isTaken = this.#waiting && !this.#isOwn(this.#waiting) && !this.#isOver(this.#waiting);
    if (!this.#keeper?.hasMoved || isTaken || now - this.#waitedAt < times.markMs) return;
    this.#waitedAt = now;
    this.#count += 1;
    const waiting = { instance: own.instance, count: this.#count };
    try {
      this.#look(await table.sign({ waiting }));
    } catch (error) {
      if (!isSyncError(error)) throw error;
      // That another one keeps the sheet is what matters, and is thrown.
      log.warn('sheet.wait_not_said', { code: error.code });
    }
  }

  #nextMark(): Mark {
    this.#count += 1;
    this.#sent = { count: this.#count, at: this.#link.clock.monotonicMs() };
    return { instance: this.#link.own.instance, count: this.#count };
  }

  #kept(): SyncError {
    const { goneMs, markMs, pollMs } = this.#link.times;
    const details = { retryAfterMs: Math.min(pollMs, markMs) };
    if (!this.#keeper || this.#isOwn(this.#keeper))
      return newSheetError('SHEET_UNREACHABLE', 'The mark of this daemon is not in the sheet yet.', details);
    const name = describeInstance(this.#keeper.mark.instance);
    const still = `its mark in the sheet has not moved for ${Math.round(goneMs / 1_000)} s`;
    const words = this.#keeper.hasMoved
      ? `Another daemon (${name}) keeps this sheet. This one writes nothing until that one stops or ${still}.`
      : `Another daemon (${name}) keeps this sheet, or ended without taking its mark away. This one writes nothing until it is known to have ended, or ${still}.`;
    return newSheetError('SHEET_KEPT', words, details);
  }
}
