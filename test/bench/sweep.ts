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

/** The records of a list in the CRM, the oldest first, by numbers that grow. */
class List {
  readonly present: number[];
  /** Of each record: edits that were not seen yet, the sum of their times, and when it was seen last; never is `NaN`. */
  readonly unseen: number[];
  readonly editedAtMs: number[];
  readonly seenAt: number[];
  /** How many windows lacked it, one after another. */
  readonly missed: number[];

  constructor(size: number) {
    this.present = Array.from({ length: size }, (_, record) => record);
    this.unseen = this.present.map(() => 0);
    this.editedAtMs = this.present.map(() => 0);
    this.seenAt = this.present.map(() => 0);
    this.missed = this.present.map(() => 0);
  }

  get pages(): number {
    return Math.max(1, Math.ceil(this.present.length / pageSize));
  }

  /** The records of a page, the newest first. */
  showPage(page: number, now: number): number[] {
    const end = Math.max(0, this.present.length - (page - 1) * pageSize);
    const records = this.present.slice(Math.max(0, end - pageSize), end).reverse();
    for (const record of records) {
      this.unseen[record] = 0;
      this.editedAtMs[record] = 0;
      this.seenAt[record] = now;
      this.missed[record] = 0;
    }
    return records;
  }

  create(): void {
    this.present.push(this.unseen.length);
    for (const column of [this.unseen, this.editedAtMs, this.missed]) column.push(0);
    this.seenAt.push(Number.NaN);
  }
}

/** Chooses the page (from 1) that is read next, and takes in what it showed. Where that ends a window, returns what its absence proves. */
interface Policy {
  choose(now: number): number;
  note(ids: readonly number[], changes: number, hasMore: boolean, now: number): Window | undefined;
}

/** A whole reading of the list: since when, and what it lacks if it did not show it. */
interface Window {
  readonly begunAt: number;
  covers(id: string): boolean;
}

function roundRobin(): Policy {
  let [page, begunAt] = [1, 0];
  return {
    choose: () => page,
    note(_ids, _changes, hasMore, now) {
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
    note(ids, changes, hasMore, now) {
      const before = reading;
      reading = noteRead(before, turn, { ids: ids.map(String), changes, hasMore }, now);
      const covers = reading.sweepsDone > before.sweepsDone ? findProof(before, turn, reading) : undefined;
      return covers && { begunAt: reading.sweepBegunAt, covers };
    },
  };
}

interface Measured {
  readonly meanDelayMs: number;
  readonly oldestPageMs: number;
  readonly windows: number;
  readonly windowMs: number;
  readonly oldestRecordMs: number;
  /** Present records that windows did not show, those of them that count as missed, and those that would be asked for. */
  readonly unseen: number;
  readonly missed: number;
  readonly asked: number;
  /** Gone records that would be asked for, after how long, and after how many whole windows at most. */
  readonly found: number;
  readonly foundAfterMs: number;
  readonly foundAfterWindows: number;
}

/** Windows that have to lack a record before it is asked for. */
const windowsToProve = 2;

function measure(load: Load, skew: Skew, policy: Policy, seed: number): Measured {
  const [random, comings, goings] = [createRandom(seed), createRandom(seed + 1), createRandom(seed + 2)];
  const drawGap = (source: Random, perHour: number) =>
    perHour === 0 ? Number.POSITIVE_INFINITY : (-Math.log(1 - source.next()) * 3_600_000) / perHour;
  const list = new List(load.records);
  const gone = new Map<number, { readonly at: number; windows: number }>();
  const sweepMs = (load.records / pageSize) * requestMs;
  const measuredFrom = load.warmUpSweeps * sweepMs;
  const pageReadAt: number[] = [];
  const measured = {
    ...{ edits: 0, delayMs: 0, oldestPageMs: 0, oldestRecordMs: 0, windows: 0, windowMs: 0 },
    ...{ unseen: 0, missed: 0, asked: 0, found: 0, foundAfterMs: 0, foundAfterWindows: 0 },
  };
  let editAt = drawGap(random, load.editsPerHour);
  let createAt = drawGap(comings, load.createsPerHour);
  let deleteAt = drawGap(goings, load.deletesPerHour);

  function work(now: number): void {
    for (; editAt <= now; editAt += drawGap(random, load.editsPerHour)) {
      const record = drawRecord(random, skew, list.present);
      if (gone.has(record)) continue;
      list.unseen[record]! += 1;
      list.editedAtMs[record]! += editAt;
    }
    for (; createAt <= now; createAt += drawGap(comings, load.createsPerHour)) list.create();
    for (; deleteAt <= now; deleteAt += drawGap(goings, load.deletesPerHour)) {
      const [record = 0] = list.present.splice(goings.integer(0, list.present.length - 1), 1);
      gone.set(record, { at: deleteAt, windows: 0 });
    }
  }

  /** Whether a window lacks a record for the second time. */
  function isLacked(record: number, { covers }: Window): boolean {
    if (!covers(String(record))) return false;
    list.missed[record]! += 1;
    return list.missed[record]! >= windowsToProve;
  }

  function endWindow(window: Window, now: number): void {
    const one = now < measuredFrom ? 0 : 1;
    for (const record of list.present) {
      if (!(list.seenAt[record]! < window.begunAt)) continue;
      const before = list.missed[record]!;
      const isAsked = isLacked(record, window);
      measured.unseen += one;
      measured.missed += list.missed[record] === before ? 0 : one;
      measured.asked += isAsked ? one : 0;
      if (isAsked) list.missed[record] = 0;
    }
    for (const [record, item] of gone) {
      if (item.at < window.begunAt) item.windows += 1;
      if (!(list.seenAt[record]! < window.begunAt) || !isLacked(record, window)) continue;
      found.add(record);
      gone.delete(record);
      list.unseen[record] = 0;
      measured.found += one;
      measured.foundAfterMs += one * (now - item.at);
      if (one) measured.foundAfterWindows = Math.max(measured.foundAfterWindows, item.windows);
    }
    measured.windows += one;
    measured.windowMs += one * (now - window.begunAt);
  }

  const found = new Set<number>();
  for (let now = 0; now < measuredFrom + load.measuredSweeps * sweepMs; now += requestMs) {
    work(now);
    const page = policy.choose(now);
    const before = list.present.length - (page - 1) * pageSize;
    let changes = 0;
    for (const record of list.present.slice(Math.max(0, before - pageSize), Math.max(0, before))) {
      const count = list.unseen[record]!;
      if (count > 0 || Number.isNaN(list.seenAt[record])) changes += 1;
      if (now < measuredFrom) continue;
      measured.edits += count;
      measured.delayMs += count * now - list.editedAtMs[record]!;
      measured.oldestRecordMs = Math.max(measured.oldestRecordMs, now - (list.seenAt[record] || now));
    }
    if (now >= measuredFrom)
      measured.oldestPageMs = Math.max(measured.oldestPageMs, now - (pageReadAt[page] ?? now));
    pageReadAt[page] = now;
    const window = policy.note(list.showPage(page, now), changes, page < list.pages, now);
    if (window) endWindow(window, now);
  }
  return {
    ...measured,
    meanDelayMs: measured.delayMs / measured.edits,
    windowMs: measured.windowMs / measured.windows,
    foundAfterMs: measured.foundAfterMs / measured.found,
  };
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
        ...[sweeps(chosen.oldestRecordMs), sweeps(chosen.windowMs)],
        ...[perWindow(chosen.unseen), perWindow(chosen.missed), perWindow(chosen.asked)],
        ...[chosen.found, seconds(chosen.foundAfterMs), chosen.foundAfterWindows],
      ]),
    );
  }
}
