import { cpus } from 'node:os';
import { emptyReading, nextPageTurn, noteRead, type Reading } from '../../src/core/reading/reading.ts';
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
  /** In plain sweeps, which read every page once: time to learn, and time to measure. */
  readonly warmUpSweeps: number;
  readonly measuredSweeps: number;
}

const loads: readonly Load[] = [
  { records: 100_000, editsPerHour: 100, warmUpSweeps: 100, measuredSweeps: 300 },
  { records: 1_000_000, editsPerHour: 10_000, warmUpSweeps: 15, measuredSweeps: 10 },
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

function drawRecord(random: Random, { shareByAge, sums, shuffled }: Skew): number {
  const wanted = random.next() * sums.at(-1)!;
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return random.chance(shareByAge) ? low : shuffled[low]!;
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

/** Chooses the page (from 0) that is read at `now`, and is told how many changed records it showed. */
interface Policy {
  choose(now: number): number;
  note(changes: number, now: number): void;
}

function roundRobin(pages: number): Policy {
  let reads = 0;
  return {
    choose: () => reads % pages,
    note: () => {
      reads += 1;
    },
  };
}

function ours(pages: number): Policy {
  let reading: Reading = emptyReading;
  let turn = nextPageTurn(reading, 0, times);
  return {
    choose(now) {
      turn = nextPageTurn(reading, now, times);
      return turn.page - 1;
    },
    note(changes, now) {
      reading = noteRead(reading, turn, { changes, hasMore: turn.page < pages }, now);
    },
  };
}

interface Page {
  /** Edits that were not seen yet: how many, the sum of their times, and of which records. */
  edits: number;
  editedAtMs: number;
  readonly records: Set<number>;
  readAt: number;
}

interface Measured {
  readonly meanDelayMs: number;
  readonly oldestPageMs: number;
}

function measure(load: Load, skew: Skew, policy: Policy): Measured {
  const random = createRandom(11);
  const drawGap = () => (-Math.log(1 - random.next()) * 3_600_000) / load.editsPerHour;
  const sweepMs = (load.records / pageSize) * requestMs;
  const pages = Array.from(
    { length: load.records / pageSize },
    (): Page => ({ edits: 0, editedAtMs: 0, records: new Set(), readAt: 0 }),
  );
  let [edits, delayMs, oldestPageMs] = [0, 0, 0];
  let editAt = drawGap();
  for (let now = 0; now < (load.warmUpSweeps + load.measuredSweeps) * sweepMs; now += requestMs) {
    for (; editAt <= now; editAt += drawGap()) {
      const record = drawRecord(random, skew);
      const page = pages[pageOf(record)]!;
      page.edits += 1;
      page.editedAtMs += editAt;
      page.records.add(record);
    }
    const page = pages[policy.choose(now)]!;
    if (now >= load.warmUpSweeps * sweepMs) {
      edits += page.edits;
      delayMs += page.edits * now - page.editedAtMs;
      oldestPageMs = Math.max(oldestPageMs, now - page.readAt);
    }
    policy.note(page.records.size, now);
    page.records.clear();
    Object.assign(page, { edits: 0, editedAtMs: 0, readAt: now });
  }
  return { meanDelayMs: delayMs / edits, oldestPageMs };
}

function report(load: Load): string[] {
  const pages = load.records / pageSize;
  return Object.entries(skews).map(([name, shareByAge]) => {
    const skew = createSkew(createRandom(7), load.records, shareByAge);
    const bound = boundMs(skew);
    const plain = measure(load, skew, roundRobin(pages));
    const chosen = measure(load, skew, ours(pages));
    const cells = [
      load.records.toLocaleString('en'),
      load.editsPerHour.toLocaleString('en'),
      name,
      seconds(plain.meanDelayMs),
      seconds(chosen.meanDelayMs),
      seconds(bound),
      (chosen.meanDelayMs / bound).toFixed(3),
      (chosen.oldestPageMs / (pages * requestMs)).toFixed(2),
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000).toLocaleString('en')} s`;

console.log(
  `Mean time until a change is seen, at ${60_000 / requestMs} requests a minute for pages of ${pageSize}.`,
);
console.log(`${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}.\n`);
console.log(
  '| Records | Edits an hour | Edits by | Round robin | Ours | Bound | Ours / bound | Oldest page, in sweeps |',
);
console.log('|--:|--:|---|--:|--:|--:|--:|--:|');
for (const load of loads) for (const row of report(load)) console.log(row);
