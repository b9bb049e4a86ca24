import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { facts } from '../../src/core/facts.ts';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';
import { mirrorFile, openMirror } from '../../src/sqlite/open.ts';
import { openMirrorDirectory } from '../support/mirror-directory.ts';
import { until } from '../support/until.ts';
import { readWal, type WalFrame } from '../support/wal-file.ts';

// On a disk: in memory commits follow each other faster than the lines that tell of them are read.
const { directory, startWriter } = openMirrorDirectory('/var/tmp');

/** The two files of a mirror at one moment. */
interface Files {
  readonly database: Buffer;
  readonly wal: Buffer;
}

/** Holds a process still for as long as `look` takes. */
async function standingStill<Found>(pid: number, look: () => Found): Promise<Found> {
  process.kill(pid, 'SIGSTOP');
  try {
    await until('it stands still', async () => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    return look();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

const readFiles = (): Files => ({
  database: readFileSync(mirrorFile(directory)),
  wal: readFileSync(`${mirrorFile(directory)}-wal`),
});

/** The number of the last commit in the files. Fails when they do not open whole, or a commit before it is missing or half there. */
function lastCommit({ database, wal }: Files): number {
  const copy = mkdtempSync(join(tmpdir(), 'power-cut-'));
  try {
    writeFileSync(mirrorFile(copy), database);
    writeFileSync(`${mirrorFile(copy)}-wal`, wal);
    const { mirror } = openMirror({ directory: copy });
    const [last, agreements] = [mirror.readFact(facts.leaseToken) ?? 0, mirror.readAgreements().length];
    mirror.close();
    expect(agreements).toBe(last);
    return last;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/**
 * What a power cut may make of the files. What was synced stays: the log as far as the last commit that was told of, and the database where
 * the log does not hold a newer page. All that was written after the sync of that commit may be there, in part, or not at all.
 */
function cutPower({ database, wal }: Files, unsynced: number, random: Random): Files {
  const { frames, pageBytes } = readWal(wal);
  const commits = frames.filter(({ isCommit }) => isCommit);
  const isInDatabase = ({ end, page }: WalFrame) =>
    wal.subarray(end - pageBytes, end).equals(database.subarray((page - 1) * pageBytes, page * pageBytes));
  // What is carried over to the database was synced before, although its commit may not have been told of so far.
  const carried = frames.findLast(isInDatabase)?.end ?? 0;
  const toldOf = commits.at(-1 - unsynced)?.end ?? 0;
  const synced = Math.max(toldOf, commits.find(({ end }) => end >= carried)?.end ?? 0);
  const torn = Buffer.from(wal);
  const from = random.integer(synced, torn.length);
  if (random.chance(0.5)) torn.fill(random.integer(0, 255), from);
  const log = random.chance(0.5) ? torn : torn.subarray(0, from);
  const kept = Buffer.from(database);
  const pages = new Set(frames.filter(({ end }) => end <= synced).map(({ page }) => page));
  for (const page of pages) {
    const start = (page - 1) * pageBytes;
    // The first page says what file this is; disks write its head at once.
    const isTorn = page > 1 && start + pageBytes <= kept.length && random.chance(0.5);
    if (isTorn)
      kept.fill(random.integer(0, 255), start + random.integer(0, pageBytes - 1), start + pageBytes);
  }
  return { database: kept, wal: log };
}

test('fault 57: a mirror whose power goes at any moment opens whole and has every commit that was told of', {
  timeout: 120_000,
}, async () => {
  const random = createRandom(20);
  const writer = startWriter();
  onTestFinished(() => void writer.process.kill('SIGKILL'));
  const { pid = 0 } = writer.process;
  let told = 0;
  writer.lines.on('line', (line) => {
    told = Number(line);
  });
  let cuts = 0;
  for (let moment = 1; moment <= 15; moment += 1) {
    const wanted = told + random.integer(1, 300);
    await until('more is committed', async () => told >= wanted);
    const atLeast = told;
    const files = await standingStill(pid, readFiles);
    const written = lastCommit(files);
    expect(written).toBeGreaterThanOrEqual(atLeast);
    for (let cut = 1; cut <= 4; cut += 1) {
      const left = cutPower(files, written - atLeast, random);
      if (!left.wal.equals(files.wal) || !left.database.equals(files.database)) cuts += 1;
      expect(lastCommit(left)).toBeGreaterThanOrEqual(atLeast);
    }
  }
  expect(cuts).toBeGreaterThan(30);
  expect(told).toBeGreaterThan(1_000);
});
