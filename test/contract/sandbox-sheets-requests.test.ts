import { describe, expect, test } from 'vitest';
import { refusalOf, startEmulator } from '../support/sandbox-sheets-client.ts';

const FIRST_COLUMN = { sheetId: 0, startColumnIndex: 0, endColumnIndex: 1 };

describe('textToColumns', () => {
  test('splits each text and types its parts over the cells to the right', async () => {
    const { batch, fill, read } = await startEmulator();
    await fill([['a;1;TRUE', 'old'], ['none'], ['b;2']]);
    await batch([{ textToColumns: { source: FIRST_COLUMN, delimiterType: 'SEMICOLON' } }]);
    const options = { valueRenderOption: 'UNFORMATTED_VALUE' };
    expect(await read('A1:C3', options)).toEqual([['a', 1, true], ['none'], ['b', 2]]);
  });

  test('finds the delimiter that most texts have, or takes any text for it', async () => {
    const { batch, fill, read } = await startEmulator();
    await fill([['a,b c'], ['d,e']]);
    await batch([{ textToColumns: { source: FIRST_COLUMN, delimiterType: 'AUTODETECT' } }]);
    expect(await read('A1:B2')).toEqual([
      ['a', 'b c'],
      ['d', 'e'],
    ]);
    const source = { sheetId: 0, startColumnIndex: 1, endColumnIndex: 2 };
    await batch([{ textToColumns: { source, delimiterType: 'CUSTOM', delimiter: ' c' } }]);
    expect(await read('B1:C1')).toEqual([['b']]);
  });

  test('refuses a source of two columns', async () => {
    const { batch } = await startEmulator();
    const source = { sheetId: 0, startColumnIndex: 0, endColumnIndex: 2 };
    expect(await refusalOf(batch([{ textToColumns: { source } }]))).toMatchObject({ code: 400 });
  });
});

describe('findReplace', () => {
  test('counts what it changed and leaves formulas alone', async () => {
    const { api, spreadsheetId, batch, read } = await startEmulator();
    const values = [['Google Sheets', 'sheep'], ['=1+1']];
    await api.spreadsheets.values.update({
      spreadsheetId,
      range: 'A1',
      valueInputOption: 'USER_ENTERED',
      requestBody: { values },
    });
    const { replies } = await batch([{ findReplace: { find: 'e', replacement: 'o', allSheets: true } }]);
    expect(replies).toEqual([
      { findReplace: { valuesChanged: 2, rowsChanged: 1, sheetsChanged: 1, occurrencesChanged: 5 } },
    ]);
    expect(await read('A1:B2')).toEqual([['Googlo Shoots', 'shoop'], ['2']]);
  });

  test('refers to groups of a regular expression and takes other dollar signs as they are', async () => {
    const { batch, fill, read } = await startEmulator();
    await fill([['Google Docs'], ['price']]);
    await batch([
      { findReplace: { find: 'o.* (.*)', replacement: '$1 Rocks', searchByRegex: true, sheetId: 0 } },
      { findReplace: { find: 'PRICE', replacement: '$& and more', matchEntireCell: true, sheetId: 0 } },
    ]);
    expect(await read('A1:A2')).toEqual([['GDocs Rocks'], ['$& and more']]);
    const nowhere = batch([{ findReplace: { find: 'a', replacement: 'b' } }]);
    expect(await refusalOf(nowhere)).toMatchObject({ code: 400 });
  });
});

test('trimWhitespace takes white space from both ends and leaves single spaces', async () => {
  const { batch, fill, read } = await startEmulator();
  await fill([['  a   b '], ['c']]);
  const { replies } = await batch([{ trimWhitespace: { range: FIRST_COLUMN } }]);
  expect(replies).toEqual([{ trimWhitespace: { cellsChangedCount: 1 } }]);
  expect(await read('A1:A2')).toEqual([['a b'], ['c']]);
});

test('deleteDuplicates keeps the first of equal rows, whatever their case, and closes the gaps', async () => {
  const { batch, fill, read } = await startEmulator();
  await fill([
    ['a', 1, 'p'],
    ['A', 1, 'q'],
    ['b', 2, 'r'],
    ['a', 3, 's'],
  ]);
  const range = { sheetId: 0, startColumnIndex: 0, endColumnIndex: 2 };
  const { replies } = await batch([{ deleteDuplicates: { range } }]);
  expect(replies).toEqual([{ deleteDuplicates: { duplicatesRemovedCount: 1 } }]);
  expect(await read('A1:C4')).toEqual([
    ['a', '1', 'p'],
    ['b', '2', 'q'],
    ['a', '3', 'r'],
    ['', '', 's'],
  ]);
});

