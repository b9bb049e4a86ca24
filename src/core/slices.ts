import type { Clock } from './ports.ts';

/** Long work that stops after each slice, so that others may get their turn. */
export type Slices<Result> = Generator<void, Result>;

/** Does all of it at once. */
export function finishAtOnce<Result>(work: Slices<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Gives everything else on the event loop its turn after each slice. */
export async function finishInTurns<Result>(
  work: Slices<Result>,
  clock: Pick<Clock, 'sleep'>,
): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await clock.sleep(0);
  }
}
