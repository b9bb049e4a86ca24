import { countTaken, lowerRequests, nextTurn, recoverRequests, refusalBackoffMs } from '../core/budget.ts';
import { SyncError } from '../core/errors.ts';
import { type BudgetLog, type Clock, type Lane, lanes } from '../core/ports.ts';

export interface RequestBudgetOptions {
  /** Names the CRM key in the log of slots. Never the key itself: it is stored. */
  readonly key: string;
  /** Requests allowed in any window. */
  readonly requests: number;
  readonly windowMs: number;
  /** How long after sending an unanswered request may still arrive: the timeout and some time to settle. */
  readonly holdMs: number;
  readonly clock: Clock;
  readonly log: BudgetLog;
}

/** The right to send one request. */
export interface Permit {
  /**
   * The request was answered, or surely never left: its slot is free again one window from now. Without this
   * call the slot frees one window after the hold.
   */
  answered(): void;
}

export interface BudgetUsage {
  /** Requests allowed in a window now: the configured number, or less after refusals. */
  readonly requests: number;
  readonly taken: number;
  /** For how long no request is sent because the CRM said so. */
  readonly parkedMs: number;
  readonly waiting: Readonly<Record<Lane, number>>;
}

/** Stands in front of every request to the CRM, so that no rolling window holds more of them than allowed. */
export interface RequestBudget {
  /** Waits for a slot. Rejects with the signal's reason, CRM_UNREACHABLE once closed, or the log's error. */
  take(lane: Lane, signal?: AbortSignal): Promise<Permit>;
  /** The CRM refused a request for its rate (429): all lanes wait as it says, else longer each time. */
  park(durationMs?: number): void;
  usage(): BudgetUsage;
  /** Turns away everybody who waits and everybody who comes. */
  close(): void;
}

/** Makes a budget that goes on with the slots which the log kept over a restart. */
export const createRequestBudget = (options: RequestBudgetOptions): RequestBudget =>
  new SlidingLogBudget(options);

interface Waiter {
  readonly since: number;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/** While one of two clocks is being corrected they run apart by up to 0.05 %; twice that is safe. */
const clockDrift = 0.001;

class SlidingLogBudget implements RequestBudget {
  readonly #options: RequestBudgetOptions;
  /** How long a slot stays taken after the answer. */
  readonly #slotMs: number;
  /** When each slot is free again, by its id, on the monotonic clock. */
  readonly #freeAts = new Map<number, number>();
  readonly #queues: Record<Lane, Waiter[]> = { settle: [], edit: [], newest: [], sweep: [] };
  readonly #lastTurnAt: Record<Lane, number> = {
    settle: -Infinity,
    edit: -Infinity,
    newest: -Infinity,
    sweep: -Infinity,
  };
  #loweredTo: number;
  #refusals = 0;
  #parkedUntil = -Infinity;
  #forgottenAt = -Infinity;
  #alarm: AbortController | undefined;
  #isClosed = false;

  constructor(options: RequestBudgetOptions) {
    this.#options = options;
    this.#slotMs = Math.ceil(options.windowMs * (1 + clockDrift));
    this.#loweredTo = options.requests;
    this.#takeOverSlots();
  }

