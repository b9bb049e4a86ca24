import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { freePort } from '../../src/cli/demo/demo-processes.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { type SandboxCrm, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { type SandboxSheets, startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { launchBrowser } from '../support/browser.ts';
import { spawnCommand, spawnDaemon } from '../support/daemon-process.ts';
import { readTab } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

/* Takes the pictures of the manual anew: a day at the agency in a few seconds, and a browser that looks at it. */

const folder = fileURLToPath(new URL('../../src/manual/', import.meta.url));

/** In JSON, which is YAML as well. Fewer columns, so that a picture shows all of them. */
const settings = {
  crm: { rereadAfterMs: 1, sweepMs: 1_000 },
  sheet: {
    pollMs: 500,
    typingPauseMs: 200,
    tabs: {
      opportunities: {
        conflict: 'ask',
        columns: { note: { direction: 'off' }, created_at: { direction: 'off' } },
      },
    },
  },
};

/** Both sides and what is done by hand on them. */
class Office {
  readonly crm: SandboxCrm;
  readonly sheets: SandboxSheets;

  constructor(crm: SandboxCrm, sheets: SandboxSheets) {
    this.crm = crm;
    this.sheets = sheets;
  }

  async edit(row: number, column: string, text: string): Promise<void> {
    await this.act({ kind: 'edit', sheet: 'Opportunities', row, column, text });
  }

  async act(...actions: PersonActionInput[]): Promise<void> {
    await post(`${this.sheets.rootUrl}/__sandbox/person`, actions);
  }

  async editCrm(path: string, body: object): Promise<void> {
    await post(`${this.crm.pageUrl}__sandbox/by-hand`, { method: 'PUT', path, body });
  }

  async rows(tab: string) {
    const { rootUrl: sheetsUrl, spreadsheetId } = this.sheets;
    return readTab({ crmUrl: this.crm.pageUrl, sheetsUrl, spreadsheetId }, tab);
  }

  /** Resolves once the Sync cell of the row begins with these words. */
  async says(row: number, words: string): Promise<void> {
    const read = async () => String((await this.rows('Opportunities'))[row - 1]?.['Sync'] ?? '');
    await until(`row ${row} says ${words}`, async () => (await read()).startsWith(words), { describe: read });
  }
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
}

/** What account managers and sales do until the pictures are taken. */
async function workOn(office: Office): Promise<void> {
  await until('the sheet is filled', async () => (await office.rows('Tasks')).length === 25);
  await office.edit(1, 'Value', '18500');
  await office.edit(2, 'Confidence', '150');
  await office.says(1, 'Synced');
  await office.says(2, 'Error');
  const [, , , conflicting] = await office.rows('Opportunities');
  await office.editCrm(`/opportunities/${conflicting?.['ID']}`, { value: 42_000 });
  await office.edit(4, 'Value', '39900');
  await office.says(4, 'Conflict');
  await office.act({ kind: 'deleteRows', sheet: 'Opportunities', row: 9 });
  const { length } = await office.rows('Opportunities');
  const [lead] = await office.rows('Leads');
  await office.edit(length + 1, 'Lead', String(lead?.['Title']));
  await until('both questions are asked', async () => (await office.rows('Conflicts')).length === 2);
  office.crm.model.faults.order(
    faultOrder.parse({ faults: [{ kind: 'slow', method: 'PUT', delayMs: 15_000, times: 1 }] }),
  );
  await office.edit(6, 'Expected close', '2027-03-31');
  await office.says(6, 'Pending');
}

/** Column widths as somebody draws them, by the headers of a tab; the other columns stay as they are, and those of no width are hidden. */
const widths: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Opportunities: { ID: 56, Sync: 395, Stage: 170, Value: 80, Confidence: 100, 'Expected close': 125 },
  Conflicts: {
    ...{ ID: 0, Sync: 0, Tab: 0, Since: 0, What: 385, Record: 75, Title: 150, Field: 75 },
    ...{ 'CRM has': 85, 'Sheet has': 95, 'Agreed before': 125, Choose: 80 },
  },
};

const tabsShape = z.object({
  sheets: z.array(z.object({ properties: z.object({ title: z.string(), sheetId: z.number() }) })),
});

const headersShape = z.object({ values: z.tuple([z.array(z.string())]) });

