import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { titled } from '../core/standing.ts';
import { quoteText } from '../core/text/cut-text.ts';
import type { Engine } from '../sync/engine.ts';
import { listProgress } from '../sync/progress.ts';
import type { ResyncReport } from '../sync/resync.ts';
import { readStatus, readStatusList, statusLists } from '../sync/status.ts';
import { RequestRefused, readInput } from './input.ts';
import type { LinkSide } from './link-side.ts';

const wrongPlace = 'must be a whole number from 0 on';
const partQuery = z.strictObject({
  from: z.coerce.number(wrongPlace).int(wrongPlace).min(0, wrongPlace).default(0),
});

/** Adds the status, which has the first of each long list, and the parts of the lists behind those. */
export function addStatusRoutes(server: FastifyInstance, engine: Engine, readWhole: () => object): void {
  server.get('/api/status', readWhole);
  server.get<{ Params: { list: string } }>('/api/status/:list', ({ params, query }) => {
    const { from } = readInput(partQuery, query);
    const list = statusLists.find((name) => name === params.list);
    if (list) return readStatusList(engine, list, from);
    const known = statusLists.join(', ');
    throw new RequestRefused(404, `A status has no list ${quoteText(params.list)}. It has ${known}.`);
  });
}

/** Everything an operator wants to know of a link, in one answer. */
export function readWholeStatus({ engine, health, watch }: LinkSide, resync: ResyncReport | undefined) {
  const status = readStatus(engine, resync);
  const { entities, ...rest } = status;
  return {
    ...rest,
    tabs: entities,
    conditions: health.read(),
    standing: titled(watch.readStanding()),
    progress: listProgress(status, watch.samples),
    budget: watch.readUsage(),
  };
}
