import { SyncError } from '../core/errors.ts';
import { type BudgetLog, type Clock, type KeySlot, type Lane, lanes } from '../core/ports.ts';
import { type Demand, nextTurn, type Turn } from '../core/reading/budget.ts';
import type { RequestUsage } from '../core/reading/samples.ts';
import type { Scope } from './contract.ts';
import { type ApiKey, createKeyPool, type KeyPool, type Secrets } from './key-pool.ts';
import { SlotWindow, type WindowUsage } from './slot-window.ts';

export interface RequestBudgetOptions {
  /** At least one. */
  readonly keys: readonly ApiKey[];
  /** Requests allowed per key in any window. */
  readonly requests: number;
  /** Requests allowed in any window from this machine's address, all keys together. */
  readonly ipRequests: number;
  readonly windowMs: number;
  /** How long after sending an unanswered request may still arrive: the timeout and some time to settle. */
  readonly holdMs: number;
  readonly clock: Clock;
  readonly log: BudgetLog;
}

/** The right to send one request with a key. */
export interface Permit {
  readonly key: ApiKey;
  /**
   * The request was answered, or surely never left: its slots are free again one window from now. Without this
   * call they free one window after the hold.
   */
  answered(): void;
}

/** The window of the address, what waits, and the window of each key. */
export interface BudgetUsage extends WindowUsage, RequestUsage {
  readonly keys: readonly (WindowUsage & { readonly name: string; readonly isRefused: boolean })[];
}

/** Stands in front of every request to the CRM, so that no rolling window holds more of them than allowed. */
export type RequestBudget = Pick<SlidingLogBudget, keyof SlidingLogBudget>;

/** Makes a budget that goes on with the slots which the log kept over a restart. */
export const createRequestBudget = (options: RequestBudgetOptions): RequestBudget =>
  new SlidingLogBudget(options);

/** The budget for requests that have to go with one of its keys. */
export const onlyKey = (budget: RequestBudget, only: ApiKey): RequestBudget => ({
  take: (lane, needs, signal) => budget.take(lane, needs, signal, only),
  park: (key, durationMs) => budget.park(key, durationMs),
  // That this key is refused says nothing about what the others may go on with.
  refuse: () => false,
  usage: () => budget.usage(),
  secrets: () => budget.secrets(),
  close: () => budget.close(),
});

interface Waiter {
  readonly needs: readonly Scope[];
  readonly only: ApiKey | undefined;
  readonly since: number;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

interface KeyWindow {
  readonly key: ApiKey;
  readonly window: SlotWindow;
}

interface KeyDemand extends Demand {
  readonly of: KeyWindow;
  readonly waiter: Waiter;
}

/** Nobody tells when another budget's request was answered, and its slot is free earlier than it seemed. */
const othersEveryMs = 1_000;

/** While one of two clocks is being corrected they run apart by up to 0.05 %; twice that is safe. */
const clockDrift = 0.001;

class SlidingLogBudget {
  readonly #options: RequestBudgetOptions;
  /** How long a slot stays taken after the answer. */
  readonly #slotMs: number;
  readonly #pool: KeyPool;
  readonly #keyWindows: readonly KeyWindow[];
  /** The window of the address: it holds the slots of all keys. */
  readonly #ipWindow: SlotWindow;
  readonly #queues: Record<Lane, Waiter[]> = { settle: [], edit: [], newest: [], sweep: [] };
  readonly #sent: Record<Lane, number> = { settle: 0, edit: 0, newest: 0, sweep: 0 };
  /** When the slots that this budget took are free, by their ids. */
  readonly #ownSlots = new Map<number, number>();
  #limitReplies = 0;
  #forgottenAt = -Infinity;
  #alarm: AbortController | undefined;
  #isClosed = false;

  constructor(options: RequestBudgetOptions) {
    const { keys, requests, ipRequests, windowMs } = options;
    this.#options = options;
    this.#slotMs = Math.ceil(windowMs * (1 + clockDrift));
    this.#pool = createKeyPool(keys, () => this.#now());
    this.#keyWindows = keys.map((key) => ({ key, window: new SlotWindow({ requests, windowMs }) }));
    this.#ipWindow = new SlotWindow({ requests: ipRequests, windowMs });
    for (const slot of options.log.readSlots()) this.#takeOverSlot(slot);
  }

