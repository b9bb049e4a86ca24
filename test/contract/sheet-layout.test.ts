import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { shadowTitle } from '../../src/google/write/shadow.ts';
import { numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { relabelled, sheetLayout } from '../support/table-steps.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet({ timeZone: 'Europe/Berlin' });
});

afterEach(() => sheet.close());

const leadFields = ['title', 'status_name', 'about.url', 'custom.vip', 'custom.met', 'created_at'];

describe('laying out', () => {
  test('an empty spreadsheet gets the tabs, and they read as empty', async () => {
    await sheet.table.layOut(sheetLayout, 'create');
    const { tabs, timeZone } = await sheet.table.read(sheetLayout);
    expect(timeZone).toBe('Europe/Berlin');
    expect(tabs.lead).toMatchObject({
      state: 'read',
      rows: [],
      fields: new Set(leadFields),
      hasSync: true,
      fresh: new Set(),
    });
    expect(tabs.opportunity).toMatchObject({ state: 'read', rows: [] });
    expect(tabs.task).toMatchObject({ state: 'read', rows: [] });
  });

  test.each(['leads', 'Opportunities', 'Tasks'])(
    'a lone empty tab that a person called %s already is that tab and no other one',
    async (title) => {
      await sheet.person({ kind: 'renameTab', sheet: 'Sheet1', title });
      expect(await sheet.table.layOut(sheetLayout, 'create')).toEqual({ held: [], offered: [] });
      const { tabs } = await sheet.openTable().read(sheetLayout);
      expect(tabs.lead).toMatchObject({ state: 'read', fields: new Set(leadFields) });
      expect(tabs.opportunity).toMatchObject({ state: 'read', fields: new Set(['value']) });
      expect(tabs.task).toMatchObject({ state: 'read', fields: new Set(['title']) });
      const titles = (await sheet.readEverything()).sheets?.map(({ properties }) => properties?.title);
      expect(titles?.toSorted()).toEqual(['Leads', 'Opportunities', 'Tasks', shadowTitle].toSorted());
    },
  );

  test('a second time changes nothing', async () => {
    await sheet.table.layOut(sheetLayout, 'create');
    await sheet.openTable().layOut(sheetLayout, 'create');
    expect((await sheet.countRequests()).writes).toBe(1);
  });

  test('a tab of an earlier version gets the colour of a changed row once, and keeps what people made of the other colours', async () => {
    await sheet.fill('1');
    const readLeads = async () => {
      const { sheets = [] } = await sheet.readEverything();
      return sheets.find(({ properties }) => properties?.title === 'Leads')!;
    };
    const wordsOf = async () =>
      ((await readLeads()).conditionalFormats ?? []).map(
        ({ booleanRule }) => booleanRule?.condition?.values?.[0]?.userEnteredValue,
      );
    const added = 'Changed by the CRM';
    const drop = async (word: string) => {
      const [sheetId, index] = [(await readLeads()).properties?.sheetId, (await wordsOf()).indexOf(word)];
      await sheet.batch({ deleteConditionalFormatRule: { sheetId, index } });
    };
    // Such a version had no such colour, and did not count them.
    await drop(added);
    await drop('Held');
    const columns = (await readLeads()).data?.[0]?.columnMetadata ?? [];
    const tags = columns.flatMap(({ developerMetadata = [] }) => developerMetadata);
    const tag = tags.find(({ metadataValue }) => metadataValue?.includes('"colours"'));
    const { colours: _colours, ...earlier } = JSON.parse(tag?.metadataValue ?? '{}');
    await sheet.batch({
      updateDeveloperMetadata: {
        dataFilters: [{ developerMetadataLookup: { metadataId: tag?.metadataId } }],
        developerMetadata: { metadataValue: JSON.stringify(earlier) },
        fields: 'metadataValue',
      },
    });
    const others = ['Error', 'Conflict', 'Pending', 'New row'];
    expect((await wordsOf()).toSorted()).toEqual(others.toSorted());
    await sheet.openTable().layOut(sheetLayout, 'refresh');
    expect((await wordsOf()).toSorted()).toEqual([...others, added].toSorted());
    await drop(added);
    await sheet.openTable().layOut(sheetLayout, 'refresh');
    expect((await wordsOf()).toSorted()).toEqual(others.toSorted());
  });

  test('changed labels change the dropdown and nothing else', async () => {
    await sheet.fill('1');
    const before = await sheet.titlesById();
    const { writes } = await sheet.countRequests();
    await sheet.openTable().layOut(relabelled, 'refresh');
    await sheet.openTable().layOut(relabelled, 'refresh');
    expect((await sheet.countRequests()).writes).toBe(writes + 1);
    expect(await sheet.titlesById()).toEqual(before);
  });

  test('changed labels reach rows that a filter hides as well', async () => {
    await sheet.fill('1', '2');
    const leads = (await sheet.readEverything()).sheets?.find(
      ({ properties }) => properties?.title === 'Leads',
    );
    const range = { sheetId: leads?.properties?.sheetId, startRowIndex: 0 };
    const criteria = { 2: { hiddenValues: ['Title 1'] } };
    await sheet.batch({ setBasicFilter: { filter: { range, criteria } } });
    const { writes } = await sheet.countRequests();
    await sheet.openTable().layOut(relabelled, 'refresh');
    await sheet.openTable().layOut(relabelled, 'refresh');
    expect((await sheet.countRequests()).writes).toBe(writes + 1);
  });

  test.each(['=1+1', '+49 30'])(
    'no dropdown is made of labels of which Google takes %s for a formula',
    async (label) => {
      const labelled = sheetLayout.map((tab) => ({
        ...tab,
        columns: tab.columns.map((column) =>
          column.labels ? { ...column, labels: ['New', label] } : column,
        ),
      }));
      await sheet.table.layOut(labelled, 'create');
      const rules = (await sheet.readEverything()).sheets?.flatMap(({ data }) =>
        (data?.[0]?.rowData?.[1]?.values ?? []).map(({ dataValidation }) => dataValidation?.condition?.type),
      );
      expect(rules).not.toContain('ONE_OF_LIST');
      expect(rules).toContain('BOOLEAN');
    },
  );

  test('a tab with content stays as it is when managed columns are missing', async () => {
    await sheet.person({ kind: 'renameTab', sheet: 'Sheet1', title: 'Leads' });
    await sheet.person({ kind: 'paste', sheet: 'Leads', row: 0, column: 0, rows: [['Mine'], ['kept']] });
    await sheet.table.layOut(sheetLayout, 'create');
    const { lead } = (await sheet.table.read(sheetLayout)).tabs;
    expect(lead).toMatchObject({ state: 'held', reason: expect.stringContaining('no column “ID”') });
  });

  test('a tab that a person renamed meanwhile is not created again', async () => {
    await sheet.fill('1');
    await sheet.person({ kind: 'renameTab', sheet: 'Leads', title: 'Our leads' });
    await sheet.table.layOut(sheetLayout, 'create');
    expect(await sheet.titlesById()).toEqual({ '1': 'Title 1' });
  });

  test('a tab is the one of exactly its title, also where another one is called nearly so and stands before it', async () => {
    await sheet.person(
      { kind: 'renameTab', sheet: 0, title: 'Leads ' },
      { kind: 'edit', sheet: 'Leads ', row: 0, column: 0, text: 'A list of former times' },
      { kind: 'addTab', title: 'Leads' },
    );
    expect(await sheet.table.layOut(sheetLayout, 'create')).toMatchObject({ held: [] });
    expect(await sheet.readValues('Leads!A1:A1')).toMatchObject({ values: [['ID']] });
  });

  test('more columns than a new tab has find room', async () => {
    const columns = Array.from({ length: 40 }, (_, index) => ({
      field: `custom.f${index}`,
      kind: 'text' as const,
      header: `Field ${index}`,
      direction: 'both' as const,
      conflict: 'crm' as const,
    }));
    const wide: Layout = [{ entity: 'lead', title: 'Leads', columns }];
    await sheet.table.layOut(wide, 'create');
    expect((await sheet.table.read(wide)).tabs.lead).toMatchObject({ state: 'read', hasSync: true });
  });

  test('a date column shows dates and a text column keeps what is typed', async () => {
    await sheet.table.layOut(sheetLayout, 'create');
    await sheet.person(
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: '007' },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'Met', text: '2026-09-27' },
    );
    const { rows } = await sheet.readTab();
    expect(rows[0]?.cells).toMatchObject({ title: textCell('007'), 'custom.met': numberCell(46292) });
  });
});
