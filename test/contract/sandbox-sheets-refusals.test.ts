import { describe, expect, test } from 'vitest';
import { refusalOf, startEmulator } from '../support/sandbox-sheets-client.ts';

test('what Google can do and the sandbox cannot is said to be just that', async () => {
  const { batch } = await startEmulator();
  const refusal = await refusalOf(batch([{ addDataSource: {} }]));
  expect(refusal).toEqual({ code: 501, message: 'The sandbox does not know how to do addDataSource.' });
});

describe('a value of the wrong type', () => {
  const range = { sheetId: 0, dimension: 'ROWS', startIndex: 0, endIndex: 2 };

  test('is named by its place in the batch, as Google names it', async () => {
    const { rootUrl, spreadsheetId } = await startEmulator();
    const send = async (insertDimension: object) => {
      const requests = [{ addSheet: {} }, { insertDimension }];
      const url = `${rootUrl}/v4/spreadsheets/${spreadsheetId}:batchUpdate`;
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ requests }) });
      return answer.json();
    };
    const field = 'requests[1].insert_dimension.range.end_index';
    const description = `Invalid value at '${field}' (TYPE_INT32), "many"`;
    expect(await send({ range: { ...range, endIndex: 'many' } })).toMatchObject({
      error: {
        code: 400,
        message: description,
        details: [{ fieldViolations: [{ field, description }] }],
      },
    });
    expect(await send({ range: { ...range, dimension: 'LINES' } })).toMatchObject({
      error: {
        message:
          "Invalid value at 'requests[1].insert_dimension.range.dimension' " +
          '(type.googleapis.com/google.apps.sheets.v4.Dimension), "LINES"',
      },
    });
  });

  test('is none when it is a number that came as text', async () => {
    const { api, spreadsheetId, rootUrl } = await startEmulator();
    const gridProperties = { rowCount: '5', columnCount: '3' };
    const requests = [
      { addSheet: { properties: { title: 'Small', gridProperties } } },
      { insertDimension: { range: { ...range, sheetId: '0', endIndex: '2' } } },
    ];
    const url = `${rootUrl}/v4/spreadsheets/${spreadsheetId}:batchUpdate`;
    await fetch(url, { method: 'POST', body: JSON.stringify({ requests }) });
    const { data } = await api.spreadsheets.get({
      spreadsheetId,
      fields: 'sheets.properties.gridProperties',
    });
    expect(data.sheets?.map(({ properties }) => properties?.gridProperties)).toEqual([
      { rowCount: 1002, columnCount: 26 },
      { rowCount: 5, columnCount: 3 },
    ]);
  });

  test('is named in an option of a read or write as well', async () => {
    const { api, spreadsheetId } = await startEmulator();
    const get = api.spreadsheets.values.get({ spreadsheetId, range: 'A1', valueRenderOption: 'PRETTY' });
    expect((await refusalOf(get)).message).toBe(
      'Invalid value at \'value_render_option\' (type.googleapis.com/google.apps.sheets.v4.ValueRenderOption), "PRETTY"',
    );
  });
});

