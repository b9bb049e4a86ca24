import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseRecordKey } from '../core/record.ts';
import { listFew } from '../core/text/cut-text.ts';
import { answers, answersTo } from '../core/waiting/answer.ts';
import { answer, resolveAll, resolveConflict } from '../sync/answers.ts';
import type { Engine } from '../sync/engine.ts';
import { listRefused, listWaiting } from '../sync/status.ts';
import { RequestRefused, readInput } from './input.ts';

const scope = z.string().min(1).max(300);
const side = z.enum(['crm', 'sheet']);

/** The question as the person sees it who answers. */
const shownQuestion = z.strictObject({ what: z.string(), about: z.record(z.string(), z.string()) });
const approveBody = z.strictObject({ scope, choice: z.enum(answers), seen: shownQuestion.optional() });

/** A cell of a spreadsheet holds no more characters. */
const textLengthMax = 50_000;

const resolveBody = z.union(
  [
    z.strictObject({ scope, side, seen: shownQuestion.optional() }),
    z.strictObject({ scope, text: z.string().max(textLengthMax), seen: shownQuestion.optional() }),
    z.strictObject({ all: side }),
  ],
  'give a scope with a side (crm or sheet) or a text, or all with a side',
);

/** Lists what waits for a person, by the last cycle; without one it is not known. */
export function addWaitingRoute(server: FastifyInstance, engine: Engine): void {
  server.get('/api/conflicts', () => ({ waiting: listWaiting(engine), lastCycleAt: engine.lastCycleAt }));
}

/** Refuses what is about something that waits while nobody knows what does: to who answers, nothing would be a wrong word for it. */
function expectCompared({ isCompared }: Engine): void {
  if (isCompared) return;
  throw new RequestRefused(
    503,
    'Both sides were not compared since the daemon started, so it is not known what waits. Try again in a moment; status says what keeps it.',
  );
}

/** Takes answers to what waits; they are carried out in the next cycle. */
export function addDecisionRoutes(commands: FastifyInstance, engine: Engine): void {
  commands.post('/api/approve', ({ body }) => {
    const { scope, choice, seen } = readInput(approveBody, body);
    expectCompared(engine);
    if (seen) expectSame(engine, scope, seen);
    if (!listOpen(engine).includes(scope)) throw nothingWaits(engine, scope);
    const choices = answersTo(scope);
    if (!choices.includes(choice))
      throw new RequestRefused(
        400,
        `${scope} can not be answered with ${choice}. Choose ${choices.join(' or ')}.`,
      );
    if (choice === 'crm' || choice === 'sheet') resolveConflict(engine, scope, { side: choice });
    else answer(engine, [scope], choice);
    return { scope, choice };
  });
  commands.post('/api/resolve', ({ body }) => {
    const order = readInput(resolveBody, body);
    expectCompared(engine);
    if ('all' in order) return resolveAll(engine, order.all);
    if (order.seen) expectSame(engine, order.scope, order.seen);
    const resolved = resolveConflict(engine, order.scope, order);
    if (!resolved) throw nothingWaits(engine, order.scope, 'conflict:');
    // The order is clear, and its value is none for the field.
    if (resolved.kind === 'refused') throw new RequestRefused(422, resolved.reason);
    return resolved;
  });
}

/** Refuses an answer to what has changed since it was shown: more rows may be gone by now than the person saw, or a value replaced. */
function expectSame(engine: Engine, scope: string, { about, what }: z.output<typeof shownQuestion>): void {
  const asked = listWaiting(engine).find((item) => item.scope === scope);
  if (!asked)
    throw new RequestRefused(
      409,
      'This does not wait any more, and nothing was done: somebody else answered it, or it went by itself.',
    );
  const isSame = (name: string) => asked.about[name] === about[name];
  if (asked.what === what && Object.keys({ ...asked.about, ...about }).every(isSame)) return;
  throw new RequestRefused(
    409,
    `This has changed since it was shown, and nothing was done. It says now: ${asked.what} Look at it and answer again.`,
  );
}

/** All scopes that can be answered: what a person ignores may be taken up again. */
const listOpen = (engine: Engine): string[] => [
  ...new Set([...listWaiting(engine).map(({ scope }) => scope), ...listRefused(engine)]),
];

function nothingWaits(engine: Engine, scope: string, kind = ''): RequestRefused {
  const waiting = listOpen(engine).filter((candidate) => candidate.startsWith(kind));
  return new RequestRefused(404, `Nothing waits under ${scope}. Waiting: ${listFew(waiting) || 'nothing'}.`);
}

const record = z
  .string()
  .refine((text) => parseRecordKey(text) !== undefined, 'must be a record like lead-42');
const refusedBody = z.union(
  [z.strictObject({ record }), z.strictObject({ all: z.literal(true) })],
  'give a record like lead-42, or all as true',
);

const recordOf = (scope: string): string => scope.slice(scope.indexOf(':') + 1);

/** Adds the commands about what the CRM did not take, of one record or of all; they are carried out in the next cycle. */
export function addRefusedRoutes(commands: FastifyInstance, engine: Engine): void {
  for (const choice of ['retry', 'revert', 'ignore'] as const) {
    commands.post(`/api/${choice}`, ({ body }) => {
      const order = readInput(refusedBody, body);
      expectCompared(engine);
      const refused = listRefused(engine);
      const meant = 'all' in order ? refused : refused.filter((scope) => recordOf(scope) === order.record);
      const fitting = meant.filter((scope) => answersTo(scope).includes(choice));
      if ('record' in order && fitting.length === 0) throw nothingFits(order.record, meant, refused);
      answer(engine, fitting, choice);
      const left = meant.filter((scope) => !fitting.includes(scope));
      return { records: fitting.map(recordOf), left: left.map(recordOf) };
    });
  }
}

function nothingFits(name: string, meant: readonly string[], refused: readonly string[]): RequestRefused {
  if (meant.length > 0)
    return new RequestRefused(
      400,
      `${name} is not in the CRM yet, so there is nothing to put back. Choose retry or ignore, or delete the row.`,
    );
  const names = listFew(refused.map(recordOf)) || 'nothing';
  return new RequestRefused(404, `The CRM refused nothing of ${name}. It refused: ${names}.`);
}
