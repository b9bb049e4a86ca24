import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { systemClock } from '../../src/app/clock.ts';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { listedEntities } from '../../src/core/record.ts';
import type { StoredRecord } from '../../src/core/state.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import { playSettings, startPostgres } from '../../src/sandbox/postgres/server.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import type { Link } from '../../src/sync/link.ts';
import { WarehouseSide } from '../../src/warehouse/side.ts';
import { findFreePort } from '../support/free-port.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';

/**
 * Measures the warehouse from the mirror to the table, each figure beside a floor of the same run: what `psql \copy` takes for the same rows
 * and columns without anything of the daemon's. `--rows` says how many leads there are.
 */

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    'idle-s': { type: 'string', default: '60' },
  },
});
const rows = Number(options.rows);
const idleMs = Number(options['idle-s']) * 1_000;

const directory = mkdtempSync(join(tmpdir(), 'bench-warehouse-'));
const server = await startPostgres({
  directory: mkdtempSync(join(tmpdir(), 'bench-postgres-')),
  port: await findFreePort(),
  settings: { ...playSettings, max_wal_size: '4GB', shared_buffers: '256MB' },
  isTemporary: true,
});
await server.createDatabase('bench');
const url = server.urlOf('bench');
const admin = new Client({ connectionString: url });
await admin.connect();

const log = createRecordingLog();
const { mirror } = openMirror({ directory });
mirror.setFollowers(['warehouse']);
const link = { ...linkOf(), mirror };
const side = new WarehouseSide(link, {
  database: createPostgresWarehouse({
    url,
    schema: 'crm',
    tls: 'off',
    hasHistory: true,
    keeper: { link: 'bench', account: 'bench', word: 'bench', token: 0 },
    clock: systemClock,
    log,
  }),
  schema: 'crm',
  entities: listedEntities,
  hasHistory: true,
  freshnessMs: 60_000,
  lostStages: [],
  limits: { deletesMin: 5, deletesShare: 0.1 },
});

try {
  mirror.transaction(() => mirror.saveCatalog(emptyCatalog));
  for (let from = 1; from <= rows; from += 10_000)
    mirror.transaction(() => {
      for (let id = from; id < from + 10_000 && id <= rows; id += 1) mirror.saveRecord(leadOf(id, 'first'));
    });
  const rssBefore = process.memoryUsage.rss();
  let rssMost = rssBefore;
  const watch = setInterval(() => {
    rssMost = Math.max(rssMost, process.memoryUsage.rss());
  }, 50);
  const fillMs = await timed(async () => {
    while (due() > 0) await side.cycle();
  });
  clearInterval(watch);
  const floor = await floorOf();
  print('fill from the mirror', fillMs, 'psql \\copy', floor.inMs);
  console.log(`memory while filling: +${Math.round((rssMost - rssBefore) / 2 ** 20)} MB resident`);

  await side.compare();
  const audit = await timedAll(3, () => side.compare());
  print('audit', median(audit), 'psql \\copy to', floor.outMs);

  const single = await timedAll(50, async (turn) => {
    mirror.saveRecord(leadOf(1 + turn, `changed ${turn}`));
    await side.cycle();
  });
  const cpuBefore = process.cpuUsage();
  const singleCpu = await timedAll(50, async (turn) => {
    mirror.saveRecord(leadOf(1 + turn, `again ${turn}`));
    await side.cycle();
  });
  const { system, user } = process.cpuUsage(cpuBefore);
  console.log(
    `a change that was seen is in its row after ${median(single).toFixed(1)} ms (p50), ` +
      `${((user + system) / 1_000 / singleCpu.length).toFixed(1)} ms of processor each`,
  );
  for (const changes of [1_000, 10_000]) {
    if (changes > rows) continue;
    mirror.transaction(() => {
      for (let id = 1; id <= changes; id += 1) mirror.saveRecord(leadOf(id, `many ${changes}`));
    });
    const ms = await timed(() => side.cycle());
    console.log(`${changes} changes that were seen at once are in their rows after ${Math.round(ms)} ms`);
  }
  await measureIdle();
} finally {
  await side.leave();
  await admin.end();
  await server.stop();
  mirror.close();
  rmSync(directory, { recursive: true, force: true });
}