  /**
   * Waits for a slot of any key that may have the scopes, or of the one key that is meant. Rejects with the signal's reason,
   * CRM_UNREACHABLE once closed, or the log's error.
   */
  take(lane: Lane, needs: readonly Scope[] = [], signal?: AbortSignal, only?: ApiKey): Promise<Permit> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const leave = () => {
      this.#removeWaiter(lane, waiter);
      reject(signal?.reason);
      this.#serve();
    };
    const waiter = { needs, only, since: this.#now(), resolve, reject };
    this.#queues[lane].push(waiter);
    signal?.addEventListener('abort', leave, { once: true });
    this.#serve();
    return promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  /** The CRM refused a request for its rate (429): its key waits as the CRM says, else longer each time. */
  park(key: ApiKey, durationMs?: number): void {
    const parked = this.#keyWindows.find((candidate) => candidate.key === key);
    this.#limitReplies += 1;
    parked?.window.park(this.#now(), durationMs);
    this.#serve();
  }

  /** The CRM refused the key, for these scopes (403) or at all (401). Returns whether another is left to try. */
  refuse(key: ApiKey, needs?: readonly Scope[]): boolean {
    const isAnotherLeft = this.#pool.refuse(key, needs);
    this.#serve();
    return isAnotherLeft;
  }

  usage(): BudgetUsage {
    const now = this.#now();
    const { settle, edit, newest, sweep } = this.#queues;
    const keys = this.#keyWindows.map(({ key, window }) => ({
      name: key.name,
      isRefused: this.#pool.isRefused(key),
      ...window.usage(now),
    }));
    const ip = this.#ipWindow.usage(now);
    // With a refused key nothing is sent as long as another is left, and one always is.
    const used = keys.filter(({ isRefused }) => !isRefused);
    return {
      requests: used.reduce((sum, { requests }) => Math.min(ip.requests, sum + requests), 0),
      windowMs: ip.windowMs,
      taken: ip.taken,
      parkedMs: Math.min(...used.map(({ parkedMs }) => parkedMs)),
      waiting: { settle: settle.length, edit: edit.length, newest: newest.length, sweep: sweep.length },
      sent: { ...this.#sent },
      limitReplies: this.#limitReplies,
      keys,
    };
  }

  /** The secrets of all keys as they are now: whoever waits for a turn can tell by them whether its key was exchanged meanwhile. */
  secrets(): Secrets {
    return new Map(this.#options.keys.map((key) => [key, key.secret]));
  }

  /** Turns away everybody who waits and everybody who comes. */
  close(): void {
    this.#isClosed = true;
    this.#stopAlarm();
    for (const lane of lanes) {
      for (const waiter of this.#queues[lane].splice(0)) waiter.reject(closedError());
    }
  }

  /** Gives out every turn that is due and sets the alarm for the next one. */
  #serve(): void {
    this.#stopAlarm();
    for (let first = this.#firstWaiter(); first; first = this.#firstWaiter()) {
      try {
        const turn = this.#alone(() => this.#takeTurn());
        if (!turn) return;
        if (turn.slot === undefined) {
          this.#setAlarm(turn.at - this.#now());
          return;
        }
        this.#grant(turn.demand, turn.slot);
      } catch (error) {
        // Nobody may send whose slot is not noted.
        this.#removeWaiter(first.lane, first.waiter);
        first.waiter.reject(error);
      }
    }
  }

  #firstWaiter(): { readonly lane: Lane; readonly waiter: Waiter } | undefined {
    return lanes.flatMap((lane) => this.#queues[lane].slice(0, 1).map((waiter) => ({ lane, waiter })))[0];
  }

  /** Does the work while no other budget takes a slot of the same limits. */
  #alone<Result>(work: () => Result): Result {
    const { shared } = this.#options.log;
    return shared ? shared.alone(work) : work();
  }

  /**
   * Whose turn is next, with its slot if that is now. The slot is noted before anybody can send: a crash right after it then costs a slot
   * and never a refusal.
   */
  #takeTurn(): (Turn<KeyDemand> & { readonly slot?: number }) | undefined {
    this.#learnOthers();
    const now = this.#now();
    const turn = nextTurn(this.#listDemands(now), now);
    if (!turn || turn.at > now) return turn;
    const { clock, holdMs, log } = this.#options;
    const takenMs = holdMs + this.#slotMs;
    this.#forgetFreeSlots();
    const { of } = turn.demand;
    const slot = log.addSlot(of.key.name, clock.now() + takenMs);
    this.#holdSlot(of, slot, takenMs);
    return { ...turn, slot };
  }

