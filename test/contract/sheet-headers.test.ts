import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { leadsOf, openSandboxSheet, reasonOf, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { setStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
});

afterEach(() => sheet.close());

describe('a column', () => {
  test('fault 38: that got another header is the same column, and keeps it', async () => {
    await sheet.fill('1');
    await sheet.person(
      { kind: 'renameHeader', sheet: 'Leads', column: 'ID', text: 'Nr' },
      { kind: 'renameHeader', sheet: 'Leads', column: 'Title', text: 'Firma' },
      { kind: 'moveColumns', sheet: 'Leads', column: 'Firma', to: 9 },
    );
    const table = sheet.openTable();
    expect(await leadsOf(table)).toMatchObject({
      rows: [{ id: textCell('1'), cells: { title: textCell('Title 1') } }],
      headers: { title: 'Firma', 'about.url': 'Website' },
    });
    await writeSteps(table, [setStep(1, textCell('1'), titled('Changed'))]);
    await table.layOut(sheetLayout, 'create');
    await table.layOut(sheetLayout, 'refresh');
    expect(await sheet.readValues('Leads!I1:I2')).toMatchObject({ values: [['Firma'], ['Changed']] });
  });

  test('whose header was wiped is gone, and so are none of its values', async () => {
    await sheet.fill('1');
    await sheet.person({ kind: 'renameHeader', sheet: 'Leads', column: 'Website', text: '' });
    const lead = await leadsOf(sheet.openTable());
    expect(lead.state === 'read' && lead.fields.has('about.url')).toBe(false);
  });

  test('that got the header of another managed column is doubled, and the tab stops', async () => {
    await sheet.fill('1');
    await sheet.person({ kind: 'renameHeader', sheet: 'Leads', column: 'Website', text: 'Title' });
    expect(await reasonOf(sheet.openTable())).toContain('Columns B and E of “Leads” are both called “Title”');
  });

  test('is not taken for another one when its header row was sorted away', async () => {
    await sheet.fill('1', '2', '3');
    await sheet.person({ kind: 'moveRows', sheet: 'Leads', row: 0, to: 3 });
    expect(await reasonOf(sheet.openTable())).toContain('is in row 3');
  });

  test('that is missing is offered and never added unasked', async () => {
    await sheet.fill('1');
    await sheet.person({ kind: 'deleteColumns', sheet: 'Leads', column: 'Website' });
    const table = sheet.openTable();
    const { writes } = await sheet.countRequests();
    for (const mode of ['refresh', 'create'] as const) {
      expect(await table.layOut(sheetLayout, mode)).toEqual({
        held: [],
        offered: [
          '“Leads” has no column “Website”. To add it at the right end of the tab, run init --add-columns.',
        ],
      });
    }
    expect((await sheet.countRequests()).writes).toBe(writes);
  });

  test('that is added stands at the right end, also of a grid without room, and is new until it was filled', async () => {
    await sheet.fill('1');
    await sheet.person(
      { kind: 'deleteColumns', sheet: 'Leads', column: 'VIP' },
      { kind: 'edit', sheet: 'Leads', row: 0, column: 24, text: 'Mine' },
    );
    const table = sheet.openTable();
    expect(await table.layOut(sheetLayout, 'create', { addColumns: true })).toEqual({
      held: [],
      offered: [],
    });
    expect(await sheet.readValues('Leads!Y1:Z1')).toMatchObject({ values: [['Mine', 'VIP']] });
    expect(await leadsOf(table)).toMatchObject({
      fresh: new Set(['custom.vip']),
      rows: [{ cells: { 'custom.vip': emptyCell } }],
    });
    await table.layOut(sheetLayout, 'refresh');
    expect(await leadsOf(table)).toMatchObject({ fresh: new Set() });
    const { writes } = await sheet.countRequests();
    await table.layOut(sheetLayout, 'create', { addColumns: true });
    expect((await sheet.countRequests()).writes).toBe(writes);
  });

  test('that was typed anew by hand takes over the mark of the one before', async () => {
    await sheet.fill('1');
    await sheet.person(
      { kind: 'renameHeader', sheet: 'Leads', column: 'Website', text: '' },
      { kind: 'edit', sheet: 'Leads', row: 0, column: 12, text: 'Website' },
    );
    const table = sheet.openTable();
    expect(await leadsOf(table)).toMatchObject({ fresh: new Set(['about.url']) });
    await table.layOut(sheetLayout, 'refresh');
    await sheet.person({ kind: 'renameHeader', sheet: 'Leads', column: 12, text: 'Homepage' });
    expect(await leadsOf(table)).toMatchObject({ headers: { 'about.url': 'Homepage' }, fresh: new Set() });
  });
});

