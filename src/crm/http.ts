import { isSyncError, SyncError } from '../core/errors.ts';
import { writeTimeMs } from '../core/fence.ts';
import type { Clock, Fence, Lane, Log, Sending } from '../core/ports.ts';
import { createHider, type HideSecret } from '../core/text/hide-secret.ts';
import type { Permit, RequestBudget } from './budget.ts';
import { type Endpoint, type EndpointName, type Envelope, endpoints, type Scope } from './contract.ts';
import { type Exchange, exchange, type OutgoingRequest } from './exchange.ts';
import type { ApiKey, Secrets } from './key-pool.ts';
import { isRateRefusal, type JudgedRequest, judge, readRefusalPause } from './verdict.ts';

export interface CrmHttpOptions {
  /** With the specification's path prefix. */
  readonly baseUrl: string;
  /** From the moment of sending to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly budget: RequestBudget;
  readonly clock: Clock;
  /** Chance for the pauses between tries: at least 0, below 1. */
  readonly random: () => number;
  readonly log: Log;
  /** Has to be open for every write; none where absent. */
  readonly fence?: Fence;
  /** Carries a request to the CRM and its answer back; over HTTP where it is absent. */
  readonly carry?: typeof exchange;
}

/** One call of an endpoint. */
export interface CrmCall {
  readonly endpoint: EndpointName;
  readonly lane: Lane;
  /** Values of the path's parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Scopes this call needs besides the endpoint's own. */
  readonly furtherScopes?: readonly Scope[];
  /** Follows it, each time when it is sent. */
  readonly sending?: Sending | undefined;
  /**
   * The budget's secrets when the work began that this call belongs to; those of its own beginning where absent. With another
   * one nothing of it is sent.
   */
  readonly secrets?: Secrets;
}

