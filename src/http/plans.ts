import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Engine } from '../sync/engine.ts';
import type { Health } from '../sync/health.ts';
import { noBody, RequestRefused, readInput } from './input.ts';

const applyBody = z.strictObject({ id: z.string().min(1).max(100) });

/** Shows what the next cycle would do, with what keeps that from being all there is to do, and does exactly what was shown. */
export function addPlanRoutes(commands: FastifyInstance, engine: Engine, health: Health): void {
  commands.post('/api/plan', async ({ body }) => {
    readInput(noBody, body);
    const [plan, ...others] = (await engine.plans()).map((each) => ({ id: each.run, ...each }));
    const conditions = health.read().filter(({ makes }) => makes !== 'degraded');
    return { ...plan, ...(others.length > 0 ? { others } : {}), conditions };
  });
  commands.post('/api/apply', async ({ body }) => {
    const { id } = readInput(applyBody, body);
    const differences = await engine.apply(id);
    if (differences === undefined)
      throw new RequestRefused(
        404,
        `There is no plan ${id}: the daemon keeps the newest few until they are applied, and none over a restart. Make a new one with plan.`,
      );
    return { id, isApplied: differences.length === 0, differences };
  });
}
