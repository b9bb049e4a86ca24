import { describe, expect, test } from 'vitest';
import { refusalOf, startEmulator, text } from '../support/sandbox-sheets-client.ts';

async function bodyOf(answer: Response): Promise<unknown> {
  return answer.json();
}

describe('standing refusals', () => {
  const cases = [
    ['notFound', 404, 'NOT_FOUND', /^Requested entity was not found\.$/],
    ['permissionDenied', 403, 'PERMISSION_DENIED', /^The caller does not have permission$/],
    [
      'officeFile',
      400,
      'FAILED_PRECONDITION',
      /not supported for this document\. The document must not be an Office file\.$/,
    ],
    ['unauthenticated', 401, 'UNAUTHENTICATED', /^Request had invalid authentication credentials\./],
    ['apiDisabled', 403, 'PERMISSION_DENIED', /^Google Sheets API has not been used in project \d+/],
  ] as const;
  test.each(cases)('answers %s with %i %s in Google’s words', async (reason, code, status, message) => {
    const { rootUrl, spreadsheetId, setFaults } = await startEmulator();
    await setFaults({ refusals: { [spreadsheetId]: reason } });
    const answer = await fetch(`${rootUrl}/v4/spreadsheets/${spreadsheetId}`);
    expect(answer.status).toBe(code);
    expect(await bodyOf(answer)).toMatchObject({
      error: { code, status, message: expect.stringMatching(message) },
    });
  });

  test('name the reason of a service that is not switched on', async () => {
    const { rootUrl, spreadsheetId, setFaults } = await startEmulator();
    await setFaults({ refusals: { '*': 'apiDisabled' } });
    const answer = await fetch(`${rootUrl}/v4/spreadsheets/${spreadsheetId}`);
    expect(await bodyOf(answer)).toMatchObject({
      error: { details: [expect.anything(), { reason: 'SERVICE_DISABLED' }] },
    });
  });

  test('of a spreadsheet that may only be read stop writes and no reads', async () => {
    const { read, fill, setFaults } = await startEmulator();
    await fill([['x']]);
    await setFaults({ refusals: { '*': 'readOnly' } });
    expect(await read('A1')).toEqual([['x']]);
    expect(await refusalOf(fill([['y']]))).toMatchObject({ code: 403 });
    await setFaults({});
    expect(await read('A1')).toEqual([['x']]);
  });

  test('of one spreadsheet leave the others alone', async () => {
    const { read, setFaults } = await startEmulator();
    await setFaults({ refusals: { another: 'permissionDenied' } });
    expect(await read('A1')).toBeUndefined();
  });
});

describe('spoiled answers', () => {
  test('are a page that is no JSON, a 500, a 429 and half of the right answer', async () => {
    const { rootUrl, spreadsheetId, fill, setFaults } = await startEmulator();
    await fill([['something to show']]);
    await setFaults({
      failures: [
        { kind: 'page', when: 'before', on: 'read' },
        { kind: 'internal', when: 'before', on: 'read' },
        { kind: 'quota', when: 'before', on: 'read' },
        { kind: 'half', when: 'after', on: 'read' },
      ],
    });
    const read = () => fetch(`${rootUrl}/v4/spreadsheets/${spreadsheetId}/values/A1`);
    const page = await read();
    expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(await bodyOf(await read())).toMatchObject({ error: { code: 500, status: 'INTERNAL' } });
    expect(await bodyOf(await read())).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
    const half = await read();
    expect(half.status).toBe(200);
    await expect(half.json()).rejects.toThrow(SyntaxError);
    expect(await bodyOf(await read())).toMatchObject({ values: [['something to show']] });
  });
});

