import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/app/clock.ts';
import { type CrmContents, type CrmPerson, valueAt, workInCrm } from '../../src/cli/check/crm-person.ts';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { Clock } from '../../src/core/ports.ts';
import { listedEntities } from '../../src/core/record.ts';
import type { Answer } from '../../src/core/waiting/answer.ts';
import { createRequestBudget } from '../../src/crm/budget.ts';
import { createCrmClient } from '../../src/crm/client.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';
import type { SeedCounts } from '../../src/sandbox/crm/seed.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import { answer } from '../../src/sync/answers.ts';
import { Engine } from '../../src/sync/engine.ts';
import type { Link } from '../../src/sync/link.ts';
import { layoutOf } from '../../src/warehouse/columns.ts';
import { warehouseFacts } from '../../src/warehouse/facts.ts';
import type { WarehouseTerms } from '../../src/warehouse/link.ts';
import type { Warehouse } from '../../src/warehouse/port/port.ts';
import { WarehouseSide } from '../../src/warehouse/side.ts';
import { openDatabase, type TestDatabase } from './postgres.ts';
import { realClock } from './real-clock.ts';
import { createRecordingLog } from './recording-log.ts';
import { until } from './until.ts';

export interface WarehouseEngineOptions {
  readonly counts?: SeedCounts;
  readonly choices?: Partial<CrmChoices>;
  readonly database?: TestDatabase;
  /** What the tables are signed with. */
  readonly word?: string;
  /** How the daemon reaches it, where that is not as the superuser. */
  readonly url?: string;
  /** Names of users by id. */
  readonly users?: Readonly<Record<string, string>>;
  readonly terms?: Partial<WarehouseTerms>;
  readonly link?: Partial<Link>;
  readonly clock?: Clock;
  /** Stands between the side and its adapter. */
  readonly wrap?: (warehouse: Warehouse) => Warehouse;
}

export type WarehouseEngine = Awaited<ReturnType<typeof openWarehouseEngine>>;

/** A sandbox CRM, a real database, and the real engine between them in this process; all of it ends with the test. */
export async function openWarehouseEngine(options: WarehouseEngineOptions = {}) {
  const { counts = { leads: 12, opportunities: 6, tasks: 8 }, choices = {}, clock = realClock } = options;
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-warehouse-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const limits = { requestsPerWindow: 10_000, windowMs: 1_000 };
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts, choices, limits });
  onTestFinished(() => crm.close());
  const database = options.database ?? (await openDatabase());
  if (!options.database) onTestFinished(() => database[Symbol.asyncDispose]());
  const log = createRecordingLog();
  let opened = await open();
  onTestFinished(() => opened.close());

  async function open(word = options.word ?? 'word-1') {
    const { budgetLog, mirror } = openMirror({ directory });
    mirror.setFollowers(['warehouse'], options.terms?.entities);
    const budget = createRequestBudget({
      keys: [{ name: 'key', secret: crm.apiKey }],
      requests: limits.requestsPerWindow,
      windowMs: limits.windowMs,
      ipRequests: limits.requestsPerWindow,
      holdMs: 10_000,
      clock,
      log: budgetLog,
    });
    const random = () => 0.5;
    const link: Link = {
      name: 'stage',
      mirror,
      crm: createCrmClient({
        baseUrl: crm.baseUrl,
        timeoutMs: 5_000,
        users: options.users ?? {},
        budget,
        clock,
        random,
        log,
      }),
      clock,
      queue: createInProcessQueue({ concurrency: 4, clock, log }),
      log,
      entities: listedEntities,
      titles: { lead: 'Leads', opportunity: 'Opportunities', task: 'Tasks', contact: 'Contacts' },
      times: stageTimes,
      backoff: { firstMs: 50, maxMs: 200 },
      random,
      newWord: () => crypto.randomUUID(),
      ...options.link,
    };
    const adapter = createPostgresWarehouse({
      url: options.url ?? database.url,
      schema: 'crm',
      tls: 'off',
      keeper: { link: 'stage', account: 'account-1', word, token: 0 },
      hasHistory: true,
      isEditable: options.terms?.editing !== undefined,
      clock: systemClock,
      log,
    });
    let calls = 0;
    const warehouse = options.wrap?.(adapter) ?? adapter;
    const side = new WarehouseSide(link, {
      database: new Proxy(warehouse, {
        get(target, name) {
          const member = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          return (...given: unknown[]) => {
            calls += 1;
            return member.apply(target, given);
          };
        },
      }),
      schema: 'crm',
      entities: listedEntities,
      hasHistory: true,
      freshnessMs: 500,
      lostStages: [],
      limits: { deletesMin: 5, deletesShare: 0.1 },
      ...options.terms,
    });
    const engine = new Engine(link, [side]);
    const close = async (graceMs = 5_000) => {
      await engine.stop(graceMs);
      budget.close();
      mirror.close();
    };
    const mend = async () => {
      const { entities = listedEntities } = options.terms ?? {};
      const own = { schema: 'crm', entities, hasHistory: true, editing: options.terms?.editing };
      const kept = mirror.readFact(warehouseFacts.columns) ?? [];
      await adapter.layOut(layoutOf(own, mirror.readCatalog() ?? emptyCatalog, kept), { mend: true });
    };
    return { close, engine, mirror, side, mend, calls: () => calls };
  }

  const person = workInCrm(new URL(crm.pageUrl).origin);
  return {
    database,
    directory,
    log,
    model: crm.model,
    crm: person,
    get side() {
      return opened.side;
    },
    get engine() {
      return opened.engine;
    },
    get mirror() {
      return opened.mirror;
    },
    start: () => opened.engine.start(),
    /** What a user answers to a question of the warehouse, once it is asked: that may be later than the database shows what waits. */
    async answer(scope: string, choice: Answer) {
      const isAsked = async () => opened.engine.found.questions.some((each) => each.scope === scope);
      await until(`“${scope}” is asked`, isAsked);
      answer(opened.engine, [scope], choice);
    },
    /** All rows compared with the CRM's records, as a command does. */
    async compare() {
      const [comparison] = await opened.engine.compare();
      if (!comparison) throw new Error('No side was compared.');
      return comparison;
    },
    /** Resolves once all rows were compared since the start. */
    compared: () => until('all rows were compared', async () => opened.side.lastAudit),
    /** Resolves when the whole CRM was read so many more times. */
    async swept(times: number) {
      const count = () => log.lines.filter(({ event }) => event === 'sweep.finished').length;
      const goal = count() + times * listedEntities.length;
      await until(`${times} more sweeps`, async () => count() >= goal);
    },
    /** Adds again what is missing of the tables, as “init” does. */
    mend: () => opened.mend(),
    /** How many records are due. */
    due: () => Object.values(opened.side.mirror.feed.countDue()).reduce((sum, count) => sum + count, 0),
    /** How often the side has called the database. */
    calls: () => opened.calls(),
    /** Ends the daemon and starts it anew; `word` signs the tables otherwise, and `meanwhile` gets the directory of the mirror. */
    async restart(word?: string, meanwhile?: (directory: string) => void) {
      await opened.close();
      meanwhile?.(directory);
      opened = await open(word);
      await opened.engine.start();
    },
    /** Starts the daemon anew where one call of it never ends, as after a kill in the middle of it. */
    async startAnew() {
      await opened.close(killGraceMs);
      opened = await open();
      await opened.engine.start();
    },
    /** Resolves once the tables show what the CRM has. */
    settled: (limitMs = 28_000) =>
      until(
        'the warehouse shows what the CRM has',
        async () => (await findDifferences(database, person)).length === 0,
        {
          limitMs,
          describe: async () =>
            [
              ...(await findDifferences(database, person)).slice(0, 10),
              ...opened.engine.listProblems().map(({ message, source }) => `${source}: ${message}`),
              ...opened.engine.found.holds.map(({ reason }) => reason),
              ...opened.engine.found.brakes.map(({ reason }) => reason),
            ].join('\n'),
        },
      ),
    /** Resolves with the rows of a query once they fit. */
    shows: (sql: string, fits: (rows: Record<string, unknown>[]) => boolean) =>
      until(
        `${sql} shows it`,
        async () => {
          const rows = await database.query(sql);
          return fits(rows) && rows;
        },
        { limitMs: 28_000, describe: async () => JSON.stringify(await database.query(sql)) },
      ),
  };
}

