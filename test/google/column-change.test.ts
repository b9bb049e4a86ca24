import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findChange } from '../../src/google/poll/column-change.ts';

const change = (before: readonly unknown[], now: readonly unknown[]) =>
  findChange(Buffer.from(JSON.stringify(before)), Buffer.from(JSON.stringify(now)));

describe('what changed in a column', () => {
  it.each<[string, readonly unknown[], readonly unknown[], object]>([
    ['a value', ['a', 'b', 'c'], ['a', 'x', 'c'], { start: 1, before: ['b'], now: ['x'] }],
    ['two values and what is between', [1, 2, 3, 4], [7, 2, 8, 4], { start: 0, now: [7, 2, 8] }],
    ['a number that begins alike', [1, 5], [15, 5], { start: 0, before: [1], now: [15] }],
    ['a text that has the signs of lists', ['a,"]b', 2], ['a,"]c', 2], { start: 0, now: ['a,"]c'] }],
    ['a value that becomes empty', ['a', 'b', 'c'], ['a', '', 'c'], { start: 1, now: [''] }],
    ['a value behind the last one', ['a'], ['a', 'b'], { now: expect.arrayContaining(['b']), isTail: true }],
    ['the last value, which is gone', ['a', 'b'], ['a'], { isTail: true }],
    ['the first values of all', [], ['a', 'b'], { start: 0, before: [], now: ['a', 'b'], isTail: true }],
  ])('is %s', (_, before, now, expected) => {
    expect(change(before, now)).toMatchObject(expected);
  });

  it.each([
    ['came', ['a', 'b', 'c'], ['a', 'x', 'b', 'c']],
    ['went', ['a', 'b', 'c', 'd'], ['a', 'c', 'd']],
  ])('is not known where a row %s above others', (_, before, now) => {
    expect(change(before, now)).toBeUndefined();
  });

  it('makes of the values before those of now, whatever they are', () => {
    const value = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 4 }),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom('"', '\\', ',', ']', '["'),
    );
    const list = fc.array(value, { maxLength: 12 });
    fc.assert(
      fc.property(list, list, list, list, (above, old, fresh, below) => {
        const [before, now] = [
          [...above, ...old, ...below],
          [...above, ...fresh, ...below],
        ];
        const found = change(before, now);
        if (!found) {
          expect(old.length).not.toBe(fresh.length);
          return;
        }
        const rest = found.isTail ? [] : before.slice(found.start + found.before.length);
        expect([...before.slice(0, found.start), ...found.now, ...rest]).toEqual(now);
        expect(before.slice(found.start, found.start + found.before.length)).toEqual(found.before);
      }),
      { numRuns: 2_000 },
    );
  });
});
