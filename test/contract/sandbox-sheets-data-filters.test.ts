import { describe, expect, test } from 'vitest';
import { refusalOf, startEmulator } from '../support/sandbox-sheets-client.ts';

const byKey = (metadataKey: string) => ({ developerMetadataLookup: { metadataKey } });

/** Two rows of two columns; the second column is tagged `col` and the second row `row`. */
async function startTagged() {
  const emulator = await startEmulator();
  await emulator.fill([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  const tag = (metadataKey: string, dimension: 'ROWS' | 'COLUMNS') => ({
    createDeveloperMetadata: {
      developerMetadata: {
        metadataKey,
        visibility: 'DOCUMENT',
        location: { dimensionRange: { sheetId: 0, dimension, startIndex: 1, endIndex: 2 } },
      },
    },
  });
  await emulator.batch([tag('col', 'COLUMNS'), tag('row', 'ROWS')]);
  return emulator;
}

describe('values by data filter', () => {
  test('are read from wherever the tagged row or column is now, once for all filters that name it', async () => {
    const { api, spreadsheetId, batch } = await startTagged();
    const range = { sheetId: 0, dimension: 'COLUMNS', startIndex: 0, endIndex: 1 };
    await batch([{ insertDimension: { range } }]);
    const dataFilters = [byKey('col'), { a1Range: 'C1:C1000' }, byKey('row')];
    const { data } = await api.spreadsheets.values.batchGetByDataFilter({
      spreadsheetId,
      requestBody: { dataFilters, majorDimension: 'COLUMNS' },
    });
    expect(data.valueRanges).toEqual([
      {
        valueRange: { range: 'Sheet1!C1:C1000', majorDimension: 'COLUMNS', values: [['b', 'd']] },
        dataFilters: dataFilters.slice(0, 2),
      },
      {
        valueRange: { range: 'Sheet1!A2:AA2', majorDimension: 'COLUMNS', values: [[], ['c'], ['d']] },
        dataFilters: dataFilters.slice(2),
      },
    ]);
  });

  test('are written where the tag is and refused when they do not fit', async () => {
    const { api, spreadsheetId, read } = await startTagged();
    const write = (values: string[][]) =>
      api.spreadsheets.values.batchUpdateByDataFilter({
        spreadsheetId,
        requestBody: { valueInputOption: 'RAW', data: [{ dataFilter: byKey('col'), values }] },
      });
    const { data } = await write([['B']]);
    expect(data).toMatchObject({
      totalUpdatedCells: 1,
      responses: [{ updatedRange: 'Sheet1!B1', updatedCells: 1, dataFilter: byKey('col') }],
    });
    expect(await refusalOf(write([['B', 'too wide']]))).toMatchObject({ code: 400 });
    expect(await read('A1:B2')).toEqual([
      ['a', 'B'],
      ['c', 'd'],
    ]);
  });

  test('are cleared', async () => {
    const { api, spreadsheetId, read } = await startTagged();
    const gridRange = { sheetId: 0, startRowIndex: 0, endRowIndex: 1 };
    const { data } = await api.spreadsheets.values.batchClearByDataFilter({
      spreadsheetId,
      requestBody: { dataFilters: [{ gridRange }] },
    });
    expect(data).toEqual({ spreadsheetId, clearedRanges: ['Sheet1!A1:Z1'] });
    expect(await read('A1:B2')).toEqual([[], ['c', 'd']]);
  });

  test('need a filter that says exactly one thing', async () => {
    const { api, spreadsheetId } = await startTagged();
    const both = api.spreadsheets.values.batchClearByDataFilter({
      spreadsheetId,
      requestBody: { dataFilters: [{ a1Range: 'A1', gridRange: { sheetId: 0 } }] },
    });
    expect(await refusalOf(both)).toMatchObject({ code: 400 });
  });
});

test('spreadsheets.getByDataFilter shows what the filters name and nothing when they name nothing', async () => {
  const { api, spreadsheetId } = await startTagged();
  const get = (metadataKey: string) =>
    api.spreadsheets.getByDataFilter({
      spreadsheetId,
      fields: 'sheets.data(startRow,startColumn,rowData.values.formattedValue)',
      requestBody: { dataFilters: [byKey(metadataKey)] },
    });
  const { data } = await get('row');
  const values = [{ formattedValue: 'c' }, { formattedValue: 'd' }];
  expect(data).toEqual({ sheets: [{ data: [{ startRow: 1, rowData: [{ values }] }] }] });
  expect((await get('unknown')).data).toEqual({ sheets: [] });
});

describe('searching for metadata', () => {
  test('by a place finds what is attached to anything that meets it', async () => {
    const { api, spreadsheetId } = await startTagged();
    const search = async (a1Range: string) => {
      const { data } = await api.spreadsheets.developerMetadata.search({
        spreadsheetId,
        requestBody: { dataFilters: [{ a1Range }] },
      });
      return data.matchedDeveloperMetadata?.map(({ developerMetadata }) => developerMetadata?.metadataKey);
    };
    expect(await search('B2')).toEqual(['col', 'row']);
    expect(await search('B1')).toEqual(['col']);
    expect(await search('A1')).toBeUndefined();
  });

  test('by a lookup takes places that only meet, or the very place when that is asked for', async () => {
    const { api, spreadsheetId } = await startTagged();
    const dimensionRange = { sheetId: 0, dimension: 'ROWS', startIndex: 1, endIndex: 2 };
    const search = async (locationMatchingStrategy?: string) => {
      const lookup = {
        metadataLocation: { dimensionRange },
        ...(locationMatchingStrategy && { locationMatchingStrategy }),
      };
      const { data } = await api.spreadsheets.developerMetadata.search({
        spreadsheetId,
        requestBody: { dataFilters: [{ developerMetadataLookup: lookup }] },
      });
      return data.matchedDeveloperMetadata?.map(({ developerMetadata }) => developerMetadata?.metadataKey);
    };
    expect(await search()).toEqual(['col', 'row']);
    expect(await search('EXACT_LOCATION')).toEqual(['row']);
  });
});

describe('spreadsheets.create', () => {
  test('makes the tabs, cells and named ranges that are sent', async () => {
    const { api } = await startEmulator();
    const rowData = [{ values: [{ userEnteredValue: { stringValue: 'ID' } }] }];
    const { data } = await api.spreadsheets.create({
      requestBody: {
        properties: { title: 'New', locale: 'de_DE' },
        sheets: [
          {
            properties: { title: 'Leads', gridProperties: { rowCount: 5, columnCount: 2 } },
            data: [{ rowData }],
          },
          { properties: { sheetId: 9 } },
        ],
        namedRanges: [{ name: 'ids', range: { sheetId: 0, endRowIndex: 1, endColumnIndex: 1 } }],
      },
    });
    expect(data).toMatchObject({
      properties: { title: 'New', locale: 'de_DE' },
      sheets: [
        { properties: { sheetId: 0, title: 'Leads', gridProperties: { rowCount: 5, columnCount: 2 } } },
        { properties: { sheetId: 9, title: 'Sheet2' } },
      ],
    });
    const spreadsheetId = data.spreadsheetId ?? '';
    const values = await api.spreadsheets.values.get({ spreadsheetId, range: 'ids' });
    expect(values.data.values).toEqual([['ID']]);
  });

  test('makes one empty tab when nothing is sent', async () => {
    const { api } = await startEmulator();
    const { data } = await api.spreadsheets.create({ requestBody: {} });
    expect(data.properties?.title).toBe('Untitled spreadsheet');
    expect(data.sheets?.map(({ properties }) => properties?.title)).toEqual(['Sheet1']);
  });
});
