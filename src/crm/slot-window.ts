import { type Lane, lanes } from '../core/ports.ts';
import {
  type Allowance,
  isUrgent,
  lowerRequests,
  recoverRequests,
  refusalBackoffMs,
  type WindowState,
} from '../core/reading/budget.ts';

/** A window as it is shown to people. */
export interface WindowUsage {
  /** Requests allowed in the window now: the configured number, or less after refusals. */
  readonly requests: number;
  readonly windowMs: number;
  readonly taken: number;
  /** For how long no request is sent because the CRM said so. */
  readonly parkedMs: number;
}

/** One rolling window: its slots, and what it learned from refusals. All times are of the monotonic clock. */
export class SlotWindow {
  readonly #allowance: Allowance;
  /** When each slot is free again, by its id. */
  readonly #freeAts = new Map<number, number>();
  readonly #lastTurnAts = new Map<Lane, number>();
  #loweredTo: number;
  #refusals = 0;
  #parkedUntil = -Infinity;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
    this.#loweredTo = allowance.requests;
  }

  /** Keeps a slot taken until then. */
  holdSlot(id: number, freeAt: number): void {
    this.#freeAts.set(id, freeAt);
  }

  noteTurn(lane: Lane, now: number): void {
    this.#lastTurnAts.set(lane, now);
  }

  /** When a lane last had a turn; `-Infinity` for never. */
  lastTurnAt(lane: Lane): number {
    return this.#lastTurnAts.get(lane) ?? -Infinity;
  }

  /** What decides about the next turn. */
  state(now: number): WindowState {
    for (const [id, freeAt] of this.#freeAts) if (freeAt <= now) this.#freeAts.delete(id);
    return {
      requests: this.#requests(now),
      windowMs: this.#allowance.windowMs,
      freeAts: [...this.#freeAts.values()].sort((left, right) => left - right),
      sweptAt: this.lastTurnAt('sweep'),
      editedAt: Math.max(...lanes.filter(isUrgent).map((lane) => this.lastTurnAt(lane))),
      parkedUntil: this.#parkedUntil,
    };
  }

  /**
   * The CRM refused a request for its rate: no more are sent for the time it says, else for longer each
   * time.
   */
  park(now: number, durationMs?: number): void {
    const { requests, windowMs } = this.#allowance;
    // What is refused while the window is parked was sent before: it tells nothing new about the limit.
    if (now >= this.#parkedUntil) {
      this.#refusals = now - this.#parkedUntil < windowMs ? this.#refusals + 1 : 0;
      this.#loweredTo = lowerRequests(this.#requests(now), requests);
    }
    const pauseMs = durationMs ?? refusalBackoffMs(this.#refusals, windowMs);
    this.#parkedUntil = Math.max(this.#parkedUntil, now + pauseMs);
  }

  usage(now: number): WindowUsage {
    const { requests, windowMs, freeAts, parkedUntil } = this.state(now);
    return { requests, windowMs, taken: freeAts.length, parkedMs: Math.max(0, parkedUntil - now) };
  }

  #requests(now: number): number {
    const { requests, windowMs } = this.#allowance;
    return recoverRequests(this.#loweredTo, requests, now - this.#parkedUntil, windowMs);
  }
}
