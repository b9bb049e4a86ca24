import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseRecordKey } from '../core/record.ts';
import type { Engine } from '../sync/engine.ts';
import { planUndoOf, undo } from '../sync/undo.ts';
import { readInput } from './input.ts';

const limitMax = 1_000;
const wrongLimit = `must be a whole number from 1 to ${limitMax}`;
const wrongLine = 'must be the number of a line of the history';

const recordShape = z
  .string()
  .transform((text) => parseRecordKey(text))
  .refine((key) => key !== undefined, 'must be a record like lead-42');

const selectors = {
  record: recordShape.optional(),
  field: z.string().min(1).max(200).optional(),
  run: z.string().min(1).max(100).optional(),
  id: z.coerce.number(wrongLine).int(wrongLine).min(1, wrongLine).optional(),
  since: z
    .union(
      [z.iso.datetime({ offset: true }), z.iso.date()],
      'must be a day or a time with its zone, like 2026-11-20 or 2026-11-20T08:00:00Z',
    )
    .transform((text) => Date.parse(text))
    .optional(),
};

const historyQuery = z.strictObject({
  ...selectors,
  limit: z.coerce.number(wrongLimit).int(wrongLimit).min(1, wrongLimit).max(limitMax, wrongLimit).default(50),
});

const undoBody = z
  .strictObject({ ...selectors, isDryRun: z.boolean().default(false) })
  .refine(
    ({ id, record, run }) => id !== undefined || record !== undefined || run !== undefined,
    'name a run, a record or a line of the history',
  );

/** Answers lines of the journal, newest first. */
export function addHistoryRoute(server: FastifyInstance, { link }: Engine): void {
  server.get('/api/history', (request) => {
    const { record, ...query } = readInput(historyQuery, request.query);
    return { entries: link.mirror.searchJournal({ ...query, key: record }) };
  });
}

/** Takes back what the body names, or says what that would come to. */
export function addUndoRoute(commands: FastifyInstance, engine: Engine): void {
  commands.post('/api/undo', async ({ body }) => {
    const { isDryRun, record, ...order } = readInput(undoBody, body);
    if (isDryRun) return planUndoOf(engine.link, { ...order, key: record });
    const plan = await undo(engine.link, { ...order, key: record });
    engine.kick();
    return plan;
  });
}
