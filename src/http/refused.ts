import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseRecordKey } from '../core/record.ts';
import { listFew } from '../core/text/cut-text.ts';
import { answersTo } from '../core/waiting/answer.ts';
import { answer } from '../sync/answers.ts';
import type { Engine } from '../sync/engine.ts';
import { listRefused } from '../sync/status.ts';
import { expectCompared } from './decisions.ts';
import { RequestRefused, readInput } from './input.ts';

const record = z
  .string()
  .refine((text) => parseRecordKey(text) !== undefined, 'must be a record like lead-42');
const body = z.union(
  [z.strictObject({ record }), z.strictObject({ all: z.literal(true) })],
  'give a record like lead-42, or all as true',
);

const recordOf = (scope: string): string => scope.slice(scope.indexOf(':') + 1);

/** Answers what the CRM did not take, of one record or of all, by the name of the record; carried out in the next cycle. */
export function addRefusedRoutes(commands: FastifyInstance, engine: Engine): void {
  for (const choice of ['retry', 'revert', 'ignore'] as const) {
    commands.post(`/api/${choice}`, (request) => {
      const order = readInput(body, request.body);
      expectCompared(engine);
      const refused = listRefused(engine);
      const meant = 'all' in order ? refused : refused.filter((scope) => recordOf(scope) === order.record);
      const fitting = meant.filter((scope) => answersTo(scope).includes(choice));
      if ('record' in order && fitting.length === 0)
        throw meant.length === 0 ? nothingRefused(order.record, refused) : nothingToPutBack(order.record);
      answer(engine, fitting, choice);
      const left = meant.filter((scope) => !fitting.includes(scope));
      return { records: fitting.map(recordOf), left: left.map(recordOf) };
    });
  }
}

const nothingRefused = (name: string, refused: readonly string[]): RequestRefused =>
  new RequestRefused(
    404,
    `The CRM refused nothing of ${name}. It refused: ${listFew(refused.map(recordOf)) || 'nothing'}.`,
  );

const nothingToPutBack = (name: string): RequestRefused =>
  new RequestRefused(
    400,
    `${name} is not in the CRM yet, so there is nothing to put back. Choose retry or ignore, or delete the row.`,
  );
