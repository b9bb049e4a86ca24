import { Client } from 'pg';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { expectAccessible } from '../support/accessible.ts';
import { launchBrowser } from '../support/browser.ts';
import { type CommandProcess, spawnCommand } from '../support/daemon-process.ts';
import { until } from '../support/until.ts';

/* The page of a whole demo: what its buttons and its panes do is looked up at each side beside it. */

let browser: Browser;
let demo: CommandProcess;
let database: Client;

beforeAll(async () => {
  demo = spawnCommand(['demo', '--no-redis'], {});
  const isReady = async () => /Ctrl-C ends the demo\./.test(demo.said());
  await until('the demo runs', isReady, { limitMs: 150_000, describe: async () => demo.said() });
  database = new Client({ connectionString: said(/psql '(postgres:\S+)'/) });
  await database.connect();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await database?.end();
  await demo.terminate();
});

const said = (words: RegExp): string => words.exec(demo.said())?.[1] ?? '';

const crmShape = z.object({ leads: z.array(z.object({ id: z.number(), title: z.string() })) });
const gridShape = z.object({
  sheets: z.array(
    z.object({ title: z.string(), rows: z.array(z.array(z.object({ text: z.string() }).nullable())) }),
  ),
});

async function ask<Shape extends z.ZodType>(side: string, path: string, shape: Shape) {
  const address = said(new RegExp(`The ${side} alone: +(\\S+)`));
  return shape.parse(await (await fetch(new URL(path, address))).json());
}

type Titles = readonly (readonly [number, string])[];

async function inSheet(): Promise<Titles> {
  const { sheets } = await ask('sheet', '/__sandbox/grid', gridShape);
  const [header = [], ...rows] = sheets.find(({ title }) => title === 'Leads')?.rows ?? [];
  const [id, title] = ['ID', 'Title'].map((text) => header.findIndex((cell) => cell?.text === text));
  return rows
    .map((cells) => [Number(cells[id ?? -1]?.text), cells[title ?? -1]?.text ?? ''] as const)
    .filter(([number]) => number > 0);
}

/** The titles of the leads by their ids, at each side, in its own order. */
async function look() {
  const crm = (await ask('CRM', '/__sandbox/records', crmShape)).leads;
  const { rows } = await database.query<{ id: string; title: string }>(
    'SELECT id, title FROM crm.lead ORDER BY id',
  );
  return {
    sheet: await inSheet(),
    crm: crm.map(({ id, title }) => [id, title] as const),
    database: rows.map(({ id, title }) => [Number(id), title] as const),
  };
}

/** What each side has as the title of a lead. */
async function titlesOf(wanted: number) {
  const titleIn = (titles: Titles) => titles.find(([id]) => id === wanted)?.[1];
  const { sheet, crm, database: tables } = await look();
  return [titleIn(sheet), titleIn(crm), titleIn(tables)];
}

/** Opens the page; the test fails when it logs an error or asks another machine for anything. */
async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, ...options });
  onTestFinished(() => context.close());
  const [errors, foreign]: string[][] = [[], []];
  context.on('console', (message) => message.type() === 'error' && errors?.push(message.text()));
  context.on('weberror', (error) => errors?.push(String(error.error())));
  context.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol !== 'data:' && hostname !== '127.0.0.1') foreign?.push(request.url());
  });
  onTestFinished(() => expect({ errors, foreign }).toEqual({ errors: [], foreign: [] }));
  const page = await context.newPage();
  await page.goto(said(/All sides next to each other: +(\S+)/));
  await page.locator('#status', { hasText: 'records in step' }).waitFor();
  return page;
}

const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 90_000 });
const line = (page: Page) => page.locator('#line').textContent();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** The groups of the line once it says that. */
async function lineSays(page: Page, words: RegExp): Promise<readonly string[]> {
  await eventually(() => line(page)).toMatch(words);
  return words.exec((await line(page)) ?? '') ?? [];
}

test('all panes begin with the same companies, and odd titles come last', async () => {
  const page = await openPage();
  const { crm, database: tables, sheet } = await look();
  expect(crm.map(([, title]) => title).slice(-12)).toEqual(expect.arrayContaining(['=1+1', '007', 'TRUE']));
  expect(crm.slice(0, 20).filter(([, title]) => !/^\p{L}[^=%]+$/u.test(title))).toEqual([]);
  const first = crm.slice(0, 2).map(([id]) => String(id));
  expect([sheet, tables].map((titles) => titles.slice(0, 2).map(([id]) => String(id)))).toEqual([
    first,
    first,
  ]);
  const rowsOf = (title: string, selector: string) =>
    page.frameLocator(`iframe[title="${title}"]`).locator(selector).allTextContents();
  await eventually(async () => (await rowsOf('CRM', 'td.id span')).slice(0, 2)).toEqual(first);
  await eventually(async () => (await rowsOf('Warehouse', '.row-key')).slice(0, 2)).toEqual(first);
  await eventually(async () => (await rowsOf('Sheet', '[data-column="0"][data-row]')).slice(0, 2)).toEqual(
    first,
  );
});

