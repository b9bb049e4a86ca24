import type { BudgetLog, Lane } from '../../src/core/ports.ts';
import { createRequestBudget, type Permit } from '../../src/crm/budget.ts';
import type { ApiKey } from '../../src/crm/key-pool.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createMemoryBudgetLog } from './memory-budget-log.ts';

export const windowMs = 60_000;
export const holdMs = 30_000;

export const key = { name: 'agency', secret: `svc_live_${'a'.repeat(64)}` };

export interface BenchOptions {
  readonly requests?: number;
  readonly ipRequests?: number;
  readonly keys?: readonly ApiKey[];
  readonly clock?: ManualClock;
  readonly log?: BudgetLog;
}

/** A budget of ten requests of one key, unless told otherwise, on a clock that stands still. */
export function setUp(options: BenchOptions = {}) {
  const { requests = 10, ipRequests = 200, keys = [key] } = options;
  const { clock = createManualClock(), log = createMemoryBudgetLog() } = options;
  const budget = createRequestBudget({ keys, requests, ipRequests, windowMs, holdMs, clock, log });
  /** Lanes in the order in which their requests were let through. */
  const granted: Lane[] = [];
  const permits: Permit[] = [];
  /** Asks for turns and lets settle what is let through at once. */
  const ask = async (lane: Lane, count = 1) => {
    for (let asked = 0; asked < count; asked += 1) {
      budget.take(lane).then(
        (permit) => {
          granted.push(lane);
          permits.push(permit);
        },
        () => {},
      );
    }
    await clock.advance(0);
  };
  return { clock, log, budget, granted, permits, ask };
}
