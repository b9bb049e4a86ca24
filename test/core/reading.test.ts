import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { learn } from '../../src/core/reading/learned.ts';
import {
  emptyReading,
  firstSweepTurn,
  isUnbroken,
  nextPageTurn,
  nextSweepTurn,
  noteFailure,
  noteRead,
  type PageTurn,
  type Reading,
} from '../../src/core/reading/reading.ts';

const requestMs = 600;

/** Two ids of a page of a list that is sorted by id. */
const idsOf = (page: number) => [1_000_000 - 2 * page, 999_999 - 2 * page].map(String);
const times = { sweepMs: 15_000, idlePauseMs: 1_200 };

interface Read extends PageTurn {
  readonly at: number;
}

/** Reads a list of so many pages for a while, a request at a time; `changesAt` says what changed on a page. */
function readList(
  pages: number,
  durationMs: number,
  changesAt: (page: number, read: number) => number | readonly string[] = () => 0,
  idsAt: (page: number, now: number) => readonly string[] = idsOf,
): { readonly reads: readonly Read[]; readonly reading: Reading } {
  const reads: Read[] = [];
  let reading = emptyReading;
  let now = 0;
  for (;;) {
    const turn = nextPageTurn(reading, now, times);
    now = Math.max(now, turn.at);
    if (now >= durationMs) return { reads, reading };
    reads.push({ ...turn, at: now });
    const found = {
      ids: idsAt(turn.page, now),
      changed: idsOfChanges(changesAt(turn.page, reads.length), reads.length),
      hasMore: turn.page < pages,
    };
    reading = noteRead(reading, turn, found, now);
    now += requestMs;
  }
}

/** So many records, others with each read, or these. */
const idsOfChanges = (changes: number | readonly string[], read: number): readonly string[] =>
  typeof changes === 'number' ? Array.from({ length: changes }, (_, index) => `${read}.${index}`) : changes;

const pagesOf = (reads: readonly Read[]) => reads.map(({ page }) => page);

/** The longest time from a read of a page to its next one, over all pages and until the end. */
function oldestAge(reads: readonly Read[], endsAt: number): number {
  const readAt = new Map<number, number>();
  let oldest = 0;
  for (const { page, at } of reads) {
    oldest = Math.max(oldest, at - (readAt.get(page) ?? at));
    readAt.set(page, at);
  }
  return Math.max(oldest, ...[...readAt.values()].map((at) => endsAt - at));
}

describe('a short list', () => {
  it.each([1, 2, 3])('of %i pages is read from the first page to the last at every sweep pause', (pages) => {
    const { reads } = readList(pages, 5 * times.sweepMs, () => 1);
    const sweep = Array.from({ length: pages }, (_, index) => index + 1);
    expect(pagesOf(reads)).toEqual([1, 2, 3, 4, 5].flatMap(() => sweep));
    expect(reads.filter(({ page }) => page === 1).map(({ at }) => at)).toEqual(
      [0, 1, 2, 3, 4].map((sweeps) => sweeps * times.sweepMs),
    );
  });

  it('that took longer to read than the sweep pause is not begun again in the same millisecond', () => {
    const first = noteRead(
      emptyReading,
      nextPageTurn(emptyReading, 0, times),
      { ids: [], changed: [], hasMore: true },
      0,
    );
    const late = 2 * times.sweepMs;
    const reading = noteRead(
      first,
      nextPageTurn(first, late, times),
      { ids: [], changed: [], hasMore: false },
      late,
    );
    expect(nextPageTurn(reading, late, times)).toMatchObject({ page: 1, at: late + 1 });
  });
});