/** A successful answer. Times are epoch ms. */
export interface CrmReply {
  readonly envelope: Envelope;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Calls an endpoint of the CRM; rejects with the `SyncError`s the port `Crm` names. */
export type CrmHttp = (call: CrmCall) => Promise<CrmReply>;

/** A read that fails for the network or the server is tried this often; a write once: it may be done. */
const readTriesMax = 4;
/** A refusal for the rate is no failure: the request goes out again. After so many the caller decides. */
const refusalsMax = 10;
const retryPauseMs = 500;

/** A call that knows which secrets it may go out with. */
type BegunCall = CrmCall & Required<Pick<CrmCall, 'secrets'>>;

interface Attempt {
  readonly key: ApiKey;
  /** What the key's secret was when the request was sent. */
  readonly secret: string;
  readonly ended: Exchange;
  readonly sentAt: number;
}

/**
 * Makes the function through which every request passes: budget, deadline, refusals, other keys, tries of
 * reads.
 */
export function createCrmHttp(options: CrmHttpOptions): CrmHttp {
  const { budget, clock, random, log } = options;

  async function send({ key, answered }: Permit, request: OutgoingRequest): Promise<Exchange> {
    const timeoutMs = isRead(request) ? options.timeoutMs : writeTimeMs(options.timeoutMs, options.fence);
    const ended = await sendInTime({ ...options, timeoutMs }, request, key);
    if (ended.kind !== 'unanswered') answered();
    return ended;
  }

  /** Sends the request when the budget allows, and again for as long as it is refused for the rate. */
  async function attempt(judged: JudgedRequest, call: BegunCall, request: OutgoingRequest): Promise<Attempt> {
    const [{ name, scopes }, { lane, sending }] = [judged, call];
    let pauseMs: number | undefined;
    for (let refusals = 0; refusals < refusalsMax; refusals += 1) {
      const permit = await budget.take(lane, scopes, sending?.wait);
      const { key, secret } = meantKey(permit, call, judged);
      const sentAt = clock.now();
      const startedAt = clock.monotonicMs();
      const ended = await send(permit, request);
      const outcome = ended.kind === 'reply' ? ended.status : ended.reason;
      const durationMs = clock.monotonicMs() - startedAt;
      log.debug('crm.request', { name, lane, key: key.name, outcome, durationMs });
      if (!isRateRefusal(ended)) return { key, secret, ended, sentAt };
      pauseMs = readRefusalPause(ended.headers, clock.now());
      budget.park(key, pauseMs);
      sending?.takeBack();
      log.warn('crm.limited', { name, lane, key: key.name, pauseMs, requests: budget.usage().requests });
    }
    throw limited(judged, pauseMs);
  }

  /**
   * Takes a refused key out of use, for the scopes or for everything. Answers whether another key is left
   * to try.
   */
  function turnToAnotherKey(error: unknown, key: ApiKey, { name, scopes }: JudgedRequest): boolean {
    const lacksScope = isSyncError(error, 'CRM_FORBIDDEN');
    if (!lacksScope && !isSyncError(error, 'CRM_UNAUTHORIZED')) return false;
    const isAnotherLeft = budget.refuse(key, lacksScope ? scopes : undefined);
    log.warn('crm.key-refused', { name, key: key.name, problem: error.message, isAnotherLeft });
    return isAnotherLeft;
  }

  return async (asked) => {
    const call = { secrets: budget.secrets(), ...asked };
    const endpoint: Endpoint = endpoints[call.endpoint];
    const request = buildRequest(options, endpoint, call);
    const judged = describeRequest(endpoint, call);
    const refusedKeys = new Set<ApiKey>();
    for (let tries = 1; ; ) {
      const tried = await attempt(judged, call, request);
      const { key, ended, sentAt } = tried;
      try {
        return { envelope: judge(judged, ended), sentAt, receivedAt: clock.now() };
      } catch (error) {
        if (renewKey(error, tried, log)) throw exchanged(judged);
        if (!refusedKeys.has(key) && turnToAnotherKey(error, key, judged)) {
          refusedKeys.add(key);
          call.sending?.takeBack();
          continue;
        }
        const mayPass = isSyncError(error, 'CRM_UNREACHABLE') && !judged.isWrite;
        if (!mayPass || tries === readTriesMax) throw error;
      }
      await clock.sleep(retryPauseMs * 2 ** (tries - 1) * (0.5 + random()));
      tries += 1;
    }
  };
}

const isRead = ({ method }: Pick<OutgoingRequest, 'method'>): boolean => method === 'GET';

const describeRequest = ({ method, path, scope }: Endpoint, call: CrmCall): JudgedRequest => ({
  name: `${method} ${fillPath(path, call.path)}`,
  isWrite: !isRead({ method }),
  scopes: [scope, ...(call.furtherScopes ?? [])],
});

/** A secret may have been exchanged at its source since it was read; it is looked up for a request that was refused. */
function renewKey(error: unknown, { key, secret }: Attempt, log: Log): boolean {
  const isRenewed = isSyncError(error, 'CRM_UNAUTHORIZED') && (key.renew?.(secret) ?? false);
  if (isRenewed) log.info('crm.key-renewed', { key: key.name });
  return isRenewed;
}

/**
 * The key of the permit with its secret. Where that was exchanged while the call waited, or where the call is not meant any more, its slot
 * is given back and nothing leaves.
 */
function meantKey(
  { key, answered }: Permit,
  { secrets, sending }: BegunCall,
  judged: JudgedRequest,
): Pick<Attempt, 'key' | 'secret'> {
  const { secret } = key;
  try {
    if (secret !== secrets.get(key)) throw exchanged(judged);
    sending?.begin();
    return { key, secret };
  } catch (error) {
    answered();
    throw error;
  }
}

const limited = ({ name }: JudgedRequest, pauseMs: number | undefined) =>
  new SyncError('CRM_LIMITED', `${name} was refused ${refusalsMax} times in a row for its rate.`, {
    ...(pauseMs === undefined ? {} : { retryAfterMs: pauseMs }),
  });

/** Nothing is sent with another secret than it was meant for: whose records that one opens has to be found out first. */
const exchanged = ({ name }: JudgedRequest) =>
  new SyncError(
    'CRM_UNREACHABLE',
    `The key was exchanged before ${name} was done; it is tried with the new one soon.`,
  );

/**
 * Sends a request once with the key, within the timeout and without regard to the budget. No answer quotes
 * the key.
 */
export async function sendInTime(
  { timeoutMs, clock, carry = exchange }: Pick<CrmHttpOptions, 'timeoutMs' | 'clock' | 'carry'>,
  request: OutgoingRequest,
  { secret }: ApiKey,
): Promise<Exchange> {
  const deadline = new AbortController();
  const end = new AbortController();
  void clock.sleep(timeoutMs, end.signal).then(() => {
    if (!end.signal.aborted) deadline.abort();
  });
  try {
    const headers = { ...request.headers, 'x-api-key': secret };
    return hideKey(await carry({ ...request, headers }, deadline.signal), secret);
  } finally {
    // Without a reason it makes an exception that nobody reads.
    end.abort('answered');
  }
}

/** The HTTP request of a call, but for the key. */
export function buildRequest(
  { baseUrl }: Pick<CrmHttpOptions, 'baseUrl'>,
  endpoint: Endpoint,
  call: Pick<CrmCall, 'path' | 'query' | 'body'>,
): OutgoingRequest {
  const url = new URL(baseUrl.replace(/\/+$/, '') + fillPath(endpoint.path, call.path));
  for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, String(value));
  // Named, because whoever names no coding takes every one, and answers are read as they come.
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
  if (!call.body) return { method: endpoint.method, url, headers };
  return {
    method: endpoint.method,
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(call.body),
  };
}

const fillPath = (path: string, values: Readonly<Record<string, string>> = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));

/** An answer may quote the key, and answers are quoted in errors. */
function hideKey(ended: Exchange, secret: string): Exchange {
  const hide = hiders.get(secret) ?? createHider(secret, '(the key)');
  hiders.set(secret, hide);
  return ended.kind === 'reply'
    ? { ...ended, text: hide(ended.text) }
    : { ...ended, reason: hide(ended.reason) };
}

/** There are as many as keys, and one more for each that was exchanged. */
const hiders = new Map<string, HideSecret>();