async function drawColumns({ sheets }: Office, tab: string): Promise<void> {
  const place = `${sheets.rootUrl}/v4/spreadsheets/${sheets.spreadsheetId}`;
  const answer = await fetch(`${place}?fields=sheets.properties(title,sheetId)`);
  const found = tabsShape
    .parse(await answer.json())
    .sheets.find(({ properties }) => properties.title === tab);
  const row = await fetch(`${place}/values/${tab}!1:1`);
  const [headers] = headersShape.parse(await row.json()).values;
  const requests = Object.entries(widths[tab] ?? {}).map(([header, pixelSize]) => {
    const startIndex = headers.indexOf(header);
    const sheetId = found?.properties.sheetId;
    const range = { sheetId, dimension: 'COLUMNS', startIndex, endIndex: startIndex + 1 };
    const properties = pixelSize === 0 ? { hiddenByUser: true } : { pixelSize };
    return { updateDimensionProperties: { range, properties, fields: Object.keys(properties).join() } };
  });
  await post(`${place}:batchUpdate`, { requests });
}

/** A picture in WebP, which the browser itself makes: a fifth of the size of its PNG. */
async function takePicture(page: Page, name: string): Promise<void> {
  const png = await page.screenshot({ animations: 'disabled' });
  const blank = await page.context().newPage();
  const url: unknown = await blank.evaluate(`new Promise((resolve, reject) => {
    const image = new Image();
    image.onerror = reject;
    image.onload = () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
      canvas.getContext('2d').drawImage(image, 0, 0);
      resolve(canvas.toDataURL('image/webp', 0.8));
    };
    image.src = 'data:image/png;base64,${png.toString('base64')}';
  })`);
  await blank.close();
  const picture = Buffer.from(String(url).replace(/^data:image\/webp;base64,/, ''), 'base64');
  await writeFile(join(folder, `${name}.webp`), picture);
  console.log(`${name}.webp: ${Math.round(picture.length / 1_024)} KiB`);
}

async function takePictures(browser: Browser, office: Office, statusUrl: string): Promise<void> {
  const context = await browser.newContext({ colorScheme: 'light', deviceScaleFactor: 1 });
  const page = await context.newPage();
  for (const [tab, name, height] of [
    ['Opportunities', 'sheet', 430],
    ['Conflicts', 'conflicts', 205],
  ] as const) {
    await drawColumns(office, tab);
    await page.setViewportSize({ width: 1_120, height });
    await page.goto(office.sheets.gridUrl);
    await page.getByRole('tab', { name: tab, exact: true }).click();
    await page.locator('[data-row="2"][data-column="4"]').waitFor();
    await takePicture(page, name);
  }
  await page.setViewportSize({ width: 1_120, height: 900 });
  await page.goto(statusUrl);
  await page.locator('#waiting li').first().waitFor();
  await takePicture(page, 'status-page');
  await context.close();
}

const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-screenshots-'));
const crm = await startSandboxCrm({ port: 0, seed: 7, counts: { leads: 40, opportunities: 30, tasks: 25 } });
const sheets = await startSandboxSheets({
  title: 'Agency',
  quotas: { readsPerMinute: 10_000, writesPerMinute: 10_000 },
});
await writeFile(join(directory, 'settings.yaml'), JSON.stringify(settings));
const environment = {
  CRM_SYNC_CONFIG: join(directory, 'settings.yaml'),
  CRM_BASE_URL: crm.baseUrl,
  CRM_API_KEY: crm.apiKey,
  GOOGLE_SPREADSHEET_ID: sheets.spreadsheetId,
  GOOGLE_API_ROOT_URL: sheets.rootUrl,
  STATE_DIR: join(directory, 'state'),
  HTTP_PORT: String(await freePort(0)),
  CONTROL_TOKEN: 'token-for-pictures',
};
const { code, stderr } = await spawnCommand(['init'], environment).ended;
if (code !== 0) throw new Error(stderr);
const daemon = spawnDaemon(environment);
const browser = await launchBrowser();
try {
  const office = new Office(crm, sheets);
  await workOn(office);
  await takePictures(browser, office, daemon.url);
} finally {
  await browser.close();
  await daemon.terminate();
  await Promise.all([crm.close(), sheets.close()]);
  await rm(directory, { recursive: true, force: true });
}
