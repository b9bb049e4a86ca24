import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Cell, equalCells, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ReadTab } from '../../src/sheet/port/table.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { type HeardSheet, hearSheet } from '../support/sheet-line.ts';
import { deleteStep, setStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

/* What happens between a poll and the read of rows that follows it, and what no poll shows. */

const fullReadMs = 300_000;
const ids = Array.from({ length: 300 }, (_, index) => String(index + 1));

let sheet: SandboxSheet;
let line: HeardSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet({}, { wholeCellsMax: 0, fullReadMs });
  await sheet.fill(...ids);
  line = await hearSheet(sheet);
});

afterEach(async () => {
  await line[Symbol.asyncDispose]();
  await sheet.close();
});

async function read(times = 1): Promise<ReadTab> {
  const { lead } = (await line.table.read(sheetLayout, false)).tabs;
  if (lead.state === 'held') throw new Error(lead.reason);
  return times > 1 ? read(times - 1) : lead;
}

const rowOf = ({ rows }: ReadTab, place: number) => rows[place - 1];
const edit = (row: number, column: string, text: string) =>
  sheet.person({ kind: 'edit', sheet: 'Leads', row, column, text });

/** Reads once, while somebody does something right before the rows that the poll names are read. */
async function readWhile(act: () => Promise<unknown>) {
  let isDone = false;
  line.intercept(async ({ method, url }, passOn) => {
    if (!isDone && method === 'GET' && url.includes('ranges')) {
      isDone = true;
      await act();
    }
    return passOn();
  });
  await read();
  expect(isDone).toBe(true);
  line.intercept((_, passOn) => passOn());
}

test.each([
  ['was there between the poll and the read of its row alone is not kept', 'For a moment'],
  ['was taken back while its row was read, and typed again, is seen', 'Title 120'],
])('a value that %s', async (_what, meanwhile) => {
  await read(2);
  await edit(120, 'Title', 'Edited');
  await readWhile(() => edit(120, 'Title', meanwhile));
  await edit(120, 'Title', 'Edited');
  expect(rowOf(await read(2), 120)?.cells['title']).toEqual(textCell('Edited'));
});

test('a value that was there for a moment is not kept in a row that was read because it was its turn', async () => {
  await read(2);
  // A twentieth of the rows has its turn.
  sheet.clock.sleep(fullReadMs / 20 + 1);
  await readWhile(() => edit(12, 'Title', 'For a moment'));
  await edit(12, 'Title', 'Title 12');
  expect(rowOf(await read(2), 12)?.cells['title']).toEqual(textCell('Title 12'));
});

test('a row below the last one that was there while its turn was read alone is not kept', async () => {
  await read(2);
  const below = ids.length + 1;
  sheet.clock.sleep(fullReadMs / 20 + 1);
  await readWhile(() => edit(below, 'Title', 'For a moment'));
  await edit(below, 'Title', '');
  expect((await read(2)).rows).toHaveLength(ids.length);
});

const isTitled = (cell: Cell | undefined, title: string) =>
  cell !== undefined && equalCells(cell, textCell(title));
const dated = (number: number) => expect.objectContaining({ kind: 'number', number });

test('a value typed over a formula before the first poll is seen', async () => {
  await edit(9, 'Met', '=46291+1');
  await read();
  await edit(9, 'Met', '46999');
  expect(rowOf(await read(2), 9)?.cells['custom.met']).toEqual(dated(46_999));
});

test('a value typed over a formula is seen where rows move in the middle of the look', async () => {
  await edit(9, 'Met', '=46291+1');
  await read(3);
  await edit(9, 'Met', '46999');
  await readWhile(() => sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 5 }));
  const row = (await read(2)).rows.find(({ cells }) => isTitled(cells['title'], 'Title 9'));
  expect(row?.cells['custom.met']).toEqual(dated(46_999));
});

test('a row that comes between the poll and the look before a write costs no read of everything', async () => {
  await read(2);
  await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 5 });
  let wholes = 0;
  line.intercept(({ url }, passOn) => {
    if (/spreadsheets\/[^/:]+:getByDataFilter/.test(url)) wholes += 1;
    return passOn();
  });
  await line.table.look(sheetLayout, [setStep(101, textCell('101'), {})]);
  expect(wholes).toBe(0);
});

test.each(['delete', 'set'] as const)(
  'where a filter hid a row since its turn, a %s that meets it at that moment is taken back',
  async (kind) => {
    await read(2);
    await sheet.person({
      kind: 'filter',
      sheet: 'Leads',
      column: 'Title',
      shown: ids.filter((id) => id !== '5').map((id) => `Title ${id}`),
    });
    await read();
    const step = kind === 'delete' ? deleteStep(4, '4') : setStep(4, textCell('4'), titled('Written'));
    await line.table.look(sheetLayout, [step]);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'deleteRows', sheet: 'Leads', row: 1 }] });
    const { undone } = await writeSteps(line.table, [step]);
    expect(undone).toHaveLength(1);
    const { rows } = await sheet.readTab();
    expect(rows.filter(({ cells }) => isTitled(cells['title'], 'Title 5'))).toHaveLength(1);
  },
);

test('what a user wrote of their own beside a hidden row since its turn is given back with it', async () => {
  await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: 'Notes' });
  await sheet.person({
    kind: 'filter',
    sheet: 'Leads',
    column: 'Title',
    shown: ids.filter((id) => id !== '5').map((id) => `Title ${id}`),
  });
  await read(2);
  await sheet.person({ kind: 'edit', sheet: 'Leads', row: 5, column: 8, text: 'Call on Monday' });
  await read();
  const step = deleteStep(4, '4');
  await line.table.look(sheetLayout, [step]);
  await sheet.setFaults({ beforeNextWrite: [{ kind: 'deleteRows', sheet: 'Leads', row: 1 }] });
  const { undone } = await writeSteps(line.table, [step]);
  expect(undone).toHaveLength(1);
  const [{ data = [] } = {}] = (await sheet.readEverything()).sheets ?? [];
  const texts = data[0]?.rowData?.map(({ values = [] }) =>
    values.map(({ formattedValue }) => formattedValue).join(),
  );
  expect(texts?.filter((text) => text.includes('Title 5,'))).toEqual([
    expect.stringContaining('Call on Monday'),
  ]);
});

test('a date is written to a row over which a Table was drawn since', async () => {
  const everything = await sheet.readEverything();
  const header = everything.sheets?.[0]?.data?.[0]?.rowData?.[0]?.values ?? [];
  const columnIndex = header.findIndex(({ formattedValue }) => formattedValue === 'Met');
  const range = (endRowIndex: number) => ({
    ...{ sheetId: 0, startRowIndex: 0, endRowIndex },
    ...{ startColumnIndex: 0, endColumnIndex: header.length },
  });
  const columnProperties = [{ columnIndex, columnName: 'Met', columnType: 'DATE' }];
  await sheet.asOwner({
    addTable: { table: { tableId: '7', name: 'T', range: range(4), columnProperties } },
  });
  await read(2);
  await sheet.asOwner({ updateTable: { table: { tableId: '7', range: range(7) }, fields: 'range' } });
  const step = setStep(5, textCell('5'), { 'custom.met': numberCell(46_292) });
  await line.table.look(sheetLayout, [step]);
  const { done, refusal } = await writeSteps(line.table, [step]);
  expect([done.size, refusal]).toEqual([1, undefined]);
});
