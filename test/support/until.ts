import { setTimeout as sleep } from 'node:timers/promises';

/** Looking takes a processor that the processes in question wait for as well. */
const lookEveryMs = 100;

/**
 * Resolves with what `look` finds as soon as it is neither false nor undefined. Other processes tell of their state only when they are
 * asked; a state that does not come within `limitMs` is an error that names it and what was seen instead.
 */
export async function until<Found>(
  state: string,
  look: () => Promise<Found | false | undefined>,
  { limitMs = 45_000, describe = async () => '' }: UntilOptions = {},
): Promise<Found> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(lookEveryMs);
  }
  throw new Error(`Not within ${limitMs / 1000} s: ${state}. ${await describe()}`);
}

export interface UntilOptions {
  readonly limitMs?: number;
  /** Says what is there instead when the state did not come. */
  readonly describe?: () => Promise<string>;
}
