import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSandboxSheet, reasonOf, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { sheetLayout } from '../support/table-steps.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
});

afterEach(() => sheet.close());

type Rows = readonly (readonly string[])[];

async function pasteLeads(rows: Rows): Promise<void> {
  await sheet.person(
    { kind: 'renameTab', sheet: 'Sheet1', title: 'Leads' },
    { kind: 'paste', sheet: 'Leads', row: 0, column: 0, rows: rows.map((row) => [...row]) },
  );
}

/** Everything about the tab of the leads: cells, looks, sizes and marks. */
const leadsTab = async () =>
  (await sheet.readEverything()).sheets?.find(({ properties }) => properties?.title === 'Leads');

const data: Rows = [
  ['Acme', 'New', 'Berlin'],
  ['Beta', 'Old', 'Porto'],
];

describe('a list of people', () => {
  test.each<[string, Rows, number, string]>([
    ['a blank row', [[''], ['Title', 'Status', 'City'], ...data], 2, '“Title”, “Status”'],
    ['a title', [['Our leads'], ['Title', 'Status', 'City'], ...data], 2, '“Title”, “Status”'],
    ['a title and a blank row', [['Our leads'], [''], ['Title', 'Status', 'City'], ...data], 3, '“Title”'],
    ['a title in the second column', [['', 'Our leads'], ['Firma', 'Status', 'Ort'], ...data], 2, '“Status”'],
    ['several cells', [['Report', '2026', 'v2'], ['Title', 'Status', 'City'], ...data], 2, '“Title”'],
    ['one known name', [['Status', '2026', 'v2'], ['Title', 'Status', 'City'], ...data], 2, '“Title”'],
    [
      'a title, and with headers that are not known,',
      [['Leads'], ['Firma', 'Stand', 'Ort'], ...data],
      2,
      '“Firma”',
    ],
    ['a blank row, and with one column,', [[''], ['Firma'], ['Acme']], 2, '“Firma”'],
    ['an ID in it, and a title', [['Leads'], ['ID', 'Title'], ['1', 'Acme']], 2, '“ID”, “Title”'],
  ])('with %s above its headers stays as it is, and people learn what to do', async (_, rows, row, names) => {
    await pasteLeads(rows);
    const before = await leadsTab();
    const reason = expect.stringMatching(
      new RegExp(`headers of “Leads” seem to be in row ${row} \\(.*${names}.*Delete the rows above.*or move`),
    );
    const table = sheet.openTable();
    for (const consent of [{}, { addColumns: true }, { addColumns: true, adopt: true }]) {
      expect(await table.layOut(sheetLayout, 'create', consent)).toMatchObject({ held: [reason] });
      expect(await table.layOut(sheetLayout, 'refresh', consent)).toMatchObject({ held: [reason] });
    }
    expect(await leadsTab()).toEqual(before);
    expect(await reasonOf(sheet.openTable())).toEqual(reason);
    const [leads] = sheetLayout;
    expect(leads && (await sheet.openProbe().lookAtTab(leads))).toMatchObject({ state: 'held', reason });
  });

  test.each<[string, Rows]>([
    ['headers that are known', [['Title', 'Status', 'City'], ...data]],
    ['headers of which none is known', [['Firma', 'Stand', 'Ort'], ...data]],
    ['one header', [['Title'], ...data]],
    ['one header, and cells of one column below,', [['Firma'], ['Acme'], ['Beta']]],
    [
      'a cell that says the name of a column',
      [
        ['Firma', 'Rolle'],
        ['Acme', 'Status'],
        ['Title', 'Chef'],
      ],
    ],
    ['a row that says the names of two columns', [['Title', 'Status'], ['Status', 'Website'], ...data]],
  ])('with %s in its first row gets the columns that it lacks', async (_, rows) => {
    await pasteLeads(rows);
    const table = sheet.openTable();
    expect(await table.layOut(sheetLayout, 'create', { addColumns: true })).toMatchObject({ held: [] });
    expect(await table.read(sheetLayout)).toMatchObject({ tabs: { lead: { state: 'read' } } });
  });

  test('gets the columns that it lacks once the rows above its headers are deleted', async () => {
    await pasteLeads([['Our leads'], ['Title', 'Status'], ...data]);
    await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 0, count: 1 });
    const table = sheet.openTable();
    await table.layOut(sheetLayout, 'create', { addColumns: true });
    const { lead } = (await table.read(sheetLayout)).tabs;
    expect(lead.state === 'read' && lead.rows.length).toBe(2);
  });
});

test('a tab above whose headers a person put a title is held until it is gone again', async () => {
  await sheet.fill('1', '2');
  await sheet.person(
    { kind: 'insertRows', sheet: 'Leads', row: 0, count: 1 },
    { kind: 'edit', sheet: 'Leads', row: 0, column: 0, text: 'Our leads' },
  );
  const before = await leadsTab();
  const table = sheet.openTable();
  const reason = expect.stringContaining('“Leads” is in row 2');
  for (const mode of ['create', 'refresh'] as const)
    expect(await table.layOut(sheetLayout, mode, { addColumns: true })).toMatchObject({ held: [reason] });
  expect(await leadsTab()).toEqual(before);
  await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 0, count: 1 });
  expect(await sheet.titlesById()).toEqual({ 1: 'Title 1', 2: 'Title 2' });
});
