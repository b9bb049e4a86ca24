import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { bringInFull, openHeardPolled } from '../support/sheet-line.ts';
import { sheetLayout } from '../support/table-steps.ts';

type Opened = Awaited<ReturnType<typeof openHeardPolled>>;
let sheet: Opened['sheet'];
let line: Opened['line'];
let close: Opened['close'];

beforeEach(async () => {
  ({ sheet, line, close } = await openHeardPolled('1', '2', '3'));
});

afterEach(() => close());

const withContacts: Layout = [
  ...sheetLayout,
  {
    entity: 'contact',
    title: 'Contacts',
    columns: [{ field: 'full_name', kind: 'text', header: 'Name', direction: 'both', conflict: 'crm' }],
  },
];

/** Whether each of so many reads brings the cells of a row of which nothing changed. */
async function readsInFull(table: Table, layout: Layout, count: number): Promise<boolean[]> {
  const found: boolean[] = [];
  for (let read = 1; read <= count; read += 1) {
    line.takeRequests();
    await table.read(layout);
    found.push(bringInFull(line.takeRequests(), 'Title 2'));
  }
  return found;
}

/** The ids of the tabs by their titles. */
async function tabIds(): Promise<ReadonlyMap<string, number>> {
  const { sheets = [] } = await sheet.readEverything();
  return new Map(sheets.map(({ properties }) => [properties?.title ?? '', properties?.sheetId ?? 0]));
}

test('a tab that a user deletes has all others read in full once, and no more', async () => {
  await line.table.read(sheetLayout);
  await sheet.batch({ deleteSheet: { sheetId: (await tabIds()).get('Tasks') } });
  const [first, ...others] = await readsInFull(line.table, sheetLayout, 15);
  expect(first).toBe(true);
  expect(others).not.toContain(true);
  const { lead, task } = (await line.table.read(sheetLayout)).tabs;
  expect(lead).toMatchObject({ state: 'read' });
  expect(task).toMatchObject({ state: 'held', reason: expect.stringContaining('was deleted') });
});

test('a tab that is not laid out so far has all others read in full once, and is read once it is laid out', async () => {
  const table = createGoogleSheetTable(line.options);
  expect(await readsInFull(table, withContacts, 15)).toEqual([true, ...Array(14).fill(false)]);
  await table.layOut(withContacts, 'create');
  expect((await table.read(withContacts)).tabs.contact).toMatchObject({ state: 'read' });
});

test('a tab that a user makes is found within a dozen reads, and what another process makes of it by a whole look', async () => {
  const table = createGoogleSheetTable(line.options);
  await table.read(withContacts);
  await sheet.batch({ addSheet: { properties: { title: 'Contacts' } } });
  await readsInFull(table, withContacts, 12);
  const { contact } = (await table.read(withContacts)).tabs;
  expect(contact).toMatchObject({ state: 'held', reason: expect.stringContaining('has no column') });
  await sheet.openTable().layOut(withContacts, 'create');
  expect((await table.read(withContacts, true)).tabs.contact).toMatchObject({ state: 'read' });
});

test('another tab with the title of the one that is gone is named as long as it is there', async () => {
  await line.table.read(sheetLayout);
  const sheetId = (await tabIds()).get('Tasks');
  await sheet.batch({ deleteSheet: { sheetId } }, { addSheet: { properties: { title: 'Tasks' } } });
  const reasonOf = async () => {
    const { task } = (await line.table.read(sheetLayout)).tabs;
    return task.state === 'held' ? task.reason : 'it is read';
  };
  expect(await reasonOf()).toContain('is another one');
  expect(await reasonOf()).toContain('is another one');
  await sheet.batch({ deleteSheet: { sheetId: (await tabIds()).get('Tasks') } });
  await readsInFull(line.table, sheetLayout, 12);
  await line.table.read(sheetLayout, true);
  expect(await reasonOf()).toContain('was deleted');
});
