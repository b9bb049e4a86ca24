import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { launchBrowser } from './browser.ts';
import { type Emulator, startEmulator } from './sandbox-sheets-client.ts';

/* The page of the emulated spreadsheet in a real browser, with three rows in it at the start of each test. */

export let page: Page;
export let emulator: Emulator;
let browser: Browser;

/** To be called by each file: a worker that has loaded this one for a file does not load it for the next. */
export function useGridPage(): void {
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(openPage);
  afterEach(() => page.close());
}

async function openPage(): Promise<void> {
  emulator = await startEmulator({ quotas: { readsPerMinute: 100_000, writesPerMinute: 100_000 } });
  await emulator.fill([
    ['ID', 'Name', 'Status', 'Done'],
    ['1', 'Grace', 'Open', true],
    ['2', 'Ada', 'Won', false],
    ['3', 'Konrad', 'Open', false],
  ]);
  const body = (column: number) => ({
    sheetId: 0,
    startRowIndex: 1,
    endRowIndex: 4,
    startColumnIndex: column,
    endColumnIndex: column + 1,
  });
  const choices = [{ userEnteredValue: 'Open' }, { userEnteredValue: 'Won' }];
  await emulator.batch([
    {
      updateSheetProperties: {
        properties: { sheetId: 0, gridProperties: { frozenRowCount: 1 } },
        fields: 'gridProperties.frozenRowCount',
      },
    },
    {
      setDataValidation: {
        range: body(2),
        rule: { condition: { type: 'ONE_OF_LIST', values: choices }, strict: true },
      },
    },
    { setDataValidation: { range: body(3), rule: { condition: { type: 'BOOLEAN' } } } },
  ]);
  page = await browser.newPage({ viewport: { width: 750, height: 560 } });
  watchErrors();
  await page.goto(emulator.gridUrl);
  await cell(1, 1).waitFor();
}

/** A refusal is an answer that the browser logs by itself; everything else has to go without errors. */
function watchErrors(): void {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  onTestFinished(() => expect(errors.filter((text) => !text.includes('status of 400'))).toEqual([]));
}

export const cell = (row: number, column: number) =>
  page.locator(`[data-row="${row}"][data-column="${column}"]`);
export const heading = (column: number) => page.locator(`.column-title[data-column="${column}"]`);
export const button = (name: string) => page.getByRole('button', { name });
/** Waits until the sheet, or the page, says so. */
export const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 10_000 });
export const names = () => emulator.read('B2:B');
