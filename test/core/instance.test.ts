import { describe, expect, test } from 'vitest';
import { type Mark, type Sighting, sight } from '../../src/sheet/port/instance.ts';

const gapMs = 75_000;

const mark = (count: number, id = 'other'): Mark => ({
  instance: { id, host: 'elsewhere', pid: 7, since: 0 },
  count,
});

/** What is made of a mark that shows these counts at these times, monotonic ms. */
const look = (...seen: readonly (readonly [at: number, mark: Mark | undefined])[]): Sighting | undefined =>
  seen.reduce<Sighting | undefined>((before, [at, found]) => sight(before, found, at, gapMs), undefined);

describe('a mark that is seen again', () => {
  test('has moved when it shows another count, also a smaller one that came late', () => {
    expect(look([0, mark(5)])).toMatchObject({ since: 0, hasMoved: false });
    expect(look([0, mark(5)], [60_000, mark(6)])).toMatchObject({ since: 60_000, hasMoved: true });
    expect(look([0, mark(5)], [60_000, mark(4)])).toMatchObject({ since: 60_000, hasMoved: true });
  });

  test('has stood still since its count was first seen', () => {
    const seen = look([0, mark(5)], [50_000, mark(5)], [100_000, mark(5)], [150_000, mark(5)]);
    expect(seen).toMatchObject({ since: 0, lookedAt: 150_000, hasMoved: false });
  });

  test('is watched anew after a time in which nobody looked, because both may have been cut off', () => {
    const seen = look([0, mark(5)], [200_000, mark(5)]);
    expect(seen).toMatchObject({ since: 200_000, lookedAt: 200_000 });
  });

  test('is that of a new instance when its id is another one, whatever its count', () => {
    const seen = look([0, mark(5)], [50_000, mark(6)], [100_000, mark(7, 'third')]);
    expect(seen).toMatchObject({ since: 100_000, hasMoved: false });
  });

  test('is gone when it was taken away, and new when it comes back', () => {
    expect(look([0, mark(5)], [50_000, undefined])).toBeUndefined();
    expect(look([0, mark(5)], [50_000, undefined], [60_000, mark(5)])).toMatchObject({ since: 60_000 });
  });
});
