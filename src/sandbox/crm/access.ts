import { apiKeyPattern, documentedLimits, type Scope } from '../../crm/contract.ts';
import type { CrmChoices } from './choices.ts';
import type { CrmRecords } from './records.ts';
import { RequestWindow, type WindowReading, type WindowUsage } from './request-window.ts';

/** An API key and what it may do (CRM External API Specification, "Authentication"). */
export interface CrmKey {
  readonly key: string;
  readonly scopes: readonly Scope[];
  /** What the agency that owns the key has; where it is absent, that is the agency of the model. */
  readonly records?: CrmRecords;
}

/** Limits of the rolling windows (specification, "Limits"). */
export interface CrmLimits {
  readonly requestsPerWindow: number;
  readonly ipRequestsPerWindow: number;
  readonly windowMs: number;
}

export const defaultLimits: CrmLimits = {
  requestsPerWindow: documentedLimits.requestsPerKey,
  ipRequestsPerWindow: documentedLimits.requestsPerIp,
  windowMs: documentedLimits.windowMs,
};

/** Whom a request comes from. `key` is undefined for a missing or invalid one. */
export interface Admission {
  readonly key: CrmKey | undefined;
  readonly reading: WindowReading;
}

/** What was used, by key and by client address. */
export interface CrmUsage extends CrmLimits {
  readonly keys: Readonly<Record<string, WindowUsage>>;
  readonly ips: Readonly<Record<string, WindowUsage>>;
}

/** Names are lower case, as Node gives them. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The key of a request: in exactly one of `X-API-Key` and `Authorization: Bearer`. Undefined where it is in
 * neither, in both, or not of the specified form.
 */
export function readKey(headers: RequestHeaders): string | undefined {
  const { 'x-api-key': apiKey, authorization } = headers;
  if ((apiKey === undefined) === (authorization === undefined)) return undefined;
  const key = apiKey ?? /^Bearer (.+)$/i.exec(String(authorization))?.[1];
  return typeof key === 'string' && apiKeyPattern.test(key) ? key : undefined;
}

/** Counts requests per address, before keys are looked at, and per valid key. */
export class Gate {
  readonly #keys: readonly CrmKey[];
  readonly #limits: CrmLimits;
  readonly #choices: Pick<CrmChoices, 'refusedRequestsCount'>;
  readonly #keyWindows = new Map<string, RequestWindow>();
  readonly #ipWindows = new Map<string, RequestWindow>();

  constructor(keys: readonly CrmKey[], limits: CrmLimits, choices: Pick<CrmChoices, 'refusedRequestsCount'>) {
    this.#keys = keys;
    this.#limits = limits;
    this.#choices = choices;
  }

  /** Takes note of a request at its arrival (`now` in epoch ms). */
  admit(now: number, ip: string, headers: RequestHeaders): Admission {
    const { requestsPerWindow, ipRequestsPerWindow } = this.#limits;
    const byIp = this.#windowOf(this.#ipWindows, ip, ipRequestsPerWindow).arrive(now);
    const written = readKey(headers);
    const key = this.#keys.find((candidate) => candidate.key === written);
    if (byIp.isOverLimit || !key) return { key, reading: byIp };
    const byKey = this.#windowOf(this.#keyWindows, key.key, requestsPerWindow).arrive(now);
    return { key, reading: byKey };
  }

  usage(): CrmUsage {
    return { ...this.#limits, keys: usageOf(this.#keyWindows), ips: usageOf(this.#ipWindows) };
  }

  #windowOf(windows: Map<string, RequestWindow>, name: string, requests: number): RequestWindow {
    const limit = { requests, windowMs: this.#limits.windowMs };
    const window = windows.get(name) ?? new RequestWindow(limit, this.#choices.refusedRequestsCount);
    windows.set(name, window);
    return window;
  }
}

const usageOf = (windows: ReadonlyMap<string, RequestWindow>): Record<string, WindowUsage> =>
  Object.fromEntries([...windows].map(([name, window]) => [name, window.usage()]));
