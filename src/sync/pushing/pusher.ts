import { isSyncError, SyncError } from '../../core/errors.ts';
import type { Mirror } from '../../core/mirror.ts';
import { type RecordKey, recordKeyText } from '../../core/record.ts';
import type { OutboxItem } from '../../core/state.ts';
import { forgetOld } from '../forget.ts';
import type { Link } from '../link.ts';
import { Lock, Loop } from '../loop.ts';
import { isOfMirror, type Problems } from '../problems.ts';
import type { KeyRefusal } from '../reading/key-refusal.ts';
import { recoverOutbox } from './create.ts';
import { pushRecord } from './push.ts';

/** A queue that wakes nobody for so many refills in a row has lost its worker, whatever else it reports. */
const refillsInVainMax = 15;

/** So many steps are put into the queue again by one refill: far more than the CRM takes until the next one. */
const refilledMax = 500;

/** After so many pushes without the queue it is looked at again. */
const pushesWithoutQueueMax = 20;

/** A pause between two looks for what may be forgotten. */
const forgetEveryMs = 60 * 60 * 1_000;

export interface PusherOptions {
  readonly link: Link;
  readonly problems: Problems;
  readonly keyRefusal: KeyRefusal;
  /** The mirror with the stores of each side whose steps are pushed. */
  readonly mirrors: readonly Mirror[];
  /** Whether a step that is in these stores must not be sent now. */
  readonly isWithheld: (item: OutboxItem, mirror: Mirror) => boolean;
  readonly onFailure: (error: SyncError, item: OutboxItem) => void;
  /** Called before a step in these stores is sent. What it returns is called once the step is done. */
  readonly onSending: (key: RecordKey, mirror: Mirror) => () => void;
  /** Something is known of a step that a cycle should see. */
  readonly onNews: () => void;
  /** Called between two refills, at a time of its own. */
  readonly onRefilled: () => void;
}

/** Brings what the outbox holds to the CRM: wakes the queue for what is due, and pushes what the queue wakes it for. */
export class Pusher extends Loop {
  /** Writes to the CRM since the start. */
  writes = 0;
  readonly #options: PusherOptions;
  /** The link as the steps of each side see it. */
  readonly #links: readonly Link[];
  readonly #createLock = new Lock();
  /** Records that a worker is busy with, by the text of their key. */
  readonly #pushing = new Set<string>();
  /** Refills in a row that found something to wake the worker for, and nobody woken since the one before. */
  #refillsInVain = 0;
  /** Where among the steps that are due the next refill begins. */
  #refillFrom = 0;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(options: PusherOptions) {
    super(options.link.clock, () => this.#takeTurn());
    this.#options = options;
    this.#links = options.mirrors.map((mirror) => ({ ...options.link, mirror }));
  }