test('pasteData types quoted text and tables of HTML, and grows the grid for them', async () => {
  const { batch, read, api, spreadsheetId } = await startEmulator();
  const coordinate = { sheetId: 0, rowIndex: 999, columnIndex: 25 };
  await batch([
    { pasteData: { coordinate: { sheetId: 0 }, data: '1,"two, ""2"""\r\n3,4\n', delimiter: ',' } },
    {
      pasteData: {
        coordinate,
        data: '<table><tr><td>a&amp;b<td>x</td></tr><tr><td>5</td></tr></table>',
        html: true,
      },
    },
  ]);
  expect(await read('A1:B2', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([
    [1, 'two, "2"'],
    [3, 4],
  ]);
  expect(await read('Z1001')).toEqual([['5']]);
  const { data } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets.properties.gridProperties' });
  expect(data.sheets?.[0]?.properties?.gridProperties).toMatchObject({ rowCount: 1001 });
});

test('autoFill carries on numbers, texts that end in a number, and anything else again', async () => {
  const { batch, fill, read } = await startEmulator();
  await fill([
    [1, 'Task 1', 'x', 7],
    [3, '', '', ''],
  ]);
  const fillDown = (startColumnIndex: number, endRowIndex: number) => ({
    autoFill: {
      sourceAndDestination: {
        source: {
          sheetId: 0,
          startRowIndex: 0,
          endRowIndex,
          startColumnIndex,
          endColumnIndex: startColumnIndex + 1,
        },
        dimension: 'ROWS',
        fillLength: 2,
      },
    },
  });
  await batch([fillDown(0, 2), fillDown(1, 1), fillDown(2, 1), fillDown(3, 1)]);
  expect(await read('A1:D4')).toEqual([
    ['1', 'Task 1', 'x', '7'],
    ['3', 'Task 2', 'x', '7'],
    ['5', 'Task 3', 'x', '7'],
    ['7'],
  ]);
});

test('randomizeRange puts whole rows of the range into another order', async () => {
  const { batch, fill, read } = await startEmulator();
  const lines = Array.from({ length: 20 }, (_, line) => [`${line}`, `${line}`]);
  await fill(lines);
  await batch([{ randomizeRange: { range: { sheetId: 0, endRowIndex: 20 } } }]);
  const shuffled = (await read('A1:B20')) ?? [];
  expect(shuffled).not.toEqual(lines);
  expect(shuffled.every(([one, other]) => one === other)).toBe(true);
  expect(new Set(shuffled.map(([one]) => one)).size).toBe(20);
});

test('updateBorders draws around and within a range and erases with NONE', async () => {
  const { api, spreadsheetId, batch } = await startEmulator();
  const range = { sheetId: 0, endRowIndex: 2, endColumnIndex: 1 };
  const solid = { style: 'SOLID', color: { red: 1 } };
  await batch([
    { updateBorders: { range, top: solid, bottom: solid, innerHorizontal: { style: 'SOLID_THICK' } } },
    { updateBorders: { range, bottom: { style: 'NONE' } } },
  ]);
  const fields = 'sheets.data.rowData.values.userEnteredFormat.borders';
  const { data } = await api.spreadsheets.get({ spreadsheetId, fields });
  const red = { style: 'SOLID', width: 1, color: { red: 1 }, colorStyle: { rgbColor: { red: 1 } } };
  const thick = { style: 'SOLID_THICK', width: 3, color: {}, colorStyle: { rgbColor: {} } };
  expect(data.sheets?.[0]?.data?.[0]?.rowData).toEqual([
    { values: [{ userEnteredFormat: { borders: { top: red, bottom: thick } } }] },
    { values: [{ userEnteredFormat: { borders: { top: thick } } }] },
  ]);
});

describe('dimension groups', () => {
  const columns = (startIndex: number, endIndex: number) => ({
    range: { sheetId: 0, dimension: 'COLUMNS', startIndex, endIndex },
  });
  const group = (startIndex: number, endIndex: number, depth: number) => ({
    range: { dimension: 'COLUMNS', startIndex, endIndex },
    depth,
  });

  test('that overlap become their union and, one deeper, what they share', async () => {
    const { batch } = await startEmulator();
    await batch([{ addDimensionGroup: columns(1, 4) }]);
    const { replies } = await batch([{ addDimensionGroup: columns(2, 5) }]);
    expect(replies).toEqual([{ addDimensionGroup: { dimensionGroups: [group(1, 5, 1), group(2, 4, 2)] } }]);
  });

  test('lose a level where a range is taken out of them', async () => {
    const { batch } = await startEmulator();
    await batch([{ addDimensionGroup: columns(1, 5) }, { addDimensionGroup: columns(2, 4) }]);
    const { replies } = await batch([{ deleteDimensionGroup: columns(3, 5) }]);
    expect(replies).toEqual([
      { deleteDimensionGroup: { dimensionGroups: [group(1, 4, 1), group(2, 3, 2)] } },
    ]);
  });

  test('hide their lines when they are collapsed', async () => {
    const { api, spreadsheetId, batch } = await startEmulator();
    const dimensionGroup = { ...group(1, 3, 1), collapsed: true };
    await batch([
      { addDimensionGroup: columns(1, 3) },
      { updateDimensionGroup: { dimensionGroup, fields: 'collapsed' } },
    ]);
    const fields = 'sheets(columnGroups,data.columnMetadata.hiddenByUser)';
    const { data } = await api.spreadsheets.get({ spreadsheetId, ranges: ['A:D'], fields });
    expect(data.sheets?.[0]).toEqual({
      columnGroups: [dimensionGroup],
      data: [{ columnMetadata: [{}, { hiddenByUser: true }, { hiddenByUser: true }, {}] }],
    });
  });
});

test('duplicateFilterView makes a view of its own', async () => {
  const { batch } = await startEmulator();
  const filter = { filterViewId: 5, title: 'Mine', range: { sheetId: 0 } };
  const { replies } = await batch([
    { addFilterView: { filter } },
    { duplicateFilterView: { filterId: 5 } },
    { deleteFilterView: { filterId: 5 } },
  ]);
  expect(replies?.[1]?.duplicateFilterView?.filter).toMatchObject({ title: 'Copy of Mine' });
  expect(replies?.[1]?.duplicateFilterView?.filter?.filterViewId).not.toBe(5);
});

test('charts and slicers are kept, moved to another tab and taken away', async () => {
  const { api, spreadsheetId, batch } = await startEmulator();
  const positionOn = (sheetId: number) => ({ overlayPosition: { anchorCell: { sheetId, rowIndex: 1 } } });
  await batch([
    { addSheet: { properties: { sheetId: 3, title: 'Charts' } } },
    { addChart: { chart: { chartId: 1, spec: { title: 'Won' }, position: positionOn(0) } } },
    { addSlicer: { slicer: { slicerId: 2, position: positionOn(0) } } },
    { updateChartSpec: { chartId: 1, spec: { title: 'Lost' } } },
    { updateEmbeddedObjectPosition: { objectId: 1, newPosition: positionOn(3), fields: 'anchorCell' } },
    { deleteEmbeddedObject: { objectId: 2 } },
  ]);
  const { data } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets(charts,slicers)' });
  expect(data.sheets).toEqual([
    {},
    { charts: [{ chartId: 1, spec: { title: 'Lost' }, position: positionOn(3) }] },
  ]);
  const again = batch([{ deleteEmbeddedObject: { objectId: 2 } }]);
  expect(await refusalOf(again)).toMatchObject({ code: 400 });
});

test('conditional formats stand in their order, are changed, move with their cells and are taken away', async () => {
  const { api, spreadsheetId, batch } = await startEmulator();
  const rule = (word: string, endRowIndex = 4) => ({
    ranges: [{ sheetId: 0, startRowIndex: 1, endRowIndex, startColumnIndex: 0, endColumnIndex: 1 }],
    booleanRule: {
      condition: { type: 'TEXT_STARTS_WITH', values: [{ userEnteredValue: word }] },
      format: { backgroundColor: { red: word.length / 10 } },
    },
  });
  const words = async () => {
    const { data } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets.conditionalFormats' });
    return (data.sheets?.[0]?.conditionalFormats ?? []).map(({ booleanRule, ranges }) => [
      booleanRule?.condition?.values?.[0]?.userEnteredValue,
      ranges?.[0]?.endRowIndex,
    ]);
  };
  await batch([
    { addConditionalFormatRule: { index: 0, rule: rule('Held') } },
    { addConditionalFormatRule: { index: 0, rule: rule('Error') } },
  ]);
  const { replies } = await batch([
    { updateConditionalFormatRule: { index: 1, sheetId: 0, newIndex: 0 } },
    { updateConditionalFormatRule: { index: 1, rule: rule('Errors', 3) } },
    {
      insertDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 2, endIndex: 4 } },
    },
  ]);
  expect(replies?.[0]?.updateConditionalFormatRule).toMatchObject({ oldIndex: 1, newIndex: 0 });
  expect(await words()).toEqual([
    ['Held', 6],
    ['Errors', 5],
  ]);
  const missing = batch([{ deleteConditionalFormatRule: { index: 2, sheetId: 0 } }]);
  expect(await refusalOf(missing)).toMatchObject({ code: 400, message: expect.stringContaining('index: 2') });
  const { replies: taken } = await batch([{ deleteConditionalFormatRule: { index: 0, sheetId: 0 } }]);
  expect(taken?.[0]?.deleteConditionalFormatRule?.rule?.booleanRule).toEqual(rule('Held').booleanRule);
  expect(await words()).toEqual([['Errors', 5]]);
});