  take(lane: Lane, signal?: AbortSignal): Promise<Permit> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const leave = () => {
      this.#queues[lane] = this.#queues[lane].filter((other) => other !== waiter);
      reject(signal?.reason);
      this.#serve();
    };
    const waiter = { since: this.#now(), resolve, reject };
    this.#queues[lane].push(waiter);
    signal?.addEventListener('abort', leave, { once: true });
    this.#serve();
    return promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  park(durationMs?: number): void {
    const { requests, windowMs } = this.#options;
    const now = this.#now();
    // What is refused while all lanes are parked was sent before: it tells nothing new about the limit.
    if (now >= this.#parkedUntil) {
      this.#refusals = now - this.#parkedUntil < windowMs ? this.#refusals + 1 : 0;
      this.#loweredTo = lowerRequests(this.#requests(now), requests);
    }
    const pauseMs = durationMs ?? refusalBackoffMs(this.#refusals, windowMs);
    this.#parkedUntil = Math.max(this.#parkedUntil, now + pauseMs);
    this.#serve();
  }

  usage(): BudgetUsage {
    const now = this.#now();
    const { settle, edit, newest, sweep } = this.#queues;
    return {
      requests: this.#requests(now),
      taken: countTaken(this.#freeAts.values(), now),
      parkedMs: Math.max(0, this.#parkedUntil - now),
      waiting: { settle: settle.length, edit: edit.length, newest: newest.length, sweep: sweep.length },
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#alarm?.abort();
    for (const lane of lanes) {
      for (const waiter of this.#queues[lane].splice(0)) waiter.reject(closedError());
    }
  }

  /** Gives out every turn that is due and sets the alarm for the next one. */
  #serve(): void {
    this.#alarm?.abort();
    let turn = this.#nextTurn();
    while (turn && turn.waitMs <= 0) {
      this.#grant(turn.lane);
      turn = this.#nextTurn();
    }
    if (turn) this.#setAlarm(turn.waitMs);
  }

  #nextTurn(): { readonly lane: Lane; readonly waitMs: number } | undefined {
    const now = this.#now();
    for (const [id, freeAt] of this.#freeAts) if (freeAt <= now) this.#freeAts.delete(id);
    const waiting = lanes.flatMap((lane) => {
      const [first] = this.#queues[lane];
      return first ? [{ lane, since: first.since, lastTurnAt: this.#lastTurnAt[lane] }] : [];
    });
    const allowance = { requests: this.#requests(now), windowMs: this.#slotMs };
    const turn = nextTurn(allowance, this.#freeAts.values(), waiting, now);
    return turn && { lane: turn.lane, waitMs: Math.max(turn.at, this.#parkedUntil) - now };
  }

  #setAlarm(waitMs: number): void {
    const alarm = new AbortController();
    this.#alarm = alarm;
    void this.#options.clock.sleep(Math.ceil(waitMs), alarm.signal).then(() => {
      if (!alarm.signal.aborted) this.#serve();
    });
  }

  /** Notes the slot before anybody can send: a crash right after it then costs a slot and never a refusal. */
  #grant(lane: Lane): void {
    const { key, clock, holdMs, log } = this.#options;
    const waiter = this.#queues[lane].shift();
    if (!waiter) return;
    const now = this.#now();
    const takenMs = holdMs + this.#slotMs;
    try {
      this.#forgetFreeSlots(now);
      const id = log.addSlot(key, clock.now() + takenMs);
      this.#freeAts.set(id, now + takenMs);
      this.#lastTurnAt[lane] = now;
      waiter.resolve({ answered: () => this.#moveSlot(id) });
    } catch (error) {
      waiter.reject(error);
    }
  }

  #moveSlot(id: number): void {
    const { clock, log } = this.#options;
    this.#freeAts.set(id, this.#now() + this.#slotMs);
    try {
      log.moveSlot(id, clock.now() + this.#slotMs);
    } catch {
      // The answer must reach its caller. The kept slot frees later than it could, which is safe, and a log
      // that can not be written stops the next request, loudly.
    }
    this.#serve();
  }

  #forgetFreeSlots(now: number): void {
    if (now - this.#forgottenAt < this.#options.windowMs) return;
    this.#options.log.forgetSlots(this.#options.clock.now());
    this.#forgottenAt = now;
  }

  /**
   * The log's times are of the wall clock, which may have been set back meanwhile: no slot is taken for
   * longer than one that was taken just now. (A clock that was set forward while the daemon was stopped can
   * not be noticed.)
   */
  #takeOverSlots(): void {
    const { key, clock, holdMs, log } = this.#options;
    const longestMs = holdMs + this.#slotMs;
    for (const { id, freeAt } of log.readSlots(key)) {
      const restMs = freeAt - clock.now();
      if (restMs > longestMs) log.moveSlot(id, clock.now() + longestMs);
      if (restMs > 0) this.#freeAts.set(id, this.#now() + Math.min(restMs, longestMs));
    }
  }

  #requests(now: number): number {
    const { requests, windowMs } = this.#options;
    return recoverRequests(this.#loweredTo, requests, now - this.#parkedUntil, windowMs);
  }

  #now(): number {
    return this.#options.clock.monotonicMs();
  }
}

const closedError = () =>
  new SyncError('CRM_UNREACHABLE', 'The request was not sent: the daemon is stopping.');
