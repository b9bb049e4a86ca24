import { expect, test } from 'vitest';
import { emptyReading, laneOf, nextPageTurn, noteRead } from '../../src/core/reading/reading.ts';
import { createListing } from '../../src/crm/listing.ts';

const hourMs = 60 * 60 * 1_000;
const times = { sweepMs: 15_000, idlePauseMs: 1_200 };
const requestMs = 600;
const count = 3_000;

type Wrap = (items: readonly object[], page: number) => object;

/** Reads a list of the CRM in which no record comes for hours, while one after the other is edited. Returns how many sweeps ended in each hour. */
async function sweepsByHour(wrap: Wrap, hours: number): Promise<number[]> {
  const tasks = Array.from({ length: count }, (_, index) => ({ id: count - index, title: `Task ${index}` }));
  const listPage = async ({ query }: { readonly query: Readonly<Record<string, unknown>> }) => {
    const page = Number(query['page'] ?? 1);
    const data = wrap(tasks.slice((page - 1) * 100, page * 100), page);
    return { envelope: { http_code: 200, status: 'success', data }, sentAt: 0 };
  };
  const listing = createListing(listPage as never, 'task');
  const ended: number[] = [];
  let [reading, now] = [emptyReading, 0];
  for (let hour = 1; hour <= hours; hour += 1) {
    const before = reading.sweepsDone;
    for (; now < hour * hourMs; now += requestMs) {
      const turn = nextPageTurn(reading, now, times);
      now = Math.max(turn.at, now);
      const { hasMore, records } = await listing(turn.page, laneOf(turn), []);
      const ids = records.map(({ id }) => id);
      // Those of the first pages are edited most.
      const changed = turn.page <= 2 ? ids.slice(0, 1) : [];
      reading = noteRead(reading, turn, { ids, changed, hasMore }, now);
    }
    ended.push(reading.sweepsDone - before);
  }
  return ended;
}

test.each<[string, Wrap]>([
  ['a bare list', (items) => items],
  ['a list that says how long it is', (items) => ({ items, total: count })],
  ['a list that says whether more follows', (items, page) => ({ items, has_more: page * 100 < count })],
])('%s is swept to its end again and again, also where no record comes', async (_what, wrap) => {
  const ended = await sweepsByHour(wrap, 2);
  expect(Math.min(...ended)).toBeGreaterThan(20);
});
