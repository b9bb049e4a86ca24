import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { systemClock } from '../../src/app/clock.ts';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { Crm } from '../../src/core/ports.ts';
import { listedEntities, type RecordKey } from '../../src/core/record.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import { playSettings, startPostgres } from '../../src/sandbox/postgres/server.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import type { Link } from '../../src/sync/link.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { WarehouseSide } from '../../src/warehouse/side.ts';
import { findFreePort } from '../support/free-port.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';

/**
 * Measures edits by SQL in a table of `--rows` leads: from the commit of the editor to the moment when the request would leave, with a CRM
 * that answers at once; and what noting them costs the editor, beside the same table without triggers.
 */

const { values: options } = parseArgs({
  options: { rows: { type: 'string', default: '100000' }, edits: { type: 'string', default: '300' } },
});
const [rows, edits] = [Number(options.rows), Number(options.edits)];

const directory = mkdtempSync(join(tmpdir(), 'bench-edits-'));
const server = await startPostgres({
  directory: mkdtempSync(join(tmpdir(), 'bench-postgres-')),
  port: await findFreePort(),
  settings: { ...playSettings, max_wal_size: '4GB', shared_buffers: '256MB' },
  isTemporary: true,
});
await server.createDatabase('bench');
const url = server.urlOf('bench');
const editor = new Client({ connectionString: url });
await editor.connect();

const log = createRecordingLog();
const { mirror } = openMirror({ directory });
mirror.setFollowers(['warehouse']);
const own = mirror.of('warehouse');
/** Called when a request leaves. */
let onRequest: (key: RecordKey) => void = () => undefined;
const crm = {
  updateRecord: async (
    ...[key, fields, , sending]: Parameters<Crm['updateRecord']>
  ): Promise<Awaited<ReturnType<Crm['updateRecord']>>> => {
    sending?.begin?.();
    onRequest(key);
    return { id: key.id, fields, at: Date.now() };
  },
} as unknown as Crm;
const link = { ...linkOf(), mirror };
const side = new WarehouseSide(link, {
  database: createPostgresWarehouse({
    url,
    schema: 'crm',
    tls: 'off',
    hasHistory: true,
    isEditable: true,
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
  editing: {
    bulkRows: 1_000,
    conflict: 'crm',
    deletes: 'ask',
    isNotified: true,
    pollMs: 1_000,
    keepDays: 90,
    limits: { changesMin: 20, changesShare: 0.2, deletesMin: 5, deletesShare: 0.1 },
  },
});

try {
  mirror.transaction(() => mirror.saveCatalog(emptyCatalog));
  for (let from = 1; from <= rows; from += 10_000)
    mirror.transaction(() => {
      for (let id = from; id < from + 10_000 && id <= rows; id += 1) mirror.saveRecord(leadOf(id));
    });
  while (Object.values(own.feed.countDue()).some((count) => count > 0)) await side.cycle();
  await side.compare();
  await measureEdits();
  await measureEditor();
} finally {
  await side.leave();
  await editor.end();
  await server.stop();
  mirror.close();
  rmSync(directory, { recursive: true, force: true });
}

async function measureEdits(): Promise<void> {
  let work: Promise<unknown> = Promise.resolve();
  const cycle = async () => {
    await side.cycle();
    for (const { key } of own.readOutbox()) await pushRecord({ ...link, mirror: own }, key);
  };
  side.listen(() => {
    // The server ends while the last one runs.
    work = work.then(cycle).catch(() => undefined);
  });
  await cycle();
  const waits: number[] = [];
  const processor: number[] = [];
  for (let turn = 0; turn < edits; turn += 1) {
    const left = new Promise<number>((resolve) => {
      onRequest = () => resolve(performance.now());
    });
    const before = process.cpuUsage();
    await editor.query('UPDATE crm.lead SET title = $2 WHERE id = $1', [1 + (turn % rows), `edit ${turn}`]);
    const committedAt = performance.now();
    waits.push((await left) - committedAt);
    await work;
    work = work.then(cycle);
    await work;
    const { system, user } = process.cpuUsage(before);
    processor.push((user + system) / 1_000);
  }
  console.log(
    `${rows} rows: from commit to request p50 ${at(waits, 0.5)} ms, p99 ${at(waits, 0.99)} ms; ` +
      `processor of an edit with its outcome p50 ${at(processor, 0.5)} ms`,
  );
}

/** What an editor waits for, with what notes edits and without. */
async function measureEditor(): Promise<void> {
  await editor.query('CREATE TABLE public.plain (LIKE crm.lead INCLUDING INDEXES)');
  await editor.query('INSERT INTO public.plain SELECT * FROM crm.lead');
  await editor.query('VACUUM ANALYZE');
  const single = (table: string) => (turn: number) =>
    editor.query(`UPDATE ${table} SET about_description = $2 WHERE id = $1`, [
      1 + (turn % rows),
      `x ${turn}`,
    ]);
  const [plain, noted] = [
    await timedAll(300, single('public.plain')),
    await timedAll(300, single('crm.lead')),
  ];
  console.log(`a single UPDATE: ${at(noted, 0.5)} ms, without ${at(plain, 0.5)} ms (p50)`);
  const bulk = async (table: string) =>
    timed(async () => {
      await editor.query(
        `BEGIN; SET LOCAL crm_sync.bulk = 'on'; UPDATE ${table} SET about_description = 'y'; ROLLBACK`,
      );
    });
  const plainMs = await bulk('public.plain');
  const notedMs = await bulk('crm.lead');
  const refusedMs = await timed(() =>
    editor.query("UPDATE crm.lead SET about_description = 'y'").catch(() => undefined),
  );
  console.log(
    `an UPDATE of all ${rows}: ${Math.round(notedMs)} ms, without ${Math.round(plainMs)} ms, ratio ${(notedMs / plainMs).toFixed(1)}`,
  );
  // So many are taken without being meant in bulk.
  if (rows > 1_000)
    console.log(`refused in ${Math.round(refusedMs)} ms, ratio ${(refusedMs / plainMs).toFixed(1)}`);
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

function at(values: readonly number[], share: number): string {
  const sorted = values.toSorted((left, right) => left - right);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2);
}

function leadOf(id: number) {
  const now = Date.now();
  return {
    key: { entity: 'lead', id: String(id) } as const,
    fields: {
      title: `lead ${id}`,
      status_name: 'prospect',
      'about.description': 'Met at the fair',
      'about.url': null,
    },
    observedAt: now,
    firstSeenAt: now,
    lastSeenAt: now,
    missedSweeps: 0,
    presence: 'present' as const,
  };
}

function linkOf(): Omit<Link, 'mirror'> {
  const hourMs = 3_600_000;
  const times = {
    pollMs: 1_000,
    quietPollMs: 0,
    typingPauseMs: 1_000,
    sweepMs: 15_000,
    readPauseMs: 1_000,
    contactsPauseMs: 1_000,
    catalogMs: 60_000,
    rereadAfterMs: hourMs,
    settleMs: 1_000,
    lagMs: 5_000,
    historyMs: hourMs,
    refillMs: 1_000,
    markMs: 60_000,
    goneMs: 150_000,
  };
  return {
    name: 'bench',
    crm,
    queue: { add: async () => undefined } as unknown as Link['queue'],
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
