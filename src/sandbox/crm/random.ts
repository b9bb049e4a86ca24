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

const warmUpSteps = 20;

/**
 * Makes a {@link Random} on a 32 bit xorshift register (Marsaglia, "Xorshift RNGs", 2003,
 * https://doi.org/10.18637/jss.v008.i14). Neighbouring seeds start alike, hence the steps that are thrown away.
 */
export function createRandom(seed: number): Random {
  // The register must not be zero, where it would stay.
  let register = (seed ^ 0x2545f491) | 0 || 1;
  const next = () => {
    register ^= register << 13;
    register ^= register >>> 17;
    register ^= register << 5;
    return (register >>> 0) / 2 ** 32;
  };
  for (let step = 0; step < warmUpSteps; step += 1) next();
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