describe('a formula', () => {
  test('refers to what is beside its new place when it is copied, repeated or filled on, save for what is pinned', async () => {
    const { batch, read } = await startEmulator();
    const formula = { userEnteredValue: { formulaValue: '=A1+$A$1' } };
    const cell = (rowIndex: number, columnIndex: number, height = 1) => ({
      sheetId: 0,
      startRowIndex: rowIndex,
      endRowIndex: rowIndex + height,
      startColumnIndex: columnIndex,
      endColumnIndex: columnIndex + 1,
    });
    await batch([
      { repeatCell: { range: cell(0, 1, 2), cell: formula, fields: 'userEnteredValue' } },
      { copyPaste: { source: cell(0, 1), destination: cell(0, 2, 2) } },
      { autoFill: { sourceAndDestination: { source: cell(1, 1), dimension: 'ROWS', fillLength: 1 } } },
      { autoFill: { sourceAndDestination: { source: cell(1, 2), dimension: 'COLUMNS', fillLength: 2 } } },
    ]);
    expect(await read('B1:E3', { valueRenderOption: 'FORMULA' })).toEqual([
      ['=A1+$A$1', '=B1+$A$1'],
      ['=A2+$A$1', '=B2+$A$1', '=C2+$A$1', '=D2+$A$1'],
      ['=A3+$A$1'],
    ]);
  });

  test('leaves its result behind when only values are pasted', async () => {
    const { api, spreadsheetId, batch, read } = await startEmulator();
    const requestBody = { values: [['=1+1']] };
    const typed = { spreadsheetId, range: 'A1', valueInputOption: 'USER_ENTERED', requestBody };
    await api.spreadsheets.values.update(typed);
    const destination = {
      sheetId: 0,
      startRowIndex: 4,
      endRowIndex: 5,
      startColumnIndex: 0,
      endColumnIndex: 1,
    };
    const source = { ...destination, startRowIndex: 0, endRowIndex: 1 };
    await batch([{ copyPaste: { source, destination, pasteType: 'PASTE_VALUES' } }]);
    expect(await read('A5', { valueRenderOption: 'FORMULA' })).toEqual([[2]]);
  });
});

