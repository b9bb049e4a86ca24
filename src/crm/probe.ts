import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, isSyncError, SyncError } from '../core/errors.ts';
import { describeEndpoint, type Endpoint, type Envelope, endpoints } from './contract.ts';
import type { Exchange } from './exchange.ts';
import { buildRequest, type CrmCall, type CrmHttpOptions, type CrmReply, sendInTime } from './http.ts';
import type { ApiKey } from './key-pool.ts';
import { epochMillisecondsMin, epochSecondsMin, isRateRefusal, judge } from './verdict.ts';

/** Requests that a probe may spend, a quarter of the window in the specification: for each list the query that it takes may have to be found. */
export const probeRequestsMax = 25;

export type ProbeCall = Pick<CrmCall, 'endpoint' | 'path' | 'query'>;

/** What came with a complete answer. Times are epoch ms. */
export interface AnswerHeaders {
  readonly headers: IncomingHttpHeaders;
  readonly sentAt: number;
  readonly receivedAt: number;
}

interface Answer extends Omit<AnswerHeaders, 'headers'> {
  readonly key: ApiKey;
  readonly ended: Exchange;
}

/** Looks at a CRM without changing anything. Every request is sent once; the same one again is answered from memory. */
export type CrmProbe = ReturnType<typeof createCrmProbe>;

type CrmProbeOptions = Pick<CrmHttpOptions, 'baseUrl' | 'timeoutMs' | 'budget' | 'clock' | 'carry'>;

export function createCrmProbe(options: CrmProbeOptions) {
  const { budget, clock } = options;
  const asked = new Map<string, Promise<Answer>>();
  const answers: AnswerHeaders[] = [];
  let spent = 0;
  let isRefused = false;

  async function send(endpoint: Endpoint, call: ProbeCall): Promise<Answer> {
    if (isRefused) throw limited(endpoint, 'was not sent: the CRM refused a request for its rate before');
    if (spent === probeRequestsMax) throw limited(endpoint, `was not sent: ${spent} requests are spent`);
    spent += 1;
    const { key, answered } = await budget.take('edit', [endpoint.scope]);
    const sentAt = clock.now();
    const ended = await sendInTime(options, buildRequest(options, endpoint, call), key);
    const receivedAt = clock.now();
    if (ended.kind !== 'unanswered') answered();
    if (ended.kind === 'reply') answers.push({ headers: ended.headers, sentAt, receivedAt });
    isRefused = isRateRefusal(ended);
    if (isRefused) throw limited(endpoint, 'was refused for its rate (429): somebody else uses the key');
    return { key, ended, sentAt, receivedAt };
  }

  /** As the daemon does, another key is tried where the CRM refuses one. */
  async function sendWithAnyKey(call: ProbeCall): Promise<Answer> {
    const endpoint: Endpoint = endpoints[call.endpoint];
    if (endpoint.method !== 'GET')
      throw new Error(`A probe only reads: it was asked for ${describeEndpoint(endpoint)}.`);
    for (;;) {
      const answer = await send(endpoint, call);
      const refusal = refusalOf(endpoint, answer.ended);
      const purpose = refusal === 'CRM_FORBIDDEN' ? [endpoint.scope] : undefined;
      if (refusal === undefined || !budget.refuse(answer.key, purpose)) return answer;
    }
  }

  function sendOnce(call: ProbeCall): Promise<Answer> {
    const key = JSON.stringify([call.endpoint, call.path, call.query]);
    const answer = asked.get(key) ?? sendWithAnyKey(call);
    asked.set(key, answer);
    return answer;
  }

  return {
    /** How the request ended. Fails with CRM_LIMITED where the CRM or the probe's own limit allows no more of them. */
    ask: async (call: ProbeCall): Promise<Exchange> => (await sendOnce(call)).ended,
    /** The answer of a success; every other end is thrown as the `SyncError`s that the port `Crm` names. */
    async read(call: ProbeCall): Promise<CrmReply> {
      const endpoint: Endpoint = endpoints[call.endpoint];
      const { ended, sentAt, receivedAt } = await sendOnce(call);
      return { envelope: judgeRead(endpoint, ended), sentAt, receivedAt };
    },
    /** Headers of all answers so far, in their order. */
    answers: (): readonly AnswerHeaders[] => answers,
    /** Requests sent so far. */
    spent: () => spent,
  };
}

const judgeRead = (endpoint: Endpoint, ended: Exchange): Envelope =>
  judge({ name: describeEndpoint(endpoint), isWrite: false, scopes: [endpoint.scope] }, ended);

/** Whether the CRM refuses the key: at all, or for this. */
function refusalOf(endpoint: Endpoint, ended: Exchange): ErrorCode | undefined {
  try {
    judgeRead(endpoint, ended);
  } catch (error) {
    if (isSyncError(error, 'CRM_UNAUTHORIZED', 'CRM_FORBIDDEN')) return error.code;
  }
  return undefined;
}

const limited = (endpoint: Endpoint, what: string): SyncError =>
  new SyncError('CRM_LIMITED', `${describeEndpoint(endpoint)} ${what}.`);

/** What an answer says about the rate limit. The specification names the headers and not their units. */
export const readLimitHeaders = ({ headers }: Pick<AnswerHeaders, 'headers'>) => ({
  /** Requests that the CRM allows in a window. */
  limit: readNumber(headers['x-ratelimit-limit']),
  remaining: readNumber(headers['x-ratelimit-remaining']),
  resetForm: readResetForm(headers['x-ratelimit-reset']),
});

type HeaderValue = string | string[] | undefined;

function readNumber(value: HeaderValue): number | undefined {
  const text = [value].flat()[0]?.trim();
  const number = text ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

function readResetForm(value: HeaderValue) {
  if (value === undefined) return undefined;
  const number = readNumber(value);
  if (number === undefined) return 'no number';
  if (number >= epochMillisecondsMin) return 'epoch milliseconds';
  return number >= epochSecondsMin ? 'epoch seconds' : 'seconds from now';
}

/** `Date` counts whole seconds: https://www.rfc-editor.org/rfc/rfc9110#field.date */
const dateStepMs = 1000;

/**
 * How far this machine's clock is ahead of the CRM's (ms, negative when behind), as far as the answer proves it: 0 where its `Date`
 * lies between sending and receiving. `undefined` without that header.
 */
export function readClockLead({ headers, sentAt, receivedAt }: AnswerHeaders): number | undefined {
  const answeredAt = Date.parse(headers.date ?? '');
  if (Number.isNaN(answeredAt)) return undefined;
  return Math.max(0, sentAt - answeredAt - dateStepMs) - Math.max(0, answeredAt - receivedAt);
}
