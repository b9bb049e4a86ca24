import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 25;

/**
 * Resolves with what `look` finds as soon as it is neither false nor undefined. Other processes tell of their state only when they are
 * asked; a state that does not come within `limitMs` is an error that names it and what was seen instead.
 */
export async function until<Found>(
  state: string,
  look: () => Promise<Found | false | undefined>,
  { limitMs = 90_000, everyMs = lookEveryMs, describe = async () => '' }: UntilOptions = {},
): Promise<Found> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(everyMs);
  }
  throw new Error(`Not within ${limitMs / 1000} s: ${state}. ${await describe()}`);
}

export interface UntilOptions {
  readonly limitMs?: number;
  /** The pause between two looks: longer where looking is costly. */
  readonly everyMs?: number;
  /** Says what is there instead when the state did not come. */
  readonly describe?: () => Promise<string>;
}
