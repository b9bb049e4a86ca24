import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import {
  emptyReading,
  findProof,
  nextPageTurn,
  noteRead,
  type Reading,
} from '../../src/core/reading/reading.ts';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';
import { List, Tally, type Window } from './list-at-work.ts';

/**
 * Measures how long a change in the CRM stays unseen, in simulated time and with the daemon's own choice of pages. Edits come at
 * random times (a Poisson stream) to records chosen by Zipf's law: the nth most edited record has 1/n of the edits of the first.
 */

const pageSize = 100;
const requestMs = 600;
const times = { sweepMs: 15_000, idlePauseMs: 2 * requestMs };

interface Load {
  readonly records: number;
  readonly editsPerHour: number;
  readonly createsPerHour: number;
  readonly deletesPerHour: number;
  /** In plain sweeps, which read every page once: time to learn, and time to measure. */
  readonly warmUpSweeps: number;
  readonly measuredSweeps: number;
}

const small = { records: 100_000, editsPerHour: 100, warmUpSweeps: 100, measuredSweeps: 300 };
const large = { records: 1_000_000, editsPerHour: 10_000, warmUpSweeps: 15, measuredSweeps: 10 };

const loads: readonly Load[] = [
  { ...small, createsPerHour: 0, deletesPerHour: 0 },
  { ...large, createsPerHour: 0, deletesPerHour: 0 },
  { ...small, createsPerHour: 20, deletesPerHour: 4 },
  { ...large, createsPerHour: 500, deletesPerHour: 100 },
];

/** Which part of the edits goes by age, the newest record first; the others go to records at random. */
const skews = { age: 1, mixed: 0.5, random: 0 } as const;

/** Where edits happen. Records are counted from the newest. */
interface Skew {
  readonly shareByAge: number;
  /** How likely the ranks up to each one are, not yet divided by the last. */
  readonly sums: Float64Array;
  /** The record of each rank where age does not matter. */
  readonly shuffled: Uint32Array;
}

function createSkew(random: Random, records: number, shareByAge: number): Skew {
  const sums = new Float64Array(records);
  const shuffled = Uint32Array.from({ length: records }, (_, record) => record);
  for (let rank = 0; rank < records; rank += 1) {
    sums[rank] = (sums[rank - 1] ?? 0) + 1 / (rank + 1);
    const other = random.integer(0, rank);
    [shuffled[rank], shuffled[other]] = [shuffled[other]!, shuffled[rank]!];
  }
  return { shareByAge, sums, shuffled };
}

function drawRecord(
  random: Random,
  { shareByAge, sums, shuffled }: Skew,
  present: readonly number[],
): number {
  const wanted = random.next() * sums.at(-1)!;
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return random.chance(shareByAge) ? present.at(-1 - low)! : shuffled.length - 1 - shuffled[low]!;
}

const pageOf = (record: number): number => Math.floor(record / pageSize);

/**
 * The shortest mean delay there can be, for somebody who knows how often each page changes and reads it as often as the square root of
 * that.
 */
function boundMs({ shareByAge, sums, shuffled }: Skew): number {
  const shares = new Float64Array(sums.length / pageSize);
  for (const [rank, record] of shuffled.entries()) {
    const share = 1 / (rank + 1) / sums.at(-1)!;
    shares[pageOf(rank)]! += shareByAge * share;
    shares[pageOf(record)]! += (1 - shareByAge) * share;
  }
  const roots = shares.reduce((sum, share) => sum + Math.sqrt(share), 0);
  return (roots ** 2 * requestMs) / 2;
}

/** Chooses the page (from 1) that is read next, and takes in what it showed. Where that ends a window, returns what its absence proves. */
interface Policy {
  choose(now: number): number;
  note(ids: readonly number[], changed: readonly number[], hasMore: boolean, now: number): Window | undefined;
}

function roundRobin(): Policy {
  let [page, begunAt] = [1, 0];
  return {
    choose: () => page,
    note(_ids, _changed, hasMore, now) {
      if (page === 1) begunAt = now;
      page = hasMore ? page + 1 : 1;
      return hasMore ? undefined : { begunAt, covers: () => true };
    },
  };
}

function ours(): Policy {
  let reading: Reading = emptyReading;
  let turn = nextPageTurn(reading, 0, times);
  return {
    choose(now) {
      turn = nextPageTurn(reading, now, times);
      return turn.page;
    },
    note(ids, changed, hasMore, now) {
      const before = reading;
      reading = noteRead(before, turn, { ids: ids.map(String), changed: changed.map(String), hasMore }, now);
      const covers = reading.sweepsDone > before.sweepsDone ? findProof(before, turn, reading) : undefined;
      return covers && { begunAt: reading.sweepBegunAt, covers };
    },
  };
}

