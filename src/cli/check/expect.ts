import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** Longest time for an effect on the other side: two sweeps of the CRM and some cycles of the sheet. */
const limitMs = 90_000;
const lookEveryMs = 300;

/**
 * Looks until nothing is wrong any more. `look` says in words what still is; after the limit these words are the
 * error.
 */
export async function waitUntil(look: () => Promise<string | undefined>): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const wrong = await look();
    if (wrong === undefined) return;
    if (Date.now() > deadline) throw new Error(`${wrong} (after ${limitMs / 1000} s)`);
    await sleep(lookEveryMs);
  }
}

/** What is wrong with a value, in words; `undefined` when it is the expected one. */
export const difference = (what: string, found: unknown, expected: unknown): string | undefined =>
  isDeepStrictEqual(found, expected)
    ? undefined
    : `${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found) ?? 'nothing'}`;

/** Fails at once when the value is not the expected one. */
export function demand(what: string, found: unknown, expected: unknown): void {
  const wrong = difference(what, found, expected);
  if (wrong !== undefined) throw new Error(wrong);
}

/** Lets everybody who asks while a read is under way have its answer, so that many who wait cost one read. */
export function shareRead<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<Answer> | undefined;
  return () => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
}
