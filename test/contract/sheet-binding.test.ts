import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import {
  leadsOf,
  openSandboxSheet,
  reasonOf,
  type SandboxSheet,
  type WholeSpreadsheet,
} from '../support/sandbox-sheet.ts';
import { appendStep, setStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
});

afterEach(() => sheet.close());

const rowsIn = async (table: Table) => {
  const lead = await leadsOf(table);
  return lead.state === 'read' ? lead.rows.length : lead.reason;
};

/** The spreadsheet as people see it: what is hidden is ours. */
const withoutHidden = (spreadsheet: WholeSpreadsheet): WholeSpreadsheet => ({
  ...spreadsheet,
  developerMetadata: (spreadsheet.developerMetadata ?? []).filter(
    ({ metadataKey }) => metadataKey !== 'crm-sheet-sync.write',
  ),
  sheets: (spreadsheet.sheets ?? []).filter(({ properties }) => !properties?.hidden),
});

describe('a tab is the same tab', () => {
  test('after a restart, whatever it is called now', async () => {
    await sheet.fill('1', '2');
    await sheet.person({ kind: 'renameTab', sheet: 'Leads', title: 'Our customers' });
    expect(await rowsIn(sheet.openTable())).toBe(2);
    expect(await sheet.openTable().layOut(sheetLayout, 'create')).toEqual({ held: [], offered: [] });
    const { sheets = [] } = withoutHidden(await sheet.readEverything());
    expect(sheets.map(({ properties }) => properties?.title)).toEqual([
      'Our customers',
      'Opportunities',
      'Tasks',
    ]);
  });

  test('after a restart, although another one has its old name', async () => {
    await sheet.fill('1', '2');
    await sheet.person(
      { kind: 'renameTab', sheet: 'Leads', title: 'Old leads' },
      { kind: 'addTab', title: 'Leads' },
      { kind: 'edit', sheet: 'Leads', row: 0, column: 0, text: 'ID' },
    );
    expect(await rowsIn(sheet.openTable())).toBe(2);
  });

  test('and never that of another kind of record whose title it was given', async () => {
    await sheet.fill('1', '2');
    await sheet.person({ kind: 'renameTab', sheet: 'Leads', title: 'Contacts' });
    const layout: Layout = [
      ...sheetLayout,
      {
        entity: 'contact',
        title: 'Contacts',
        columns: [{ field: 'full_name', kind: 'text', header: 'Title', direction: 'both', conflict: 'crm' }],
      },
    ];
    const before = await sheet.readEverything();
    const table = sheet.openTable();
    for (const consent of [{}, { addColumns: true }, { adopt: true }]) {
      expect(await table.layOut(layout, 'create', consent)).toMatchObject({
        held: [expect.stringMatching(/^“Contacts” is the tab of other records already/)],
      });
      const { contact, lead } = (await table.read(layout)).tabs;
      expect(contact).toMatchObject({ state: 'held' });
      expect(lead).toMatchObject({ state: 'read', rows: [{}, {}] });
    }
    expect(await sheet.readEverything()).toEqual(before);
    await sheet.person({ kind: 'renameTab', sheet: 'Contacts', title: 'Our leads' });
    expect(await table.layOut(layout, 'create')).toMatchObject({ held: [] });
    expect((await table.read(layout)).tabs.contact).toMatchObject({ state: 'read', rows: [] });
  });

  test('with marks that are written once to a spreadsheet that has none', async () => {
    await sheet.fill('1');
    const { developerMetadata = [] } = await sheet.readEverything();
    const all = { developerMetadataLookup: { visibility: 'DOCUMENT' } };
    await sheet.batch({ deleteDeveloperMetadata: { dataFilter: all } });
    const { writes } = await sheet.countRequests();
    const table = sheet.openTable();
    expect(await rowsIn(table)).toBe(1);
    await table.layOut(sheetLayout, 'refresh');
    await table.layOut(sheetLayout, 'refresh');
    expect((await sheet.countRequests()).writes).toBe(writes + 1);
    const marked = (await sheet.readEverything()).developerMetadata ?? [];
    expect(marked.map(({ metadataValue }) => metadataValue)).toEqual(
      developerMetadata.map(({ metadataValue }) => metadataValue?.replace('filled', '')),
    );
    await sheet.person({ kind: 'renameTab', sheet: 'Leads', title: 'Our customers' });
    expect(await rowsIn(sheet.openTable())).toBe(1);
  });
});

