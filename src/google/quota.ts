import { backoffMs } from '../core/backoff.ts';
import { isSyncError } from '../core/errors.ts';
import type { Clock, Log } from '../core/ports.ts';
import { newSheetError } from '../sheet/port/errors.ts';

const windowMs = 60_000;

/** Runs a request as soon as the window has room for it. */
export type Spend = <Answer>(request: () => Promise<Answer>) => Promise<Answer>;

interface QuotaOptions {
  readonly requestsPerMinute: number;
  /** How long a request may take at most. */
  readonly timeoutMs: number;
  /** `refuse` fails with SHEET_LIMITED instead of waiting: what a request was planned from may not grow old. */
  readonly whenFull: 'wait' | 'refuse';
  readonly clock: Clock;
}

/**
 * A sliding window of requests. A slot is free again one minute after the answer, because only then it is
 * sure that Google's count of the last minute does not contain the request.
 */
export function createQuota({ requestsPerMinute, timeoutMs, whenFull, clock }: QuotaOptions): Spend {
  let slots: { freeAt: number }[] = [];

  async function takeSlot(): Promise<{ freeAt: number }> {
    for (;;) {
      const now = clock.monotonicMs();
      slots = slots.filter((slot) => slot.freeAt > now);
      if (slots.length < requestsPerMinute) break;
      const waitMs = Math.min(...slots.map((slot) => slot.freeAt)) - now;
      if (whenFull === 'refuse') throw fullError(waitMs);
      await clock.sleep(waitMs);
    }
    const slot = { freeAt: clock.monotonicMs() + timeoutMs + windowMs };
    slots.push(slot);
    return slot;
  }

  return async (request) => {
    const slot = await takeSlot();
    try {
      return await request();
    } finally {
      slot.freeAt = clock.monotonicMs() + windowMs;
    }
  };
}

const fullError = (retryAfterMs: number) =>
  newSheetError('SHEET_LIMITED', 'The requests that Google allows in a minute are used up.', {
    retryAfterMs,
  });

const waitsMax = 5;
const waits = { firstMs: 2000, maxMs: 32_000 };

interface BackoffOptions {
  readonly clock: Clock;
  /** A chance in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Repeats a request that Google limited, after waits of up to 2, 4, 8, 16 and 32 seconds. Google advises to
 * double them and sends no Retry-After: https://developers.google.com/workspace/sheets/api/limits. Good for reads
 * alone: rows move while a write waits. Fails with SHEET_LIMITED when all were limited.
 */
export async function repeatLimited<Answer>(
  request: () => Promise<Answer>,
  { clock, random, log }: BackoffOptions,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      if (attempt > waitsMax || !isSyncError(error, 'SHEET_LIMITED')) throw error;
      const waitMs = backoffMs(waits, attempt, random());
      log.warn('sheet.limited', { waitMs });
      await clock.sleep(waitMs);
    }
  }
}
