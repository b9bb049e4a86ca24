import { endpoints, type Scope, scopes } from '../../crm/contract.ts';
import {
  type Admission,
  type CrmKey,
  type CrmLimits,
  type CrmUsage,
  Gate,
  type RequestHeaders,
} from './access.ts';
import {
  answerError,
  answerGarbage,
  answerRefusal,
  answerSuccess,
  answerTooMany,
  type CrmAnswer,
  emptyList,
  limitHeaders,
} from './answers.ts';
import type { CrmChoices } from './choices.ts';
import { type Fault, FaultPlan } from './faults.ts';
import { findRoute, operations } from './operations.ts';
import type { CrmRecords } from './records.ts';
import { Refusal, refuseField, refuseWith } from './refusal.ts';

/** A request below the base address. */
export interface CrmRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: RequestHeaders;
  /** As it was sent: JSON text. */
  readonly body?: string;
  readonly ip?: string;
}

/** What comes back: an answer, or `undefined` where the connection is cut. */
export type CrmOutcome = CrmAnswer | undefined;

/** A request that was counted and now waits to be carried out. */
export interface Arrival {
  readonly delayMs: number;
  /** Carries the request out; `now` in epoch ms. */
  readonly finish: (now: number) => CrmOutcome;
}

export interface LoggedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Undefined where the connection was cut. */
  readonly status: number | undefined;
}

export interface CrmModelOptions {
  readonly records: CrmRecords;
  readonly choices: CrmChoices;
  readonly keys: readonly CrmKey[];
  readonly limits: CrmLimits;
}

const logLength = 5000;

/**
 * The CRM of an agency as a model: it has no clock and no chance of its own, so the same requests at the same
 * times always get the same answers. Keys of other agencies bring their records along.
 */
export class CrmModel {
  readonly records: CrmRecords;
  readonly faults = new FaultPlan();
  readonly #choices: CrmChoices;
  readonly #gate: Gate;
  readonly #lastReads = new Map<string, CrmAnswer>();
  #requests: LoggedRequest[] = [];
  #revision = 0;

  constructor(options: CrmModelOptions) {
    this.records = options.records;
    this.#choices = options.choices;
    this.#gate = new Gate(options.keys, options.limits, options.choices);
  }

  /** Receives and carries out a request at one instant (epoch ms). */
  apply(now: number, request: CrmRequest): CrmOutcome {
    return this.receive(now, request).finish(now);
  }

  /** Counts a request at its arrival. What comes of it, and after which delay, is decided here. */
  receive(now: number, request: CrmRequest): Arrival {
    const admission = this.#gate.admit(now, request.ip ?? 'local', request.headers ?? {});
    const { isOverLimit } = admission.reading;
    const fault = isOverLimit ? undefined : this.faults.take(request.method, request.path);
    const delayMs = this.faults.latencyMs + (fault?.delayMs ?? 0);
    const finish = (later: number): CrmOutcome => {
      const answer = this.#answerWithFault(now, later, request, admission, fault);
      this.#log({ at: now, method: request.method, path: request.path, status: answer?.status });
      if (!answer || (answer.status === 429 && !this.#choices.limitHeadersOnRefusal)) return answer;
      const headers = limitHeaders(admission.reading, now, this.#choices.resetFormat);
      return { ...answer, headers: { ...headers, ...answer.headers } };
    };
    return { delayMs, finish };
  }

  /** Carries out what a person does in the CRM's own interface: no key, no limits, no faults. */
  applyByHand(now: number, request: CrmRequest): CrmAnswer {
    return this.#perform(now, request, scopes, this.records);
  }

  /** Grows with every request that may have changed a record. */
  get revision(): number {
    return this.#revision;
  }

  usage(): CrmUsage {
    return this.#gate.usage();
  }

  /** The latest requests through the API, oldest first. */
  requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  #answerWithFault(
    arrivedAt: number,
    now: number,
    request: CrmRequest,
    { key, reading }: Admission,
    fault: Fault | undefined,
  ): CrmOutcome {
    if (reading.isOverLimit || fault?.kind === 'rateLimited') {
      return answerTooMany(reading, arrivedAt, this.#choices);
    }
    if (fault?.kind === 'dropBefore') return undefined;
    if (fault?.kind === 'status' && !fault.afterCommit) return answerError(fault.status);
    if (fault?.kind === 'garbage') return answerGarbage;
    if (!key) return answerError(401);
    const answer = this.#perform(now, request, key.scopes, key.records ?? this.records);
    switch (fault?.kind) {
      case 'dropAfter':
        return undefined;
      case 'status':
        return answerError(fault.status);
      case 'emptyList':
        return emptyList(answer);
      default:
        return request.method === 'GET'
          ? this.#rememberRead(key, request, answer, fault?.kind === 'staleList')
          : answer;
    }
  }

  #rememberRead({ key }: CrmKey, request: CrmRequest, answer: CrmAnswer, isStale: boolean): CrmAnswer {
    const name = JSON.stringify([key, request.path, request.query]);
    const before = this.#lastReads.get(name);
    if (isStale && before) return before;
    if (answer.status === 200) this.#lastReads.set(name, answer);
    return answer;
  }

  #perform(now: number, request: CrmRequest, granted: readonly Scope[], records: CrmRecords): CrmAnswer {
    try {
      const route = findRoute(request.method, request.path);
      if (!route) throw refuseWith(404);
      const endpoint = endpoints[route.name];
      checkScope(granted, endpoint.scope);
      const body = 'body' in endpoint ? parseBody(request.body) : {};
      if (route.name === 'createLead' && body['custom_fields'] !== undefined) {
        checkScope(granted, 'write:custom_fields');
      }
      if (request.method !== 'GET') this.#revision += 1;
      const crm = { records, choices: this.#choices };
      const { path } = route;
      const answer = operations[route.name](crm, { now, path, query: request.query ?? {}, body });
      return answerSuccess(endpoint.success, endpoint.message ?? answer.message ?? 'OK', answer.data);
    } catch (error) {
      if (error instanceof Refusal) return answerRefusal(error);
      throw error;
    }
  }

  #log(entry: LoggedRequest): void {
    this.#requests = [...this.#requests.slice(1 - logLength), entry];
  }
}

function checkScope(granted: readonly Scope[], needed: Scope): void {
  if (!granted.includes(needed)) throw refuseWith(403);
}

/** @throws Refusal 400 for text that is not a JSON object. */
function parseBody(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text === '') return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw refuseField('body', 'Invalid JSON');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw refuseField('body', 'Expected an object');
  }
  return { ...parsed };
}
