import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MESSAGE_FIELDS } from '../../src/sandbox/sheets/wire/message-fields.ts';
import { maskedMessage } from '../../src/sandbox/sheets/wire/methods.ts';
import { type Emulator, refusalOf, startEmulator } from '../support/sandbox-sheets-client.ts';

/** The fields of each message by the types that come with Google's client. */
function fieldsInLibrary(): Record<string, string> {
  const types = import.meta.resolve('googleapis/build/src/apis/sheets/v4.d.ts');
  const text = readFileSync(new URL(types), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
  const messages = text.matchAll(/export interface Schema\$(\w+) \{([\s\S]*?)\n {4}\}/g);
  return Object.fromEntries([...messages].map(([, name = '', body = '']) => [name, fieldsIn(body)]));
}

function fieldsIn(body: string): string {
  const fields = [...body.matchAll(/^\s*(\w+)\??: ([\s\S]*?);$/gm)].map(([, name, type = '']) => {
    const [, message = ''] = /Schema\$(\w+)/.exec(type) ?? [];
    const isKeyed = type.includes('[key: string]');
    return isKeyed ? `${name}:{${message}}` : message ? `${name}:${message}` : `${name}`;
  });
  return fields.sort((one, other) => (one < other ? -1 : 1)).join(' ');
}

test('the known fields are those of the library’s types', () => {
  expect(MESSAGE_FIELDS).toEqual(fieldsInLibrary());
});

const fieldsOf = (message: string): string[] =>
  (Object.entries(MESSAGE_FIELDS).find(([name]) => name === message)?.[1] ?? '').split(' ').filter(Boolean);

test('every request that has a mask has its mask looked at', () => {
  const masked = fieldsOf('Request')
    .map((field) => field.split(':'))
    .filter(([, message = '']) => fieldsOf(message).includes('fields'))
    .map(([name = '']) => name);
  expect(masked.length).toBeGreaterThan(15);
  expect(masked.filter((name) => maskedMessage(name) === undefined)).toEqual([]);
});

const unknownName = (name: string, place: string) =>
  `Invalid JSON payload received. Unknown name "${name}"${place && ` at '${place}'`}: Cannot find field.`;

const refused = (place: string) => {
  const message = unknownName('typo', place);
  const fieldViolations = [{ ...(place !== '' && { field: place }), description: message }];
  const details = [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }];
  return { error: { code: 400, message, status: 'INVALID_ARGUMENT', details } };
};

const sender =
  ({ rootUrl, spreadsheetId }: Emulator) =>
  async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const url = `${rootUrl}/v4/spreadsheets${path.replace('ID', `/${spreadsheetId}`)}`;
    return (await fetch(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })).json();
  };

/** A body with an unknown field in every message that a batch can hold, each on the shortest way to it. */
function misspeltBatches(): [place: string, body: unknown][] {
  const seen = new Set<string>();
  const found: [string, unknown][] = [];
  let front: { message: string; place: string; wrap: (inner: unknown) => unknown }[] = [
    { message: 'Request', place: 'requests[0]', wrap: (inner) => ({ requests: [inner] }) },
  ];
  while (front.length > 0) {
    front = front.flatMap(({ message, place, wrap }) => {
      if (seen.has(message)) return [];
      seen.add(message);
      found.push([place, wrap({ typo: 1 })]);
      return fieldsOf(message).flatMap((field) => {
        const [name = '', type = ''] = field.split(':');
        if (type === '' || type.startsWith('{')) return [];
        const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        return {
          message: type,
          place: `${place}.${snake}`,
          wrap: (inner: unknown) => wrap({ [name]: inner }),
        };
      });
    });
  }
  return found;
}