  /** Recovers what a crash left behind; nothing is on its way then. */
  recover(): void {
    for (const link of this.#links) recoverOutbox(link, (key) => this.#pushing.has(recordKeyText(key)));
  }

  /** Gives the queue its worker. */
  open(): Promise<void> {
    return this.#options.link.queue.start((key) => {
      this.#refillsInVain = 0;
      return this.#push(key);
    });
  }

  /** Puts what is due into the queue again: jobs may be lost, the outbox is not. */
  async #takeTurn() {
    const { link, onRefilled, problems } = this.#options;
    let hasFailed = false;
    try {
      await this.#refill();
    } catch (error) {
      hasFailed = true;
      problems.begin(isOfMirror(error) ? 'mirror' : 'queue', error);
    }
    onRefilled();
    const waitMs = link.times.refillMs;
    return { gapMs: waitMs, waitMs, isBackingOff: hasFailed };
  }

  async #refill(): Promise<void> {
    const { link, mirrors, problems } = this.#options;
    // A push that could not even note how it failed, on a full disk, has left its item on its way.
    this.recover();
    const now = link.clock.now();
    this.#forgetHistory(now);
    const due = mirrors.flatMap((mirror) => this.#findDue(mirror, now));
    this.#refillsInVain = due.length === 0 || this.#pushing.size > 0 ? 0 : this.#refillsInVain + 1;
    const from = this.#refillFrom < due.length ? this.#refillFrom : 0;
    const some = due.slice(from, from + refilledMax);
    this.#refillFrom = from + some.length;
    try {
      await this.#wake(some, due.length);
      problems.end('queue');
    } catch (error) {
      problems.begin('queue', error);
      if (isSyncError(error, 'QUEUE_UNREACHABLE')) await this.#pushWithoutQueue(some);
    }
  }

  #findDue(mirror: Mirror, now: number): RecordKey[] {
    const isSendable = (item: OutboxItem) =>
      item.state === 'waiting' && !this.#options.isWithheld(item, mirror);
    return mirror
      .readOutbox()
      .filter((item) => item.dueAt <= now && (item.state === 'unknown' || isSendable(item)))
      .map(({ key }) => key);
  }

  /** Fails with QUEUE_UNREACHABLE when the queue does not do what it is there for. */
  async #wake(some: readonly RecordKey[], waiting: number): Promise<void> {
    const { queue } = this.#options.link;
    if (!(await queue.isReachable())) throw new SyncError('QUEUE_UNREACHABLE', 'The queue does not answer.');
    await queue.add(some);
    if (this.#refillsInVain <= refillsInVainMax) return;
    throw new SyncError('QUEUE_UNREACHABLE', `The queue wakes nobody, although ${waiting} steps wait.`);
  }

  /** People's edits do not wait for a queue that does not work. Whoever is woken meanwhile finds their record taken. */
  async #pushWithoutQueue(due: readonly RecordKey[]): Promise<void> {
    for (const key of due.slice(0, pushesWithoutQueueMax)) {
      if (this.isStopping) return;
      await this.#push(key);
    }
  }

  #forgetHistory(now: number): void {
    if (now - this.#forgotAt < forgetEveryMs) return;
    forgetOld(this.#options.link, this.#options.mirrors);
    this.#forgotAt = now;
  }

  /** The queue's wake-up, one at a time for a record, whichever sides have steps for it. */
  async #push(key: RecordKey): Promise<void> {
    const { keyRefusal } = this.#options;
    const text = recordKeyText(key);
    if (this.isStopping || keyRefusal.isInForce || this.#pushing.has(text)) return;
    this.#pushing.add(text);
    try {
      for (const link of this.#links) await this.#pushStep(key, link);
    } catch (error) {
      keyRefusal.note(error);
      if (!isSyncError(error)) throw error;
    } finally {
      this.#pushing.delete(text);
    }
  }

  /** Creates go one after another, so that a newcomer has one possible origin. */
  async #pushStep(key: RecordKey, link: Link): Promise<void> {
    const { isWithheld, onFailure, onNews, onSending } = this.#options;
    const isCreate = link.mirror.findOutboxItem(key)?.kind === 'create';
    const onDone = onSending(key, link.mirror);
    // It may have waited for the step before it until after the stop.
    const push = async () =>
      this.isStopping ? 'nothing' : pushRecord(link, key, (item) => isWithheld(item, link.mirror), onFailure);
    const result = await (isCreate ? this.#createLock.run(push) : push());
    if (result === 'nothing') return;
    if (result === 'written') {
      this.writes += 1;
      onDone();
    }
    onNews();
  }
}

/** Wakes the worker. A queue that does not answer is no loss: the refill adds what is due as soon as it does. */
export async function wake({ log, queue }: Link, keys: readonly RecordKey[]): Promise<void> {
  if (keys.length === 0) return;
  try {
    await queue.add(keys);
  } catch (error) {
    if (!isSyncError(error, 'QUEUE_UNREACHABLE')) throw error;
    log.debug('queue.unreachable', { message: error.message, waiting: keys.length });
  }
}
