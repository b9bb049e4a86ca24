import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import type { WarehouseLayout } from '../../src/warehouse/port/layout.ts';
import type { LayOutConsent, Warehouse } from '../../src/warehouse/port/port.ts';
import { openDatabase, startOwnPostgres, TestDatabase } from './postgres.ts';
import { openPostgresLine } from './postgres-line.ts';
import { realClock } from './real-clock.ts';
import { createRecordingLog } from './recording-log.ts';
import { until } from './until.ts';
import {
  openWarehouseEngine,
  type WarehouseEngine,
  type WarehouseEngineOptions,
} from './warehouse-engine.ts';
import { expectWholeHistory } from './warehouse-history.ts';

/** A server of the test's own, which ends with the test. */
export async function ownServer(settings: Readonly<Record<string, string | number>> = {}, bin?: string) {
  const server = await startOwnPostgres(settings, bin);
  onTestFinished(() => server.stop());
  return server;
}

/** Puts an earlier copy of a server's files in the place of its own, and starts it at the same address. */
export async function restore(server: PostgresServer, copy: string): Promise<void> {
  await server.kill();
  const data = join(server.directory, 'data');
  rmSync(data, { recursive: true });
  renameSync(join(copy, 'data'), data);
  rmSync(copy, { recursive: true });
  await server.restart();
}

/** A database that can be reached by a line alone, which leads to another server after a failover. */
export async function databaseBehindLine(server: PostgresServer) {
  const { name, url } = await openDatabase(server);
  const line = await openPostgresLine(url);
  onTestFinished(() => line[Symbol.asyncDispose]());
  const urlOf: PostgresServer['urlOf'] = (...login) => line.through(server.urlOf(...login));
  return { database: new TestDatabase(Object.create(server, { urlOf: { value: urlOf } }), name), line };
}

/** A login for the daemon that owns nothing but what it makes. */
export async function openRole(database: TestDatabase) {
  const [name, password] = [`daemon_${database.name}`, 'secret-of-the-daemon'];
  await database.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
  await database.query(`GRANT CREATE ON DATABASE ${database.name} TO ${name}`);
  return { name, password, url: database.server.urlOf(database.name, name, password) };
}

interface TroubledOptions extends WarehouseEngineOptions {
  readonly server?: PostgresServer;
  /** Gets the SQL that lays out, before the daemon tries to. */
  readonly onDdl?: (sql: string) => void;
}

/** A link that is filled, and what a test of trouble does to it and sees of it. */
export async function openTroubled(options: TroubledOptions = {}) {
  const { onDdl, server, wrap, ...rest } = options;
  let layout: WarehouseLayout | undefined;
  let ddl = '';
  const database = rest.database ?? (server && (await openDatabase(server)));
  const stage = await openWarehouseEngine({
    ...rest,
    ...(database ? { database } : {}),
    wrap(adapter) {
      const keepLayout: Warehouse = {
        ...adapter,
        async layOut(wanted, consent) {
          layout = wanted;
          const isFirst = ddl === '';
          ddl = adapter.printDdl(wanted);
          if (isFirst) onDdl?.(ddl);
          return adapter.layOut(wanted, consent);
        },
      };
      return wrap?.(keepLayout) ?? keepLayout;
    },
  });
  await stage.start();
  await stage.settled();
  return {
    ...troubleOf(stage, () => layout),
    ddl: () => ddl,
    stage,
  };
}

function troubleOf(stage: WarehouseEngine, layout: () => WarehouseLayout | undefined) {
  const crmWrites = () => stage.model.requests().filter(({ method }) => method !== 'GET').length;
  const writesBefore = crmWrites();
  let round = 0;
  return {
    /** Changes so many leads in the CRM. Returns their new title. */
    async change(count = 3): Promise<string> {
      round += 1;
      const title = `Changed ${round}`;
      for (const { id } of stage.model.records.leads.live().slice(0, count))
        await stage.crm.update('lead', id, { title });
      return title;
    },
    /** As `init` does while the daemon runs, or before it is started. */
    async layOutAgain(consent: LayOutConsent, word = 'word-1') {
      const adapter = createPostgresWarehouse({
        url: stage.database.url,
        schema: 'crm',
        tls: 'off',
        hasHistory: true,
        keeper: { link: 'stage', account: 'account-1', word, token: 0 },
        clock: realClock,
        log: createRecordingLog(),
      });
      try {
        return await adapter.layOut(layout() as WarehouseLayout, consent);
      } finally {
        await adapter.close();
      }
    },
    /** Resolves once the daemon reports the code. */
    reports: (code: string) =>
      until(`the daemon reports ${code}`, async () => codesOf(stage).includes(code), {
        limitMs: 28_000,
        describe: async () => JSON.stringify(stage.engine.listProblems()),
      }),
    /** Resolves once a hold says it. */
    holds: (words: RegExp) =>
      until(`a hold says ${words}`, async () =>
        stage.engine.found.holds.find(({ reason }) => words.test(reason)),
      ),
    /** The tables show what the CRM has, by a comparison too, with a whole history, and nothing was sent to the CRM. */
    async expectMended(): Promise<void> {
      await stage.settled();
      await until('no problem is left', async () => stage.engine.listProblems().length === 0, {
        describe: async () => JSON.stringify(stage.engine.listProblems()),
      });
      await expectWholeHistory(stage.database);
      const { tables } = await stage.compare();
      const off = tables.filter(({ different, extra, missing }) => different + extra + missing > 0);
      expect(off).toEqual([]);
      expect(crmWrites()).toBe(writesBefore);
    },
  };
}

export const codesOf = (stage: WarehouseEngine): readonly string[] =>
  stage.engine.listProblems().map(({ code }) => code);

/** What of a record was seen, oldest first. */
export async function titlesOf(database: TestDatabase, id: number): Promise<unknown[]> {
  const rows = await database.query('SELECT title FROM crm.lead_history WHERE id = $1 ORDER BY valid_from', [
    id,
  ]);
  return rows.map(({ title }) => title);
}
