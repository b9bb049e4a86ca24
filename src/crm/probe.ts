import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, isSyncError, SyncError } from '../core/errors.ts';
import { type Endpoint, endpoints } from './contract.ts';
import type { Envelope } from './contract-records.ts';
import type { Exchange } from './exchange.ts';
import { buildRequest, type CrmCall, type CrmHttpOptions, type CrmReply, sendInTime } from './http.ts';
import type { ApiKey } from './key-pool.ts';
import { isRateRefusal, judge } from './verdict.ts';

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
export interface CrmProbe {
  /** How the request ended. Fails with CRM_LIMITED where the CRM or the probe's own limit allows no more of them. */
  ask(call: ProbeCall): Promise<Exchange>;
  /** The answer of a success; every other end is thrown as the `SyncError`s that the port `Crm` names. */
  read(call: ProbeCall): Promise<CrmReply>;
  /** Headers of all answers so far, in their order. */
  answers(): readonly AnswerHeaders[];
  /** Requests sent so far. */
  spent(): number;
}

export type CrmProbeOptions = Pick<CrmHttpOptions, 'baseUrl' | 'timeoutMs' | 'budget' | 'clock'>;

export function createCrmProbe(options: CrmProbeOptions): CrmProbe {
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
      throw new Error(`A probe only reads: it was asked for ${nameOf(endpoint)}.`);
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
    ask: async (call) => (await sendOnce(call)).ended,
    async read(call) {
      const endpoint: Endpoint = endpoints[call.endpoint];
      const { ended, sentAt, receivedAt } = await sendOnce(call);
      return { envelope: judgeRead(endpoint, ended), sentAt, receivedAt };
    },
    answers: () => answers,
    spent: () => spent,
  };
}

const judgeRead = (endpoint: Endpoint, ended: Exchange): Envelope =>
  judge({ name: nameOf(endpoint), isWrite: false, scopes: [endpoint.scope] }, ended);

/** Whether the CRM refuses the key: at all, or for this. */
function refusalOf(endpoint: Endpoint, ended: Exchange): ErrorCode | undefined {
  try {
    judgeRead(endpoint, ended);
  } catch (error) {
    if (isSyncError(error, 'CRM_UNAUTHORIZED', 'CRM_FORBIDDEN')) return error.code;
  }
  return undefined;
}

const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

const limited = (endpoint: Endpoint, what: string): SyncError =>
  new SyncError('CRM_LIMITED', `${nameOf(endpoint)} ${what}.`);
