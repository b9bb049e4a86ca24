import { readColumn } from './split-columns.ts';

/** The values of a column in which it differs from before, and the place of the first of them. */
export interface ColumnChange {
  readonly start: number;
  readonly before: readonly unknown[];
  readonly now: readonly unknown[];
  /** They go to the end of the column, so that it may be longer or shorter. */
  readonly isTail: boolean;
}

/**
 * Finds the values between what is the same above and below, from the bytes of a column before and now: to read all of them takes a hundred
 * times as long. `undefined` where the values below are others than they were, as where rows came or went above them.
 */
export function findChange(before: Buffer, now: Buffer): ColumnChange | undefined {
  const same = countSame(before, now);
  const { index, start } = valueAt(before, same);
  const below = countSameBelow(before, now, start);
  const [endBefore, endNow] = [
    endOfValue(before, start, before.length - below),
    endOfValue(now, start, now.length - below),
  ];
  if (before.length - endBefore !== now.length - endNow) return undefined;
  const [valuesBefore, valuesNow] = [valuesIn(before, start, endBefore), valuesIn(now, start, endNow)];
  const isTail = endNow === now.length - 1;
  if (valuesBefore.length !== valuesNow.length && !isTail) return undefined;
  return { start: index, before: valuesBefore, now: valuesNow, isTail };
}

const chunkBytes = 4_096;

/** How many bytes are the same from the beginning on. */
function countSame(one: Buffer, other: Buffer): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one.subarray(at, at + chunkBytes).equals(other.subarray(at, at + chunkBytes)))
    at += chunkBytes;
  while (at < end && one[at] === other[at]) at += 1;
  return Math.min(at, end);
}

/** How many bytes are the same at the end, behind `start`. */
function countSameBelow(one: Buffer, other: Buffer, start: number): number {
  const most = Math.min(one.length, other.length) - start;
  const tailOf = (list: Buffer, below: number) =>
    list.subarray(list.length - below - chunkBytes, list.length - below);
  let below = 0;
  while (below + chunkBytes <= most && tailOf(one, below).equals(tailOf(other, below))) below += chunkBytes;
  while (below < most && one[one.length - 1 - below] === other[other.length - 1 - below]) below += 1;
  return below;
}

const [quote, backslash, comma] = ['"', '\\', ','].map((sign) => sign.charCodeAt(0));

/** The end of the text that begins at a quote. */
function endOfText(list: Buffer, begin: number): number {
  let at = begin + 1;
  while (at < list.length && list[at] !== quote) at += list[at] === backslash ? 2 : 1;
  return at;
}

/** The place of the value that a byte belongs to, and the byte with which that begins. */
function valueAt(list: Buffer, byte: number): { readonly index: number; readonly start: number } {
  let [index, start] = [0, 1];
  for (let at = 1; at < byte; at += 1) {
    if (list[at] === quote) at = endOfText(list, at);
    else if (list[at] === comma) {
      index += 1;
      start = at + 1;
    }
  }
  return { index, start };
}

/** Where the value ends that `byte` belongs to, in a list of which a value begins at `start`. */
function endOfValue(list: Buffer, start: number, byte: number): number {
  let at = start;
  while (at < list.length - 1 && (at < byte || list[at] !== comma))
    at = list[at] === quote ? endOfText(list, at) + 1 : at + 1;
  return Math.min(at, list.length - 1);
}

const [opening, closing] = [Buffer.from('['), Buffer.from(']')];

const valuesIn = (list: Buffer, start: number, end: number): readonly unknown[] =>
  readColumn(Buffer.concat([opening, list.subarray(start, Math.max(start, end)), closing]));
