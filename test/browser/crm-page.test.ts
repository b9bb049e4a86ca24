import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type SandboxCrm, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { launchBrowser } from '../support/browser.ts';

let browser: Browser;
let crm: SandboxCrm;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

beforeEach(async () => {
  crm = await startSandboxCrm({ port: 0, seed: 7, counts: { leads: 5, opportunities: 3, tasks: 3 } });
  page = await browser.newPage({ viewport: { width: 700, height: 560 } });
  await page.goto(crm.pageUrl);
});
afterEach(async () => {
  await page.close();
  await crm.close();
});

/** Waits longer than the page does between two looks at the records. */
const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 10_000 });
const cell = (id: number, field: string) => page.locator(`tr[data-id="${id}"] td[data-field="${field}"]`);
const lead = (id: number) => crm.model.records.leads.find(id);
const rename = (id: number, title: string) =>
  crm.model.applyByHand(Date.now(), { method: 'PUT', path: `/leads/${id}`, body: JSON.stringify({ title }) });

test('a title that is typed into its cell becomes the record’s title', async () => {
  await cell(1001, 'title').click();
  await cell(1001, 'title').locator('input').fill('<b>Neu & "gut"</b>');
  await page.keyboard.press('Enter');
  await eventually(() => lead(1001)?.title).toBe('<b>Neu & "gut"</b>');
  await eventually(() => cell(1001, 'title').textContent()).toBe('<b>Neu & "gut"</b>');
  expect(crm.model.usage().keys).toEqual({});
});

test('what changes in the CRM appears without a reload and leaves the edited cell alone', async () => {
  await cell(1001, 'title').click();
  await cell(1001, 'title').locator('input').fill('half typ');
  rename(1001, 'from elsewhere');
  rename(1002, 'also from elsewhere');
  await eventually(() => cell(1002, 'title').textContent()).toBe('also from elsewhere');
  expect(await cell(1001, 'title').locator('input').inputValue()).toBe('half typ');
  await page.keyboard.press('Escape');
  await eventually(() => cell(1001, 'title').textContent()).toBe('from elsewhere');
  expect(lead(1001)?.title).toBe('from elsewhere');
});

test('choices, dates, numbers and lists of custom fields are edited in their own kind', async () => {
  await cell(1002, 'custom.source').click();
  await cell(1002, 'custom.source').locator('select').selectOption({ label: 'Trade fair' });
  await cell(1002, 'custom.yearly_budget').click();
  await cell(1002, 'custom.yearly_budget').locator('input').fill('12.5');
  await page.keyboard.press('Enter');
  await cell(1002, 'custom.first_contact').click();
  await cell(1002, 'custom.first_contact').locator('input').fill('2026-02-03');
  await page.keyboard.press('Enter');
  await cell(1002, 'custom.team').click();
  await cell(1002, 'custom.team').locator('select').selectOption(['Mara Stein', 'Tariq Aziz']);
  await page.keyboard.press('Enter');
  await eventually(() => lead(1002)?.custom_fields).toMatchObject({
    source: 'Trade fair',
    yearly_budget: 12.5,
    first_contact: '2026-02-03',
    team: ['9001', '9004'],
  });
});

test('a value the CRM refuses is explained and the cell shows the record again', async () => {
  const before = lead(1001)?.title;
  await cell(1001, 'title').click();
  await cell(1001, 'title').locator('input').fill('x'.repeat(201));
  await page.keyboard.press('Enter');
  await eventually(() => page.locator('#notice').textContent()).toMatch(/^title: /);
  expect(await cell(1001, 'title').textContent()).toBe(before);
});

test('records are created in the form and go to the trash by two clicks', async () => {
  await page.getByRole('tab', { name: 'Opportunities' }).click();
  await page.getByRole('button', { name: 'New opportunity' }).click();
  await page.getByLabel('Stage').selectOption({ label: 'Upsell & renewals / Qualified' });
  await page.getByRole('button', { name: 'Create' }).click();
  await eventually(() => page.locator('#creation-problem').textContent()).toBe('lead_id: Required');
  await page.getByLabel('Lead').selectOption({ index: 1 });
  await page.getByLabel('Value').fill('900');
  await page.getByRole('button', { name: 'Create' }).click();
  await eventually(() => cell(3004, 'value').textContent()).toBe('900');
  expect(crm.model.records.opportunities.find(3004)).toMatchObject({ stage_id: 21, value: 900 });
  const trash = page.locator('tr[data-id="3004"] .trash');
  await trash.click();
  await trash.click();
  await eventually(() => crm.model.records.opportunities.trashed().map(({ id }) => id)).toEqual([3004]);
  await eventually(() => page.locator('tr[data-id="3004"]').count()).toBe(0);
});

test('a tab that is chosen before the records are there is the one that they come into', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/__sandbox/records', async (route) => {
    await released;
    await route.continue();
  });
  await page.reload();
  await page.getByRole('tab', { name: 'Opportunities' }).click();
  release();
  await cell(3001, 'value').waitFor();
  expect(await page.getByRole('button', { name: 'New opportunity' }).count()).toBe(1);
});

test('a changed cell flashes, whoever changed it, and so does each cell of a new record', async () => {
  await cell(1002, 'title').waitFor();
  expect(await page.locator('.changed').count()).toBe(0);
  rename(1002, 'from elsewhere');
  await page.locator('tr[data-id="1002"] td[data-field="title"].changed').waitFor();
  await cell(1001, 'title').click();
  await cell(1001, 'title').locator('input').fill('on the page');
  await page.keyboard.press('Enter');
  await page.locator('tr[data-id="1001"] td[data-field="title"].changed').waitFor();
  await page.locator('.changed').first().waitFor({ state: 'detached' });
  crm.model.applyByHand(Date.now(), { method: 'POST', path: '/leads', body: '{"title":"new"}' });
  await page.locator('tr[data-id="1006"] td[data-field="title"].changed').waitFor();
});

test('who wants less motion sees the colour of a change stay and go, without a fade', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await cell(1002, 'title').waitFor();
  rename(1002, 'from elsewhere');
  const changed = page.locator('td.changed');
  await changed.waitFor();
  const timing = await page.evaluate(
    "getComputedStyle(document.querySelector('td.changed')).animationTimingFunction",
  );
  expect(timing).toBe('steps(1)');
  await changed.waitFor({ state: 'detached' });
});

test('records are in the order of their ids, and the filter finds one by its id', async () => {
  const ids = () => page.locator('tbody tr .id span').allTextContents();
  await cell(1005, 'title').waitFor();
  expect(await ids()).toEqual(['1001', '1002', '1003', '1004', '1005']);
  await page.getByLabel('Filter rows').fill('1003');
  await eventually(ids).toEqual(['1003']);
  await page.getByLabel('Filter rows').fill('#1004');
  await eventually(ids).toEqual(['1004']);
  await page.getByLabel('Filter rows').fill('');
  await eventually(ids).toHaveLength(5);
  expect(await page.locator('.changed').count()).toBe(0);
});
