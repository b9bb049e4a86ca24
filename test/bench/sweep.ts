import { cpus } from 'node:os';
import { emptyReading, nextTurn, noteRead, type Reading } from '../../src/core/reading.ts';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';

/**
 * Measures how long a change in the CRM stays unseen, in simulated time and with the daemon's own choice of pages: lists of pages of
 * 100 records, 100 requests a minute, edits spread over the records by Zipf's law.
 */

const pageSize = 100;
const requestMs = 600;
const times = { sweepMs: 15_000, idlePauseMs: 2 * requestMs };

const skews = ['age', 'mixed', 'random'] as const;
type Skew = (typeof skews)[number];

interface Load {
  readonly records: number;
  readonly editsPerHour: number;
  /** In plain sweeps, which read every page once: to learn, and to measure. */
  readonly warmUpSweeps: number;
  readonly measuredSweeps: number;
}

const loads: readonly Load[] = [
  { records: 100_000, editsPerHour: 100, warmUpSweeps: 100, measuredSweeps: 300 },
  { records: 1_000_000, editsPerHour: 10_000, warmUpSweeps: 15, measuredSweeps: 12 },
];

interface Measured {
  readonly meanDelayMs: number;
  readonly oldestPageMs: number;
}

/** Chooses the page (from 1) that is read at `now`, and is told how many changed records it showed. */
interface Policy {
  choose(now: number): number;
  note(changes: number, now: number): void;
}

function roundRobin(pages: number): Policy {
  let page = 0;
  return {
    choose: () => page + 1,
    note: () => {
      page = (page + 1) % pages;
    },
  };
}

function ours(pages: number): Policy {
  let reading: Reading = emptyReading;
  let turn = nextTurn(reading, 0, times);
  return {
    choose(now) {
      turn = nextTurn(reading, now, times);
      return turn.page;
    },
    note(changes, now) {
      reading = noteRead(reading, turn, { changes, hasMore: turn.page < pages }, now);
    },
  };
}

/** How likely each rank is to be edited, summed up: rank n has 1/n. */
function sumZipf(records: number): Float64Array {
  const sums = new Float64Array(records);
  let sum = 0;
  for (let rank = 0; rank < records; rank += 1) {
    sum += 1 / (rank + 1);
    sums[rank] = sum;
  }
  return sums;
}

function drawRank(random: Random, sums: Float64Array): number {
  const wanted = random.next() * (sums.at(-1) ?? 0);
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