describe('a copy', () => {
  test('of a tab is neither read nor written', async () => {
    await sheet.fill('1');
    await sheet.person({ kind: 'duplicateTab', sheet: 'Leads' });
    const copied = await sheet.readValues("'Copy of Leads'!A1:H9");
    const table = sheet.openTable();
    expect(await rowsIn(table)).toBe(1);
    await writeSteps(table, [
      setStep(1, textCell('1'), titled('Changed')),
      appendStep('2', titled('Title 2')),
    ]);
    await table.layOut(sheetLayout, 'create');
    expect(await sheet.readValues("'Copy of Leads'!A1:H9")).toEqual(copied);
  });

  test('of a tab takes its place only when a person says so', async () => {
    await sheet.fill('1', '2', '3');
    await sheet.person(
      { kind: 'duplicateTab', sheet: 'Leads' },
      { kind: 'deleteTab', sheet: 'Leads' },
      { kind: 'renameTab', sheet: 'Copy of Leads', title: 'Leads' },
    );
    const table = sheet.openTable();
    expect(await reasonOf(table)).toContain('this “Leads” is another one');
    expect(await table.layOut(sheetLayout, 'create')).toMatchObject({
      held: [expect.stringContaining('init --adopt')],
    });
    expect(await reasonOf(table)).toContain('this “Leads” is another one');
    expect(await table.layOut(sheetLayout, 'create', { adopt: true })).toMatchObject({ held: [] });
    expect(await rowsIn(table)).toBe(3);
    expect(await rowsIn(sheet.openTable())).toBe(3);
  });

  test('of the spreadsheet is held as a whole and not written until it is adopted', async () => {
    await sheet.fill('1', '2');
    const copy = await sheet.copySpreadsheet();
    const table = sheet.openTable(copy);
    const { writes } = await sheet.countRequests();
    const { tabs } = await table.read(sheetLayout);
    expect([tabs.lead, tabs.opportunity, tabs.task].map(({ state }) => state)).toEqual([
      'held',
      'held',
      'held',
    ]);
    for (const mode of ['refresh', 'create'] as const) {
      expect(await table.layOut(sheetLayout, mode)).toMatchObject({
        held: [expect.stringContaining('is a copy')],
      });
    }
    expect(() => table.prepare([appendStep('3')], 'w1', [])).toThrow('without a read');
    expect((await sheet.countRequests()).writes).toBe(writes);
    await table.layOut(sheetLayout, 'create', { adopt: true });
    expect(await rowsIn(sheet.openTable(copy))).toBe(2);
    expect(await rowsIn(sheet.openTable())).toBe(2);
  });

  test('spreadsheet of another CRM is held as well', async () => {
    await sheet.fill('1');
    expect(await reasonOf(sheet.openTable(undefined, 'account-2'))).toContain('belongs to another CRM');
  });
});

describe('a deleted tab', () => {
  beforeEach(async () => {
    await sheet.fill('1');
    await sheet.person({ kind: 'deleteTab', sheet: 'Leads' });
  });

  test('is read again once it was brought back', async () => {
    await sheet.person({ kind: 'undo' });
    expect(await rowsIn(sheet.openTable())).toBe(1);
  });
});

describe('a list that people made before', () => {
  const rows = [
    ['Website', 'Mine', 'Title'],
    ['a.example', '=ROW()', 'Acme'],
    ['b.example', '', 'Beta'],
  ];
  const values = (range: string) => sheet.readValues(range, 'FORMULA');

  beforeEach(() =>
    sheet.person(
      { kind: 'renameTab', sheet: 0, title: 'Leads' },
      { kind: 'paste', sheet: 0, row: 0, column: 0, rows },
    ),
  );

  test('has no column for IDs, is told so and left as it is', async () => {
    const before = await sheet.readEverything();
    for (const mode of ['create', 'refresh'] as const) {
      const { held } = await sheet.table.layOut(sheetLayout.slice(0, 1), mode);
      expect(held).toEqual([expect.stringMatching(/no column “ID”.*Run init --add-columns/)]);
    }
    expect(await reasonOf(sheet.table)).toContain('no column “ID”');
    expect(await sheet.readEverything()).toEqual(before);
  });

  test('gets that column and all others that it lacks at its right end, once a person says so', async () => {
    const consent = { addColumns: true };
    expect(await sheet.table.layOut(sheetLayout, 'create', consent)).toEqual({ held: [], offered: [] });
    expect(await values('Leads!A1:I3')).toMatchObject({
      values: [
        ['Website', 'Mine', 'Title', 'ID', 'Sync', 'Status', 'VIP', 'Met', 'Created'],
        ...rows.slice(1),
      ],
    });
    await sheet.table.layOut(sheetLayout, 'refresh');
    expect(await leadsOf(sheet.openTable())).toMatchObject({
      state: 'read',
      hasSync: true,
      rows: [
        {
          position: 1,
          id: emptyCell,
          cells: { title: textCell('Acme'), 'about.url': textCell('a.example') },
        },
        { position: 2, id: emptyCell, cells: { title: textCell('Beta') } },
      ],
    });
  });
});

