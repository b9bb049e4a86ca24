import type { RecordId } from '../record.ts';

/*
 * What the pages of a list prove to be absent. While pages are read, records come and go, and those between move from page to page: one
 * may be on no page at the moment when that is read, and is there all the same. A list that is sorted by id says more than its pages do: an
 * id that lies between two that a page shows next to each other is not in the list, however pages moved before and after. So a record is
 * missed only where its id lies on a page, or between two pages that showed the edges around it at one time.
 */

/** How ids follow one another: `alone` is no order, and fits each. */
type Order = 'falling' | 'rising' | 'alone' | 'none';

/** What a page showed when it was read last. Turns count the reads of its list. */
export interface Shown {
  readonly turn: number;
  readonly order: Order;
  /** The ids at its edges, where it is not empty. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Since which turn each read of it showed the same edge. */
  readonly firstSince: number;
  readonly lastSince: number;
}

/** What is known of a page that shows these ids. */
export function show(before: Shown | undefined, ids: readonly RecordId[], turn: number): Shown {
  const numbers = ids.map(Number);
  const [first, last] = [numbers[0], numbers.at(-1)];
  return {
    turn,
    order: orderOf(numbers),
    first,
    last,
    firstSince: before && before.first === first ? before.firstSince : turn,
    lastSince: before && before.last === last ? before.lastSince : turn,
  };
}

function orderOf(ids: readonly number[]): Order {
  if (!ids.every(Number.isSafeInteger)) return 'none';
  if (ids.length < 2) return 'alone';
  const isOrdered = (sign: number) => ids.every((id, at) => at === 0 || sign * (ids[at - 1]! - id) > 0);
  if (isOrdered(1)) return 'falling';
  return isOrdered(-1) ? 'rising' : 'none';
}

/** How the ids of a list follow one another, over all of its pages. */
export function findOrder(pages: readonly Shown[]): Order {
  const firsts = pages.flatMap(({ first }) => first ?? []);
  const orders = new Set([orderOf(firsts), ...pages.map(({ order }) => order)]);
  orders.delete('alone');
  const [order = 'alone', other] = orders;
  return other === undefined ? order : 'none';
}

/** Ids from one to another. */
type Range = readonly [from: number, to: number];

/** A page and the next one still show what meets at their edges where so few turns lie between them. */
const freshTurns = 3;

/** Whether an id is missing from a list that was read to its end, if none of its pages showed it. The list has to be in order. */
export function findCovered(pages: readonly Shown[]): (id: RecordId) => boolean {
  // Rising ids are turned around: so all lists fall, from without end to without end.
  const sign = findOrder(pages) === 'rising' ? -1 : 1;
  const edge = (id: number | undefined, empty: number) => (id === undefined ? empty : sign * id);
  const { POSITIVE_INFINITY: top, NEGATIVE_INFINITY: bottom } = Number;
  const ranges = pages.flatMap((page, index): Range[] => {
    const next = pages[index + 1];
    const [first, last] = [edge(page.first, bottom), edge(page.last, bottom)];
    const to = index === 0 ? top : first;
    if (!next) return [[bottom, to]];
    return [[meet(page, next) ? Math.min(last, edge(next.first, bottom)) : last, to]];
  });
  const merged = mergeRanges(ranges);
  return (id) => {
    const place = sign * Number(id);
    const index = countUpTo(merged, place) - 1;
    return index >= 0 && place <= merged[index]![1];
  };
}

/** Whether the last id of a page and the first one of the next were neighbours at a moment that both showed. */
const meet = (page: Shown, next: Shown): boolean =>
  Math.max(page.lastSince, next.firstSince) <= Math.min(page.turn + freshTurns, next.turn);

/** The same ids in ranges that do not touch, the lowest first. */
function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted(([left], [right]) => left - right)) {
    const last = merged.at(-1);
    if (last && range[0] <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], range[1])];
    else merged.push(range);
  }
  return merged;
}

/** How many ranges begin at an id or before it. */
function countUpTo(ranges: readonly Range[], id: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]![0] <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