describe('limits', () => {
  test('refuse the whole batch when one cell is too long', async () => {
    const { batch, read } = await startEmulator();
    const write = (value: string, rowIndex: number) => ({
      updateCells: {
        start: { sheetId: 0, rowIndex, columnIndex: 0 },
        rows: [{ values: [text(value)] }],
        fields: 'userEnteredValue',
      },
    });
    await batch([write('x'.repeat(50_000), 0)]);
    const refusal = await refusalOf(batch([write('short', 1), write('x'.repeat(50_001), 2)]));
    expect(refusal).toMatchObject({
      code: 400,
      message: expect.stringContaining(
        'Your input contains more than the maximum of 50000 characters in a single cell.',
      ),
    });
    expect(await read('A2:A3')).toBeUndefined();
  });

  test('refuse more than ten million cells in all tabs together, however the grid would grow', async () => {
    const { api, spreadsheetId, batch } = await startEmulator();
    const limit =
      'This action would increase the number of cells in the workbook above the limit of 10000000 cells.';
    const grown = { properties: { sheetId: 0, gridProperties: { rowCount: 384_616 } } };
    const growths = [
      { updateSheetProperties: { ...grown, fields: 'gridProperties.rowCount' } },
      { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 383_616 } },
      { insertDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 5, endIndex: 383_621 } } },
      { addSheet: { properties: { title: 'Big', gridProperties: { rowCount: 500_000, columnCount: 26 } } } },
    ];
    for (const growth of growths) {
      const refusal = await refusalOf(batch([growth]));
      expect(refusal).toEqual({
        code: 400,
        message: `Invalid requests[0].${Object.keys(growth)[0]}: ${limit}`,
      });
    }
    const { data } = await api.spreadsheets.get({
      spreadsheetId,
      fields: 'sheets.properties.gridProperties',
    });
    expect(data.sheets).toEqual([{ properties: { gridProperties: { rowCount: 1000, columnCount: 26 } } }]);
  });
});

describe('faults', () => {
  test('fails before or after the write, and as often as asked', async () => {
    const { fill, read, setFaults } = await startEmulator();
    await setFaults({
      failures: [
        { kind: 'unavailable', when: 'before' },
        { kind: 'unavailable', when: 'after' },
      ],
    });
    expect(await refusalOf(fill([['lost']]))).toMatchObject({ code: 503 });
    expect(await refusalOf(fill([['landed']]))).toMatchObject({ code: 503 });
    expect(await read('A1')).toEqual([['landed']]);
    await fill([['well again']]);
    expect(await read('A1')).toEqual([['well again']]);
  });

  test('cuts the connection after a write that landed', async () => {
    const { fill, read, setFaults } = await startEmulator();
    await setFaults({ failures: [{ kind: 'cut', when: 'after' }] });
    await expect(fill([['landed']])).rejects.toMatchObject({ status: undefined });
    expect(await read('A1')).toEqual([['landed']]);
  });

  test('lets a person sort between a read and the next write', async () => {
    const { fill, read, setFaults } = await startEmulator();
    await fill([['b'], ['a']]);
    await setFaults({ beforeNextWrite: [{ kind: 'sort', sheet: 'Sheet1', column: 0 }] });
    await fill([['written']]);
    expect(await read('Sheet1')).toEqual([['written'], ['b']]);
  });
});

describe('quota', () => {
  test('answers 429 in Google’s words when the minute is used up, and recovers with time', async () => {
    let nowMs = 0;
    const { fill, read, usage } = await startEmulator({
      quotas: { readsPerMinute: 2, writesPerMinute: 1 },
      clock: () => nowMs,
    });
    await fill([['x']]);
    const refusal = await refusalOf(fill([['y']]));
    expect(refusal.code).toBe(429);
    expect(refusal.message).toMatch(
      /^Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute per user'/,
    );
    await read('A1');
    await read('A1');
    expect(await refusalOf(read('A1'))).toMatchObject({ code: 429 });
    nowMs = 60_000;
    expect(await read('A1')).toEqual([['x']]);
    expect(await usage()).toMatchObject({
      read: { total: 4, refused: 1, largestInWindow: 3 },
      write: { total: 2, refused: 1, largestInWindow: 2 },
    });
  });

  test('counts for each spreadsheet, as if each had a user of its own', async () => {
    const { api, read, spreadsheetId } = await startEmulator({ quotas: { readsPerMinute: 1 } });
    const { data } = await api.spreadsheets.create({ requestBody: {} });
    await read('A1');
    expect(await refusalOf(read('A1'))).toMatchObject({ code: 429 });
    expect(data.spreadsheetId).not.toBe(spreadsheetId);
    const other = await api.spreadsheets.get({ spreadsheetId: data.spreadsheetId ?? '' });
    expect(other.data.sheets).toHaveLength(1);
  });

  test('counts for each `quotaUser` that a request names', async () => {
    const { api, read, spreadsheetId } = await startEmulator({ quotas: { readsPerMinute: 1 } });
    await read('A1');
    expect(await refusalOf(read('A1'))).toMatchObject({ code: 429 });
    const another = await api.spreadsheets.get({ spreadsheetId, quotaUser: 'another' });
    expect(another.data.spreadsheetId).toBe(spreadsheetId);
  });
});
