import type { FastifyInstance } from 'fastify';
import type { Condition } from '../sync/conditions.ts';
import { isAlive, isReady } from '../sync/health.ts';
import type { Access } from './guard.ts';

/**
 * Adds `/livez`, which is also `/healthz`, and `/readyz`. Each names every condition, and they differ in which of them make the answer red;
 * of several links the worst decides. Who may not read learns the state alone.
 */
export function addHealthRoutes(
  server: FastifyInstance,
  access: Access,
  readConditions: () => readonly (Condition & { readonly link?: string })[],
): void {
  const add = (path: string, judge: typeof isAlive, [good, doubtful, bad]: StateWords) =>
    server.get(path, (request, reply) => {
      const conditions = readConditions();
      const green = conditions.length > 0 ? doubtful : good;
      const isGreen = judge(conditions);
      const mayRead = access.isReadingOpen || access.tokenOf(request) !== undefined;
      const details = mayRead ? { conditions: conditions.map(show) } : {};
      return reply.code(isGreen ? 200 : 503).send({ status: isGreen ? green : bad, ...details });
    });
  for (const path of ['/livez', '/healthz']) add(path, isAlive, ['ok', 'degraded', 'failing']);
  add('/readyz', isReady, ['ready', 'ready', 'not ready']);
}

type StateWords = readonly [withoutConditions: string, green: string, red: string];

/** People read this, so a time is shown as one. */
const show = ({ since, ...condition }: Condition) => ({
  ...condition,
  since: new Date(since).toISOString(),
});
