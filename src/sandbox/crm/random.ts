/** A repeatable source of chance: the same seed gives the same sequence on every machine. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** Whole number from `minimum` to `maximum`, both included. */
  integer(minimum: number, maximum: number): number;
  /** One element of a list that is not empty. */
  pick<Item>(list: readonly Item[]): Item;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** Lower-case hexadecimal digits. */
  hex(length: number): string;
}

/** Makes a {@link Random} with the mulberry32 generator (https://gist.github.com/tommyettinger/46a874533244883189143505d203312c). */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (minimum: number, maximum: number) =>
    minimum + Math.floor(next() * (maximum - minimum + 1));
  return {
    next,
    integer,
    pick: (list) => list[integer(0, list.length - 1)]!,
    chance: (probability) => next() < probability,
    hex: (length) => Array.from({ length }, () => integer(0, 15).toString(16)).join(''),
  };
}

/** A version 4 UUID drawn from `random`. */
export function drawUuid(random: Random): string {
  const variant = random.pick(['8', '9', 'a', 'b']);
  return `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-${variant}${random.hex(3)}-${random.hex(12)}`;
}

/** An API key of the specified form, `svc_live_` and 64 hexadecimal characters, that follows from the seed. */
export const keyFromSeed = (seed: number): string => `svc_live_${createRandom(seed ^ 0x5eed).hex(64)}`;
