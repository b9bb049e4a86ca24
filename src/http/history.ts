import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseRecordKey } from '../core/record.ts';
import type { Engine } from '../sync/engine.ts';
import { planUndoOf, undo } from '../sync/undo.ts';
import { readInput } from './input.ts';

const limitMax = 1_000;
/** A page holds fewer lines where they are long. */
const pageBytesMax = 1024 * 1024;
const wrongLimit = `must be a whole number from 1 to ${limitMax}`;
const wrongLine = 'must be the number of a line of the history';

const recordShape = z
  .string()
  .transform((text) => parseRecordKey(text))
  .refine((key) => key !== undefined, 'must be a record like lead-42');

const lineNumber = z.coerce.number(wrongLine).int(wrongLine).min(1, wrongLine);

const selectors = {
  record: recordShape.optional(),
  field: z.string().min(1).max(200).optional(),
  run: z.string().min(1).max(100).optional(),
  id: lineNumber.optional(),
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
  before: lineNumber.optional(),
  limit: z.coerce.number(wrongLimit).int(wrongLimit).min(1, wrongLimit).max(limitMax, wrongLimit).default(50),
});

const undoBody = z
  .strictObject({ ...selectors, isDryRun: z.boolean().default(false) })
  .refine(
    ({ id, record, run }) => id !== undefined || record !== undefined || run !== undefined,
    'name a run, a record or a line of the history',
  );

/** Returns a page of the journal, newest first, with the line before which the next one begins where there is one. */
export function addHistoryRoute(server: FastifyInstance, { link: { mirror } }: Engine): void {
  server.get('/api/history', (request) => {
    const { record, ...query } = readInput(historyQuery, request.query);
    const asked = { ...query, key: record };
    const entries = mirror.searchJournal({ ...asked, bytesMax: pageBytesMax });
    const last = entries.at(-1);
    const hasMore = last && mirror.searchJournal({ ...asked, before: last.id, limit: 1 }).length > 0;
    return { entries, ...(hasMore ? { next: last.id } : {}) };
  });
}

/** Takes back what the body names, or says what that would come to. */
export function addUndoRoute(commands: FastifyInstance, engine: Engine): void {
  commands.post('/api/undo', async ({ body }) => {
    const { isDryRun, record, ...order } = readInput(undoBody, body);
    if (isDryRun) return planUndoOf(engine.link, { ...order, key: record });
    for (const side of engine.sides) side.expectWriter();
    const plan = await undo(engine.link, { ...order, key: record });
    engine.kick();
    return plan;
  });
}
