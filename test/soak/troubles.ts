import type { Random } from '../../src/sandbox/crm/random.ts';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import type { ProcessStage } from '../support/process-stage.ts';
import { flushRedis, type RedisServer } from '../support/redis.ts';

export interface Servers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
}

/** Lets one thing go wrong; answers what. */
export async function makeTrouble(
  stage: ProcessStage,
  { postgres, redis }: Servers,
  random: Random,
): Promise<string> {
  const troubles: Readonly<Record<string, () => unknown>> = {
    'the CRM loses answers': () => stage.setCrmFaults({ faults: [{ kind: 'dropAfter', times: 3 }] }),
    'the CRM loses requests': () => stage.setCrmFaults({ faults: [{ kind: 'dropBefore', times: 3 }] }),
    'the CRM fails': () => stage.setCrmFaults({ faults: [{ kind: 'status', status: 503, times: 5 }] }),
    'the CRM limits': () => stage.setCrmFaults({ faults: [{ kind: 'rateLimited', times: 2 }] }),
    'the CRM talks garbage': () =>
      stage.setCrmFaults({ faults: [{ kind: 'garbage', method: 'GET', times: 2 }] }),
    'the CRM is slow': () => stage.setCrmFaults({ faults: [{ kind: 'slow', delayMs: 1_000, times: 10 }] }),
    'the CRM lists nothing': () => stage.setCrmFaults({ faults: [{ kind: 'emptyList', path: '/leads' }] }),
    'the sheet is away': () =>
      stage.setSheetFaults({ failures: [{ kind: 'unavailable', when: 'before', times: 3 }] }),
    'the sheet loses answers': () =>
      stage.setSheetFaults({ failures: [{ kind: 'cut', when: 'after', times: 2 }] }),
    'rows are sorted under a write': () =>
      stage.setSheetFaults({
        beforeNextWrite: [{ kind: 'sort', sheet: 'Leads', column: 'Title', descending: random.chance(0.5) }],
      }),
    'a row is inserted under a write': () =>
      stage.setSheetFaults({ beforeNextWrite: [{ kind: 'insertRows', sheet: 'Leads', row: 1 }] }),
    'Redis forgets everything': () => flushRedis(redis),
    'the database is killed': async () => {
      await postgres.kill();
      await postgres.restart();
    },
  };
  const name = random.pick(Object.keys(troubles));
  await troubles[name]?.();
  return name;
}
