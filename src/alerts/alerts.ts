import { type Backoff, backoffMs } from '../core/backoff.ts';
import { isSyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { Condition, ConditionName } from '../sync/conditions.ts';
import { Signal } from '../sync/waits.ts';
import type { Alert } from './alert.ts';
import type { SendAlert } from './webhook.ts';

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
export class Alerts {
  readonly #options: AlertsOptions;
  readonly #stopping = new AbortController();
  readonly #signal: Signal;
  /** Conditions that hold, as they were when they began. */
  readonly #open = new Map<ConditionName, Condition>();
  readonly #untold = new Map<ConditionName, Alert>();

  constructor(options: AlertsOptions) {
    this.#options = options;
    this.#signal = new Signal(options.clock, this.#stopping.signal);
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
    if (this.#untold.size > 0) this.#signal.raise();
  }

  /** Sends what is noted until stopped. */
  async run(): Promise<void> {
    const { clock, random } = this.#options;
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      const [alert] = this.#untold.values();
      if (!alert) await this.#signal.wait(idleMs);
      else if (await this.#tell(alert, failures)) failures = 0;
      else {
        failures += 1;
        await clock.sleep(backoffMs(backoff, failures, random()), this.#stopping.signal);
      }
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Answers whether it was taken. */
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
