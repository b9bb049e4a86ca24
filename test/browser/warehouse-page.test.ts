import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startWarehousePage } from '../../src/sandbox/postgres/warehouse-page.ts';
import { expectAccessible } from '../support/accessible.ts';
import { launchBrowser } from '../support/browser.ts';
import { openDatabase, startOwnPostgres } from '../support/postgres.ts';
import { openWarehouse, type WarehouseStage } from '../support/warehouse-stage.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const hostile = '<img src=x onerror="document.title = 1"> & "Söhne"';

const seed = `
  INSERT INTO crm.pipeline (id, name) VALUES (1, 'Sales');
  INSERT INTO crm.stage (id, pipeline_id, name, position, outcome) VALUES (10, 1, 'New', 1, 'open'), (11, 1, 'Won', 2, 'won');
  INSERT INTO crm.task_status (id, name) VALUES (1, 'To do');
  INSERT INTO crm.lead (id, title, status_name, valid_from, made_by) VALUES
    (1, 'Acme', 'new', '2026-01-01Z', 'crm'), (2, 'Bakery', NULL, '2026-01-01Z', 'crm');
  INSERT INTO crm_sync.opportunity_past (id, lead_id, stage_id, value, confidence, valid_from, valid_until, ended, made_by) VALUES
    (7, 1, 10, 100, 50, '2026-01-01Z', '2026-01-05Z', 'changed', 'crm');
  INSERT INTO crm.opportunity (id, lead_id, stage_id, value, confidence, valid_after, valid_from, made_by) VALUES
    (7, 1, 11, 100, 50, '2026-01-04Z', '2026-01-05Z', 'sheet');
  INSERT INTO crm.task (id, title, status, valid_from, made_by) VALUES (20, 'Call', 1, '2026-01-01Z', 'crm');
  INSERT INTO crm.freshness (entity, records, rows, written_at, state, note) VALUES ('lead', 2, 2, '2026-01-05Z', 'fresh', '')`;

/** As the daemon writes a change that it saw in the CRM between these instants. */
const rename = (id: number, title: string) => `
  INSERT INTO crm_sync.lead_past (id, title, status_name, valid_from, valid_until, ended, made_by)
    SELECT id, title, status_name, valid_from, '2026-02-02 10:00:00.5Z', 'changed', made_by FROM crm.lead WHERE id = ${id};
  UPDATE crm.lead SET title = '${title.replaceAll("'", "''")}', valid_from = '2026-02-02 10:00:00.5Z', valid_after = '2026-02-02 09:59:00Z'
   WHERE id = ${id}`;

const trash = (id: number) => `
  INSERT INTO crm_sync.lead_past (id, title, status_name, valid_from, valid_until, ended, made_by)
    SELECT id, title, status_name, valid_from, '2026-03-03 08:00:00Z', 'trashed', made_by FROM crm.lead WHERE id = ${id};
  DELETE FROM crm.lead WHERE id = ${id}`;

async function openPage(url: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const shown = await startWarehousePage({ port: 0, url, schema: 'crm' });
  onTestFinished(() => shown.close());
  const page = await browser.newPage({ viewport: { width: 640, height: 560 }, ...options });
  onTestFinished(() => page.close());
  await page.goto(shown.url);
  return page;
}

async function openFilled(): Promise<WarehouseStage> {
  const stage = await openWarehouse();
  await stage.layOut();
  await stage.write(seed);
  return stage;
}

/** Waits longer than the page does between two looks at the database. */
const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 10_000 });
const cell = (page: Page, id: number, field: string) =>
  page.locator(`#rows tr[data-id="${id}"] td[data-field="${field}"]`);
