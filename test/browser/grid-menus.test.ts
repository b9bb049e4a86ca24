import { expect, test } from 'vitest';
import {
  button,
  cell,
  emulator,
  eventually,
  heading,
  names,
  page,
  useGridPage,
} from '../support/grid-page.ts';

useGridPage();

const menuItem = (label: string) => page.locator('.tabulator-menu-item', { hasText: label });
const columnItem = async (column: number, label: string) => {
  await heading(column).click({ button: 'right' });
  await menuItem(label).click();
};
const rowItem = async (row: number, label: string) => {
  await cell(row, 1).click({ button: 'right' });
  await menuItem(label).click();
};

test('a row is deleted from its context menu', async () => {
  await rowItem(2, 'Delete row');
  await eventually(names).toEqual([['Grace'], ['Konrad']]);
});

test('rows are filtered by values and shown again', async () => {
  await columnItem(2, 'Filter by values');
  await page.getByLabel('Open').uncheck();
  await button('Show').and(page.locator('.primary')).click();
  await eventually(() => cell(1, 1).count()).toBe(0);
  expect(await cell(2, 1).textContent()).toBe('Ada');
  expect(await names()).toEqual([['Grace'], ['Ada'], ['Konrad']]);
  await button('Show all').click();
  await eventually(() => cell(1, 1).textContent()).toBe('Grace');
});

test('rows are moved from their menu, several at once or one', async () => {
  await cell(1, 1).click();
  await cell(2, 1).click({ modifiers: ['Shift'] });
  await rowItem(1, 'Move down');
  await eventually(() => emulator.read('A2:B4')).toEqual([
    ['3', 'Konrad'],
    ['1', 'Grace'],
    ['2', 'Ada'],
  ]);
  await rowItem(3, 'Move up');
  await eventually(names).toEqual([['Konrad'], ['Ada'], ['Grace']]);
});

test('only the selected cells are sorted, and the rest of their rows stays', async () => {
  await cell(1, 1).click();
  await cell(3, 1).click({ modifiers: ['Shift'] });
  await rowItem(2, 'Sort only the selection A → Z');
  await eventually(() => emulator.read('A2:B4')).toEqual([
    ['1', 'Ada'],
    ['2', 'Grace'],
    ['3', 'Konrad'],
  ]);
});

test('columns are inserted, copied, moved and deleted from their menus, and undone', async () => {
  const read = () => emulator.read('A1:E2');
  await columnItem(1, 'Insert column left');
  await eventually(read).toEqual([
    ['ID', '', 'Name', 'Status', 'Done'],
    ['1', '', 'Grace', 'Open', 'TRUE'],
  ]);
  // The page copies what it shows.
  await eventually(() => cell(1, 2).textContent()).toBe('Grace');
  await heading(2).click();
  await page.keyboard.press('Control+c');
  await heading(1).click();
  await page.keyboard.press('Control+v');
  await eventually(read).toEqual([
    ['ID', 'Name', 'Name', 'Status', 'Done'],
    ['1', 'Grace', 'Grace', 'Open', 'TRUE'],
  ]);
  await eventually(() => cell(1, 1).textContent()).toBe('Grace');
  await heading(4).click();
  await page.keyboard.press('Delete');
  await eventually(read).toEqual([
    ['ID', 'Name', 'Name', 'Status'],
    ['1', 'Grace', 'Grace', 'Open'],
  ]);
  await button('Undo').click();
  await columnItem(0, 'Move right');
  await eventually(read).toEqual([
    ['Name', 'ID', 'Name', 'Status', 'Done'],
    ['Grace', '1', 'Grace', 'Open', 'TRUE'],
  ]);
  await columnItem(0, 'Delete column');
  await eventually(() => emulator.read('A1:D2')).toEqual([
    ['ID', 'Name', 'Status', 'Done'],
    ['1', 'Grace', 'Open', 'TRUE'],
  ]);
  await button('Undo').click();
  await eventually(() => emulator.read('A1:B2')).toEqual([
    ['Name', 'ID'],
    ['Grace', '1'],
  ]);
});

test('a menu that is open stays while the columns change, which are drawn once it is closed', async () => {
  await heading(0).click({ button: 'right' });
  const item = menuItem('Insert column left');
  await item.waitFor();
  await emulator.person({ kind: 'renameHeader', sheet: 0, column: 1, text: 'Who' });
  // The tabs are drawn in one go with the columns.
  await emulator.person({ kind: 'addTab', title: 'Tasks' });
  await page.getByRole('tab', { name: 'Tasks' }).waitFor();
  expect(await item.isVisible()).toBe(true);
  await cell(3, 1).click();
  await eventually(() => heading(1).locator('b').textContent()).toBe('Who');
  expect(await item.count()).toBe(0);
});

test('tabs are added, renamed, duplicated and deleted', async () => {
  const tabs = () => page.getByRole('tab').allTextContents();
  const tabItem = async (tab: string, item: string) => {
    await page.getByRole('tab', { name: tab, exact: true }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: item }).click();
  };
  await button('+').click();
  await page.getByRole('textbox').and(page.locator('dialog input')).fill('Notes');
  await page.keyboard.press('Enter');
  await eventually(tabs).toEqual(['Sheet1', 'Notes']);
  await page.getByRole('tab', { name: 'Sheet1' }).dblclick();
  await page.locator('dialog input').fill('Leads');
  await page.keyboard.press('Enter');
  await eventually(tabs).toEqual(['Leads', 'Notes']);
  await tabItem('Leads', 'Duplicate');
  await eventually(tabs).toEqual(['Leads', 'Copy of Leads', 'Notes']);
  await tabItem('Notes', 'Delete');
  await page.locator('dialog .primary').click();
  await eventually(tabs).toEqual(['Leads', 'Copy of Leads']);
  await button('Undo').click();
  await eventually(tabs).toEqual(['Leads', 'Copy of Leads', 'Notes']);
});