test('autoResizeDimensions makes a column as wide as its longest text', async () => {
  const { api, spreadsheetId, batch, fill } = await startEmulator();
  await fill([['A'.repeat(100)], ['B']]);
  const dimensions = { sheetId: 0, dimension: 'COLUMNS', startIndex: 0, endIndex: 2 };
  await batch([{ autoResizeDimensions: { dimensions } }]);
  const fields = 'sheets.data.columnMetadata.pixelSize';
  const { data } = await api.spreadsheets.get({ spreadsheetId, ranges: ['A:B'], fields });
  const [first, second] = data.sheets?.[0]?.data?.[0]?.columnMetadata ?? [];
  expect(first?.pixelSize).toBeGreaterThan(500);
  expect(second?.pixelSize).toBe(100);
});

test('a filter hides the rows whose value is unticked in it', async () => {
  const { api, spreadsheetId, batch, fill } = await startEmulator();
  await fill([['Stage'], ['Won'], ['Open'], ['Won']]);
  const filterSpecs = [{ columnIndex: 0, filterCriteria: { hiddenValues: ['Won'] } }];
  await batch([{ setBasicFilter: { filter: { range: { sheetId: 0 }, filterSpecs } } }]);
  const fields = 'sheets.data.rowMetadata.hiddenByFilter';
  const { data } = await api.spreadsheets.get({ spreadsheetId, ranges: ['A1:A4'], fields });
  expect(data.sheets?.[0]?.data?.[0]?.rowMetadata).toEqual([
    {},
    { hiddenByFilter: true },
    {},
    { hiddenByFilter: true },
  ]);
});

test('a rule that replaces another is looked for in the tab of its own ranges', async () => {
  const { api, batch, spreadsheetId } = await startEmulator();
  const rule = (text: string) => ({
    ranges: [{ sheetId: 7, endColumnIndex: 1 }],
    booleanRule: { condition: { type: 'TEXT_EQ', values: [{ userEnteredValue: text }] }, format: {} },
  });
  await batch([
    { addSheet: { properties: { sheetId: 7, title: 'Second' } } },
    { addConditionalFormatRule: { index: 0, rule: rule('old') } },
    { updateConditionalFormatRule: { index: 0, rule: rule('new') } },
  ]);
  const { data } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets.conditionalFormats' });
  expect(data.sheets).toEqual([{}, { conditionalFormats: [rule('new')] }]);
});