describe('refusals in Google’s words', () => {
  const table = { startRowIndex: 0, endRowIndex: 3, startColumnIndex: 0, endColumnIndex: 2 };
  const typed = (columnType: string, dataValidationRule?: object) => ({
    addTable: {
      table: { range: table, columnProperties: [{ columnName: 'Stage', columnType, dataValidationRule }] },
    },
  });
  const list = { condition: { type: 'ONE_OF_LIST', values: [{ userEnteredValue: 'Won' }] } };
  const banding = { addBanding: { bandedRange: { range: { sheetId: 0, endRowIndex: 5 } } } };
  const named = { addNamedRange: { namedRange: { name: 'ids', range: { sheetId: 0 } } } };
  const cases: [string, object[], string][] = [
    ['a tab that is not there', [{ deleteSheet: { sheetId: 9 } }], 'No sheet with id: 9'],
    ['cells of a tab that is not there', [{ mergeCells: { range: { sheetId: 9 } } }], 'No grid with id: 9'],
    ['the last tab', [{ deleteSheet: { sheetId: 0 } }], "You can't remove all the sheets in a document."],
    [
      'a title that is too long',
      [{ addSheet: { properties: { title: 'x'.repeat(101) } } }],
      'The sheet name cannot be greater than 100 characters.',
    ],
    [
      'a name twice',
      [named, named],
      'Cannot add named range with name ids, a named range with that name already exists.',
    ],
    [
      'a name with a space',
      [{ addNamedRange: { namedRange: { name: 'two words', range: { sheetId: 0 } } } }],
      'The name given to this range is invalid',
    ],
    [
      'more columns than have letters',
      [
        {
          addSheet: { properties: { title: 'Wide', gridProperties: { rowCount: 1, columnCount: 18_278 } } },
        },
        { addSheet: { properties: { gridProperties: { rowCount: 1, columnCount: 18_279 } } } },
      ],
      'This action would increase the number of columns in the sheet above the limit of 18278 columns.',
    ],
    [
      'a tag on columns without an end',
      [
        {
          createDeveloperMetadata: {
            developerMetadata: {
              metadataKey: 'k',
              visibility: 'DOCUMENT',
              location: { dimensionRange: { sheetId: 0, dimension: 'COLUMNS', startIndex: 1 } },
            },
          },
        },
      ],
      'DimensionRange must specify both a startIndex and an endIndex',
    ],
    [
      'stripes over stripes',
      [banding, banding],
      'You cannot add alternating background colors to a range that already has alternating background colors.',
    ],
    ['a dropdown without a list', [typed('DROPDOWN')], 'Condition must be set for dropdown column type.'],
    [
      'a list without a dropdown',
      [typed('TEXT', list)],
      'Cannot set condition for non-dropdown column type.',
    ],
    [
      'a part of a merge',
      [{ mergeCells: { range: table } }, { unmergeCells: { range: { ...table, endRowIndex: 1 } } }],
      'You must select all cells in a merged range to merge or unmerge them.',
    ],
  ];
  test.each(cases)('meet %s', async (_what, requests, message) => {
    const { batch } = await startEmulator();
    const { message: words } = await refusalOf(batch(requests));
    expect(words.replace(/^Invalid requests\[\d\]\.\w+: /, '')).toBe(message);
  });

  const rows = (startIndex: number) => ({ dimension: 'ROWS', startIndex, endIndex: 2 });
  test.each<[string, object, string]>([
    ['a request that asks for nothing', {}, 'Invalid requests[0]: No request set.'],
    [
      'a request that asks for two things',
      { addSheet: {}, deleteSheet: {} },
      "Invalid value at 'requests[0]' (oneof), oneof field 'kind' is already set. Cannot set 'deleteSheet'",
    ],
    [
      'rows before the first',
      { insertDimension: { range: rows(-1) } },
      'Invalid requests[0].insertDimension: DimensionRange indexes must be >= 0',
    ],
    [
      'cells before the first',
      { repeatCell: { range: { startColumnIndex: -1 }, fields: '*' } },
      'Invalid requests[0].repeatCell: GridRange indexes must be >= 0',
    ],
  ])('meet %s', async (_what, request, message) => {
    const { batch } = await startEmulator();
    expect((await refusalOf(batch([request]))).message).toBe(message);
  });

  test('say which of many ranges can not be cleared, and clear none', async () => {
    const { api, spreadsheetId, fill, read } = await startEmulator();
    await fill([['a']]);
    const clear = api.spreadsheets.values.batchClear({
      spreadsheetId,
      requestBody: { ranges: ['A1', 'A1001:ZZ'] },
    });
    expect((await refusalOf(clear)).message).toBe(
      'Invalid range[1]: Range (Sheet1!A1001:ZZ) exceeds grid limits. Max rows: 1000, max columns: 26',
    );
    expect(await read('A1')).toEqual([['a']]);
  });

  test.each<[string, object[], string]>([
    ['no filter', [], 'Must specify at least one dataFilter.'],
    ['a filter that says nothing', [{}], 'dataFilter.filter must be specified.'],
  ])('meet a read by %s', async (_what, dataFilters, message) => {
    const { api, spreadsheetId } = await startEmulator();
    const read = api.spreadsheets.getByDataFilter({ spreadsheetId, requestBody: { dataFilters } });
    expect((await refusalOf(read)).message).toBe(message);
  });

  test('name every row of values that is no list', async () => {
    const { api, spreadsheetId, read } = await startEmulator();
    const values = ['x', ['y'], 1] as unknown as unknown[][];
    const words = (place: string) =>
      `Invalid value at '${place}.values[0]' (type.googleapis.com/google.protobuf.ListValue), "x"\n` +
      `Invalid value at '${place}.values[2]' (type.googleapis.com/google.protobuf.ListValue), 1`;
    const write = { spreadsheetId, valueInputOption: 'RAW', range: 'A1' };
    const update = api.spreadsheets.values.update({ ...write, requestBody: { values } });
    expect((await refusalOf(update)).message).toBe(words('data'));
    const data = [{ range: 'A1', values }];
    const batch = api.spreadsheets.values.batchUpdate({
      spreadsheetId,
      requestBody: { valueInputOption: 'RAW', data },
    });
    expect((await refusalOf(batch)).message).toBe(words('data[0]'));
    expect(await read('A1')).toBeUndefined();
  });

  test('quote a list or an object that stands where a value should', async () => {
    const { api, spreadsheetId } = await startEmulator();
    const write = (value: unknown) =>
      api.spreadsheets.values.batchUpdate({
        spreadsheetId,
        requestBody: { valueInputOption: 'RAW', data: [{ range: 'A1', values: [['a', value]] }] },
      });
    expect((await refusalOf(write(['x']))).message).toBe(
      'Invalid data[0]: Invalid values[0][1]: list_value {\n  values {\n    string_value: "x"\n  }\n}\n',
    );
    expect((await refusalOf(write({ k: 1 }))).message).toBe(
      'Invalid data[0]: Invalid values[0][1]: struct_value {\n  fields {\n    key: "k"\n    value {\n' +
        '      number_value: 1.0\n    }\n  }\n}\n',
    );
  });
});
