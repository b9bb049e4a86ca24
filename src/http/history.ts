import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { HistoryQuery } from '../core/history.ts';
import { recordKeyText } from '../core/record.ts';
import { isTimeZone } from '../core/text/dates.ts';
import type { Engine } from '../sync/engine.ts';
import { labelEntry, labelsOf, labelUndo } from '../sync/labels.ts';
import type { Link } from '../sync/link.ts';
import { planUndoOf, undo } from '../sync/undo.ts';
import type { NoteCommand } from './commands.ts';
import { readInput } from './input.ts';
import { findField, findRecord } from './named.ts';

const limitMax = 1_000;
/** A page holds fewer lines where they are long. */
const pageBytesMax = 1024 * 1024;
const wrongLimit = `must be a whole number from 1 to ${limitMax}`;
const wrongLine = 'must be the number of a line of the history';

const lineNumber = z.coerce.number(wrongLine).int(wrongLine).min(1, wrongLine);

const selectors = {
  record: z.string().min(1).max(300).optional(),
  field: z.string().min(1).max(200).optional(),
  run: z.string().min(1).max(100).optional(),
  id: lineNumber.optional(),
  since: z
    .union(
      [z.iso.datetime({ offset: true }), z.iso.date()],
      'must be a day or a time with its zone, like 2026-11-20 or 2026-11-20T08:00:00Z; the command takes 1h, 2d and local times too',
    )
    .transform((text) => Date.parse(text))
    .optional(),
  /** Of whoever reads the answer; a browser may have one that is not known here. */
  zone: z.string().max(100).refine(isTimeZone).catch('UTC'),
};

type Selected = Omit<HistoryQuery, 'key'> & { readonly record?: string | undefined };

/** Finds what the words of a person name. */
function readNames<Query extends Selected>(link: Link, { field, record, ...query }: Query) {
  const key = record === undefined ? undefined : findRecord(link, record);
  return { ...query, key, field: field === undefined ? undefined : findField(link, field, key) };
}

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
export function addHistoryRoute(server: FastifyInstance, { link }: Engine): void {
  const { mirror } = link;
  server.get('/api/history', (request) => {
    const { zone, ...query } = readInput(historyQuery, request.query);
    const asked = readNames(link, query);
    const entries = mirror.searchJournal({ ...asked, bytesMax: pageBytesMax });
    const last = entries.at(-1);
    const hasMore = last && mirror.searchJournal({ ...asked, before: last.id, limit: 1 }).length > 0;
    const labels = labelsOf(link, zone);
    return {
      entries: entries.map((entry) => labelEntry(labels, entry)),
      ...(hasMore ? { next: last.id } : {}),
    };
  });
}

/** What is taken back, by ids alone. */
const describeOrder = ({ field, id, key, run }: HistoryQuery): string =>
  [
    ...(key ? [recordKeyText(key)] : []),
    ...(field === undefined ? [] : [field]),
    ...(id === undefined ? [] : [`line ${id}`]),
    ...(run === undefined ? [] : [`run ${run}`]),
  ].join(' ');

/** Takes back what the body names, or says what that would come to. */
export function addUndoRoute(commands: FastifyInstance, engine: Engine, note: NoteCommand): void {
  const { link } = engine;
  commands.post('/api/undo', async (request) => {
    const { isDryRun, zone, ...named } = readInput(undoBody, request.body);
    const order = readNames(link, named);
    const labels = labelsOf(link, zone);
    if (isDryRun) return labelUndo(labels, planUndoOf(link, order));
    for (const side of engine.sides) side.expectWriter();
    const plan = await undo(link, order);
    note(request, describeOrder(order));
    engine.kick();
    return labelUndo(labels, plan);
  });
}
