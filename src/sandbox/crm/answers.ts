import { STATUS_CODES } from 'node:http';
import type { CrmChoices } from './choices.ts';
import { Refusal, refuseWith } from './refusal.ts';
import type { WindowReading } from './request-window.ts';

/** One HTTP answer. A `body` that is text is sent as it is, anything else as JSON. */
export interface CrmAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** CRM External API Specification, "What the service does", 5; `data` only where there is some. */
export function answerSuccess(status: number, message: string, data: unknown): CrmAnswer {
  const body = { http_code: status, status: 'success', message, ...(data === undefined ? {} : { data }) };
  return { status, headers: {}, body };
}

/** Specification, "Errors". */
export function answerRefusal(refusal: Refusal): CrmAnswer {
  const { status, message } = refusal;
  return { status, headers: {}, body: { http_code: status, status: 'failed', message } };
}

/** An error of any status, with the specification's words where it has some. */
export function answerError(status: number): CrmAnswer {
  if (status === 401 || status === 403 || status === 404 || status === 409) {
    return answerRefusal(refuseWith(status));
  }
  return answerRefusal(new Refusal(status, STATUS_CODES[status] ?? 'Error'));
}

/** What a proxy in front of the CRM may send instead of its answer. */
export const answerGarbage: CrmAnswer = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html><title>Please wait</title><h1>We will be back in a moment</h1>',
};

/** The same answer without its list elements, in whichever shape they are listed. */
export function emptyList(answer: CrmAnswer): CrmAnswer {
  const withoutElements = (value: unknown): unknown => {
    if (Array.isArray(value)) return [];
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => [
      key,
      key === 'total' ? 0 : withoutElements(inner),
    ]);
    return Object.fromEntries(entries);
  };
  return { ...answer, body: withoutElements(answer.body) };
}

/** Specification, "Limits": the headers every answer carries. Their units are not shown. */
export function limitHeaders(
  reading: WindowReading,
  now: number,
  format: CrmChoices['resetFormat'],
): Record<string, string> {
  const reset = {
    epochSeconds: Math.ceil(reading.resetAt / 1000),
    epochMs: reading.resetAt,
    deltaSeconds: Math.ceil((reading.resetAt - now) / 1000),
  };
  return {
    'x-ratelimit-limit': String(reading.limit),
    'x-ratelimit-remaining': String(reading.remaining),
    'x-ratelimit-reset': String(reset[format]),
  };
}

/** Specification, "Limits": the answer over a limit is not shown, so all of it is the sandbox's choice. */
export function answerTooMany(
  reading: WindowReading,
  now: number,
  choices: Pick<CrmChoices, 'retryAfter' | 'limitBody'>,
): CrmAnswer {
  const waitSeconds = Math.max(1, Math.ceil((reading.resetAt - now) / 1000));
  const headers: Record<string, string> = {};
  if (choices.retryAfter === 'seconds') headers['retry-after'] = String(waitSeconds);
  if (choices.retryAfter === 'date') {
    headers['retry-after'] = new Date(now + waitSeconds * 1000).toUTCString();
  }
  if (choices.limitBody === 'empty') return { status: 429, headers, body: '' };
  if (choices.limitBody === 'otherJson') return { status: 429, headers, body: { error: 'rate_limited' } };
  if (choices.limitBody === 'html') {
    return { status: 429, headers: { ...headers, 'content-type': 'text/html' }, body: '<h1>Slow down</h1>' };
  }
  return { ...answerError(429), headers };
}