test('an edit by the button is the same on all sides, and the line says after how long', async () => {
  const page = await openPage();
  await press(page, 'Edit the sheet');
  const [, id] = await lineSays(
    page,
    /^You changed Title of #(\d+) in the sheet; the CRM has it after \d+\.\d s; the database after \d+\.\d s\.$/,
  );
  const titles = await titlesOf(Number(id));
  expect(titles[0]).toContain('Edited');
  expect(new Set(titles).size).toBe(1);
});

test('of two edits at once the CRM’s stays on all sides, and the line says so with what the row says', async () => {
  const page = await openPage();
  await press(page, 'Edit both sides');
  const [, id, winner] = await lineSays(
    page,
    /^You changed Title of #(\d+) in the CRM and in the sheet at once; “(.*)” of the CRM is on all sides after .* s\. The sheet’s row says: “Changed by the CRM: Title was/,
  );
  expect(winner).toContain('By sales');
  expect(await titlesOf(Number(id))).toEqual([winner, winner, winner]);
});

test('a row deleted by the button is asked about, and the status page answers with the demo’s own token', async () => {
  const page = await openPage();
  const asked = /^You deleted #(\d+) in the sheet; the daemon asks after/;
  await press(page, 'Delete a row');
  const [, restored] = await lineSays(page, asked);
  const [, ...others] = await titlesOf(Number(restored));
  expect(await titlesOf(Number(restored))).toEqual([undefined, expect.any(String), others[0]]);
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Status page' }).click();
  const status = await opened;
  await status.getByRole('button', { name: 'Token: in use' }).waitFor();
  expect(status.url()).not.toContain('#');
  const answer = (id: string | undefined, name: string) =>
    status
      .locator('#waiting li', { hasText: `#${id}` })
      .getByRole('button', { name })
      .click();
  await answer(restored, 'Restore');
  await lineSays(page, /its row is back after \d+\.\d s, and nothing was deleted\.$/);
  expect(await titlesOf(Number(restored))).toEqual([...others, others[0]]);
  await press(page, 'Delete a row');
  const [, deleted] = await lineSays(page, asked);
  await answer(deleted, 'Move to trash');
  await status.getByRole('dialog').getByRole('button', { name: 'Move to trash' }).click();
  await lineSays(
    page,
    /^You deleted #\d+ in the sheet; the CRM deleted it after .* s; the database after .* s\.$/,
  );
  expect(await titlesOf(Number(deleted))).toEqual([undefined, undefined, undefined]);
});

test('what is done in a pane is told as done there', async () => {
  const page = await openPage();
  const warehouse = page.frameLocator('iframe[title="Warehouse"]');
  await warehouse.getByLabel('A line of SQL').fill("UPDATE crm.lead SET title = 'By SQL' WHERE id = 1008");
  await warehouse.getByRole('button', { name: 'Run' }).click();
  await lineSays(
    page,
    /^You changed Title of #1008 in the database; the \w+ has it after .* s; the \w+ after .* s\.$/,
  );
  const crm = page.frameLocator('iframe[title="CRM"]');
  await crm.getByRole('button', { name: 'New lead' }).click();
  await crm.getByLabel('Title').fill('Made in its pane');
  await crm.getByRole('button', { name: 'Create', exact: true }).click();
  const [, made] = await lineSays(
    page,
    /^You added #(\d+) in the CRM; the \w+ has it after .* s; the \w+ after .* s\.$/,
  );
  expect(await titlesOf(Number(made))).toEqual(Array.from({ length: 3 }, () => 'Made in its pane'));
  const row = (await inSheet()).length + 1;
  const typed = { kind: 'edit', sheet: 'Leads', row, column: 'Title', text: 'Typed below the last row' };
  await page.evaluate(`fetch('/sides/sheet/__sandbox/person', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(typed))} })`);
  await lineSays(
    page,
    /^You added #(?!${made})\d+ in the sheet; the CRM has it after .* s; the database after .* s\.$/,
  );
});

test.each(['light', 'dark'] as const)(
  'the page is accessible in %s colours, and fits a phone',
  async (colorScheme) => {
    const page = await openPage({ colorScheme });
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    const [sheet, crm] = ['Sheet', 'CRM'].map((title) => page.locator(`iframe[title="${title}"]`));
    expect(await Promise.all([sheet?.isVisible(), crm?.isVisible()])).toEqual([true, false]);
    await press(page, 'CRM');
    expect(await Promise.all([sheet?.isVisible(), crm?.isVisible()])).toEqual([false, true]);
    expect(
      await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.scrollHeight]'),
    ).toEqual([390, 844]);
    await expectAccessible(page);
  },
);
