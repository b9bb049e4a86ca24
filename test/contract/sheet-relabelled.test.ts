import { afterEach, beforeEach, expect, test } from 'vitest';
import { textCell } from '../../src/sheet/port/cell.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { bringInFull, openHeardPolled } from '../support/sheet-line.ts';
import { relabelled, sheetLayout } from '../support/table-steps.ts';

type Opened = Awaited<ReturnType<typeof openHeardPolled>>;
let sheet: Opened['sheet'];
let line: Opened['line'];
let close: Opened['close'];

beforeEach(async () => {
  ({ sheet, line, close } = await openHeardPolled('1', '2', '3'));
  await line.table.read(sheetLayout);
  await line.table.read(sheetLayout);
});

afterEach(() => close());

/** Whether something brings the cells of a row of which nothing changed. */
async function readsInFull(work: () => Promise<unknown>): Promise<boolean> {
  line.takeRequests();
  await work();
  return bringInFull(line.takeRequests(), 'Title 2');
}

const noted: Layout = sheetLayout.map((tab) => ({
  ...tab,
  columns: tab.columns.map((column) => ({ ...column, note: 'What it is about' })),
}));

test.each([
  ['an option', relabelled],
  ['a note', noted],
])('%s that changes is laid out without reading any row in full', async (_, layout) => {
  const { table } = line;
  expect(await readsInFull(() => table.read(layout))).toBe(false);
  expect(await readsInFull(() => table.layOut(layout, 'refresh'))).toBe(false);
  expect(line.takeRequests()).toEqual([]);
  expect(await readsInFull(() => table.read(layout))).toBe(false);
  expect(await readsInFull(() => table.read(layout))).toBe(false);
  const laidOut = async () => {
    line.takeRequests();
    await table.layOut(layout, 'refresh');
    return line.takeRequests().filter(({ url }) => url.includes(':batchUpdate'));
  };
  expect(await laidOut()).toEqual([]);
});

test('a column that the settings add is read from then on, with what was typed there before', async () => {
  const without: Layout = sheetLayout.map((tab) => ({
    ...tab,
    columns: tab.columns.filter(({ field }) => field !== 'title'),
  }));
  const { table } = line;
  await table.read(without);
  await sheet.person({ kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text: 'Edited' });
  await table.read(without);
  const { lead } = (await table.read(sheetLayout)).tabs;
  expect(lead).toMatchObject({ rows: [{}, { cells: { title: textCell('Edited') } }, {}] });
});
