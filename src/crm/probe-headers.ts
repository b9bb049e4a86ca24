import type { AnswerHeaders } from './probe.ts';
import { epochMillisecondsMin, epochSecondsMin } from './refusal-pause.ts';

/** What an answer tells about the rate limit. The specification names the headers and not their units. */
export interface LimitHeaders {
  /** Requests that the CRM allows in a window. */
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  readonly resetForm?: 'epoch seconds' | 'epoch milliseconds' | 'seconds from now' | 'no number' | undefined;
}

export const readLimitHeaders = ({ headers }: Pick<AnswerHeaders, 'headers'>): LimitHeaders => ({
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

function readResetForm(value: HeaderValue): LimitHeaders['resetForm'] {
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
