import { describe, expect, test } from 'vitest';
import { refusalOf, startEmulator, text } from '../support/sandbox-sheets-client.ts';

describe('typed values', () => {
  test.each([
    ['3.50', 3.5, '3.5'],
    ['0042', 42, '42'],
    ['1,234,567', 1_234_567, '1,234,567'],
    ['12.5%', 0.125, '12.50%'],
    ['$1,234.50', 1234.5, '$1,234.50'],
    ['-7', -7, '-7'],
    ['2026-09-27', 46_292, '2026-09-27'],
    ['9/27/2026', 46_292, '9/27/2026'],
    ['2026-09-27 06:00:00', 46_292.25, '2026-09-27 6:00:00'],
    ['18:30', 18.5 / 24, '18:30'],
    ['true', true, 'TRUE'],
    ["'0042", '0042', '0042'],
    ['2026-02-30', '2026-02-30', '2026-02-30'],
    ['+49 30 1234', '+49 30 1234', '+49 30 1234'],
    ['=4/8', 0.5, '0.5'],
    ['=1/0', '#DIV/0!', '#DIV/0!'],
    ['=UNKNOWN(A1)', '#NAME?', '#NAME?'],
  ])('%s is stored as %s and shown as %s', async (typed, stored, shown) => {
    const { api, spreadsheetId, read } = await startEmulator();
    const requestBody = { values: [[typed]] };
    await api.spreadsheets.values.update({
      spreadsheetId,
      range: 'A1',
      valueInputOption: 'USER_ENTERED',
      requestBody,
    });
    expect(await read('A1', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([[stored]]);
    expect(await read('A1')).toEqual([[shown]]);
  });

  test.each([
    ['en_US', '1/2', 46_024, '1/2'],
    ['en_US', '3-4', 46_085, '3-4'],
    ['en_GB', '1/2', 46_054, '01/02'],
    ['de_DE', '10.5', 46_152, '10.05'],
    ['de_DE', '10,5', 10.5, '10,5'],
    ['fr_FR', '10.5', '10.5', '10.5'],
    ['en_US', '10.5', 10.5, '10.5'],
    ['en_US', '13/40', '13/40', '13/40'],
  ])('in %s a person who types %s gets %s, shown as %s', async (locale, typed, stored, shown) => {
    const clock = () => Date.UTC(2026, 10, 22);
    const { api, spreadsheetId, person, read } = await startEmulator({ locale, clock });
    await person({ kind: 'edit', sheet: 'Sheet1', row: 0, column: 0, text: typed });
    const written = { valueInputOption: 'USER_ENTERED', requestBody: { values: [[typed]] } };
    await api.spreadsheets.values.update({ spreadsheetId, range: 'B1', ...written });
    expect(await read('A1:B1', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([[stored, stored]]);
    expect(await read('A1:B1')).toEqual([[shown, shown]]);
  });

  test('a formula is shown as text only where formulas are asked for', async () => {
    const { batch, read } = await startEmulator();
    const values = [{ userEnteredValue: { formulaValue: '=1+1' } }];
    await batch([{ updateCells: { start: {}, rows: [{ values }], fields: 'userEnteredValue' } }]);
    expect(await read('A1')).toEqual([['2']]);
    expect(await read('A1', { valueRenderOption: 'FORMULA' })).toEqual([['=1+1']]);
  });

  test.each(['=1+1', '+49 170', '007', '2026-01-01', 'TRUE', "'quoted"])(
    'the text %s written as text or RAW stays that text',
    async (value) => {
      const { batch, fill, read } = await startEmulator();
      await fill([[value]]);
      await batch([
        {
          updateCells: {
            start: { columnIndex: 1 },
            rows: [{ values: [text(value)] }],
            fields: 'userEnteredValue',
          },
        },
      ]);
      const shown = [[value, value]];
      expect(await read('A1:B1')).toEqual(shown);
      expect(await read('A1:B1', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual(shown);
      expect(await read('A1:B1', { valueRenderOption: 'FORMULA' })).toEqual(shown);
    },
  );

  test('a cell formatted as text takes typed digits as text', async () => {
    const { batch, person, read } = await startEmulator();
    const cell = { userEnteredFormat: { numberFormat: { type: 'TEXT', pattern: '@' } } };
    const range = { sheetId: 0, startColumnIndex: 0, endColumnIndex: 1 };
    await batch([{ repeatCell: { range, cell, fields: 'userEnteredFormat.numberFormat' } }]);
    await person({ kind: 'edit', sheet: 'Sheet1', row: 0, column: 0, text: '007' });
    expect(await read('A1', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([['007']]);
  });

  test('dates come as serial numbers or as text, as asked', async () => {
    const { person, read } = await startEmulator();
    await person({ kind: 'edit', sheet: 'Sheet1', row: 0, column: 0, text: '2020-01-01' });
    const valueRenderOption = 'UNFORMATTED_VALUE';
    expect(await read('A1', { valueRenderOption })).toEqual([[43_831]]);
    const asText = { valueRenderOption, dateTimeRenderOption: 'FORMATTED_STRING' };
    expect(await read('A1', asText)).toEqual([['2020-01-01']]);
  });
});

describe('values of a range', () => {
  test('trailing empty cells and rows are cut off, gaps stay', async () => {
    const { fill, read } = await startEmulator();
    await fill([['a', '', 'c', ''], ['', ''], ['x']]);
    expect(await read('A1:D10')).toEqual([['a', '', 'c'], [], ['x']]);
    expect(await read('A1:D10', { majorDimension: 'COLUMNS' })).toEqual([['a', '', 'x'], [], ['c']]);
  });

  test('a range without a tab is one of the first tab that is not hidden', async () => {
    const { batch, read } = await startEmulator();
    await batch([
      { addSheet: { properties: { sheetId: 7, title: 'Shown' } } },
      { updateCells: { start: { sheetId: 7 }, rows: [{ values: [text('x')] }], fields: '*' } },
      { updateSheetProperties: { properties: { sheetId: 0, hidden: true }, fields: 'hidden' } },
    ]);
    expect(await read('A1')).toEqual([['x']]);
  });

  test('an empty range has no values at all', async () => {
    const { api, spreadsheetId } = await startEmulator();
    const { data } = await api.spreadsheets.values.get({ spreadsheetId, range: "'Sheet1'!A1:1" });
    expect(data).toEqual({ range: 'Sheet1!A1:Z1', majorDimension: 'ROWS' });
  });

  test('several ranges are read in one call', async () => {
    const { api, fill, spreadsheetId } = await startEmulator();
    await fill([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    const { data } = await api.spreadsheets.values.batchGet({ spreadsheetId, ranges: ['Sheet1!A:A', 'B2'] });
    expect(data.valueRanges).toEqual([
      { range: 'Sheet1!A1:A1000', majorDimension: 'ROWS', values: [['a'], ['c']] },
      { range: 'Sheet1!B2', majorDimension: 'ROWS', values: [['d']] },
    ]);
  });

  test('clearing takes values away and leaves notes', async () => {
    const { api, batch, read, spreadsheetId } = await startEmulator();
    const values = [{ ...text('x'), note: 'stays' }];
    await batch([{ updateCells: { start: {}, rows: [{ values }], fields: '*' } }]);
    const { data } = await api.spreadsheets.values.clear({ spreadsheetId, range: 'Sheet1' });
    expect(data.clearedRange).toBe('Sheet1!A1:Z1000');
    expect(await read('A1')).toBeUndefined();
    const { data: after } = await api.spreadsheets.get({
      spreadsheetId,
      fields: 'sheets.data.rowData.values.note',
    });
    expect(after.sheets?.[0]?.data?.[0]?.rowData).toEqual([{ values: [{ note: 'stays' }] }]);
  });

  test('null leaves a cell alone and an empty text empties it', async () => {
    const { fill, read } = await startEmulator();
    await fill([['a', 'b', 'c']]);
    await fill([[null, '', 'z']]);
    expect(await read('A1:C1')).toEqual([['a', '', 'z']]);
  });

  test('appending lands right of a gap in the data, as in Google Sheets', async () => {
    const { api, fill, spreadsheetId } = await startEmulator();
    await fill([['a', '', 'c']]);
    const { data } = await api.spreadsheets.values.append({
      spreadsheetId,
      range: "'Sheet1'",
      valueInputOption: 'RAW',
      requestBody: { values: [['1', '2', '3']] },
    });
    expect(data).toMatchObject({
      tableRange: 'Sheet1!C1',
      updates: { updatedRange: 'Sheet1!C2:E2', updatedCells: 3 },
    });
  });

  test.each([
    ['Gone!A1', 'Unable to parse range: Gone!A1'],
    ['Sheet1!A1001:B', 'Range (Sheet1!A1001:B) exceeds grid limits. Max rows: 1000, max columns: 26'],
  ])('%s is refused', async (range, message) => {
    const { read } = await startEmulator();
    expect(await refusalOf(read(range))).toEqual({ code: 400, message });
  });

  test('writing more rows than the range has is refused', async () => {
    const { api, spreadsheetId } = await startEmulator();
    const requestBody = { values: [['1'], ['2'], ['3']] };
    const call = api.spreadsheets.values.update({
      spreadsheetId,
      range: 'A1:B2',
      valueInputOption: 'RAW',
      requestBody,
    });
    const message = 'Requested writing within range [Sheet1!A1:B2], but tried writing to row [3]';
    expect(await refusalOf(call)).toEqual({ code: 400, message });
  });
});