test('the column of the IDs that was cut and pasted elsewhere takes over the mark, and what it left behind may get a name of its own', async () => {
  await sheet.fill('1');
  await sheet.person(
    { kind: 'edit', sheet: 'Leads', row: 0, column: 'ID', text: '' },
    { kind: 'edit', sheet: 'Leads', row: 1, column: 0, text: '' },
    { kind: 'edit', sheet: 'Leads', row: 0, column: 12, text: 'ID' },
    { kind: 'edit', sheet: 'Leads', row: 1, column: 12, text: '1' },
  );
  const table = sheet.openTable();
  expect(await leadsOf(table)).toMatchObject({ fresh: new Set(['ID']) });
  await table.layOut(sheetLayout, 'refresh');
  await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: 0, text: 'Region' });
  expect(await leadsOf(table)).toMatchObject({ rows: [{ id: numberCell(1) }], fresh: new Set() });
});

test('so does the column that pauses rows', async () => {
  await sheet.fill('1');
  const paused = sheetLayout.map((tab) => (tab.entity === 'lead' ? { ...tab, pauseHeader: 'Pause' } : tab));
  const table = sheet.openTable();
  const read = async () => (await table.read(paused)).tabs.lead;
  await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: 11, text: 'Pause' });
  expect(await read()).toMatchObject({ fresh: new Set(['#pause']) });
  await table.layOut(paused, 'refresh');
  expect(await read()).toMatchObject({ fresh: new Set() });
  await sheet.person(
    { kind: 'edit', sheet: 'Leads', row: 0, column: 11, text: '' },
    { kind: 'edit', sheet: 'Leads', row: 0, column: 12, text: 'Pause' },
  );
  expect(await read()).toMatchObject({ fresh: new Set(['#pause']) });
  await table.layOut(paused, 'refresh');
  await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: 11, text: 'Region' });
  expect(await read()).toMatchObject({ state: 'read', fresh: new Set(), headers: { '#pause': 'Pause' } });
});

describe('the notes at the headers', () => {
  const noted = (note: string) =>
    sheetLayout.map((tab) => ({ ...tab, columns: tab.columns.map((column) => ({ ...column, note })) }));

  const notes = async () => {
    const [leads] = (await sheet.readEverything()).sheets ?? [];
    return leads?.data?.[0]?.rowData?.[0]?.values
      ?.filter((_, column) => column !== 0 && column !== 2)
      .map(({ note }) => note);
  };

  const setNote = (index: number, note?: string) =>
    sheet.batch({
      updateCells: {
        start: { sheetId: 0, rowIndex: 0, columnIndex: index },
        rows: [{ values: [note === undefined ? {} : { note }] }],
        fields: 'note',
      },
    });

  test('follow their columns, except where a person changed one or took it away', async () => {
    await sheet.table.layOut(noted('Old.'), 'create');
    expect(await notes()).toEqual(Array.from({ length: 6 }, () => 'Old.'));
    await setNote(1, 'Ask Anna.');
    await setNote(3);
    await sheet.openTable().layOut(noted('New.'), 'refresh');
    const { writes } = await sheet.countRequests();
    await sheet.openTable().layOut(noted('New.'), 'refresh');
    expect((await sheet.countRequests()).writes).toBe(writes);
    expect(await notes()).toEqual(['Ask Anna.', undefined, 'New.', 'New.', 'New.', 'New.']);
  });
});
