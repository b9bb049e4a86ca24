import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { type Emulator, startEmulator } from '../support/sandbox-sheets-client.ts';

let browser: Browser;
let page: Page;
let emulator: Emulator;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

beforeEach(async () => {
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
  await page.goto(emulator.gridUrl);
  await cell(1, 1).waitFor();
});
afterEach(() => page.close());

const cell = (row: number, column: number) => page.locator(`[data-row="${row}"][data-column="${column}"]`);
const button = (name: string) => page.getByRole('button', { name });
/** Waits until the sheet, or the page, says so. */
const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 10_000 });
const names = () => emulator.read('B2:B');

test('a text typed into a cell is parsed into the sheet as a person’s input', async () => {
  await cell(1, 0).dblclick();
  await page.getByLabel('Cell', { exact: true }).fill('2026-09-27');
  await page.keyboard.press('Enter');
  await eventually(() => emulator.read('A2', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([[46_292]]);
  await eventually(() => cell(1, 0).textContent()).toBe('2026-09-27');
});

test('typing on a selected cell replaces its content', async () => {
  await cell(2, 1).click();
  await page.keyboard.type('Katherine');
  await page.keyboard.press('Enter');
  await eventually(() => emulator.read('B3')).toEqual([['Katherine']]);
});

test('rows are inserted, copied and deleted from the toolbar, and undone', async () => {
  await cell(1, 1).click();
  await button('Insert row').click();
  await eventually(names).toEqual([['Grace'], [], ['Ada'], ['Konrad']]);
  await button('Copy row').click();
  await eventually(names).toEqual([['Grace'], ['Grace'], [], ['Ada'], ['Konrad']]);
  await button('Delete row').click();
  await eventually(names).toEqual([['Grace'], [], ['Ada'], ['Konrad']]);
  await eventually(() => cell(3, 1).textContent()).toBe('Ada');
  await button('Undo').click();
  await eventually(names).toEqual([['Grace'], ['Grace'], [], ['Ada'], ['Konrad']]);
});

test('the tab is sorted by a column from the toolbar and from the header’s menu', async () => {
  await cell(1, 1).click();
  await button('Sort A → Z').click();
  await eventually(names).toEqual([['Ada'], ['Grace'], ['Konrad']]);
  await eventually(() => cell(1, 1).textContent()).toBe('Ada');
  await page.locator('.column-title[data-column="0"]').click({ button: 'right' });
  await page.locator('.tabulator-menu-item', { hasText: 'Sort Z → A' }).click();
  await eventually(names).toEqual([['Konrad'], ['Ada'], ['Grace']]);
  expect(await emulator.read('A1:B1')).toEqual([['ID', 'Name']]);
});

test('a row is deleted from its context menu', async () => {
  await cell(2, 1).click({ button: 'right' });
  await page.locator('.tabulator-menu-item', { hasText: 'Delete row' }).click();
  await eventually(names).toEqual([['Grace'], ['Konrad']]);
});

test('a choice is taken from a dropdown and a checkbox is ticked', async () => {
  await cell(1, 2).dblclick();
  await page.getByLabel('Choice').selectOption('Won');
  await eventually(() => emulator.read('C2')).toEqual([['Won']]);
  await cell(2, 3).locator('input').click();
  await eventually(() => emulator.read('D3')).toEqual([['TRUE']]);
});

test('what a strict dropdown does not offer is refused with the reason', async () => {
  await cell(1, 1).click();
  await page.evaluate(`
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'Eve\\tMaybe');
    document.dispatchEvent(new ClipboardEvent('paste', { clipboardData }));
  `);
  await eventually(() => page.getByRole('status').textContent()).toContain('violates the data validation');
  expect(await names()).toEqual([['Grace'], ['Ada'], ['Konrad']]);
});

test('what is written elsewhere appears and leaves the cell being edited alone', async () => {
  await cell(1, 1).dblclick();
  const editor = page.getByLabel('Cell', { exact: true });
  await editor.fill('half typ');
  const drawn = page.waitForResponse(
    (response) => response.url().includes('/grid?') && response.status() === 200,
  );
  await emulator.fill([
    ['ID', 'Name'],
    ['1', 'Grace'],
    ['2', 'Augusta'],
  ]);
  await drawn;
  expect(await editor.inputValue()).toBe('half typ');
  await page.keyboard.press('Escape');
  await eventually(() => cell(2, 1).textContent()).toBe('Augusta');
  expect(await emulator.read('B2')).toEqual([['Grace']]);
});

test('another tab is shown when it is chosen', async () => {
  await emulator.person({ kind: 'addTab', title: 'Tasks' });
  await page.getByRole('tab', { name: 'Tasks' }).click();
  await eventually(() => page.getByRole('tab', { name: 'Tasks' }).getAttribute('aria-selected')).toBe('true');
  await eventually(() => page.locator('.tabulator-row').first().textContent()).toBe('1');
});
