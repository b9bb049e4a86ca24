import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
  const send = (request: FastifyRequest, reply: FastifyReply, health: HealthAnswer) => {
    const { conditions, isGreen, status } = health;
    const mayRead = access.isReadingOpen || access.hasToken(request);
    const details = mayRead ? { conditions: conditions.map(show) } : {};
    return reply.code(isGreen ? 200 : 503).send({ status, ...details });
  };
  for (const path of ['/livez', '/healthz'])
    server.get(path, (request, reply) => {
      const conditions = readConditions();
      const isGreen = isAlive(conditions);
      const status = !isGreen ? 'failing' : conditions.length > 0 ? 'degraded' : 'ok';
      return send(request, reply, { conditions, isGreen, status });
    });
  server.get('/readyz', (request, reply) => {
    const conditions = readConditions();
    const isGreen = isReady(conditions);
    return send(request, reply, { conditions, isGreen, status: isGreen ? 'ready' : 'not ready' });
  });
}

interface HealthAnswer {
  readonly conditions: readonly Condition[];
  readonly isGreen: boolean;
  readonly status: string;
}

/** People read this, so a time is shown as one. */
const show = ({ since, ...condition }: Condition) => ({
  ...condition,
  since: new Date(since).toISOString(),
});
