import { isSyncError } from '../core/errors.ts';
import {
  type Condition,
  type ConditionName,
  type Finding,
  findInEngine,
  findInMirror,
  findLateTimers,
  type HealthLimits,
} from './conditions.ts';
import type { Engine } from './engine.ts';

export interface HealthOptions {
  readonly engine: Engine;
  readonly limits: HealthLimits;
  /** For how long the CRM asked not to be called; 0 for not at all. */
  readonly pauseMs: () => number;
}

const lookEveryMs = 1_000;

/** So many timers in a row have to be late: one long gap, as of a machine that slept, is nothing to tell. */
const looksMin = 15;

/**
 * Everything that is not as it should be, computed in this one place: what answers about health, counts it or tells people of it asks here.
 */
export class Health {
  readonly #options: HealthOptions;
  /** How late the last timers came. All of them are late while the process computes for long, or gets too little of its machine. */
  #lateMs: readonly number[] = [];
  readonly #stopping = new AbortController();
  #open: ReadonlyMap<ConditionName, Condition> = new Map();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** All conditions that hold now, each name once. */
  read(): Condition[] {
    const now = this.#options.engine.link.clock.now();
    const sinceOf = ({ name, since }: Finding) => since ?? this.#open.get(name)?.since ?? now;
    const found = this.#find().map((finding): Condition => ({ ...finding, since: sinceOf(finding) }));
    this.#open = new Map(found.map((condition) => [condition.name, condition]));
    return [...this.#open.values()];
  }

  /** Looks on and on until stopped, so that it is known since when each condition holds. `onLook` is given what every look found. */
  async run(onLook: (conditions: readonly Condition[]) => void = () => {}): Promise<void> {
    const { clock } = this.#options.engine.link;
    while (!this.#stopping.signal.aborted) {
      onLook(this.read());
      const begunAt = clock.monotonicMs();
      await clock.sleep(lookEveryMs, this.#stopping.signal);
      this.#lateMs = [...this.#lateMs, clock.monotonicMs() - begunAt - lookEveryMs].slice(-looksMin);
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  #find(): Finding[] {
    const { engine, limits } = this.#options;
    const steadyMs = this.#lateMs.length < looksMin ? 0 : Math.min(...this.#lateMs);
    const inEngine = [...findInEngine(engine, limits, this.#pauseMs()), ...findLateTimers(steadyMs)];
    try {
      return [...inEngine, ...findInMirror(engine, limits)];
    } catch (error) {
      if (!isSyncError(error)) throw error;
      // A mirror that can not be read is a condition itself.
      const { code: name, message: words } = error;
      return [...inEngine, { name, words, makes: 'notReady' }];
    }
  }

  /** A short pause is the CRM's everyday way to slow down; a long one is told until it ends. */
  #pauseMs(): number {
    const { limits, pauseMs } = this.#options;
    const leftMs = pauseMs();
    return leftMs > limits.graceMs || this.#open.has('CRM_PAUSE') ? leftMs : 0;
  }
}

/** Whether no condition says otherwise. */
export const isAlive = (conditions: readonly Condition[]): boolean =>
  conditions.every(({ makes }) => makes !== 'notAlive');
export const isReady = (conditions: readonly Condition[]): boolean =>
  conditions.every(({ makes }) => makes === 'degraded');
