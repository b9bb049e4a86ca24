import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { recordKeyText } from '../core/record.ts';
import { listFew } from '../core/text/cut-text.ts';
import { type Answer, answers, answersTo, answersToAll } from '../core/waiting/answer.ts';
import { conflictScope, scopeEntity, scopeKey } from '../core/waiting/scopes.ts';
import { answer, type Resolved, resolveAll, resolveConflict } from '../sync/answers.ts';
import type { Engine } from '../sync/engine.ts';
import { labelsOf } from '../sync/labels.ts';
import { listRefused, listWaiting } from '../sync/status.ts';
import type { NoteCommand } from './commands.ts';
import { RequestRefused, readInput } from './input.ts';
import { findField, findRecord } from './named.ts';

/** A cell of a spreadsheet holds no more characters. */
const textLengthMax = 50_000;

/** What is answered: a scope, or a record by its id, key or title, with a field where that is asked about. */
const question = {
  question: z.string().min(1).max(300),
  field: z.string().min(1).max(200).optional(),
  /** The question as the person sees it who answers. */
  seen: z.strictObject({ what: z.string(), about: z.record(z.string(), z.string()) }).optional(),
};

const answerBody = z.union(
  [
    z.strictObject({ ...question, answer: z.enum(answers) }),
    z.strictObject({ ...question, text: z.string().max(textLengthMax) }),
    z.strictObject({ all: z.enum(answersToAll) }),
  ],
  `give a question with an answer (${answers.join(', ')}) or a text, or all with ${answersToAll.join(', ')}`,
);

type Order = Exclude<z.output<typeof answerBody>, { readonly all: unknown }>;

/** Takes answers to what waits; they are carried out in the next cycle. */
export function addAnswerRoute(commands: FastifyInstance, engine: Engine, note: NoteCommand): void {
  commands.post('/api/answer', (request) => {
    const order = readInput(answerBody, request.body);
    expectCompared(engine);
    if ('all' in order) {
      const answered = answerAll(engine, order.all);
      note(request, `all: ${order.all}`);
      return answered;
    }
    const scope = findScope(engine, order);
    if (order.seen) expectSame(engine, scope, order.seen);
    if (!listOpen(engine).includes(scope)) throw nothingWaits(engine, scope);
    if ('text' in order) settle(engine, scope, order.text);
    else give(engine, scope, order.answer);
    note(request, `${scope}: ${'answer' in order ? order.answer : 'a text'}`);
    return { answered: nameAll(engine, [scope]), left: [] };
  });
}

/** Refuses what is about something that waits while nobody knows what does: to who answers, nothing would be a wrong word for it. */
function expectCompared({ isCompared }: Engine): void {
  if (isCompared) return;
  throw new RequestRefused(
    503,
    'Both sides were not compared since the daemon started, so it is not known what waits. Try again in a moment; status says what keeps it.',
  );
}

/** Refuses an answer to what has changed since it was shown: more rows may be gone by now than the person saw, or a value replaced. */
function expectSame(engine: Engine, scope: string, { about, what }: NonNullable<Order['seen']>): void {
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

/** The scope that is meant. Of a record it is the one that waits, or the one to which the answer is one. */
function findScope(engine: Engine, order: Order): string {
  const { field, question: text } = order;
  const open = listOpen(engine);
  if (open.includes(text) || scopeEntity(text) !== undefined) return text;
  const { link } = engine;
  const key = findRecord(link, text);
  if (field !== undefined) return conflictScope(key, findField(link, field, key));
  const name = recordKeyText(key);
  const own = open.filter((scope) => {
    const about = scopeKey(scope);
    return about !== undefined && recordKeyText(about) === name;
  });
  const fitting = 'answer' in order ? own.filter((scope) => answersTo(scope).includes(order.answer)) : own;
  const [only, ...others] = fitting.length > 0 ? fitting : own;
  if (only === undefined) throw nothingWaits(engine, labelsOf(link).nameOf(key));
  if (others.length > 0)
    throw new RequestRefused(
      400,
      `Several things wait at ${labelsOf(link).nameOf(key)}: name one of ${listFew([only, ...others])}.`,
    );
  return only;
}

function give(engine: Engine, scope: string, choice: Answer): void {
  const choices = answersTo(scope);
  if (!choices.includes(choice))
    throw new RequestRefused(
      400,
      `${scope} can not be answered with ${choice}. Choose ${choices.join(' or ')}.`,
    );
  if (choice === 'crm' || choice === 'sheet') expectSettled(engine, scope, { side: choice });
  else answer(engine, [scope], choice);
}

/** Puts on both sides what neither has. */
function settle(engine: Engine, scope: string, text: string): void {
  if (!scope.startsWith('conflict:'))
    throw new RequestRefused(400, `${scope} asks for no value. Choose ${answersTo(scope).join(' or ')}.`);
  expectSettled(engine, scope, { text });
}

function expectSettled(
  engine: Engine,
  scope: string,
  settlement: Parameters<typeof resolveConflict>[2],
): void {
  const resolved = resolveConflict(engine, scope, settlement);
  if (!resolved) throw nothingWaits(engine, scope);
  // The order is clear, and its value is none for the field.
  if (resolved.kind === 'refused') throw new RequestRefused(422, resolved.reason);
}

/** Gives one answer to everything that it may be one to; the others of the same kind are left. */
function answerAll(engine: Engine, choice: (typeof answersToAll)[number]) {
  if (choice === 'crm' || choice === 'sheet')
    return { answered: nameAll(engine, scopesOf(resolveAll(engine, choice))), left: [] };
  const refused = listRefused(engine);
  const fitting = refused.filter((scope) => answersTo(scope).includes(choice));
  answer(engine, fitting, choice);
  return {
    answered: nameAll(engine, fitting),
    left: nameAll(
      engine,
      refused.filter((scope) => !fitting.includes(scope)),
    ),
  };
}

const scopesOf = (resolved: Resolved): readonly string[] =>
  resolved.kind === 'settled' ? resolved.scopes : [];

/** Each scope with whom it is about. */
function nameAll({ link }: Engine, scopes: readonly string[]) {
  const labels = labelsOf(link);
  return scopes.map((scope) => {
    const key = scopeKey(scope);
    return { scope, name: key ? labels.nameOf(key) : scope };
  });
}

function nothingWaits(engine: Engine, name: string): RequestRefused {
  return new RequestRefused(
    404,
    `Nothing waits under ${name}. Waiting: ${listFew(listOpen(engine)) || 'nothing'}.`,
  );
}
