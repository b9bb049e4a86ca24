import { expect } from 'vitest';
import { z } from 'zod';
import { type Scope, scopes } from '../../src/crm/contract.ts';
import { type CrmKey, type CrmLimits, defaultLimits } from '../../src/sandbox/crm/access.ts';
import type { CrmAnswer } from '../../src/sandbox/crm/answers.ts';
import { type CrmChoices, defaultChoices } from '../../src/sandbox/crm/choices.ts';
import { CrmModel, type CrmRequest } from '../../src/sandbox/crm/model.ts';
import { type SeedCounts, seedRecords } from '../../src/sandbox/crm/seed.ts';

/** A key of the specified form, made of one repeated digit. */
export const keyOf = (digit: string): string => `svc_live_${digit.repeat(64)}`;

/** The instant at which the models of these tests begin. */
export const start = Date.UTC(2026, 2, 1, 12);

const envelope = z.looseObject({ status: z.string(), message: z.string(), data: z.unknown().optional() });
const record = z.looseObject({ id: z.number() });
const page = z.object({ items: z.array(record) });

interface ModelOptions {
  readonly choices?: Partial<CrmChoices>;
  readonly limits?: Partial<CrmLimits>;
  readonly keys?: readonly CrmKey[];
  readonly counts?: SeedCounts;
}

/** A CRM model with a key for everything, and shorthands that call it at one instant. */
export function openModel(options: ModelOptions = {}) {
  const model = new CrmModel({
    records: seedRecords(7, options.counts ?? { leads: 3, opportunities: 0, tasks: 0 }, start),
    choices: { ...defaultChoices, ...options.choices },
    keys: options.keys ?? [{ key: keyOf('a'), scopes }],
    limits: { ...defaultLimits, requestsPerWindow: 1000, ipRequestsPerWindow: 1000, ...options.limits },
  });
  const call = (method: string, path: string, body?: unknown, extra: Partial<CrmRequest> = {}): CrmAnswer => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { 'x-api-key': keyOf('a') };
    const answer = model.apply(start, { method, path, headers, ...sent, ...extra });
    if (!answer) throw new Error('The connection was cut');
    return answer;
  };
  const take = (answer: CrmAnswer): unknown => {
    expect(answer.body).toMatchObject({ status: 'success' });
    return envelope.parse(answer.body).data;
  };
  return {
    model,
    call,
    /** `data` of a request that succeeds. */
    take: (method: string, path: string, body?: unknown) => take(call(method, path, body)),
    /** Creates a record and answers its id. */
    create: (path: string, body: unknown) => record.parse(take(call('POST', path, body))).id,
    /** The ids a listing answers with, in its order. */
    listIds: (path: string, query: Record<string, string> = {}) =>
      page.parse(take(call('GET', path, undefined, { query }))).items.map((item) => item.id),
    /** Status and message of a request. */
    outcome: (method: string, path: string, body?: unknown, extra?: Partial<CrmRequest>) => {
      const answer = call(method, path, body, extra);
      return { status: answer.status, message: envelope.parse(answer.body).message };
    },
  };
}

/** The scopes without some of them. */
export const scopesWithout = (...missing: Scope[]): Scope[] =>
  scopes.filter((scope) => !missing.includes(scope));
