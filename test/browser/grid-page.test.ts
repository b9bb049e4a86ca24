import { expect, test } from 'vitest';
import { button, cell, emulator, eventually, names, page, useGridPage } from '../support/grid-page.ts';

useGridPage();

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

const formulas = (range: string) => emulator.read(range, { valueRenderOption: 'FORMULA' });
const message = () => page.getByRole('status').textContent();

test('keys go from cell to cell, begin, end and cancel editing as in a spreadsheet', async () => {
  await cell(1, 0).click();
  await page.keyboard.type('7');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Joan');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('F2');
  await page.keyboard.type(' L.');
  await page.keyboard.press('Enter');
  await page.keyboard.type('half');
  await page.keyboard.press('Escape');
  await eventually(() => emulator.read('A2:B4')).toEqual([
    ['7', 'Joan'],
    ['2', 'Ada L.'],
    ['3', 'Konrad'],
  ]);
  await page.keyboard.press('Control+z');
  await eventually(names).toEqual([['Joan'], ['Ada'], ['Konrad']]);
  await page.keyboard.press('Control+y');
  await eventually(names).toEqual([['Joan'], ['Ada L.'], ['Konrad']]);
});

test('the formula bar shows what a cell really holds and changes it', async () => {
  await emulator.person({ kind: 'edit', sheet: 0, row: 1, column: 1, text: '=1+1' });
  await eventually(() => cell(1, 1).textContent()).toBe('2');
  await cell(1, 1).click();
  const bar = page.getByLabel('Formula bar');
  await eventually(() => bar.inputValue()).toBe('=1+1');
  await bar.fill('=2*4');
  await page.keyboard.press('Enter');
  await eventually(() => emulator.read('B2')).toEqual([['8']]);
});

test('cells are copied with their formulas moved along, and cut ones leave nothing behind', async () => {
  await emulator.person({ kind: 'edit', sheet: 0, row: 1, column: 1, text: '=A2' });
  await eventually(() => cell(1, 1).textContent()).not.toBe('Grace');
  await cell(1, 1).click();
  await page.keyboard.press('Control+c');
  await cell(2, 1).click();
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Control+v');
  await eventually(() => formulas('B2:B4')).toEqual([['=A2'], ['=A3'], ['=A4']]);
  await page.keyboard.press('Control+x');
  await cell(6, 0).click();
  await page.keyboard.press('Control+v');
  await eventually(() => formulas('A2:B8')).toEqual([['1', '=A2'], ['2'], ['3'], [], [], ['=A3'], ['=A4']]);
});

test('other programs get a table of texts, with quotes where a cell has several lines', async () => {
  await emulator.person({ kind: 'edit', sheet: 0, row: 1, column: 1, text: 'two "lines"\nof text' });
  await eventually(() => cell(1, 1).textContent()).toContain('two');
  await cell(1, 0).click();
  await cell(2, 1).click({ modifiers: ['Shift'] });
  const copied = await page.evaluate(`
    const clipboardData = new DataTransfer();
    document.dispatchEvent(new ClipboardEvent('copy', { clipboardData }));
    clipboardData.getData('text/plain');
  `);
  expect(copied).toBe('1\t"two ""lines""\nof text"\n2\tAda');
});

test('a header is renamed by a double click, and a column moves when it is dragged', async () => {
  const title = (column: number) => page.locator(`.column-title[data-column="${column}"]`);
  await title(1).dblclick();
  await page.getByRole('textbox', { name: 'Header of the column' }).fill('Who');
  await page.keyboard.press('Enter');
  await eventually(() => emulator.read('A1:C1')).toEqual([['ID', 'Who', 'Status']]);
  await eventually(() => title(1).locator('b').textContent()).toBe('Who');
  // As in Google Sheets a column is selected first: the pointer then takes hold of it.
  await title(1).click();
  await page.mouse.down();
  await page.locator('.tabulator-block-select').waitFor();
  const { x = 0, y = 0, width = 0 } = (await title(2).boundingBox()) ?? {};
  await page.mouse.move(x + width / 2, y + 5, { steps: 4 });
  await page.mouse.move(x + width - 5, y + 5, { steps: 4 });
  await page.mouse.up();
  await eventually(() => emulator.read('A1:C2')).toEqual([
    ['ID', 'Status', 'Who'],
    ['1', 'Open', 'Grace'],
  ]);
});

test('a person is asked before a cell with a warning is changed', async () => {
  const range = { sheetId: 0, startColumnIndex: 0, endColumnIndex: 1 };
  const protectedRange = { range, warningOnly: true, description: 'Ids stay as they are.' };
  const drawn = page.waitForResponse(
    (response) => response.url().includes('/grid?') && response.status() === 200,
  );
  await emulator.batch([{ addProtectedRange: { protectedRange } }]);
  await drawn;
  await cell(1, 0).click();
  await page.keyboard.press('Delete');
  await eventually(() => page.locator('dialog').textContent()).toContain('Ids stay as they are.');
  await button('Cancel').click();
  await eventually(message).toBe('Nothing was changed.');
  expect(await emulator.read('A2')).toEqual([['1']]);
  await page.keyboard.press('Delete');
  await button('Change it anyway').click();
  await eventually(() => emulator.read('A2')).toBeUndefined();
});

test('an edit of a row that is deleted meanwhile changes nothing and says so', async () => {
  await cell(2, 1).click();
  await page.keyboard.type('Too late');
  await emulator.batch([
    { deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 2, endIndex: 3 } } },
  ]);
  await page.keyboard.press('Enter');
  await eventually(message).toContain('Look again and repeat it.');
  expect(await names()).toEqual([['Grace'], ['Konrad']]);
  await eventually(() => cell(2, 1).textContent()).toBe('Konrad');
});

test('a changed cell flashes, whoever changed it, and rows that only move do not', async () => {
  await emulator.person({ kind: 'deleteRows', sheet: 0, row: 1 });
  await eventually(() => cell(1, 1).textContent()).toBe('Ada');
  await emulator.person({ kind: 'edit', sheet: 0, row: 2, column: 1, text: 'Zuse' });
  await page.locator('.changed').waitFor();
  expect(await page.locator('.changed').allTextContents()).toEqual(['Zuse']);
  await page.locator('.changed').waitFor({ state: 'detached' });
  await cell(1, 1).click();
  await page.keyboard.type('Typed here');
  await page.keyboard.press('Enter');
  await page.locator('.changed').waitFor();
  expect(await page.locator('.changed').allTextContents()).toEqual(['Typed here']);
});
