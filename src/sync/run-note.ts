import { backoffMs } from '../core/backoff.ts';
import type { Mirror } from '../core/mirror.ts';

const runFact = 'run';

/** Who ends badly so soon after it began has probably met what it will meet again. */
const soonMs = 60_000;

/** One crash can happen to anybody; from the second in a row on, each start waits twice as long as the one before. */
const waits = { firstMs: 1_000, maxMs: 60_000 };

/**
 * Notes that a run begins, durably. Answers how many runs before it, one right after another, ended badly soon after they began, and for
 * how long this one is not to ask anybody for anything. `now` is epoch ms.
 */
export function noteStart(
  mirror: Mirror,
  now: number,
): { readonly crashes: number; readonly waitMs: number } {
  const [crashesBefore = 0, begunAt = Number.NEGATIVE_INFINITY] = readNote(mirror);
  const crashes = now - begunAt < soonMs ? crashesBefore + 1 : 0;
  const waitMs = crashes < 2 ? 0 : backoffMs(waits, crashes - 1, 1);
  mirror.saveFact(runFact, `${crashes} ${now + waitMs}`);
  return { crashes, waitMs };
}

/** Notes that the run ended as it should. */
export const noteEnd = (mirror: Mirror): void => mirror.saveFact(runFact, '');

function readNote(mirror: Mirror): number[] {
  const note = mirror.readFact(runFact);
  return note ? note.split(' ').map(Number) : [];
}
