import type { NextId } from './spreadsheet.ts';

/** Where new ids come from; the same seed gives the same ids in the same order. */
export interface IdSource {
  /** A positive 31 bit number, as tabs and named ranges have. */
  nextId: NextId;
  /** 44 letters and digits, as a Drive file has. */
  nextFileId: () => string;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function createIdSource(seed: number): IdSource {
  let state = seed >>> 0;
  // The mulberry32 generator: small, and good enough for ids that only have to differ.
  function nextFraction(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const nextLetter = () => ALPHABET[Math.floor(nextFraction() * ALPHABET.length)];
  return {
    nextId: () => 1 + Math.floor(nextFraction() * (2 ** 31 - 2)),
    nextFileId: () => `1${Array.from({ length: 43 }, nextLetter).join('')}`,
  };
}
