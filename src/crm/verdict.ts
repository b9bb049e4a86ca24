import type { IncomingHttpHeaders } from 'node:http';
import { isSyncError, type OwnCode, SyncError } from '../core/errors.ts';
import { parseForeignJson } from '../core/text/parse-json.ts';
import { type Envelope, envelope, type Scope } from './contract.ts';
import { type Exchange, rateRefusalStatus } from './exchange.ts';

/** What a request was, as far as its answer is judged by it. */
export interface JudgedRequest {
  /** For people: `PUT /leads/42`. */
  readonly name: string;
  /** Whether the CRM changes something by it. */
  readonly isWrite: boolean;
  /** The scopes that the key needs for it. */
  readonly scopes: readonly Scope[];
}

/** Whether the CRM refused the request for its rate. */
export const isRateRefusal = (ended: Exchange): ended is Exchange & { kind: 'reply' } =>
  ended.kind === 'reply' && ended.status === rateRefusalStatus;

/**
 * The envelope of an answer that reports success; every other end of the request is thrown as the `SyncError`
 * that the port names. An error status counts as the CRM's own word only inside its envelope: the same status
 * from a proxy says nothing about the record.
 */
export function judge(request: JudgedRequest, ended: Exchange): Envelope {
  if (ended.kind !== 'reply') throw withoutReply(request, ended);
  const { status, text } = ended;
  const answer = readEnvelope(text);
  const words = answer?.message ?? excerpt(text);
  const isServerFault = status >= 500 || status === 408;
  if (isServerFault) throw unclear('CRM_UNREACHABLE', request, `${status} ${words}`);
  if (!answer) throw unclear('CRM_UNREADABLE', request, `${status} without the CRM's envelope: ${words}`);
  if (status >= 200 && status < 300 && isSuccess(answer)) return answer;
  throw refusal(request, status, answer);
}

/** The envelope has two ways to tell of a failure, and an answer of success around it may use one of them alone. */
const isSuccess = ({ http_code = 200, status }: Envelope): boolean =>
  status === 'success' || (status !== 'failed' && http_code < 400);

function withoutReply(request: JudgedRequest, ended: Exclude<Exchange, { kind: 'reply' }>): SyncError {
  const { kind, reason } = ended;
  if (kind === 'unsent') return failure('CRM_UNREACHABLE', request, `was not sent: ${reason}`);
  return unclear(kind === 'unanswered' ? 'CRM_UNREACHABLE' : 'CRM_UNREADABLE', request, reason);
}

function refusal(request: JudgedRequest, status: number, answer: Envelope): SyncError {
  // A success status around a failure: the envelope knows better.
  const meant = status < 400 ? (answer.http_code ?? status) : status;
  const words = answer.message?.trim() || `The CRM answered ${meant} without a reason.`;
  if (meant === 401) return failure('CRM_UNAUTHORIZED', request, `was answered 401: ${words}`);
  if (meant === 403) {
    const scopes = request.scopes.join(' and ');
    return failure('CRM_FORBIDDEN', request, `needs the scope ${scopes} and was answered 403: ${words}`);
  }
  // The specification shows no 410. Whoever answers it says that the record was there, and is not any more.
  if (meant === 404 || meant === 410)
    return failure('CRM_NOT_FOUND', request, `was answered ${meant}: ${words}`);
  // The CRM's words alone: they stand beside the row, where a person mends it.
  if (meant >= 400 && meant < 500) return new SyncError('CRM_REFUSED', words);
  return unclear('CRM_UNREADABLE', request, `${meant} ${words}`);
}

/** What a list failed with that is always there: where it is not found the address is that of something else. */
export const failureOfList = (error: unknown): unknown =>
  isSyncError(error, 'CRM_NOT_FOUND') ? new SyncError('CRM_UNREADABLE', error.message) : error;

/** After a write nobody knows whether it was done; a read just failed. */
const unclear = (readCode: OwnCode, request: JudgedRequest, what: string): SyncError =>
  failure(request.isWrite ? 'CRM_UNKNOWN_OUTCOME' : readCode, request, `got no clear answer: ${what}`);

const failure = (code: OwnCode, request: JudgedRequest, what: string): SyncError =>
  new SyncError(code, `${request.name} ${what}`.replace(/[.\s]*$/, '.'));

/** The CRM's envelope: it names its status in at least one of the two ways the specification demands. */
function readEnvelope(text: string): Envelope | undefined {
  const parsed = envelope.safeParse(parseForeignJson(text));
  if (!parsed.success) return undefined;
  const { http_code, status } = parsed.data;
  return http_code !== undefined || status === 'success' || status === 'failed' ? parsed.data : undefined;
}

const excerpt = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 80) || 'an empty body';

const secondMs = 1000;
const pauseMinMs = secondMs;
const pauseMaxMs = 900 * secondMs;
/** Numbers from here on are moments, not spans: as seconds this is the year 2001. */
export const epochSecondsMin = 1e9;
/** And from here on they count milliseconds: as seconds this is the year 33658. */
export const epochMillisecondsMin = 1e12;

/**
 * How long the answer to a refused request (429) asks to wait, between 1 s and 15 min, or `undefined` where
 * it does not say. The CRM's specification does not show this answer, so every usual form is read:
 * `Retry-After` in seconds or as a date (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after), else
 * `X-RateLimit-Reset` as seconds from now or as a moment in epoch seconds or milliseconds. Moments are taken
 * against the answer's own `Date`, so that it does not matter how far the clocks are apart, else against
 * `now` (epoch ms). Fractions of a millisecond are rounded up: the mirror keeps times as whole numbers.
 */
export function readRefusalPause(headers: IncomingHttpHeaders, now: number): number | undefined {
  const answeredAt = readDate(headers.date) ?? now;
  const pauseMs =
    readPause(headers['retry-after'], answeredAt) ?? readPause(headers['x-ratelimit-reset'], answeredAt);
  return pauseMs === undefined ? undefined : Math.ceil(Math.min(pauseMaxMs, Math.max(pauseMinMs, pauseMs)));
}

function readPause(value: string | string[] | undefined, answeredAt: number): number | undefined {
  const text = [value].flat()[0]?.trim();
  if (!text) return undefined;
  const number = Number(text);
  if (Number.isNaN(number)) {
    const until = readDate(text);
    return until === undefined ? undefined : until - answeredAt;
  }
  if (number >= epochMillisecondsMin) return number - answeredAt;
  if (number >= epochSecondsMin) return number * secondMs - answeredAt;
  return number * secondMs;
}

function readDate(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
