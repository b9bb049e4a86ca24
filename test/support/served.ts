import { onTestFinished } from 'vitest';
import type { LinkSide } from '../../src/http/link-side.ts';
import { type HttpOptions, startHttp } from '../../src/http/server.ts';
import type { Engine } from '../../src/sync/engine.ts';
import { healthOf } from './health.ts';
import { watchIdle } from './idle-watch.ts';

/** What an operator shows to it. */
export const controlToken = 'served-test-token';

/** Starts the HTTP side of an engine, which ends with the test. */
export async function serve(engine: Engine, more: Partial<HttpOptions & LinkSide> = {}) {
  const health = healthOf(engine);
  const watch = more.watch ?? watchIdle(engine);
  const options = {
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    controlToken,
    engine,
    health,
    backUp: () => 'backup.db',
  };
  const http = await startHttp({ ...options, watch, ...more });
  onTestFinished(() => http.close());
  const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
  return {
    ...http,
    /** Posts a command with the token. */
    async post(path: string, order: object): Promise<{ status: number; body: unknown }> {
      const answer = await fetch(http.url + path, { method: 'POST', headers, body: JSON.stringify(order) });
      return { status: answer.status, body: await answer.json() };
    },
    get: (path: string): Promise<Response> => fetch(http.url + path),
  };
}
