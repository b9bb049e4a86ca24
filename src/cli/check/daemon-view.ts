import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusAnswer } from '../../app/answers.ts';
import type { Environment } from '../../app/config.ts';
import type { ResyncReport } from '../../sync/resync.ts';
import { callDaemon } from '../daemon-client.ts';

/** The operator's view of the daemon, through its HTTP face. */
export interface DaemonView {
  status(): Promise<StatusAnswer>;
  approve(scope: string, choice: string): Promise<void>;
  /** Resolves when the resync is over. */
  resync(): Promise<ResyncReport>;
}

const askEveryMs = 300;

export function viewDaemon(environment: Environment): DaemonView {
  const status = () => callDaemon<StatusAnswer>(environment, 'GET', '/api/status');
  return {
    status,
    approve: async (scope, choice) =>
      void (await callDaemon(environment, 'POST', '/api/approve', { scope, choice })),
    async resync() {
      let result = await callDaemon<ResyncReport>(environment, 'POST', '/api/resync');
      while (result.state === 'running') {
        await sleep(askEveryMs);
        result = (await status()).resync ?? result;
      }
      return result;
    },
  };
}
