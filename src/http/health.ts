import type { FastifyInstance } from 'fastify';
import type { Condition } from '../sync/conditions.ts';
import { isAlive, isReady } from '../sync/health.ts';

/**
 * Adds `/healthz` and `/readyz`. Both tell of every condition, and differ in which of them make the answer red; of several links the worst
 * decides.
 */
export function addHealthRoutes(
  server: FastifyInstance,
  readConditions: () => readonly (Condition & { readonly link?: string })[],
): void {
  server.get('/healthz', (_request, reply) => {
    const conditions = readConditions();
    const status = !isAlive(conditions) ? 'failing' : conditions.length > 0 ? 'degraded' : 'ok';
    return reply.code(isAlive(conditions) ? 200 : 503).send({ status, conditions: conditions.map(show) });
  });
  server.get('/readyz', (_request, reply) => {
    const conditions = readConditions();
    const status = isReady(conditions) ? 'ready' : 'not ready';
    return reply.code(isReady(conditions) ? 200 : 503).send({ status, conditions: conditions.map(show) });
  });
}

/** People read this, so a time is shown as one. */
const show = ({ since, ...condition }: Condition) => ({
  ...condition,
  since: new Date(since).toISOString(),
});