describe('a long list', () => {
  it('is read to its end for the first time without a pause, except for its newest page', () => {
    const { reads } = readList(100, 60 * requestMs);
    expect(reads.every(({ kind }) => kind === 'sweep' || kind === 'newest')).toBe(true);
    expect(reads.map(({ at }) => at)).toEqual(reads.map((_, index) => index * requestMs));
  });

  it('has its newest page read at every sweep pause, give or take a request', () => {
    const { reads } = readList(200, 40 * times.sweepMs, () => 1);
    const newest = reads.filter(({ page }) => page === 1).map(({ at }) => at);
    const pauses = newest.slice(1).map((at, index) => at - (newest[index] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(times.sweepMs + 2 * requestMs);
  });

  it('has its newest page read more seldom where no record came for an hour', () => {
    const hourMs = 3_600_000;
    const cameAt = 1.5 * hourMs;
    const { reads } = readList(
      200,
      2 * hourMs,
      () => 1,
      (page, now) =>
        [0, 1].map((place) => String(1_000_000 - 2 * page - place + (page === 1 && now > cameAt ? 2 : 0))),
    );
    const newestBetween = (from: number, to: number) =>
      reads.filter(({ at, page }) => page === 1 && at >= from && at < to).length;
    expect(newestBetween(0.5 * hourMs, hourMs)).toBeGreaterThan(100);
    expect(newestBetween(hourMs, cameAt)).toBeLessThan(60);
    expect(newestBetween(cameAt + 60_000, 2 * hourMs)).toBeGreaterThan(100);
  });

  it('has its newest page read for its changes alone where no record comes, as what begins no sweep', () => {
    const hourMs = 3_600_000;
    const { reads, reading } = readList(200, 3 * hourMs, (page) => (page === 1 ? 1 : 0));
    const quiet = reads.filter(({ at, page }) => page === 1 && at > hourMs);
    expect(quiet.filter(({ kind }) => kind === 'hot')).toEqual([]);
    expect(quiet.length).toBeGreaterThan((2 * (2 * hourMs)) / (4 * times.sweepMs));
    expect(reading.sweepsDone).toBeGreaterThan(30);
  });

  it('in which nothing changes is read at half of the pace', () => {
    const { reads } = readList(20, 3_600_000);
    const beside = reads.filter(({ kind, at }) => kind !== 'newest' && at > 600_000);
    expect(beside.length).toBeLessThanOrEqual(3_000_000 / times.idlePauseMs);
    expect(beside.length).toBeGreaterThan((0.9 * 3_000_000) / times.idlePauseMs);
    expect(beside.every(({ kind }) => kind === 'sweep')).toBe(true);
  });

  it('is read at the full pace, the pages that change more often than others, while changes are found', () => {
    const { reads } = readList(200, 3_600_000, (page) => (page === 40 ? 3 : 0));
    const late = reads.slice(1_000);
    const share = (page: number) => late.filter((read) => read.page === page).length / late.length;
    expect(share(40)).toBeGreaterThan(3 * share(150));
    expect(late.length).toBeGreaterThan((0.95 * (3_600_000 - 1_000 * requestMs)) / requestMs);
  });

  it('is read more often where the same record is changed each time, which hides how often that was', () => {
    const isBusy = (page: number) => page % 4 === 0;
    const hidesMore = (page: number) => page > 100;
    const { reads } = readList(200, 3_600_000, (page, read) => {
      if (!isBusy(page)) return 0;
      return hidesMore(page) ? [`same of ${page}`] : [`another ${read}`];
    });
    const busy = pagesOf(reads).filter(isBusy);
    const [same = [], others = []] = [busy.filter(hidesMore), busy.filter((page) => !hidesMore(page))];
    expect(same.length).toBeGreaterThan(1.5 * others.length);
  });

  it('has no page that is older than two plain sweeps, whatever changes', () => {
    const lists = fc.record({
      pages: fc.integer({ min: 30, max: 120 }),
      hotPages: fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 5 }),
      every: fc.integer({ min: 1, max: 7 }),
    });
    fc.assert(
      fc.property(lists, ({ pages, hotPages, every }) => {
        const endsAt = 12 * pages * requestMs;
        const isHot = new Set(hotPages);
        const { reads } = readList(pages, endsAt, (page, read) =>
          isHot.has(page) || read % every === 0 ? 2 : 0,
        );
        // A turn is as long as a request, and the one of the page itself counts too.
        expect(oldestAge(reads, endsAt)).toBeLessThanOrEqual((2 * pages + 2) * requestMs);
      }),
      { numRuns: 40, seed: 7 },
    );
  });

  it('is read in the same order whenever the same was found', () => {
    const run = () => readList(50, 900_000, (page, read) => (page * read) % 5).reads;
    expect(run()).toEqual(run());
  });

  it('that grew or shrank is known by its new length after a sweep', () => {
    const { reading } = readList(10, 20 * requestMs);
    const sweepTo = (pages: number) => {
      let swept = noteRead(reading, firstSweepTurn(50_000), { ids: [], changed: [], hasMore: true }, 50_000);
      for (let page = 2; page <= pages; page += 1) {
        const turn = nextSweepTurn(swept, 50_000, times);
        swept = noteRead(swept, turn, { ids: [], changed: [], hasMore: page < pages }, 50_000);
      }
      return swept.pages.length;
    };
    expect([sweepTo(6), sweepTo(14)]).toEqual([6, 14]);
  });
});

