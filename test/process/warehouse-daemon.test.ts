import { describe, expect, onTestFinished, test } from 'vitest';
import { spawnDaemon } from '../support/daemon-process.ts';
import { until } from '../support/until.ts';
import { openWarehouseStage, password } from '../support/warehouse-roles.ts';

const limit = { timeout: 120_000 };

/** A daemon of a link with a database and whatever else is said, that has written all leads. */
async function openDaemonStage(changes: Readonly<Record<string, string>> = {}) {
  const stage = await openWarehouseStage();
  const own = { ...stage.as('maker'), ...changes };
  const start = () => {
    const daemon = spawnDaemon({ ...stage.environment, ...own, LOG_LEVEL: 'debug' });
    onTestFinished(async () => void (await daemon.kill()));
    return daemon;
  };
  const run = (...words: string[]) => stage.run(words, own);
  const countRows = async (): Promise<number> =>
    (await stage.database.query('SELECT count(*)::int AS count FROM crm.lead'))[0]?.['count'] as number;
  const filled = () =>
    until('all leads are there', async () => (await countRows().catch(() => 0)) === 130, { everyMs: 200 });
  return { ...stage, start, run, filled };
}

describe('the daemon of a link with a database alone', limit, () => {
  test('fills it, and its status, plan, metrics and page speak of no spreadsheet', async () => {
    const { filled, run, start } = await openDaemonStage();
    const daemon = start();
    await filled();
    await daemon.answers('/readyz');
    const isShown = async () => (await run('status')).output;
    const status = await until('the status has all rows', async () => {
      const output = await isShown();
      return /^Leads +130 +130 /m.test(output) && output;
    });
    expect(status).toContain('in warehouse');
    expect(status).not.toContain('in sheet');
    expect(await run('plan')).toMatchObject({ code: 0, output: expect.stringContaining('Nothing to do') });
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toMatch(/^crm_sheet_sync_records\{tab="Leads",side="warehouse"\} 130$/m);
    expect(metrics).toMatch(/^crm_sheet_sync_writes_total\{side="warehouse"\} [1-9]/m);
    expect(metrics).not.toContain('side="sheet"');
    const { stderr, stdout } = await daemon.terminate();
    expect(stdout + stderr + status).not.toContain(password);
    expect(stdout).toContain('warehouse.written');
  });

  test('compares all rows when it is asked to, and puts right what a user changed', async () => {
    const { database, filled, run, start } = await openDaemonStage();
    start();
    await filled();
    expect(await run('warehouse', 'audit')).toMatchObject({
      code: 0,
      output: expect.stringContaining("All rows were as the CRM's records."),
    });
    const changes = await database.connect();
    await changes.query('SET session_replication_role = replica');
    await changes.query('ALTER TABLE crm.lead DISABLE TRIGGER USER');
    await changes.query(
      "UPDATE crm.lead SET title = 'Changed by hand' WHERE id IN (SELECT id FROM crm.lead LIMIT 2)",
    );
    await changes.query('ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER ALL').catch(() => undefined);
    expect((await run('warehouse', 'audit')).output).toMatch(
      /130 rows of kind lead, 2 with other values, 0 missing/,
    );
    const wrong = "SELECT count(*)::int AS count FROM crm.lead WHERE title = 'Changed by hand'";
    await until(
      'they are as the CRM has them',
      async () => (await database.query(wrong))[0]?.['count'] === 0,
    );
  });
});

describe('the daemon of a link with a spreadsheet and a database', limit, () => {
  test('fills both, and its status counts the rows of each', async () => {
    const stage = await openWarehouseStage();
    const { GOOGLE_API_ROOT_URL = '', GOOGLE_SPREADSHEET_ID = '' } = stage.environment;
    const both = { ...stage.as('maker'), GOOGLE_API_ROOT_URL, GOOGLE_SPREADSHEET_ID };
    expect(await stage.run(['init'], both)).toMatchObject({ code: 0 });
    const daemon = spawnDaemon({ ...stage.environment, ...both });
    onTestFinished(async () => void (await daemon.kill()));
    await until(
      'both sides have all leads',
      async () => /^Leads +130 +130 +130 /m.test((await stage.run(['status'], both)).output),
      { everyMs: 500, limitMs: 90_000 },
    );
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toMatch(/^crm_sheet_sync_records\{tab="Leads",side="sheet"\} 130$/m);
    expect(metrics).toMatch(/^crm_sheet_sync_records\{tab="Leads",side="warehouse"\} 130$/m);
  });
});