test('S13: what belongs to people is the same before and after', async () => {
  await sheet.fill('1', '2', '3');
  await sheet.person(
    { kind: 'insertColumns', sheet: 'Leads', column: 0 },
    { kind: 'paste', sheet: 'Leads', row: 0, column: 0, rows: [['Mine'], ['=ROW()'], ['kept'], ['=1/0']] },
    { kind: 'renameHeader', sheet: 'Leads', column: 'Website', text: 'Homepage' },
    { kind: 'moveColumns', sheet: 'Leads', column: 'Title', to: 9 },
    { kind: 'addTab', title: 'Notes' },
    { kind: 'edit', sheet: 'Notes', row: 4, column: 2, text: '=1+1' },
  );
  const grey = { backgroundColor: { red: 0.5, green: 0.5, blue: 0.5 } };
  const cell = { sheetId: 0, startRowIndex: 1, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 1 };
  await sheet.batch(
    {
      repeatCell: {
        range: cell,
        cell: { note: 'mine', userEnteredFormat: grey },
        fields: 'note,userEnteredFormat',
      },
    },
    { setBasicFilter: { filter: { range: { sheetId: 0 } } } },
    {
      updateDimensionProperties: {
        range: { sheetId: 0, dimension: 'ROWS', startIndex: 3, endIndex: 4 },
        properties: { hiddenByUser: true },
        fields: 'hiddenByUser',
      },
    },
  );
  const before = withoutHidden(await sheet.readEverything());
  const table = sheet.openTable();
  await table.read(sheetLayout);
  const changed = setStep(2, textCell('2'), { ...titled('Changed'), 'about.url': textCell('example.com') });
  expect((await writeSteps(table, [changed])).done.size).toBe(1);
  await table.layOut(sheetLayout, 'create');
  await table.layOut(sheetLayout, 'refresh');
  const after = withoutHidden(await sheet.readEverything());
  const row = (spreadsheet: WholeSpreadsheet) => spreadsheet.sheets?.[0]?.data?.[0]?.rowData?.[2];
  const values = row(after)?.values ?? [];
  const texts = values.map(({ userEnteredValue }) => userEnteredValue?.stringValue);
  expect(texts).toContain('Changed');
  expect(texts).toContain('example.com');
  // The one row that was written apart, everything is what it was; in the row itself all but the two cells.
  const isOurs = (_: unknown, index: number) => ['Changed', 'example.com'].includes(texts[index] ?? '');
  const others = (spreadsheet: WholeSpreadsheet) =>
    row(spreadsheet)?.values?.filter((each, index) => !isOurs(each, index));
  expect(others(after)).toEqual(others(before));
  const [wrote] = [after, before].map((spreadsheet) => spreadsheet.sheets?.[0]?.data?.[0]?.rowData);
  const untouched = before.sheets?.[0]?.data?.[0]?.rowData;
  if (wrote && untouched?.[2]) wrote[2] = untouched[2];
  expect(after).toEqual(before);
});

describe('what doctor sees of a tab', () => {
  const [leads] = sheetLayout;
  const paused = { ...leads!, pauseHeader: 'Pause' };
  const look = () => sheet.openProbe().lookAtTab(paused);

  test('is that the column that pauses rows is one of ours, and not one of people', async () => {
    await sheet.table.layOut([paused], 'create');
    await sheet.batch({ appendDimension: { sheetId: 0, dimension: 'COLUMNS', length: 1 } });
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: 12, text: 'My notes' });
    expect(await look()).toMatchObject({ state: 'found', missing: [], own: ['My notes'] });
    await sheet.person({ kind: 'renameHeader', sheet: 'Leads', column: 'Pause', text: 'Leave alone' });
    expect(await look()).toMatchObject({ state: 'found', missing: [], own: ['My notes'] });
  });
});
