import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusAnswer } from '../../app/answers.ts';
import type { Environment } from '../../app/config.ts';
import type { ResyncReport } from '../../sync/resync.ts';
import { callDaemon } from '../daemon-client.ts';

/** The operator's view of the daemon, through its HTTP face. */
export type DaemonView = ReturnType<typeof viewDaemon>;

const askEveryMs = 300;

export function viewDaemon(environment: Environment) {
  const status = () => callDaemon<StatusAnswer>(environment, 'GET', '/api/status');
  return {
    status,
    answer: async (question: string, answer: string): Promise<void> =>
      void (await callDaemon(environment, 'POST', '/api/answer', { question, answer })),
    /** Resolves when the resync is over. */
    async resync(): Promise<ResyncReport> {
      let result = await callDaemon<ResyncReport>(environment, 'POST', '/api/resync');
      while (result.state === 'running') {
        await sleep(askEveryMs);
        result = (await status()).resync ?? result;
      }
      return result;
    },
  };
}
