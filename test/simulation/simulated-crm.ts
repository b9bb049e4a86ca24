import { basePath, scopes } from '../../src/crm/contract.ts';
import type { Exchange, exchange } from '../../src/crm/exchange.ts';
import { defaultLimits } from '../../src/sandbox/crm/access.ts';
import type { CrmAnswer } from '../../src/sandbox/crm/answers.ts';
import { type CrmChoices, defaultChoices } from '../../src/sandbox/crm/choices.ts';
import { CrmModel, type CrmOutcome } from '../../src/sandbox/crm/model.ts';
import { keyFromSeed, type Random } from '../../src/sandbox/crm/random.ts';
import { createRecords } from '../../src/sandbox/crm/records.ts';
import { seedLeadStatuses } from '../../src/sandbox/crm/seed-catalog.ts';
import { lateToCrmMs, type Wire } from './wire.ts';

export const apiKey = keyFromSeed(7);
export const baseUrl = `http://crm.simulated${basePath}`;

/** A request of the daemon as it arrives. Times are epoch ms. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly sentAt: number;
}

/** Told of every request of the daemon's key: when it leaves, before it is carried out, after it, and when its answer has come back. */
export interface CrmWatcher {
  sent(call: Call): void;
  before(call: Call): void;
  after(call: Call, answer: CrmAnswer): void;
  answered(call: Call): void;
}

/** The sandbox CRM with a small catalog and no records yet. */
export function openCrm(
  seed: number,
  requestsPerWindow: number,
  choices: CrmChoices = defaultChoices,
): CrmModel {
  const records = createRecords(seed, {
    leadStatuses: seedLeadStatuses.slice(0, 3),
    pipelines: [],
    customFields: [
      { id: 501, name: 'City', field_key: 'city', type: 'text', order: 1, options: null, is_active: true },
      {
        id: 502,
        name: 'Budget',
        field_key: 'budget',
        type: 'number',
        order: 2,
        options: null,
        is_active: true,
      },
    ],
    members: [],
  });
  return new CrmModel({
    records,
    choices,
    keys: [{ key: apiKey, scopes }],
    limits: { ...defaultLimits, requestsPerWindow },
  });
}

/** A CRM that shows few records at a time, and tells more or less of where a list ends. */
export function drawSmallPages(random: Random): CrmChoices {
  const whole = random.integer(0, 2) > 0;
  return {
    ...defaultChoices,
    ...(whole ? {} : { leadAndTaskLimitMax: random.integer(2, 3), oversizedLimit: 'clamped' }),
    listFacts: random.pick(['totals', 'hasMore', 'pageCount', 'none'] as const),
    pageBeyondLast: random.pick(['empty', 'lastPage', 'notFound'] as const),
  };
}

/** What carries the daemon's requests to the model instead of HTTP. */
export const carryOn =
  (wire: Wire, model: CrmModel, now: () => number, watcher: CrmWatcher): typeof exchange =>
  ({ method, url, headers, body: text = '' }, deadline) => {
    const path = url.pathname.slice(basePath.length);
    const call: Call = { method, path, body: JSON.parse(text || '{}'), sentAt: now() };
    const request = { method, path, headers, query: Object.fromEntries(url.searchParams), body: text };
    watcher.sent(call);
    let givenUpAt = Infinity;
    const page = url.searchParams.get('page') ?? '1';
    const answered = wire.send(
      page === '1' ? `${method} ${path}` : `${method} ${path} page ${page}`,
      () => {
        // A line that is slow for longer and longer does not bring what the daemon closed long ago: no client could count it.
        if (now() - givenUpAt > lateToCrmMs) return undefined;
        watcher.before(call);
        const outcome = model.apply(now(), request);
        if (outcome) watcher.after(call, outcome);
        return outcome;
      },
      () => undefined,
    );
    const exchanged = answered.then((outcome) => {
      watcher.answered(call);
      return readOutcome(outcome);
    });
    const late = Promise.withResolvers<Exchange>();
    const giveUp = () => {
      givenUpAt = now();
      late.resolve({ kind: 'unanswered', reason: 'no complete answer in time' });
    };
    deadline.addEventListener('abort', giveUp, { once: true });
    return Promise.race([exchanged, late.promise]);
  };

function readOutcome(outcome: CrmOutcome): Exchange {
  if (!outcome) return { kind: 'unanswered', reason: 'the connection was closed' };
  const { status, headers, body } = outcome;
  return { kind: 'reply', status, headers, text: typeof body === 'string' ? body : JSON.stringify(body) };
}
