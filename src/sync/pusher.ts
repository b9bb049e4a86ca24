import { isSyncError, SyncError } from '../core/errors.ts';
import type { WorkQueue } from '../core/ports.ts';
import { type RecordKey, recordKeyText } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import { recoverOutbox } from './create.ts';
import { forgetEveryMs, forgetOld } from './forget.ts';
import type { KeyRefusal } from './key-refusal.ts';
import type { Link } from './link.ts';
import { Lock } from './lock.ts';
import { Loop, type LoopMode } from './loop.ts';
import type { Problems } from './problems.ts';
import { pushRecord } from './push.ts';
import { isOfMirror } from './side-runner.ts';

/** A queue that wakes nobody for so many refills in a row has lost its worker, whatever else it reports. */
const refillsInVainMax = 15;

/** After so many pushes without the queue it is looked at again. */
const pushesWithoutQueueMax = 20;

export interface PusherOptions {
  readonly link: Link;
  readonly problems: Problems;
  readonly keyRefusal: KeyRefusal;
  /** Whether a step must not be sent now. */
  readonly isWithheld: (item: OutboxItem) => boolean;
  readonly onFailure: (error: SyncError, item: OutboxItem) => void;
  /** Called before a step is sent. What it returns is called once the step is done. */
  readonly onSending: (key: RecordKey) => () => void;
  /** Something is known of a step that a cycle should see. */
  readonly onNews: () => void;
  /** Called between two refills, at a time of its own. */
  readonly onRefilled: () => void;
}

/** Brings what the outbox holds to the CRM: wakes the queue for what is due, and pushes what the queue wakes it for. */
export class Pusher {
  /** Writes to the CRM since the start. */
  writes = 0;
  readonly #options: PusherOptions;
  readonly #loop: Loop;
  readonly #createLock = new Lock();
  /** Records that a worker is busy with, by the text of their key. */
  readonly #pushing = new Set<string>();
  /** Refills in a row that found something to wake the worker for, and nobody woken since the one before. */
  #refillsInVain = 0;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(options: PusherOptions) {
    this.#options = options;
    this.#loop = new Loop(options.link.clock, () => this.#takeTurn());
  }

  get mode(): LoopMode {
    return this.#loop.mode;
  }

  /** Whether a record is on its way to the CRM now. */
  get isPushing(): boolean {
    return this.#pushing.size > 0;
  }

  /** Recovers what a crash left behind; nothing is on its way then. */
  recover(): void {
    recoverOutbox(this.#options.link, (key) => this.#pushing.has(recordKeyText(key)));
  }

  /** Gives the queue its worker. */
  open(): Promise<void> {
    return this.#options.link.queue.start((key) => {
      this.#refillsInVain = 0;
      return this.#push(key);
    });
  }

  /** Resolves when it has stopped. */
  start(): Promise<void> {
    return this.#loop.start();
  }

  /** Resolves once nothing more is pushed, or after the time. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#loop.stop(), this.#options.link.queue.close(graceMs)]);
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
    const { isWithheld, link, problems } = this.#options;
    const { clock, mirror } = link;
    // A push that could not even note how it failed, on a full disk, has left its item on its way.
    this.recover();
    const now = clock.now();
    this.#forgetHistory(now);
    const isSendable = (item: OutboxItem) => item.state === 'waiting' && !isWithheld(item);
    const due = mirror
      .readOutbox()
      .filter((item) => item.dueAt <= now && (item.state === 'unknown' || isSendable(item)))
      .map(({ key }) => key);
    this.#refillsInVain = due.length === 0 || this.isPushing ? 0 : this.#refillsInVain + 1;
    try {
      await this.#wake(due);
      problems.end('queue');
    } catch (error) {
      problems.begin('queue', error);
      if (isSyncError(error, 'QUEUE_UNREACHABLE')) await this.#pushWithoutQueue(due);
    }
  }

  /** Fails with QUEUE_UNREACHABLE when the queue does not do what it is there for. */
  async #wake(due: readonly RecordKey[]): Promise<void> {
    const { queue } = this.#options.link;
    if (!(await queue.isReachable())) throw new SyncError('QUEUE_UNREACHABLE', 'The queue does not answer.');
    await queue.add(due);
    if (this.#refillsInVain <= refillsInVainMax) return;
    throw new SyncError('QUEUE_UNREACHABLE', `The queue wakes nobody, although ${due.length} steps wait.`);
  }

  /** People's edits do not wait for a queue that does not work. Whoever is woken meanwhile finds their record taken. */
  async #pushWithoutQueue(due: readonly RecordKey[]): Promise<void> {
    for (const key of due.slice(0, pushesWithoutQueueMax)) {
      if (this.#loop.isStopping) return;
      await this.#push(key);
    }
  }

  #forgetHistory(now: number): void {
    if (now - this.#forgotAt < forgetEveryMs) return;
    forgetOld(this.#options.link);
    this.#forgotAt = now;
  }

  /** The queue's wake-up, one at a time for a record. Creates go one after another, so that a newcomer has one possible origin. */
  async #push(key: RecordKey): Promise<void> {
    const { isWithheld, keyRefusal, link, onFailure, onNews, onSending } = this.#options;
    const text = recordKeyText(key);
    if (this.#loop.isStopping || keyRefusal.isInForce || this.#pushing.has(text)) return;
    this.#pushing.add(text);
    try {
      const isCreate = link.mirror.findOutboxItem(key)?.kind === 'create';
      const onDone = onSending(key);
      const push = () => pushRecord(link, key, isWithheld, onFailure);
      const result = await (isCreate ? this.#createLock.run(push) : push());
      if (result === 'nothing') return;
      if (result === 'written') {
        this.writes += 1;
        onDone();
      }
      onNews();
    } catch (error) {
      keyRefusal.note(error);
      if (!isSyncError(error)) throw error;
    } finally {
      this.#pushing.delete(text);
    }
  }
}

/** Wakes the worker. A queue that does not answer is no loss: the refill adds what is due as soon as it does. */
export async function wake(
  { log, queue }: { readonly log: Link['log']; readonly queue: WorkQueue },
  keys: readonly RecordKey[],
): Promise<void> {
  if (keys.length === 0) return;
  try {
    await queue.add(keys);
  } catch (error) {
    if (!isSyncError(error, 'QUEUE_UNREACHABLE')) throw error;
    log.debug('queue.unreachable', { message: error.message, waiting: keys.length });
  }
}
