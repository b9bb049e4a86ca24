import { type Backoff, backoffMs } from '../core/backoff.ts';
import { isSyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { Condition, ConditionName } from '../sync/conditions.ts';
import { Loop, type Pause } from '../sync/loop.ts';
import type { Alert, SendAlert } from './webhook.ts';

export interface AlertsOptions {
  readonly link: string;
  readonly send: SendAlert;
  readonly clock: Clock;
  readonly log: Log;
  /** Chance from 0 to 1. */
  readonly random: () => number;
}

/** Every start and every stop has them: nobody needs to be told. */
const everyday: ReadonlySet<ConditionName> = new Set(['NOT_READ_YET', 'STOPPING']);

/** How long to wait before an alert that was not taken is sent again. */
const backoff: Backoff = { firstMs: 1_000, maxMs: 60_000 };

/** A noted alert ends this pause at once. */
const idleMs = 60_000;

/**
 * Tells of each condition once when it begins and once when it ends. While the receiver is away the newest state of each condition is
 * kept for it, so that it learns of an end without the beginning, but never of what is not true any more.
 */
export class Alerts extends Loop {
  readonly #options: AlertsOptions;
  readonly #stopping = new AbortController();
  /** How often in a row the receiver did not take one. */
  #failures = 0;
  /** Conditions that hold, as they were when they began. */
  readonly #open = new Map<ConditionName, Condition>();
  readonly #untold = new Map<ConditionName, Alert>();

  constructor(options: AlertsOptions) {
    super(options.clock, () => this.#takeTurn());
    this.#options = options;
  }

  /** Takes note of everything that holds now. */
  note(conditions: readonly Condition[]): void {
    const { clock, link } = this.#options;
    const now = new Map(conditions.map((condition) => [condition.name, condition]));
    for (const condition of conditions) {
      const { name } = condition;
      if (everyday.has(name) || this.#open.has(name)) continue;
      this.#open.set(name, condition);
      this.#untold.set(name, { event: 'began', link, condition });
    }
    for (const [name, condition] of this.#open) {
      if (now.has(name)) continue;
      this.#open.delete(name);
      this.#untold.set(name, { event: 'ended', link, condition, endedAt: clock.now() });
    }
    if (this.#untold.size > 0) this.kick();
  }

  override stop(): Promise<void> {
    this.#stopping.abort();
    return super.stop();
  }

  async #takeTurn(): Promise<Pause> {
    const [alert] = this.#untold.values();
    if (!alert) return { waitMs: idleMs };
    this.#failures = (await this.#tell(alert, this.#failures)) ? 0 : this.#failures + 1;
    if (this.#failures === 0) return { waitMs: 0 };
    const waitMs = backoffMs(backoff, this.#failures, this.#options.random());
    return { waitMs, gapMs: waitMs, isBackingOff: true };
  }

  /** Returns whether it was taken. */
  async #tell(alert: Alert, failures: number): Promise<boolean> {
    const { log, send } = this.#options;
    const { event, condition } = alert;
    try {
      await send(alert, this.#stopping.signal);
    } catch (error) {
      if (!isSyncError(error, 'ALERT_UNSENT')) throw error;
      if (failures === 0) log.warn('alert.unsent', { name: condition.name, message: error.message });
      // The receiver may refuse this one alone, as where it finds it too long: the others come first then.
      if (this.#untold.get(condition.name) === alert && this.#untold.delete(condition.name))
        this.#untold.set(condition.name, alert);
      return false;
    }
    log.info('alert.sent', { name: condition.name, told: event, failures });
    // It may have been replaced by a newer one meanwhile.
    if (this.#untold.get(condition.name) === alert) this.#untold.delete(condition.name);
    return true;
  }
}
