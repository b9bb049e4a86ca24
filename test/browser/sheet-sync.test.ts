import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { launchBrowser } from '../support/browser.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';

/* What a person does on the sheet's page, with the whole daemon between it and the CRM. */

// A browser, a daemon and two servers share what may be a busy machine.
vi.setConfig({ testTimeout: 120_000 });

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
  /** Selects from one cell to another as the mouse does. */
  select(from: Locator, to: Locator): Promise<void>;
  /** What the CRM holds of a lead. */
  inCrm(id: number, path: string): Promise<unknown>;
}

/** Opens the page on a filled sheet; the test fails when the page logs an error. */
async function openDesk(): Promise<Desk> {
  const scene = await openScenario();
  const page = await browser.newPage({ viewport: { width: 1600, height: 700 } });
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
    async select(from, to) {
      await from.click();
      await to.click({ modifiers: ['Shift'] });
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

/** Pastes what another program put on the clipboard. */
const paste = ({ page }: Desk, text: string) =>
  page.evaluate(`
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    document.dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
  `);

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

test('a block from another program becomes every record’s, line breaks and quotes included', async () => {
  const desk = await openDesk();
  const { scene } = desk;
  const [, first = 0, second = 0] = await leadIds(desk);
  const rows = await Promise.all([first, second].map((id) => scene.position('lead', id)));
  expect(rows[1]).toBe((rows[0] ?? 0) + 1);
  await (await desk.cell(first, 'Title')).click();
  await paste(desk, 'One\tCustomer\t"two ""lines""\nof text"\r\nTwo\tNew\tplain\r\n');
  await eventually(() => desk.inCrm(second, 'title')).toBe('Two');
  await scene.settled();
  const about = 'meta_data.about.description';
  expect([await desk.inCrm(first, 'title'), await desk.inCrm(first, about)]).toEqual([
    'One',
    'two "lines"\nof text',
  ]);
  expect(await desk.inCrm(second, about)).toBe('plain');
  expect([updates(desk), creates(desk)]).toEqual([2, 0]);
});

test('a cell that is copied over several others and one that is filled down reach their records', async () => {
  const desk = await openDesk();
  const { scene, page } = desk;
  const ids = await leadIds(desk);
  const [first = 0, second = 0, third = 0, fourth = 0] = ids;
  await typeInto(desk, await desk.cell(first, 'City'), 'Porto');
  await (await desk.cell(first, 'City')).click();
  await page.keyboard.press('Control+c');
  await desk.select(await desk.cell(second, 'City'), await desk.cell(third, 'City'));
  await page.keyboard.press('Control+v');
  await (await desk.cell(fourth, 'City')).click();
  await page.keyboard.press('Control+d');
  await eventually(() => desk.inCrm(fourth, 'custom_fields.city')).toBe('Porto');
  await scene.settled();
  const cities = await Promise.all([first, second, third].map((id) => desk.inCrm(id, 'custom_fields.city')));
  expect(cities).toEqual(['Porto', 'Porto', 'Porto']);
});

test('a sort of the whole tab changes no record, and an edit after it reaches the right one', async () => {
  const desk = await openDesk();
  const { scene, page } = desk;
  const { id } = await scene.crm.take('lead');
  const before = await scene.crm.look();
  const row = await scene.position('lead', id);
  await (await desk.cell(id, 'ID')).click();
  await page.getByRole('button', { name: 'Sort Z → A' }).click();
  await eventually(() => scene.position('lead', id)).not.toBe(row);
  await scene.cycled(3);
  await scene.settled();
  expect([updates(desk), creates(desk)]).toEqual([0, 0]);
  expect((await scene.crm.look()).leads).toEqual(before.leads);
  const title = await desk.cell(id, 'Title');
  await eventually(() => title.textContent()).toBe(await desk.inCrm(id, 'title'));
  await typeInto(desk, title, 'After the sort');
  await eventually(() => desk.inCrm(id, 'title')).toBe('After the sort');
});

test('a copied row is offered as new and never writes to its original; with its ID cleared it becomes a record', async () => {
  const desk = await openDesk();
  const { scene, page } = desk;
  const { id } = await scene.crm.take('lead');
  const before = await desk.inCrm(id, 'title');
  const row = await scene.position('lead', id);
  await (await desk.cell(id, 'Title')).click();
  await page.getByRole('button', { name: 'Copy row' }).click();
  const copy = page.locator(`[data-row="${row + 1}"]`);
  const title = copy.and(page.locator('[data-column="2"]'));
  await eventually(() => title.textContent()).toBe(before);
  await typeInto(desk, title, 'Made from a copy');
  await scene.told('lead', { Title: 'Made from a copy' }, /^Held: .*copy/);
  const sync = copy.and(page.locator('[data-column="1"]'));
  await eventually(() => sync.getAttribute('style')).toContain('background-color: rgb(255, 245, 199)');
  await scene.cycled(2);
  expect([updates(desk), creates(desk), await desk.inCrm(id, 'title')]).toEqual([0, 0, before]);
  await copy.and(page.locator('[data-column="0"]')).click();
  await page.keyboard.press('Delete');
  await page.getByRole('button', { name: 'Change it anyway' }).click();
  await eventually(async () => (await scene.crm.look()).leads.map((lead) => lead.title)).toContain(
    'Made from a copy',
  );
  await scene.settled();
  expect([updates(desk), creates(desk), await desk.inCrm(id, 'title')]).toEqual([0, 1, before]);
});

test('a sort of a part of the tab stops at the brake and changes no record, and undo makes all well', async () => {
  const desk = await openDesk();
  const { scene, page } = desk;
  const before = await scene.crm.look();
  const ids = await leadIds(desk);
  const [first = 0, last = 0] = [ids[0], ids.at(-1)];
  await desk.select(await desk.cell(first, 'Title'), await desk.cell(last, 'Title'));
  await (await desk.cell(first, 'Title')).click({ button: 'right' });
  await page.locator('.tabulator-menu-item', { hasText: 'Sort only the selection A → Z' }).click();
  await scene.stopped(/only changed places/);
  await scene.cycled(3);
  expect([updates(desk), creates(desk)]).toEqual([0, 0]);
  expect((await scene.crm.look()).leads).toEqual(before.leads);
  await page.getByRole('button', { name: 'Undo' }).click();
  await scene.settled();
  expect([updates(desk), creates(desk)]).toEqual([0, 0]);
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
