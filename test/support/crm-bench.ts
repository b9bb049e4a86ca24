import type { BudgetLog, Fence } from '../../src/core/ports.ts';
import { createRequestBudget } from '../../src/crm/budget.ts';
import { createCrmClient } from '../../src/crm/client.ts';
import type { ApiKey } from '../../src/crm/key-pool.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createMemoryBudgetLog } from './memory-budget-log.ts';
import { createRecordingLog } from './recording-log.ts';

export const timeoutMs = 30_000;
/** Longer than every pause between tries, shorter than the timeout. */
const pauseMaxMs = 10_000;

export interface CrmBenchOptions {
  readonly apiKey?: string;
  /** Further keys. */
  readonly apiKeys?: readonly string[];
  /** Instead of both. */
  readonly keys?: readonly ApiKey[];
  readonly requests?: number;
  readonly clock?: ManualClock;
  readonly budgetLog?: BudgetLog;
  readonly fence?: Fence;
}

/** A CRM client whose time stands still. */
export function createCrmBench(baseUrl: string, options: CrmBenchOptions = {}) {
  const { apiKey = `svc_live_${'5'.repeat(64)}`, apiKeys = [], requests = 100 } = options;
  const { clock = createManualClock(), budgetLog = createMemoryBudgetLog() } = options;
  const log = createRecordingLog();
  const holdMs = timeoutMs + 30_000;
  const budget = createRequestBudget({
    keys: options.keys ?? [apiKey, ...apiKeys].map((secret, index) => ({ name: `key-${index}`, secret })),
    requests,
    ipRequests: 200,
    windowMs: 60_000,
    holdMs,
    clock,
    log: budgetLog,
  });
  const fence = options.fence ? { fence: options.fence } : {};
  const crm = createCrmClient({ baseUrl, timeoutMs, budget, clock, random: () => 0.5, log, ...fence });
  /** Lets a call go on over the pauses between its tries. */
  const overPauses = async <Result>(call: Promise<Result>) => {
    const ended = call.then(
      () => true,
      () => true,
    );
    const paused = () => clock.sleepStarted(pauseMaxMs).then(() => false);
    while (!(await Promise.race([ended, paused()]))) await clock.advance(pauseMaxMs);
    return call;
  };
  return { crm, clock, budget, log, overPauses };
}