/** All but the call that never ends is over after this time. */
const killGraceMs = 200;

/** Quick enough for a test, and no list of the sandbox lags. */
const stageTimes = {
  pollMs: 100,
  quietPollMs: 0,
  typingPauseMs: 1,
  sweepMs: 200,
  readPauseMs: 1,
  contactsPauseMs: 10,
  catalogMs: 300,
  rereadAfterMs: 0,
  settleMs: 100,
  lagMs: 0,
  historyMs: 365 * 24 * 60 * 60 * 1_000,
  refillMs: 200,
  markMs: 60_000,
  goneMs: 150_000,
};

/** Columns of each table by where the CRM has their value. */
const paths = {
  lead: ['title', 'status_name', 'meta_data.about.description', 'meta_data.about.url', 'custom_fields.city'],
  opportunity: ['lead_id', 'stage_id', 'value', 'confidence', 'expected_close_date', 'note'],
  task: ['title', 'description', 'status', 'priority', 'start_date', 'due_date', 'lead_id', 'parent_task_id'],
} as const;

const collections = { lead: 'leads', opportunity: 'opportunities', task: 'tasks' } as const;

const columnOf = (path: string) =>
  path.startsWith('custom_fields.')
    ? path.replace('custom_fields.', 'cf_')
    : path.replace('meta_data.', '').replace('.', '_');

/** What the tables show otherwise than the CRM, read from both without anything of the daemon's. */
export async function findDifferences(database: TestDatabase, crm: CrmPerson): Promise<string[]> {
  const contents = await crm.look();
  const found: string[] = [];
  for (const entity of listedEntities) {
    const columns = paths[entity].map(columnOf);
    let rows: Record<string, unknown>[];
    try {
      rows = await database.query(
        `SELECT id::text, ${columns.map((column) => `${column}::text AS ${column}`).join(', ')} FROM crm.${entity}`,
      );
    } catch (error) {
      return [`${entity}: ${error}`];
    }
    found.push(...compareRows(entity, contents, rows));
  }
  return found;
}

function compareRows(
  entity: keyof typeof paths,
  contents: CrmContents,
  rows: readonly Record<string, unknown>[],
): string[] {
  const shown = new Map(rows.map((row) => [String(row['id']), row]));
  const records = contents[collections[entity]] as readonly { readonly id: number }[];
  const found = records.flatMap((record) => {
    const row = shown.get(String(record.id));
    if (!row) return [`${entity} ${record.id} has no row`];
    shown.delete(String(record.id));
    return paths[entity].flatMap((path) => {
      const [expected, value] = [valueAt(record, path) ?? null, row[columnOf(path)] ?? null];
      const isSame =
        String(expected) === String(value) || (typeof expected === 'number' && Number(value) === expected);
      return isSame ? [] : [`${entity} ${record.id} ${path}: ${expected} in the CRM, ${value} in its row`];
    });
  });
  return [...found, ...[...shown.keys()].map((id) => `${entity} ${id} has a row and no record`)];
}