/** Lets people work in the CRM at random times, which do not depend on what is read. */
function createWork(load: Load, skew: Skew, seed: number, list: List): (now: number) => void {
  const [random, comings, goings] = [createRandom(seed), createRandom(seed + 1), createRandom(seed + 2)];
  const drawGap = (source: Random, perHour: number) =>
    perHour === 0 ? Number.POSITIVE_INFINITY : (-Math.log(1 - source.next()) * 3_600_000) / perHour;
  let editAt = drawGap(random, load.editsPerHour);
  let createAt = drawGap(comings, load.createsPerHour);
  let deleteAt = drawGap(goings, load.deletesPerHour);
  return (now) => {
    for (; editAt <= now; editAt += drawGap(random, load.editsPerHour))
      list.edit(drawRecord(random, skew, list.present), editAt);
    for (; createAt <= now; createAt += drawGap(comings, load.createsPerHour)) list.create();
    for (; deleteAt <= now; deleteAt += drawGap(goings, load.deletesPerHour))
      list.delete(goings.integer(0, list.present.length - 1), deleteAt);
  };
}

function measure(load: Load, skew: Skew, policy: Policy, seed: number) {
  const list = new List(load.records);
  const work = createWork(load, skew, seed, list);
  const sweepMs = (load.records / pageSize) * requestMs;
  const measuredFrom = load.warmUpSweeps * sweepMs;
  const tally = new Tally(list);
  const pageReadAt: number[] = [];
  let [edits, delayMs, oldestPageMs, oldestRecordMs] = [0, 0, 0, 0];
  for (let now = 0; now < measuredFrom + load.measuredSweeps * sweepMs; now += requestMs) {
    work(now);
    const page = policy.choose(now);
    const seen = list.readPage(page, pageSize, now);
    if (now >= measuredFrom) {
      edits += seen.edits;
      delayMs += seen.delayMs;
      oldestPageMs = Math.max(oldestPageMs, now - (pageReadAt[page] ?? now));
      oldestRecordMs = Math.max(oldestRecordMs, seen.oldestMs);
    }
    pageReadAt[page] = now;
    const hasMore = page * pageSize < list.present.length;
    const window = policy.note(seen.records, seen.changed, hasMore, now);
    if (window) tally.endWindow(window, now, now >= measuredFrom);
  }
  return { ...tally.counts, meanDelayMs: delayMs / edits, oldestPageMs, oldestRecordMs };
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000).toLocaleString('en')} s`;
const row = (cells: readonly (string | number)[]): string =>
  `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)).join(' | ')} |`;

const { values } = parseArgs({ options: { seed: { type: 'string', default: '11' } } });
const seed = Number(values.seed);
console.log(
  `Mean time until a change is seen, at ${60_000 / requestMs} requests a minute for pages of ${pageSize}.`,
);
console.log(`${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}.`);

for (const load of loads) {
  const { records, editsPerHour, createsPerHour, deletesPerHour } = load;
  const pages = records / pageSize;
  const hours = [editsPerHour, createsPerHour, deletesPerHour].map((count) => count.toLocaleString('en'));
  console.log(
    `\n${records.toLocaleString('en')} records; in an hour ${hours[0]} edits, ${hours[1]} creates, ${hours[2]} deletes\n`,
  );
  const columns = ['Edits by', 'Round robin', 'Ours', 'Bound', 'Ours / bound', 'Oldest page, in sweeps'];
  const more = [
    ...['Oldest record, in sweeps', 'Window, in sweeps', 'Unseen in a window', 'Missed', 'Asked for in vain'],
    ...['Gone, found', 'found after', 'whole windows until then, at most'],
  ];
  console.log(row([...columns, ...more]));
  console.log(`|---|${'--:|'.repeat(columns.length + more.length - 1)}`);
  for (const [name, shareByAge] of Object.entries(skews)) {
    const skew = createSkew(createRandom(seed - 4), records, shareByAge);
    const bound = boundMs(skew);
    const plain = measure(load, skew, roundRobin(), seed);
    const chosen = measure(load, skew, ours(), seed);
    const sweeps = (ms: number) => (ms / (pages * requestMs)).toFixed(2);
    const perWindow = (count: number) => (count / chosen.windows).toFixed(1);
    console.log(
      row([
        ...[name, seconds(plain.meanDelayMs), seconds(chosen.meanDelayMs), seconds(bound)],
        ...[(chosen.meanDelayMs / bound).toFixed(3), sweeps(chosen.oldestPageMs)],
        ...[sweeps(chosen.oldestRecordMs), sweeps(chosen.windowMs / chosen.windows)],
        ...[perWindow(chosen.unseen), perWindow(chosen.missed), perWindow(chosen.asked)],
        ...[
          chosen.found,
          chosen.found === 0 ? '' : seconds(chosen.foundAfterMs / chosen.found),
          chosen.foundAfterWindows,
        ],
      ]),
    );
  }
}