function due(): number {
  return Object.values(mirror.of('warehouse').feed.countDue()).reduce((sum, count) => sum + count, 0);
}

async function measureIdle(): Promise<void> {
  const count = async () =>
    Number(
      (await admin.query("SELECT xact_commit FROM pg_stat_database WHERE datname = 'bench'")).rows[0]
        .xact_commit,
    );
  const cpuBefore = process.cpuUsage();
  const before = await count();
  const until = performance.now() + idleMs;
  while (performance.now() < until) {
    await side.cycle();
    await realClock.sleep(Math.min(side.pace.pollMs, Math.max(0, until - performance.now())));
  }
  const { system, user } = process.cpuUsage(cpuBefore);
  // The second question counts the first one.
  const transactions = (await count()) - before - 1;
  console.log(
    `idle for ${idleMs / 1_000} s: ${transactions} transactions, ${Math.round((user + system) / 1_000)} ms of processor`,
  );
}

/** What the same rows take out of the table, and into another one, without the daemon. */
async function floorOf(): Promise<{ readonly outMs: number; readonly inMs: number }> {
  const file = join(directory, 'floor.tsv');
  await admin.query('CREATE TABLE public.floor (LIKE crm.lead INCLUDING INDEXES)');
  await pipeline(admin.query(copyTo('COPY crm.lead TO STDOUT')), createWriteStream(file));
  const outMs = await timed(() => psql('\\copy (SELECT * FROM crm.lead ORDER BY id) TO /dev/null'));
  const inMs = await timed(() => psql(`\\copy public.floor FROM ${file}`));
  console.log(
    `${rows} leads, ${(readFileSync(file).length / 2 ** 20).toFixed(0)} MB as text, PostgreSQL ${server.version}`,
  );
  return { outMs, inMs };
}

async function psql(command: string): Promise<void> {
  const child = spawn('psql', ['-q', '-X', '-c', command, url], { stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`psql ended with ${code}.`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function timedAll(times: number, work: (turn: number) => Promise<unknown>): Promise<number[]> {
  const all: number[] = [];
  for (let turn = 0; turn < times; turn += 1) all.push(await timed(() => work(turn)));
  return all;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

function print(what: string, ms: number, floorName: string, floorMs: number): void {
  console.log(
    `${what}: ${(ms / 1_000).toFixed(2)} s, ${floorName}: ${(floorMs / 1_000).toFixed(2)} s, ratio ${(ms / floorMs).toFixed(2)}`,
  );
}

function leadOf(id: number, title: string): StoredRecord {
  const now = Date.now();
  return {
    key: { entity: 'lead', id: String(id) },
    fields: {
      title: `${title} lead ${id} of a company with a name of usual length`,
      status_name: 'prospect',
      'about.description': 'Met at the trade fair, asked for references',
      'about.url': `https://www.example.com/${id}`,
      created_at: '2026-01-02T03:04:05.000Z',
    },
    observedAt: now,
    firstSeenAt: now,
    lastSeenAt: now,
    missedSweeps: 0,
    presence: 'present',
  };
}

function linkOf(): Omit<Link, 'mirror'> {
  const times = {
    pollMs: 1_000,
    quietPollMs: 0,
    typingPauseMs: 1_000,
    sweepMs: 15_000,
    readPauseMs: 1_000,
    contactsPauseMs: 1_000,
    catalogMs: 60_000,
    rereadAfterMs: 0,
    settleMs: 1_000,
    lagMs: 5_000,
    historyMs: 1_000_000,
    refillMs: 1_000,
    markMs: 60_000,
    goneMs: 150_000,
  };
  return {
    name: 'bench',
    crm: undefined as never,
    queue: createInProcessQueue({ concurrency: 1, clock: realClock, log }),
    clock: realClock,
    log,
    entities: listedEntities,
    titles: { lead: 'Leads', opportunity: 'Opportunities', task: 'Tasks', contact: 'Contacts' },
    times,
    backoff: { firstMs: 1_000, maxMs: 60_000 },
    random: Math.random,
    newWord: () => crypto.randomUUID(),
  };
}
