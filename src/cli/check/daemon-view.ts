import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Environment } from '../../app/config.ts';
import { callDaemon } from '../daemon-client.ts';

const key = z.object({ entity: z.string(), id: z.string() });

const resyncShape = z.looseObject({
  state: z.enum(['running', 'done', 'failed']),
  tableSteps: z.number(),
  crmWrites: z.number(),
  problem: z.string().optional(),
});

const statusShape = z.looseObject({
  cycles: z.number(),
  tabs: z.array(z.looseObject({ entity: z.string(), pending: z.number() })),
  problems: z.array(z.looseObject({ message: z.string() })),
  holds: z.array(z.looseObject({ decision: z.string().optional() })),
  latest: z.array(z.looseObject({ key, cause: z.string(), lost: z.record(z.string(), z.unknown()) })),
  resync: resyncShape.optional(),
});

export type DaemonStatus = z.infer<typeof statusShape>;
export type ResyncResult = z.infer<typeof resyncShape>;

/** The operator's view of the daemon, through its HTTP face. */
export interface DaemonView {
  status(): Promise<DaemonStatus>;
  approve(scope: string, choice: string): Promise<void>;
  /** Resolves when the resync is over. */
  resync(): Promise<ResyncResult>;
}

const askEveryMs = 300;

export function viewDaemon(environment: Environment): DaemonView {
  const status = async () => statusShape.parse(await callDaemon(environment, 'GET', '/api/status'));
  return {
    status,
    approve: async (scope, choice) =>
      void (await callDaemon(environment, 'POST', '/api/approve', { scope, choice })),
    async resync() {
      let result = resyncShape.parse(await callDaemon(environment, 'POST', '/api/resync'));
      while (result.state === 'running') {
        await sleep(askEveryMs);
        result = (await status()).resync ?? result;
      }
      return result;
    },
  };
}
