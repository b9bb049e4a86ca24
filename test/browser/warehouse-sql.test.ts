import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startWarehousePage } from '../../src/sandbox/postgres/warehouse-page.ts';
import { expectAccessible } from '../support/accessible.ts';
import { launchBrowser } from '../support/browser.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('a line of SQL changes the CRM, and what came of it is beside it', { timeout: 60_000 }, async () => {
  const stage = await openEditedEngine();
  const lead = await stage.crm.take('lead');
  const shown = await startWarehousePage({ port: 0, url: stage.database.url, schema: 'crm' });
  onTestFinished(() => shown.close());
  const page = await browser.newPage({ viewport: { width: 640, height: 560 } });
  onTestFinished(() => page.close());
  await page.goto(shown.url);
  const run = async (sql: string) => {
    await page.getByLabel('A line of SQL').fill(sql);
    await page.getByRole('button', { name: 'Run' }).click();
  };
  await run(`UPDATE crm.lead SET title = 'On the page' WHERE id = ${lead.id}`);
  await page.getByText('UPDATE 1: done', { exact: true }).waitFor();
  expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
    title: 'On the page',
  });
  await run('UPDATE crm.opportunity SET stage_id = 999');
  await page.getByText('The CRM has no stage 999.').waitFor();
  await page.getByRole('tab', { name: 'edit' }).click();
  await page.getByRole('cell', { name: 'done' }).waitFor();
  await expectAccessible(page);
});