  /** Who is first in line for each key, lane by lane. */
  #listDemands(now: number): KeyDemand[] {
    const ipState = this.#ipWindow.state(now);
    const states = this.#keyWindows.map(({ window }) => [window.state(now), ipState]);
    return lanes.flatMap((lane) =>
      this.#keyWindows.flatMap((of, index): KeyDemand[] => {
        const waiter = this.#queues[lane].find(({ needs, only }) =>
          only ? only === of.key : this.#pool.allows(of.key, needs),
        );
        if (!waiter) return [];
        const lastTurnAt = of.window.lastTurnAt(lane);
        return [{ lane, of, waiter, since: waiter.since, lastTurnAt, windows: states[index] ?? [] }];
      }),
    );
  }

  #stopAlarm(): void {
    // Without a reason it makes an exception that nobody reads.
    this.#alarm?.abort('served');
    this.#alarm = undefined;
  }

  #setAlarm(waitMs: number): void {
    const alarm = new AbortController();
    this.#alarm = alarm;
    const { clock, log } = this.#options;
    const mayComeEarlier = log.shared !== undefined;
    const alarmMs = mayComeEarlier ? Math.min(waitMs, othersEveryMs) : waitMs;
    void clock.sleep(Math.ceil(alarmMs), alarm.signal).then(() => {
      if (!alarm.signal.aborted) this.#serve();
    });
  }

  #grant({ lane, of, waiter }: KeyDemand, slot: number): void {
    this.#removeWaiter(lane, waiter);
    for (const window of [of.window, this.#ipWindow]) window.noteTurn(lane, this.#now());
    this.#sent[lane] += 1;
    waiter.resolve({ key: of.key, answered: () => this.#endSlot(of, slot) });
  }

  #endSlot(of: KeyWindow, id: number): void {
    const { clock, log } = this.#options;
    this.#holdSlot(of, id, this.#slotMs);
    try {
      log.moveSlot(id, clock.now() + this.#slotMs);
    } catch {
      // The answer must reach its caller. The kept slot frees later than it could, which is safe, and a log
      // that can not be written stops the next request, loudly.
    }
    this.#serve();
  }

  #holdSlot(of: KeyWindow, id: number, durationMs: number): void {
    const freeAt = this.#now() + durationMs;
    this.#ownSlots.set(id, freeAt);
    this.#occupy(of, id, freeAt);
  }

  /** A slot of a key is one of the address too. */
  #occupy(of: KeyWindow | undefined, id: number, freeAt: number): void {
    of?.window.holdSlot(id, freeAt);
    this.#ipWindow.holdSlot(id, freeAt);
  }

  #forgetFreeSlots(): void {
    const { windowMs, clock, log } = this.#options;
    const now = this.#now();
    if (now - this.#forgottenAt < windowMs) return;
    log.forgetSlots(clock.now());
    for (const [id, freeAt] of this.#ownSlots) if (freeAt <= now) this.#ownSlots.delete(id);
    this.#forgottenAt = now;
  }

  /** Sees the slots that other budgets took or gave back since the last look. */
  #learnOthers(): void {
    const { clock, log } = this.#options;
    for (const slot of log.shared?.readTaken(clock.now()) ?? [])
      if (!this.#ownSlots.has(slot.id)) this.#takeOverSlot(slot);
  }

  /**
   * A slot of no key of this budget, as that of a secret from before an exchange, is one of the address all the same.
   *
   * The log's times are of the wall clock, which may have been set back meanwhile: no slot is taken for
   * longer than one that was taken just now. (A clock that was set forward while the daemon was stopped can
   * not be noticed.)
   */
  #takeOverSlot({ id, freeAt, key: name }: KeySlot): void {
    const { clock, holdMs, log } = this.#options;
    const longestMs = holdMs + this.#slotMs;
    const restMs = freeAt - clock.now();
    if (restMs > longestMs) log.moveSlot(id, clock.now() + longestMs);
    const of = this.#keyWindows.find(({ key }) => key.name === name);
    if (restMs > 0) this.#occupy(of, id, this.#now() + Math.min(restMs, longestMs));
  }

  #removeWaiter(lane: Lane, waiter: Waiter): void {
    this.#queues[lane] = this.#queues[lane].filter((other) => other !== waiter);
  }

  #now(): number {
    return this.#options.clock.monotonicMs();
  }
}

const closedError = () =>
  new SyncError('CRM_UNREACHABLE', 'The request was not sent: the daemon is stopping.');
