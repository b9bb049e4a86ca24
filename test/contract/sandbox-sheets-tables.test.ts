import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Emulator, refusalOf, startEmulator, text } from '../support/sandbox-sheets-client.ts';

const PART_OF_TABLE = 'You cannot insert or delete cells over part of a table.';
/** A1:C3, the header and two rows. */
const RANGE = { startRowIndex: 0, endRowIndex: 3, startColumnIndex: 0, endColumnIndex: 3 };

describe('a table', () => {
  let emulator: Emulator;

  async function tables(): Promise<sheets_v4.Schema$Table[]> {
    const { api, spreadsheetId } = emulator;
    const { data } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets.tables' });
    return data.sheets?.[0]?.tables ?? [];
  }

  async function columnNames(): Promise<(string | null | undefined)[] | undefined> {
    return (await tables())[0]?.columnProperties?.map(({ columnName }) => columnName);
  }

  const add = (table: sheets_v4.Schema$Table) => emulator.batch([{ addTable: { table } }]);
  const rows = (startIndex: number, endIndex: number) => ({
    sheetId: 0,
    dimension: 'ROWS',
    startIndex,
    endIndex,
  });
  const columns = (startIndex: number, endIndex: number) => ({
    sheetId: 0,
    dimension: 'COLUMNS',
    startIndex,
    endIndex,
  });

  beforeEach(async () => {
    emulator = await startEmulator();
    await emulator.fill([
      ['Name', 25, ''],
      ['Ada', 1, 'x'],
      ['Bob', 2, 'y'],
      ['below', '', ''],
    ]);
  });

  test('takes the names of its columns from its first row, which it freezes', async () => {
    const { replies } = await add({ tableId: '7', name: 'People', range: { ...RANGE, sheetId: 0 } });
    const table = replies?.[0]?.addTable?.table;
    expect(table).toMatchObject({ tableId: '7', name: 'People', range: RANGE });
    expect(table?.columnProperties).toEqual([
      { columnName: 'Name' },
      { columnIndex: 1, columnName: '25' },
      { columnIndex: 2, columnName: 'Column 1' },
    ]);
    expect(await tables()).toEqual([table]);
    const { api, spreadsheetId } = emulator;
    const { data } = await api.spreadsheets.get({ spreadsheetId });
    expect(data.sheets?.[0]?.properties?.gridProperties).toMatchObject({ frozenRowCount: 1 });
    expect(data.sheets?.[0]?.bandedRanges).toMatchObject([{ bandedRangeId: 7, range: RANGE }]);
  });

  test('is only shown where the ranges that are asked for meet it', async () => {
    await add({ range: RANGE });
    const { api, spreadsheetId } = emulator;
    const { data } = await api.spreadsheets.get({
      spreadsheetId,
      ranges: ['E1:F9'],
      fields: 'sheets.tables',
    });
    expect(data.sheets).toEqual([{}]);
  });

  test('has a name and an id of its own, and overlaps no other', async () => {
    await add({ tableId: '7', name: 'People', range: RANGE });
    const free = { startRowIndex: 9, endRowIndex: 12, startColumnIndex: 0, endColumnIndex: 2 };
    expect(await refusalOf(add({ name: 'People', range: free }))).toMatchObject({ code: 400 });
    expect(await refusalOf(add({ tableId: '7', range: free }))).toMatchObject({ code: 400 });
    expect(await refusalOf(add({ range: { ...free, startRowIndex: 2 } }))).toMatchObject({ code: 400 });
    await add({ range: free });
    expect((await tables()).map(({ name }) => name)).toEqual(['People', 'Table2']);
  });

  test('takes no number format and no dropdown in a column that has a type', async () => {
    await add({ tableId: '7', range: RANGE });
    const columnProperties = [{ columnIndex: 1, columnName: '25', columnType: 'DOUBLE' }];
    await emulator.batch([
      { updateTable: { table: { tableId: '7', columnProperties }, fields: 'columnProperties' } },
    ]);
    const cell = (startRowIndex: number, startColumnIndex: number) => {
      const range = { sheetId: 0, startRowIndex, endRowIndex: startRowIndex + 1, startColumnIndex };
      return { ...range, endColumnIndex: startColumnIndex + 1 };
    };
    const fields = 'userEnteredFormat.numberFormat';
    const format = (range: sheets_v4.Schema$GridRange) => emulator.batch([{ repeatCell: { range, fields } }]);
    const rule = { condition: { type: 'BOOLEAN' } };
    const validate = (range: sheets_v4.Schema$GridRange) =>
      emulator.batch([{ setDataValidation: { range, rule } }]);
    expect(await refusalOf(format(cell(1, 1)))).toMatchObject({
      message: expect.stringContaining("You can't set the number format of cells in a typed column."),
    });
    expect(await refusalOf(validate(cell(2, 1)))).toMatchObject({
      message: expect.stringContaining('This operation is not allowed on cells in typed columns.'),
    });
    for (const free of [cell(0, 1), cell(1, 2), cell(3, 1)]) {
      await format(free);
      await validate(free);
    }
  });

  test('keeps the types of its columns with them when columns move', async () => {
    await add({ tableId: '7', range: RANGE });
    const dataValidationRule = {
      condition: { type: 'ONE_OF_LIST', values: [{ userEnteredValue: 'Ada' }] },
    };
    const columnProperties = [
      { columnIndex: 0, columnName: 'Who', columnType: 'DROPDOWN', dataValidationRule },
    ];
    const update = { table: { tableId: '7', columnProperties }, fields: 'columnProperties' };
    await emulator.batch([{ updateTable: update }]);
    await emulator.batch([{ moveDimension: { source: columns(0, 1), destinationIndex: 3 } }]);
    expect((await tables())[0]?.columnProperties).toEqual([
      { columnName: '25' },
      { columnIndex: 1, columnName: 'Column 1' },
      { columnIndex: 2, columnName: 'Who', columnType: 'DROPDOWN', dataValidationRule },
    ]);
  });

  test('loses the types that a new list of columns leaves out, and refuses a column without a name', async () => {
    await add({ tableId: '7', range: RANGE });
    const update = (...columnProperties: sheets_v4.Schema$TableColumnProperties[]) =>
      emulator.batch([
        { updateTable: { table: { tableId: '7', columnProperties }, fields: 'columnProperties' } },
      ]);
    await update({ columnName: 'Who', columnType: 'TEXT' });
    await update({ columnIndex: 1, columnName: 'Age', columnType: 'DOUBLE' });
    expect((await tables())[0]?.columnProperties).toEqual([
      { columnName: 'Who' },
      { columnIndex: 1, columnName: 'Age', columnType: 'DOUBLE' },
      { columnIndex: 2, columnName: 'Column 1' },
    ]);
    expect(await refusalOf(update({ columnType: 'TEXT' }))).toMatchObject({ code: 400 });
  });

  test('names a column anew that comes with a type and no name, and fills checkboxes and ratings', async () => {
    const columnProperties = [
      { columnIndex: 1, columnType: 'BOOLEAN' },
      { columnIndex: 2, columnName: 'Stars', columnType: 'RATINGS_CHIP' },
    ];
    await emulator.fill([
      ['Name', 'Flag', ''],
      ['Ada', true],
      ['Bob', 'maybe', 3],
    ]);
    await add({ range: RANGE, columnProperties });
    expect(await columnNames()).toEqual(['Name', 'Column 1', 'Stars']);
    expect(await emulator.read('B1:C4', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([
      ['Column 1', 'Stars'],
      [true, 'x'],
      [false, 3],
    ]);
  });

  test('grows by what is inserted inside, and at its end only by what takes after it', async () => {
    await add({ range: RANGE });
    await emulator.batch([{ insertDimension: { range: columns(1, 2) } }]);
    expect(await columnNames()).toEqual(['Name', 'Column 2', '25', 'Column 1']);
    await emulator.batch([{ insertDimension: { range: columns(4, 5) } }]);
    expect(await columnNames()).toHaveLength(4);
    await emulator.batch([{ insertDimension: { range: columns(4, 5), inheritFromBefore: true } }]);
    expect(await columnNames()).toEqual(['Name', 'Column 2', '25', 'Column 1', 'Column 3']);
    await emulator.batch([{ deleteDimension: { range: rows(1, 2) } }]);
    expect((await tables())[0]?.range).toMatchObject({ endRowIndex: 2, endColumnIndex: 5 });
  });

  test('takes appended rows into free rows at its end and pushes what is below it down for the rest', async () => {
    await add({ tableId: '7', range: RANGE });
    const append = (...values: string[]) =>
      emulator.batch([
        {
          appendCells: {
            tableId: '7',
            rows: values.map((value) => ({ values: [text(value)] })),
            fields: 'userEnteredValue',
          },
        },
      ]);
    await append('Cid', 'Dot');
    expect(await emulator.read('A1:A6')).toEqual([['Name'], ['Ada'], ['Bob'], ['Cid'], ['Dot'], ['below']]);
    await emulator.api.spreadsheets.values.clear({ spreadsheetId: emulator.spreadsheetId, range: 'A5:C5' });
    await append('Eve');
    expect(await emulator.read('A5:A6')).toEqual([['Eve'], ['below']]);
    expect((await tables())[0]?.range).toMatchObject({ endRowIndex: 5 });
  });

  test('keeps its footer last', async () => {
    await add({ tableId: '7', range: { ...RANGE, endRowIndex: 4 } });
    const rowsProperties = { footerColorStyle: { rgbColor: { red: 1 } } };
    const fields = 'rowsProperties.footerColorStyle';
    await emulator.batch([{ updateTable: { table: { tableId: '7', rowsProperties }, fields } }]);
    expect((await tables())[0]?.range).toMatchObject({ endRowIndex: 5 });
    await emulator.batch([
      { appendCells: { tableId: '7', rows: [{ values: [text('Cid')] }], fields: 'userEnteredValue' } },
    ]);
    expect(await emulator.read('A4:A6')).toEqual([['below'], ['Cid']]);
    expect((await tables())[0]?.range).toMatchObject({ endRowIndex: 6 });
  });

  test('is spared by cells that are shifted beside it, moves with a band that holds it and is never torn', async () => {
    await add({ range: { ...RANGE, endColumnIndex: 2 } });
    const band = (startColumnIndex: number, endColumnIndex: number) => ({
      shiftDimension: 'ROWS',
      range: { startRowIndex: 0, endRowIndex: 2, startColumnIndex, endColumnIndex },
    });
    await emulator.batch([{ insertRange: band(2, 4) }]);
    expect((await tables())[0]?.range).toMatchObject({ endRowIndex: 3 });
    const torn = await refusalOf(emulator.batch([{ insertRange: band(0, 1) }]));
    expect(torn.message).toBe(`Invalid requests[0].insertRange: ${PART_OF_TABLE}`);
    await emulator.batch([{ insertRange: band(0, 2) }]);
    expect((await tables())[0]?.range).toMatchObject({ startRowIndex: 2, endRowIndex: 5 });
    const headless = { shiftDimension: 'ROWS', range: { ...RANGE, startRowIndex: 2, endRowIndex: 3 } };
    expect((await refusalOf(emulator.batch([{ deleteRange: headless }]))).message).toContain(PART_OF_TABLE);
  });

  test('goes with its cells when it is deleted, and without them when its banding is', async () => {
    await add({ tableId: '7', range: RANGE });
    await emulator.batch([{ deleteBanding: { bandedRangeId: 7 } }]);
    expect(await tables()).toEqual([]);
    expect(await emulator.read('A2')).toEqual([['Ada']]);
    await add({ tableId: '8', range: RANGE });
    await emulator.batch([{ deleteTable: { tableId: '8' } }]);
    expect(await emulator.read('A1:C4')).toEqual([[], [], [], ['below']]);
    expect((await refusalOf(emulator.batch([{ deleteTable: { tableId: '8' } }]))).code).toBe(400);
  });
});
