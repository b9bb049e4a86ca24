import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refusalOf, startEmulator, text } from '../support/sandbox-sheets-client.ts';

describe('spreadsheets.get', () => {
  test('gives a new spreadsheet one tab of 1000 rows and 26 columns', async () => {
    const { api, spreadsheetId } = await startEmulator({ title: 'Agency' });
    const { data } = await api.spreadsheets.get({ spreadsheetId });
    expect(data.properties).toMatchObject({ title: 'Agency', locale: 'en_US', timeZone: 'Etc/GMT' });
    expect(data.sheets).toEqual([
      {
        properties: {
          sheetId: 0,
          title: 'Sheet1',
          index: 0,
          sheetType: 'GRID',
          gridProperties: { rowCount: 1000, columnCount: 26 },
        },
      },
    ]);
  });

  test('gives only what the field mask names, and cells as soon as it names them', async () => {
    const { api, spreadsheetId, fill } = await startEmulator();
    await fill([['ID', 7], [true]]);
    const { data } = await api.spreadsheets.get({
      spreadsheetId,
      ranges: ['Sheet1!A1:B3'],
      fields: 'sheets(properties/title,data(startRow,rowData.values(userEnteredValue)))',
    });
    expect(data).toEqual({
      sheets: [
        {
          properties: { title: 'Sheet1' },
          data: [
            {
              rowData: [
                {
                  values: [
                    { userEnteredValue: { stringValue: 'ID' } },
                    { userEnteredValue: { numberValue: 7 } },
                  ],
                },
                { values: [{ userEnteredValue: { boolValue: true } }] },
              ],
            },
          ],
        },
      ],
    });
  });

  test('leaves cells out when neither a mask nor includeGridData asks for them', async () => {
    const { api, spreadsheetId, fill } = await startEmulator();
    await fill([['ID']]);
    const { data } = await api.spreadsheets.get({ spreadsheetId });
    expect(data.sheets?.[0]).not.toHaveProperty('data');
  });

  test('shows what a cell looks like: as chosen, and else as its kind of value does', async () => {
    const { api, spreadsheetId, batch } = await startEmulator();
    const values = [
      { ...text('x'), userEnteredFormat: { textFormat: { bold: true } } },
      { userEnteredValue: { numberValue: 1 } },
      { userEnteredValue: { boolValue: true }, userEnteredFormat: { horizontalAlignment: 'LEFT' } },
      { userEnteredFormat: { wrapStrategy: 'WRAP' } },
    ];
    await batch([{ updateCells: { start: {}, rows: [{ values }], fields: '*' } }]);
    const fields = 'sheets.data.rowData.values.effectiveFormat';
    const { data } = await api.spreadsheets.get({ spreadsheetId, fields });
    const shown = data.sheets?.[0]?.data?.[0]?.rowData?.[0]?.values?.map((cell) => cell.effectiveFormat);
    expect(shown).toMatchObject([
      {
        horizontalAlignment: 'LEFT',
        hyperlinkDisplayType: 'PLAIN_TEXT',
        textFormat: { fontFamily: 'Arial', fontSize: 10, bold: true, italic: false },
      },
      { horizontalAlignment: 'RIGHT', textFormat: { bold: false } },
      { horizontalAlignment: 'LEFT' },
      { wrapStrategy: 'WRAP', verticalAlignment: 'BOTTOM' },
    ]);
    expect(shown?.[3]).not.toHaveProperty('horizontalAlignment');
  });

  test('tells where a range begins', async () => {
    const { api, spreadsheetId, fill } = await startEmulator();
    await fill([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    const { data } = await api.spreadsheets.get({
      spreadsheetId,
      ranges: ['B2'],
      fields: 'sheets.data(startRow,startColumn,rowData.values.formattedValue)',
    });
    expect(data.sheets?.[0]?.data).toEqual([
      { startRow: 1, startColumn: 1, rowData: [{ values: [{ formattedValue: 'd' }] }] },
    ]);
  });

  test('refuses a mask with a field that does not exist', async () => {
    const { api, spreadsheetId } = await startEmulator();
    const requestBody = { requests: [{ addSheet: {} }] };
    const refused = { code: 400, message: 'Request contains an invalid argument.' };
    const get = api.spreadsheets.get({ spreadsheetId, fields: 'sheets.cells' });
    expect(await refusalOf(get)).toEqual(refused);
    const values = api.spreadsheets.values.get({ spreadsheetId, range: 'A1', fields: 'cells' });
    expect(await refusalOf(values)).toEqual(refused);
    const batch = api.spreadsheets.batchUpdate({ spreadsheetId, requestBody, fields: 'updatedSheet' });
    expect(await refusalOf(batch)).toEqual(refused);
  });

  test('answers an unknown spreadsheet with 404', async () => {
    const { api } = await startEmulator();
    const call = api.spreadsheets.get({ spreadsheetId: 'unknown' });
    expect(await refusalOf(call)).toEqual({ code: 404, message: 'Requested entity was not found.' });
  });
});

describe('spreadsheets.batchUpdate', () => {
  test('reads back the written cells in the same answer', async () => {
    const { api, spreadsheetId } = await startEmulator();
    const { data } = await api.spreadsheets.batchUpdate({
      spreadsheetId,
      fields: 'replies,updatedSpreadsheet.sheets(properties.sheetId,data.rowData.values.userEnteredValue)',
      requestBody: {
        requests: [
          {
            updateCells: {
              start: { sheetId: 0, rowIndex: 1, columnIndex: 0 },
              rows: [{ values: [text('lead_1'), { userEnteredValue: { numberValue: 5 } }] }],
              fields: 'userEnteredValue',
            },
          },
        ],
        includeSpreadsheetInResponse: true,
        responseRanges: ['Sheet1!A2:B2'],
      },
    });
    const values = [
      { userEnteredValue: { stringValue: 'lead_1' } },
      { userEnteredValue: { numberValue: 5 } },
    ];
    expect(data).toEqual({
      replies: [{}],
      updatedSpreadsheet: { sheets: [{ properties: { sheetId: 0 }, data: [{ rowData: [{ values }] }] }] },
    });
  });

  test('changes nothing when one request of many is refused, and says which', async () => {
    const { batch, fill, read } = await startEmulator();
    await fill([['before']]);
    const call = batch([
      {
        updateCells: {
          start: { sheetId: 0 },
          rows: [{ values: [text('after')] }],
          fields: 'userEnteredValue',
        },
      },
      { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1 } },
      { deleteSheet: { sheetId: 99 } },
    ]);
    const message = 'Invalid requests[2].deleteSheet: No sheet with id: 99';
    expect(await refusalOf(call)).toEqual({ code: 400, message });
    expect(await read('Sheet1')).toEqual([['before']]);
    expect(await refusalOf(read('A1001'))).toMatchObject({ code: 400 });
  });

  test('applies requests in their order', async () => {
    const { batch, fill, read } = await startEmulator();
    await fill([['first'], ['second']]);
    await batch([
      { insertDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 1, endIndex: 2 } } },
      {
        updateCells: {
          start: { rowIndex: 1 },
          rows: [{ values: [text('between')] }],
          fields: 'userEnteredValue',
        },
      },
      { deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 0, endIndex: 1 } } },
    ]);
    expect(await read('Sheet1')).toEqual([['between'], ['second']]);
  });

  test('keeps format and note of a cell whose value alone is masked, and clears what is masked but unset', async () => {
    const { api, batch, spreadsheetId } = await startEmulator();
    const numberFormat = { type: 'DATE', pattern: 'yyyy-mm-dd' };
    const range = { sheetId: 0, startRowIndex: 0, endRowIndex: 1, startColumnIndex: 0, endColumnIndex: 1 };
    const cell = {
      userEnteredValue: { numberValue: 45_000 },
      userEnteredFormat: { numberFormat },
      note: 'why',
    };
    await batch([{ updateCells: { range, rows: [{ values: [cell] }], fields: '*' } }]);
    await batch([
      { updateCells: { range, rows: [{ values: [text('x')] }], fields: 'userEnteredValue,note' } },
    ]);
    const { data } = await api.spreadsheets.get({
      spreadsheetId,
      fields: 'sheets.data.rowData.values(userEnteredValue,userEnteredFormat,note)',
    });
    expect(data.sheets?.[0]?.data?.[0]?.rowData?.[0]?.values).toEqual([
      { userEnteredValue: { stringValue: 'x' }, userEnteredFormat: { numberFormat } },
    ]);
  });

  test('keeps one colour under its two names, whichever was written last', async () => {
    const { api, batch, spreadsheetId } = await startEmulator();
    const range = { sheetId: 0, endRowIndex: 1, endColumnIndex: 1 };
    const paint = (name: string, color: object) => ({
      repeatCell: {
        range,
        cell: { userEnteredFormat: { [name]: color } },
        fields: `userEnteredFormat.${name}`,
      },
    });
    await batch([paint('backgroundColorStyle', { rgbColor: { red: 1 } })]);
    await batch([paint('backgroundColor', { red: 0, green: 1 })]);
    const fields = 'sheets.data.rowData.values.userEnteredFormat';
    const { data } = await api.spreadsheets.get({ spreadsheetId, fields });
    expect(data.sheets?.[0]?.data?.[0]?.rowData?.[0]?.values?.[0]?.userEnteredFormat).toEqual({
      backgroundColor: { green: 1 },
      backgroundColorStyle: { rgbColor: { green: 1 } },
    });
  });

  test('hides columns and shows them again', async () => {
    const { api, batch, spreadsheetId } = await startEmulator();
    const hide = (hiddenByUser: boolean) => ({
      updateDimensionProperties: {
        range: { sheetId: 0, dimension: 'COLUMNS', startIndex: 0, endIndex: 1 },
        properties: { hiddenByUser },
        fields: 'hiddenByUser',
      },
    });
    const firstColumn = async () => {
      const request = { spreadsheetId, ranges: ['A1'], fields: 'sheets.data.columnMetadata.hiddenByUser' };
      return (await api.spreadsheets.get(request)).data.sheets?.[0]?.data?.[0]?.columnMetadata;
    };
    await batch([hide(true)]);
    expect(await firstColumn()).toEqual([{ hiddenByUser: true }]);
    await batch([hide(false)]);
    expect(await firstColumn()).toEqual([{}]);
  });

  test('copies a tab into another spreadsheet of the account', async () => {
    const { api, fill, rootUrl, spreadsheetId } = await startEmulator();
    await fill([['x']]);
    const made = await fetch(`${rootUrl}/drive/v3/files`, { method: 'POST', body: '{"name":"Other"}' });
    const { id } = z.object({ id: z.string() }).parse(await made.json());
    const requestBody = { destinationSpreadsheetId: id };
    const { data } = await api.spreadsheets.sheets.copyTo({ spreadsheetId, sheetId: 0, requestBody });
    expect(data).toMatchObject({ title: 'Copy of Sheet1', index: 1 });
    const copied = await api.spreadsheets.values.get({ spreadsheetId: id, range: "'Copy of Sheet1'" });
    expect(copied.data.values).toEqual([['x']]);
  });

  test('appends cells below the last filled row and lets the grid grow', async () => {
    const { batch, read } = await startEmulator();
    await batch([
      {
        updateSheetProperties: {
          properties: { sheetId: 0, gridProperties: { rowCount: 2 } },
          fields: 'gridProperties.rowCount',
        },
      },
    ]);
    const append = (value: string) => ({
      appendCells: { sheetId: 0, rows: [{ values: [text(value)] }], fields: 'userEnteredValue' },
    });
    await batch([append('1'), append('2'), append('3')]);
    expect(await read('Sheet1')).toEqual([['1'], ['2'], ['3']]);
  });

  test('sorts numbers before text before booleans, blanks last, and leaves other columns in place', async () => {
    const { batch, fill, read } = await startEmulator();
    await fill([
      ['b', 1],
      [true, 2],
      ['', 3],
      [10, 4],
      ['A', 5],
      [9, 6],
    ]);
    const range = { sheetId: 0, startRowIndex: 0, endRowIndex: 6, startColumnIndex: 0, endColumnIndex: 1 };
    await batch([{ sortRange: { range, sortSpecs: [{ dimensionIndex: 0, sortOrder: 'ASCENDING' }] } }]);
    expect(await read('A1:B6')).toEqual([
      ['9', '1'],
      ['10', '2'],
      ['A', '3'],
      ['b', '4'],
      ['TRUE', '5'],
      ['', '6'],
    ]);
  });

  test('moves rows with all their cells, and metadata with its row', async () => {
    const { api, batch, fill, read, spreadsheetId } = await startEmulator();
    await fill([['a'], ['b'], ['c']]);
    const dimensionRange = { sheetId: 0, dimension: 'ROWS', startIndex: 0, endIndex: 1 };
    await batch([
      {
        createDeveloperMetadata: {
          developerMetadata: {
            metadataKey: 'k',
            metadataValue: 'v',
            visibility: 'DOCUMENT',
            location: { dimensionRange },
          },
        },
      },
      { moveDimension: { source: dimensionRange, destinationIndex: 3 } },
    ]);
    expect(await read('Sheet1')).toEqual([['b'], ['c'], ['a']]);
    const { data } = await api.spreadsheets.developerMetadata.search({
      spreadsheetId,
      requestBody: { dataFilters: [{ developerMetadataLookup: { metadataKey: 'k' } }] },
    });
    const [match] = data.matchedDeveloperMetadata ?? [];
    expect(match?.developerMetadata?.location?.dimensionRange).toMatchObject({ startIndex: 2, endIndex: 3 });
  });

  test.each([
    [{ updateCells: { start: { sheetId: 7 }, fields: 'note' } }, 'updateCells: No grid with id: 7'],
    [
      { updateCells: { start: { rowIndex: 1000 }, rows: [{ values: [text('x')] }], fields: '*' } },
      'updateCells: GridCoordinate.rowIndex[1000] is after last row in grid[999]',
    ],
    [
      { updateCells: { start: { rowIndex: 999 }, rows: [{}, { values: [text('x')] }], fields: '*' } },
      'updateCells: Attempting to write row: 1000, beyond the last requested row of: 999',
    ],
    [
      { cutPaste: { source: { sheetId: 0, endRowIndex: 1 }, destination: { columnIndex: 26 } } },
      'cutPaste: GridCoordinate.columnIndex[26] is after last column in grid[25]',
    ],
    [
      { updateCells: { start: {}, rows: [{ values: [text('x'.repeat(50_001))] }], fields: '*' } },
      'updateCells: Your input contains more than the maximum of 50000 characters in a single cell.',
    ],
    [
      { addSheet: { properties: { title: 'sheet1' } } },
      'addSheet: A sheet with the name "sheet1" already exists. Please enter another name.',
    ],
    [
      { repeatCell: { range: { sheetId: 0 }, cell: {} } },
      "repeatCell: At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)",
    ],
  ])('refuses %o', async (request, message) => {
    const { batch } = await startEmulator();
    expect(await refusalOf(batch([request]))).toEqual({
      code: 400,
      message: `Invalid requests[0].${message}`,
    });
  });

  test('refuses a request kind that does not exist', async () => {
    const { rootUrl, spreadsheetId } = await startEmulator();
    const body = JSON.stringify({ requests: [{ writeCells: {} }] });
    const answer = await fetch(`${rootUrl}/v4/spreadsheets/${spreadsheetId}:batchUpdate`, {
      method: 'POST',
      body,
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining('Unknown name "writeCells"'),
      },
    });
  });
});
