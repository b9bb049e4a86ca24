import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { describe, expect, test } from 'vitest';
import { refusalOf, startEmulator } from '../support/sandbox-sheets-client.ts';

const file = 'https://docs.google.com/document/d/1/edit';
const person = { personProperties: { email: 'ada@example.com' } };
const link = { richLinkProperties: { uri: file } };

/** An emulator with `@ wrote @.` in A1, a person and a file. */
async function withChips() {
  const emulator = await startEmulator();
  const put = (cell: sheets_v4.Schema$CellData, fields = 'userEnteredValue,chipRuns') =>
    emulator.batch([{ updateCells: { start: { sheetId: 0 }, rows: [{ values: [cell] }], fields } }]);
  const cell = async (fields: string) => {
    const request = { spreadsheetId: emulator.spreadsheetId, ranges: ['Sheet1!A1'] };
    const answer = await emulator.api.spreadsheets.get({
      ...request,
      fields: `sheets.data.rowData.values(${fields})`,
    });
    return answer.data.sheets?.[0]?.data?.[0]?.rowData?.[0]?.values?.[0];
  };
  await put({
    userEnteredValue: { stringValue: '@ wrote @.' },
    chipRuns: [{ chip: person }, { startIndex: 8, chip: link }],
  });
  return { ...emulator, put, cell };
}

describe('chips in a cell', () => {
  test('are read where the mask asks for them, with the text between them as runs', async () => {
    const { cell } = await withChips();
    expect(await cell('chipRuns,userEnteredValue')).toEqual({
      userEnteredValue: { stringValue: '@ wrote @.' },
      chipRuns: [{ chip: person }, { startIndex: 1 }, { startIndex: 8, chip: link }, { startIndex: 9 }],
    });
    expect(await cell('userEnteredValue')).toEqual({ userEnteredValue: { stringValue: '@ wrote @.' } });
  });

  test('show whom and what they link to', async () => {
    const { cell, read } = await withChips();
    expect(await cell('formattedValue')).toEqual({ formattedValue: `ada@example.com wrote ${file}.` });
    expect(await read('A1')).toEqual([[`ada@example.com wrote ${file}.`]]);
    expect(await read('A1', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([['@ wrote @.']]);
  });

  test('can read as what they show where that is chosen', async () => {
    const { cell, choose, read } = await withChips();
    await choose({ '*': { chipText: 'shown' } });
    expect(await cell('chipRuns,userEnteredValue,formattedValue')).toEqual({
      userEnteredValue: { stringValue: `ada@example.com wrote ${file}.` },
      formattedValue: `ada@example.com wrote ${file}.`,
      chipRuns: [
        { chip: person },
        { startIndex: 15 },
        { startIndex: 22, chip: link },
        { startIndex: 22 + file.length },
      ],
    });
    expect(await read('A1', { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual([
      [`ada@example.com wrote ${file}.`],
    ]);
  });

  const writes = [
    ['updateCells', ({ put }) => put({ userEnteredValue: { stringValue: 'plain @' } }, 'userEnteredValue')],
    ['values.update', ({ fill }) => fill([['plain @']])],
    [
      'a person who types',
      ({ person: act }) => act({ kind: 'edit', sheet: 0, row: 0, column: 0, text: 'plain @' }),
    ],
  ] as const satisfies [string, (emulator: Awaited<ReturnType<typeof withChips>>) => Promise<unknown>][];
  test.each(writes)('are gone once a plain value is written over them by %s', async (_, write) => {
    const emulator = await withChips();
    await write(emulator);
    expect(await emulator.cell('chipRuns,formattedValue')).toEqual({ formattedValue: 'plain @' });
  });

  test('stay when only a note or a format is written', async () => {
    const { cell, put } = await withChips();
    await put({ note: 'n', userEnteredFormat: { textFormat: { bold: true } } }, 'note,userEnteredFormat');
    expect((await cell('chipRuns'))?.chipRuns).toHaveLength(4);
  });

  test('are copied with their cell, and become text where values are pasted', async () => {
    const { batch, read, api, spreadsheetId } = await withChips();
    const area = (row: number) => ({
      sheetId: 0,
      startRowIndex: row,
      endRowIndex: row + 1,
      startColumnIndex: 0,
      endColumnIndex: 1,
    });
    await batch([
      { copyPaste: { source: area(0), destination: area(1) } },
      { copyPaste: { source: area(0), destination: area(2), pasteType: 'PASTE_VALUES' } },
    ]);
    const { data } = await api.spreadsheets.get({
      spreadsheetId,
      ranges: ['A2:A3'],
      fields: 'sheets.data.rowData.values.chipRuns',
    });
    const rows = data.sheets?.[0]?.data?.[0]?.rowData;
    expect(rows?.[0]?.values?.[0]?.chipRuns).toHaveLength(4);
    expect(rows?.[1]?.values?.[0]).toEqual({});
    expect(await read('A3', { valueRenderOption: 'FORMULA' })).toEqual([[`ada@example.com wrote ${file}.`]]);
  });

  test('can be put there by a person, who can take it back', async () => {
    const { cell, person: act } = await withChips();
    await act({ kind: 'insertChips', sheet: 0, row: 0, column: 0, chips: [{ email: 'bob@example.com' }] });
    const bob = { chip: { personProperties: { email: 'bob@example.com' } } };
    expect(await cell('chipRuns,formattedValue')).toEqual({
      formattedValue: 'bob@example.com',
      chipRuns: [bob],
    });
    await act({ kind: 'undo' });
    expect((await cell('chipRuns'))?.chipRuns).toHaveLength(4);
  });

  const refused = [
    ['no placeholder', 'no place', { chip: person }],
    ['another place than its placeholder', 'a @', { startIndex: 1, chip: person }],
    ['nothing to link to', '@', { chip: {} }],
    [
      'a link that is no file of Drive',
      '@',
      { chip: { richLinkProperties: { uri: 'https://example.com' } } },
    ],
  ] as const;
  test.each(refused)('are refused with %s', async (_, stringValue, run) => {
    const { put } = await withChips();
    const refusal = await refusalOf(put({ userEnteredValue: { stringValue }, chipRuns: [run] }));
    expect(refusal).toMatchObject({ code: 400, message: expect.stringMatching(/updateCells: chipRuns/) });
  });
});