describe('a pass over a long list', () => {
  const passOf = (idsAt?: (page: number, now: number) => readonly string[]) => {
    const { reads } = readList(100, 600_000, (page) => (page % 7 === 0 ? 1 : 0), idsAt);
    const sweeps = reads.slice(110).filter(({ kind }) => kind === 'sweep');
    return { sweeps: pagesOf(sweeps), share: sweeps.length / (reads.length - 110) };
  };

  it('takes in what other turns read, where the list is sorted by id', () => {
    expect(passOf().share).toBeLessThan(0.1);
  });

  it.each([
    ['that is not sorted by id', (page: number) => [String(page % 2), String(page)]],
    ['of ids that are no numbers', (page: number) => [`a${2 * page}`, `a${2 * page + 1}`]],
    [
      'to which a page of records comes while it is read',
      (page: number, now: number) => {
        const came = Math.floor(now / 20_000);
        return [1_000_000 - 2 * page + came, 999_999 - 2 * page + came].map(String);
      },
    ],
  ])('reads each page in order, with every second turn, of one %s', (_, idsAt) => {
    const { share, sweeps } = passOf(idsAt);
    expect(share).toBeGreaterThan(0.48);
    const steps = sweeps.slice(1).map((page, index) => page - (sweeps[index] ?? 0));
    expect(new Set(steps)).toEqual(new Set([1, -99]));
  });
});

describe('what was learned of a page', () => {
  it('of which one record is changed each time stays within bounds, and is forgotten once nothing changes', () => {
    let pages = learn([], 1, { ids: ['1'], changed: [], hasMore: false }, 0, 0);
    const readAll = (reads: number, changed: readonly string[]) => {
      for (let read = 1; read <= reads; read += 1)
        pages = learn(
          pages,
          1,
          { ids: ['1'], changed, hasMore: false },
          read,
          (pages[0]?.readAt ?? 0) + 10_000,
        );
      return (pages[0]?.rate ?? 0) * 10_000;
    };
    expect(readAll(20_000, ['1'])).toBeLessThan(10);
    expect(readAll(3_000, [])).toBeLessThan(0.1);
  });

  it('moves on with its records, once as many came as fill a page', () => {
    let { reading } = readList(200, 1_800_000, (page) => (page === 40 ? 3 : 0));
    const rates = () => reading.pages.slice(38, 42).map(({ rate }) => rate);
    const [before39, before40, before41] = rates();
    const top = reading.pages[0]?.first ?? 0;
    for (const ids of [
      [top + 1, top],
      [top + 2, top + 1],
    ])
      reading = noteRead(
        reading,
        { kind: 'newest', page: 1, at: 1_900_000 },
        { ids: ids.map(String), changed: [String(top + 1)], hasMore: true },
        1_900_000,
      );
    expect(rates().slice(1)).toEqual([before39, before40, before41]);
  });
});

describe('a sweep that fails at a page', () => {
  const failing = () => {
    const { reading } = readList(10, 4 * requestMs);
    const turn = nextSweepTurn(reading, 4 * requestMs, times);
    return { reading: noteFailure(reading, turn), turn };
  };

  it('goes on at that page, and is broken until its end', () => {
    const { reading, turn } = failing();
    expect(turn.page).toBe(5);
    const again = nextSweepTurn(reading, 10_000, times);
    expect(again.page).toBe(5);
    expect(isUnbroken(reading, again)).toBe(false);
    const later = noteRead(reading, again, { ids: [], changed: [], hasMore: true }, 10_000);
    expect(isUnbroken(later, nextSweepTurn(later, 10_600, times))).toBe(false);
  });

  it('begins again, unbroken, when the failure lasted for more than five minutes', () => {
    const { reading } = failing();
    const again = nextSweepTurn(reading, 310_000, times);
    expect(again.page).toBe(1);
    expect(isUnbroken(reading, again)).toBe(true);
  });

  it('begins again when it was to begin anew and its first page failed: where the list ends was told of no other sweep', () => {
    const { reading } = readList(10, 4 * requestMs);
    const anew = noteFailure(reading, firstSweepTurn(4 * requestMs));
    expect(nextSweepTurn(anew, 4 * requestMs, times)).toMatchObject({ kind: 'sweep', page: 1 });
  });

  it('is not broken by a failure of its newest page', () => {
    const { reading } = readList(10, 4 * requestMs);
    const after = noteFailure(reading, { kind: 'newest', page: 1, at: 0 });
    expect(isUnbroken(after, nextSweepTurn(after, 4 * requestMs, times))).toBe(true);
  });
});
