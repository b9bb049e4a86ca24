import { describe, expect, test } from 'vitest';
import { startEmulator } from '../support/sandbox-sheets-client.ts';

const SHEET = 'Sheet1';

async function startLeads() {
  const emulator = await startEmulator();
  await emulator.fill([
    ['ID', 'Name'],
    ['1', 'Grace'],
    ['2', 'Ada'],
    ['3', 'Konrad'],
  ]);
  const gridProperties = { frozenRowCount: 1 };
  const fields = 'gridProperties.frozenRowCount';
  await emulator.batch([{ updateSheetProperties: { properties: { sheetId: 0, gridProperties }, fields } }]);
  return emulator;
}

describe('a person', () => {
  test('sorts the tab by a column and the frozen header stays on top', async () => {
    const { person, read } = await startLeads();
    await person({ kind: 'sort', sheet: SHEET, column: 'Name' });
    expect(await read(SHEET)).toEqual([
      ['ID', 'Name'],
      ['2', 'Ada'],
      ['1', 'Grace'],
      ['3', 'Konrad'],
    ]);
    await person({ kind: 'sort', sheet: SHEET, column: 1, descending: true });
    expect(await read('A2:A4')).toEqual([['3'], ['1'], ['2']]);
  });

  test('sorts the first row with the others once the frozen header is deleted', async () => {
    const { person, read } = await startLeads();
    await person({ kind: 'deleteRows', sheet: SHEET, row: 0 }, { kind: 'sort', sheet: SHEET, column: 1 });
    expect(await read('B1:B3')).toEqual([['Ada'], ['Grace'], ['Konrad']]);
  });

  test('copies a row into a new one with its ID', async () => {
    const { person, read } = await startLeads();
    await person({ kind: 'copyRow', sheet: SHEET, row: 1, to: 2, inserts: true });
    expect(await read('A2:A5')).toEqual([['1'], ['1'], ['2'], ['3']]);
  });

  test('has a number shown again that was taken for a day', async () => {
    const { person, read } = await startLeads();
    await person({ kind: 'edit', sheet: SHEET, row: 1, column: 'Name', text: '2026-01-02' });
    expect(await read('B2')).toEqual([['2026-01-02']]);
    const range = { startRow: 1, endRow: 2, startColumn: 1, endColumn: 2 };
    await person({ kind: 'formatNumbers', sheet: SHEET, range, pattern: '#,##0.00' });
    expect(await read('B2')).toEqual([['46,024.00']]);
    await person({ kind: 'formatNumbers', sheet: SHEET, range });
    expect(await read('B2')).toEqual([['46024']]);
  });

  test('moves rows and columns, inserts and deletes them', async () => {
    const { person, read } = await startLeads();
    await person(
      { kind: 'moveRows', sheet: SHEET, row: 3, to: 1 },
      { kind: 'insertRows', sheet: SHEET, row: 2 },
      { kind: 'deleteRows', sheet: SHEET, row: 4 },
      { kind: 'moveColumns', sheet: SHEET, column: 'Name', to: 0 },
      { kind: 'insertColumns', sheet: SHEET, column: 1 },
    );
    expect(await read(SHEET)).toEqual([['Name', '', 'ID'], ['Konrad', '', '3'], [], ['Grace', '', '1']]);
  });

  test('leaves rows where they are that are dropped among themselves', async () => {
    const { person, read } = await startLeads();
    const before = await read(SHEET);
    await person({ kind: 'moveRows', sheet: SHEET, row: 1, count: 3, to: 2 });
    expect(await read(SHEET)).toEqual(before);
  });

  test('pastes a block over the edge of the data', async () => {
    const { person, read } = await startLeads();
    await person({ kind: 'paste', sheet: SHEET, row: 3, column: 1, rows: [['Kay'], ['Joan', '5']] });
    expect(await read('A4:C5')).toEqual([
      ['3', 'Kay'],
      ['', 'Joan', '5'],
    ]);
  });

  test('cannot type what a strict dropdown does not offer', async () => {
    const { batch, person, read } = await startLeads();
    const rule = { condition: { type: 'ONE_OF_LIST', values: [{ userEnteredValue: 'Ada' }] }, strict: true };
    const range = { sheetId: 0, startRowIndex: 1, startColumnIndex: 1, endColumnIndex: 2 };
    await batch([{ setDataValidation: { range, rule } }]);
    const refused = await person({ kind: 'edit', sheet: SHEET, row: 1, column: 1, text: 'Eve' });
    expect(refused.status).toBe(400);
    await person({ kind: 'edit', sheet: SHEET, row: 1, column: 1, text: 'Ada' });
    expect(await read('B2')).toEqual([['Ada']]);
  });

  test('renames and deletes tabs', async () => {
    const { api, person, spreadsheetId } = await startLeads();
    await person(
      { kind: 'addTab', title: 'Notes' },
      { kind: 'renameTab', sheet: SHEET, title: 'Leads' },
      { kind: 'duplicateTab', sheet: 'Leads' },
      { kind: 'deleteTab', sheet: 'Notes' },
    );
    const { data } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets.properties.title' });
    expect(data.sheets?.map(({ properties }) => properties?.title)).toEqual(['Leads', 'Copy of Leads']);
  });
});

describe('undo', () => {
  test('brings deleted rows back with all they held and leaves later writes elsewhere', async () => {
    const { fill, person, read } = await startLeads();
    await person({ kind: 'deleteRows', sheet: SHEET, row: 2, count: 2 });
    await fill([
      ['ID', 'Name'],
      ['1', 'Grace H.'],
    ]);
    await person({ kind: 'undo' });
    expect(await read('A2:B4')).toEqual([
      ['1', 'Grace H.'],
      ['2', 'Ada'],
      ['3', 'Konrad'],
    ]);
  });

  test('takes back edits, sorts, inserted rows and moved columns, newest first', async () => {
    const { person, read } = await startLeads();
    const before = await read(SHEET);
    await person(
      { kind: 'edit', sheet: SHEET, row: 1, column: 1, text: 'Zoe' },
      { kind: 'sort', sheet: SHEET, column: 'Name', descending: true },
      { kind: 'insertRows', sheet: SHEET, row: 1, count: 2 },
      { kind: 'moveColumns', sheet: SHEET, column: 0, to: 2 },
    );
    expect(await read(SHEET)).not.toEqual(before);
    await person({ kind: 'undo' }, { kind: 'undo' }, { kind: 'undo' }, { kind: 'undo' });
    expect(await read(SHEET)).toEqual(before);
    expect((await person({ kind: 'undo' })).status).toBe(400);
  });
});