const versions = (page: Page) =>
  page
    .locator('#versions tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent)));
const keyOf = (page: Page, id: number) => page.getByRole('button', { name: `History of lead ${id}` });

test('a change in the database appears without a reload, and in the history of its row', async () => {
  await using stage = await openFilled();
  const page = await openPage(stage.database.url);
  await cell(page, 1, 'title').click();
  await eventually(() => versions(page)).toEqual([
    ['2026-01-01 00:00:00', 'First version', '', 'now', 'crm'],
  ]);
  await stage.write(rename(1, 'Acme & Co'));
  await page.locator('#rows td[data-field="title"].changed').waitFor();
  expect(await cell(page, 1, 'title').textContent()).toBe('Acme & Co');
  await eventually(() => versions(page)).toEqual([
    ['2026-02-02 10:00:00', 'title: Acme → Acme & Co', '2026-02-02 09:59:00', 'now', 'crm'],
    ['2026-01-01 00:00:00', 'First version', '', '2026-02-02 10:00:00', 'crm'],
  ]);
  expect(await cell(page, 2, 'title').textContent()).toBe('Bakery');
  await expectAccessible(page);
});

test('a row that is gone leaves the table, and its history says how it ended', async () => {
  await using stage = await openFilled();
  const page = await openPage(stage.database.url);
  await keyOf(page, 2).click();
  await page.getByRole('tab', { name: 'lead2' }).waitFor();
  await stage.write(trash(2));
  await page.getByRole('tab', { name: 'lead1' }).waitFor();
  expect(await cell(page, 2, 'title').count()).toBe(0);
  await eventually(async () => (await versions(page)).map(([, , , until]) => until)).toEqual([
    '2026-03-03 08:00:00, in the trash',
  ]);
});

test('what the database holds is shown as text and never run', async () => {
  await using stage = await openFilled();
  const page = await openPage(stage.database.url);
  await stage.write(rename(1, hostile));
  await eventually(() => cell(page, 1, 'title').textContent()).toBe(hostile);
  await cell(page, 1, 'title').click();
  await eventually(async () => (await versions(page))[0]?.[1]).toBe(`title: Acme → ${hostile}`);
  expect(await page.title()).toBe('Warehouse');
  expect(await page.locator('img').count()).toBe(0);
});

test.each(['light', 'dark'] as const)(
  'every tab shows its rows and is accessible in %s colours',
  async (colorScheme) => {
    await using stage = await openFilled();
    const page = await openPage(stage.database.url, { colorScheme });
    const expected = {
      lead: 'Bakery',
      opportunity: '2026-01-05 00:00:00',
      task: 'Call',
      opportunity_overview: 'Acme',
      pipeline_by_stage: 'Sales',
      stage_history: '2026-01-04 00:00:00',
      freshness: 'fresh',
    };
    const tabs = page.getByRole('tab');
    expect(await tabs.count()).toBe(Object.keys(expected).length);
    for (const [index, words] of Object.values(expected).entries()) {
      await tabs.nth(index).click();
      await page.locator('#rows td', { hasText: words }).first().waitFor();
      await expectAccessible(page);
    }
  },
);

test('tabs, rows and history are reached by the keyboard alone', async () => {
  await using stage = await openFilled();
  const page = await openPage(stage.database.url);
  await cell(page, 1, 'title').waitFor();
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.ariaLabel');
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
    return focused();
  };
  expect(await press('Tab', 'Tab', 'ArrowRight', 'ArrowLeft', 'ArrowLeft')).toBe('tab-freshness');
  expect(await press('ArrowRight')).toBe('tab-lead');
  await cell(page, 1, 'title').waitFor();
  expect(await press('Tab')).toBe('rows');
  expect(await press('Tab', 'Tab')).toBe('History of lead 2');
  await press('Enter');
  await eventually(() => versions(page)).toHaveLength(1);
  expect(await press('Tab')).toBe('history-close');
  expect(await press('Enter')).toBe('History of lead 2');
  expect(await page.locator('#history').isVisible()).toBe(false);
});

test('only the tables and views of the page can be asked for, and rows by their ids', async () => {
  await using stage = await openFilled();
  const page = await openPage(stage.database.url);
  const statusOf = (path: string) => page.evaluate(`fetch('${path}').then(({ status }) => status)`);
  const paths = [
    '/tables/lead',
    '/tables/lead/1/history',
    '/tables/pg_shadow',
    '/tables/lead_past',
    '/tables/lead%22%3B%20DROP%20TABLE%20crm.lead',
    '/tables/constructor',
    '/tables/freshness/1/history',
    '/tables/lead/1%20OR%20true/history',
  ];
  expect(await Promise.all(paths.map(statusOf))).toEqual([200, 200, 404, 404, 404, 404, 404, 404]);
});

test('the page takes no write, not even for a superuser whose address it was given', async () => {
  await using stage = await openFilled();
  await stage.admin.query(`
    ALTER VIEW crm.pipeline_by_stage RENAME TO real_pipeline;
    CREATE FUNCTION crm.break_in() RETURNS int LANGUAGE sql VOLATILE AS $$ DELETE FROM crm.task RETURNING 1 $$;
    CREATE VIEW crm.pipeline_by_stage AS SELECT *, crm.break_in() FROM crm.real_pipeline`);
  const page = await openPage(stage.database.url);
  await page.getByRole('tab', { name: 'pipeline_by_stage' }).click();
  await page.getByText('The database refused: cannot execute DELETE in a read-only transaction.').waitFor();
  expect((await stage.database.query('SELECT id FROM crm.task')).map(({ id }) => id)).toEqual(['20']);
});

test('before the tables are laid out the page says so, and shows them when they are there', async () => {
  await using stage = await openWarehouse();
  const page = await openPage(stage.database.url);
  await page.getByText('The daemon has not laid out the tables yet.').waitFor();
  await stage.layOut();
  await page.getByText('No rows here.').waitFor();
  await stage.write(seed);
  await eventually(() => cell(page, 2, 'title').textContent()).toBe('Bakery');
});

test('while the database is gone the page says so, and goes on when it is back', async () => {
  await using server = await startOwnPostgres();
  await using database = await openDatabase(server);
  await database.query(`CREATE SCHEMA crm; CREATE TABLE crm.lead AS SELECT 1 AS id, 'Acme' AS title;
    CREATE TABLE crm.opportunity AS SELECT 1 AS id; CREATE TABLE crm.task AS SELECT 1 AS id`);
  const page = await openPage(database.url);
  await eventually(() => cell(page, 1, 'title').textContent()).toBe('Acme');
  await server.kill();
  await page.getByText('The database does not respond; trying again.').waitFor();
  expect(await cell(page, 1, 'title').textContent()).toBe('Acme');
  await server.restart();
  await database.query(`UPDATE crm.lead SET title = 'Back again'`);
  await eventually(() => cell(page, 1, 'title').textContent()).toBe('Back again');
});