describe('a field that Google does not know is refused', () => {
  test('in every message of a batch, however deep', async () => {
    const send = sender(await startEmulator({ quotas: { writesPerMinute: 1000 } }));
    const batches = misspeltBatches();
    expect(batches.length).toBeGreaterThan(200);
    for (const [place, body] of batches)
      expect(await send('POST', 'ID:batchUpdate', body)).toEqual(refused(place));
  });

  const bodies: [string, string, unknown, string][] = [
    ['POST', 'ID:batchUpdate', { typo: true }, ''],
    ['POST', '', { properties: { typo: 1 } }, 'spreadsheet.properties'],
    ['PUT', 'ID/values/A1?valueInputOption=RAW', { values: [[1]], typo: 1 }, 'data'],
    ['POST', 'ID/values/A1:append?valueInputOption=RAW', { typo: 1 }, 'data'],
    ['POST', 'ID/values/A1:clear', { typo: 1 }, ''],
    ['POST', 'ID/values:batchUpdate', { valueInputOption: 'RAW', data: [{}, { typo: 1 }] }, 'data[1]'],
    ['POST', 'ID/values:batchClear', { typo: [] }, ''],
    [
      'POST',
      'ID/values:batchGetByDataFilter',
      { dataFilters: [{ developerMetadataLookup: { metadataLocation: { typo: 1 } } }] },
      'data_filters[0].developer_metadata_lookup.metadata_location',
    ],
    [
      'POST',
      'ID/values:batchUpdateByDataFilter',
      { data: [{ dataFilter: { gridRange: { typo: 1 } } }] },
      'data[0].data_filter.grid_range',
    ],
    ['POST', 'ID/values:batchClearByDataFilter', { dataFilters: [{ typo: 1 }] }, 'data_filters[0]'],
    ['POST', 'ID:getByDataFilter', { typo: 1 }, ''],
    ['POST', 'ID/developerMetadata:search', { typo: 1 }, ''],
    ['POST', 'ID/sheets/0:copyTo', { typo: 1 }, ''],
  ];
  test.each(bodies)('in the body of %s %s', async (method, path, body, place) => {
    const send = sender(await startEmulator());
    expect(await send(method, path, body)).toEqual(refused(place));
  });

  test('together with all others, each in a line of its own, and nothing is done', async () => {
    const { api, batch, read, spreadsheetId } = await startEmulator();
    const cell = { userEnteredValue: { stringValue: 'x', strinValue: 'y' }, noet: 'n' };
    const requests = [{ updateCells: { start: {}, rows: [{ values: [cell] }], fields: '*' } }];
    const place = 'requests[0].update_cells.rows[0].values[0]';
    expect(await refusalOf(batch(requests))).toEqual({
      code: 400,
      message: `${unknownName('strinValue', `${place}.user_entered_value`)}\n${unknownName('noet', place)}`,
    });
    expect(await read('A1')).toBeUndefined();
    expect((await api.spreadsheets.get({ spreadsheetId })).status).toBe(200);
  });

  const queries: [string, string][] = [
    ['GET', 'ID?includeGridDate=true'],
    ['GET', 'ID/values/A1?valueRenderOptions=FORMULA'],
    ['PUT', 'ID/values/A1?valueInputOption=RAW&includeValues=true'],
    ['POST', 'ID:batchUpdate?includeGridDate=true'],
    ['POST', '?parent=x'],
  ];
  test.each(queries)('in the query of %s %s', async (method, path) => {
    const send = sender(await startEmulator());
    const name = /[?&]((?!valueInputOption)\w+)=/.exec(path)?.[1];
    const description = `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter. Field '${name}' could not be found in request message.`;
    const answer = await send(method, path, method === 'GET' ? undefined : {});
    expect(answer).toMatchObject({
      error: { code: 400, message: description, details: [{ fieldViolations: [{ description }] }] },
    });
  });
});

test('a field may be called by its other name, with underscores, as Google takes it', async () => {
  const { spreadsheetId, rootUrl, read } = await startEmulator();
  const rows = [{ values: [{ user_entered_value: { string_value: 'x' }, note: 'n' }] }];
  const requests = [{ update_cells: { start: { sheet_id: 0 }, rows, fields: 'user_entered_value,note' } }];
  const url = `${rootUrl}/v4/spreadsheets/${spreadsheetId}:batchUpdate`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ requests }) });
  expect(answer.status).toBe(200);
  expect(await read('A1')).toEqual([['x']]);
});

describe('a mask that names what Google does not know is refused', () => {
  const masks = [
    ['GET', 'ID', 'sheets.sheetProperties'],
    ['GET', 'ID', 'sheets.properties.gridProperties.rows'],
    ['GET', 'ID', 'properties.title.text'],
    ['GET', 'ID', 'sheets.data.rowData.values.effectiveFormat.textFormat.foregroundColor.gren'],
    ['GET', 'ID/values/A1', 'valueRanges'],
    ['GET', 'ID/values:batchGet', 'valueRanges.value'],
    ['POST', 'ID:batchUpdate', 'updatedSpreadsheet.sheets.tables.columns'],
    ['POST', 'ID/developerMetadata:search', 'matchedDeveloperMetadata.metadata'],
  ] as const;
  test.each(masks)('in the answer to %s %s: %s', async (method, path, fields) => {
    const send = sender(await startEmulator());
    const filters = [{ a1Range: 'A1' }];
    const body = path.endsWith('batchUpdate') ? { requests: [{ addSheet: {} }] } : { dataFilters: filters };
    const answer = await send(method, `${path}?fields=${fields}`, method === 'GET' ? undefined : body);
    const description = `Error expanding 'fields' parameter. Cannot find matching fields for path '${fields}'.`;
    expect(answer).toMatchObject({ error: { code: 400, details: [{ fieldViolations: [{ description }] }] } });
  });

  const properties = { sheetId: 0, title: 'T' };
  const requests = [
    [{ updateCells: { start: {}, rows: [], fields: 'userEnteredValues' } }, 'userEnteredValues'],
    [{ repeatCell: { range: {}, cell: {}, fields: 'userEnteredFormat.bold' } }, 'userEnteredFormat.bold'],
    [{ updateSheetProperties: { properties, fields: 'title,gridProperties(rows)' } }, 'gridProperties.rows'],
    [
      { updateDimensionProperties: { range: { dimension: 'ROWS' }, properties: {}, fields: 'pixels' } },
      'pixels',
    ],
  ] as const;
  test.each(requests)('in a request: %j', async (request, path) => {
    const { batch } = await startEmulator();
    const message = `Invalid requests[0].${Object.keys(request)[0]}: Invalid field: ${path}`;
    expect(await refusalOf(batch([request as object]))).toEqual({ code: 400, message });
  });
});
