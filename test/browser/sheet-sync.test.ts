import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { launchBrowser } from '../support/browser.ts';
import { openScenario, type Scenario, type ScenarioOptions } from '../support/scenario.ts';

/* What a person does on the sheet's page, with the whole daemon between it and the CRM. */

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface Desk {
  readonly scene: Scenario;
  readonly page: Page;
  /** The cell of a lead, wherever its row stands and whichever column has the header. */
  cell(id: number, header: string): Promise<Locator>;
  /** What the CRM holds of a lead. */
  inCrm(id: number, path: string): Promise<unknown>;
}

/** Opens the page on a filled sheet; the test fails when the page logs an error. */
async function openDesk(options: ScenarioOptions = {}): Promise<Desk> {
  const scene = await openScenario(options);
  const page = await browser.newPage({ viewport: { width: 1366, height: 768 } });
  onTestFinished(() => page.close());
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  onTestFinished(() => expect(errors).toEqual([]));
  await page.goto(scene.gridUrl);
  await page.locator('[data-row="1"][data-column="0"]').waitFor();
  return {
    scene,
    page,
    async cell(id, header) {
      const title = page.locator('.column-title', { has: page.locator(`b:text-is("${header}")`) });
      const column = await title.getAttribute('data-column');
      return page.locator(`[data-row="${await scene.position('lead', id)}"][data-column="${column}"]`);
    },
    inCrm: async (id, path) => valueAt(await scene.crm.find('lead', id), path),
  };
}

const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 30_000 });
const updates = ({ scene }: Desk) => scene.requests('PUT', /^\/leads\//).length;
const creates = ({ scene }: Desk) => scene.requests('POST', /^\/leads$/).length;
const leadIds = async ({ scene }: Desk) => (await scene.crm.look()).leads.map(({ id }) => id);

/** Types a text over the content of a cell. */
async function typeInto({ page }: Desk, cell: Locator, text: string): Promise<void> {
  await cell.click();
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

test('what is typed into a cell becomes the record’s, and undo takes it back there too', async () => {
  const desk = await openDesk();
  const { scene, page } = desk;
  const { id } = await scene.crm.take('lead');
  const before = await desk.inCrm(id, 'title');
  await typeInto(desk, await desk.cell(id, 'Title'), 'Typed on the page');
  await eventually(() => desk.inCrm(id, 'title')).toBe('Typed on the page');
  await scene.settled();
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(() => desk.inCrm(id, 'title')).toBe(before);
  await scene.settled();
  expect([updates(desk), creates(desk)]).toEqual([2, 0]);
});

test('an edit that is being typed reaches its record although the daemon takes a row above away meanwhile', async () => {
  const desk = await openDesk();
  const { scene, page } = desk;
  const ids = await leadIds(desk);
  const byRow = await Promise.all(ids.map(async (id) => ({ id, row: await scene.position('lead', id) })));
  const [above, , edited] = byRow.toSorted((one, other) => one.row - other.row);
  if (!above || !edited) throw new Error('The sheet has too few rows.');
  await (await desk.cell(edited.id, 'Title')).click();
  await page.keyboard.type('Typed while a row ');
  await scene.crm.trash('lead', above.id);
  await eventually(() => scene.position('lead', edited.id)).toBe(edited.row - 1);
  await page.keyboard.type('went');
  await page.keyboard.press('Enter');
  await eventually(() => desk.inCrm(edited.id, 'title')).toBe('Typed while a row went');
  await scene.settled();
  expect([updates(desk), creates(desk)]).toEqual([1, 0]);
});

test('an account manager sees all of a conflict on a small screen, and settles it with one of two answers', async () => {
  const desk = await openDesk({ sheet: { tabs: { leads: { conflict: 'ask' } } } });
  const { scene, page } = desk;
  const { id } = await scene.crm.take('lead');
  await scene.cycled(1);
  await Promise.all([
    scene.crm.update('lead', id, { title: 'Said in the CRM' }),
    scene.sheet.type('lead', id, { Title: 'Said in the sheet' }),
  ]);
  await scene.told('lead', id, /^Conflict/);
  await page.locator('#tabs').getByText('Conflicts', { exact: true }).click();
  const shown = ['Said in the CRM', 'Said in the sheet'].map((text) =>
    page.locator('[data-row="1"]', { hasText: text }).last(),
  );
  const choose = page.locator('[data-row="1"][data-column="0"]');
  for (const cell of [choose, ...shown]) await expectInView(page, cell);
  await choose.dblclick();
  const list = page.getByLabel('Choice');
  expect(await list.locator('option').allTextContents()).toEqual(['', 'CRM', 'Sheet']);
  await list.selectOption('Sheet');
  await eventually(() => desk.inCrm(id, 'title')).toBe('Said in the sheet');
  await scene.settled();
  expect((await scene.row('lead', id))?.['Title']).toBe('Said in the sheet');
});

test('a lead is chosen by three letters of its name, and a row that is added goes to the CRM with it', async () => {
  const desk = await openDesk();
  const { scene, page } = desk;
  const { id, title } = await scene.crm.take('lead', (lead) => /^[A-Z][a-z]{3}/.test(lead.title));
  const name = `${title} (#${id})`;
  await page.locator('#tabs').getByText('Opportunities', { exact: true }).click();
  const before = new Set((await scene.crm.look()).opportunities.map((each) => each.id));
  const row = 1 + before.size;
  const cell = (column: number) => page.locator(`[data-row="${row}"][data-column="${column}"]`);
  await cell(3).dblclick();
  await page.getByLabel('Choice').selectOption({ index: 2 });
  await cell(1).dblclick();
  await page.keyboard.type(title.slice(0, 3).toLowerCase());
  await page.getByRole('option', { name, exact: true }).click();
  const created = async () =>
    (await scene.crm.look()).opportunities.find((each) => each.lead_id === id && !before.has(each.id));
  await eventually(created).toBeDefined();
  await scene.settled();
  expect(await cell(1).textContent()).toBe(name);
});

test('a name typed in place of an id gives the record its user', async () => {
  const desk = await openDesk({ crm: { users: { 9001: 'Ewa Zielińska' } } });
  const { scene } = desk;
  const { id } = await scene.crm.take('lead');
  await typeInto(desk, await desk.cell(id, 'Account manager'), 'ewa zielińska');
  await eventually(() => desk.inCrm(id, 'custom_fields.account_manager')).toBe('9001');
  await scene.settled();
  expect((await scene.row('lead', id))?.['Account manager']).toBe('Ewa Zielińska');
});

async function expectInView(page: Page, cell: Locator): Promise<void> {
  await cell.waitFor();
  const box = await cell.boundingBox();
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  expect(box && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height).toBe(true);
}
