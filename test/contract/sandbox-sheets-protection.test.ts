import { beforeEach, describe, expect, test } from 'vitest';
import { type Emulator, refusalOf, startEmulator, text } from '../support/sandbox-sheets-client.ts';

const REFUSED = 'You are trying to edit a protected cell or object.';
/** Row 2 of the columns A and B. */
const PROTECTED = { sheetId: 0, startRowIndex: 1, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 2 };

describe('a range that the owner protects', () => {
  let emulator: Emulator;

  /** What the owner of the spreadsheet does by hand. */
  async function asOwner(...requests: object[]): Promise<void> {
    const url = `${emulator.rootUrl}/__sandbox/owner`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ requests }) });
    expect(answer.status).toBe(200);
  }

  function write(rowIndex: number, columnIndex: number, value: string) {
    const start = { sheetId: 0, rowIndex, columnIndex };
    return { updateCells: { start, rows: [{ values: [text(value)] }], fields: 'userEnteredValue' } };
  }

  const rows = (startIndex: number, endIndex: number) => ({
    sheetId: 0,
    dimension: 'ROWS',
    startIndex,
    endIndex,
  });

  beforeEach(async () => {
    emulator = await startEmulator();
    await emulator.fill([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
      ['g', 'h', 'i'],
    ]);
    await asOwner({ addProtectedRange: { protectedRange: { protectedRangeId: 7, range: PROTECTED } } });
  });

  test('refuses the service account with a 400 in Google’s words, and the whole batch with it', async () => {
    const refusal = await refusalOf(emulator.batch([write(0, 0, 'A'), write(1, 1, 'E')]));
    expect(refusal.code).toBe(400);
    expect(refusal.message).toContain(`Invalid requests[1].updateCells: ${REFUSED}`);
    expect(await emulator.read('A1:B2')).toEqual([
      ['a', 'b'],
      ['d', 'e'],
    ]);
  });

  test('refuses writes of values and clearing as well', async () => {
    const values = [['A'], ['D']];
    expect((await refusalOf(emulator.fill(values))).message).toContain(REFUSED);
    const { api, spreadsheetId } = emulator;
    const clearing = api.spreadsheets.values.clear({ spreadsheetId, range: 'A1:C3' });
    expect((await refusalOf(clearing)).message).toContain(REFUSED);
  });

  test('refuses deleting its row and sorting across it', async () => {
    const deletion = emulator.batch([{ deleteDimension: { range: rows(1, 2) } }]);
    expect((await refusalOf(deletion)).message).toContain(REFUSED);
    const range = { sheetId: 0, startRowIndex: 0, endRowIndex: 2 };
    const sortSpecs = [{ dimensionIndex: 0, sortOrder: 'DESCENDING' }];
    const sorting = emulator.batch([{ sortRange: { range, sortSpecs } }]);
    expect((await refusalOf(sorting)).message).toContain(REFUSED);
    expect(await emulator.read('A1:A3')).toEqual([['a'], ['d'], ['g']]);
  });

  test('lets the cells beside it be written, and follows its row', async () => {
    await emulator.batch([write(1, 2, 'F'), { insertDimension: { range: rows(0, 1) } }, write(1, 0, 'A')]);
    expect(await emulator.read('A1:C4')).toEqual([[], ['A', 'b', 'c'], ['d', 'e', 'F'], ['g', 'h', 'i']]);
    expect((await refusalOf(emulator.batch([write(2, 0, 'D')]))).message).toContain(REFUSED);
  });

  test('binds neither the owner nor a person at the grid', async () => {
    await asOwner(write(1, 0, 'D'));
    await emulator.person({ kind: 'edit', sheet: 'Sheet1', row: 1, column: 1, text: 'E' });
    expect(await emulator.read('A2:B2')).toEqual([['D', 'E']]);
  });

  test('can be neither loosened nor taken away by the service account', async () => {
    const loosened = { protectedRange: { protectedRangeId: 7, warningOnly: true }, fields: 'warningOnly' };
    const update = emulator.batch([{ updateProtectedRange: loosened }]);
    expect((await refusalOf(update)).message).toContain(REFUSED);
    const deletion = emulator.batch([{ deleteProtectedRange: { protectedRangeId: 7 } }]);
    expect((await refusalOf(deletion)).message).toContain(REFUSED);
  });

  test('is shown without the names of its editors', async () => {
    const { api, spreadsheetId } = emulator;
    const { data } = await api.spreadsheets.get({ spreadsheetId, fields: 'sheets.protectedRanges' });
    const { sheetId: _, ...range } = PROTECTED;
    expect(data.sheets).toEqual([{ protectedRanges: [{ protectedRangeId: 7, range }] }]);
  });

  test('does not stop anybody when it only warns', async () => {
    const warning = { protectedRange: { protectedRangeId: 7, warningOnly: true }, fields: 'warningOnly' };
    await asOwner({ updateProtectedRange: warning });
    await emulator.batch([write(1, 0, 'D')]);
    expect(await emulator.read('A2')).toEqual([['D']]);
  });

  test('may be edited by the service account when that made it', async () => {
    const range = { sheetId: 0, startRowIndex: 2, endRowIndex: 3 };
    const { replies } = await emulator.batch([{ addProtectedRange: { protectedRange: { range } } }]);
    expect(replies?.[0]?.addProtectedRange?.protectedRange).toMatchObject({ requestingUserCanEdit: true });
    await emulator.batch([write(2, 0, 'G')]);
    expect(await emulator.read('A3')).toEqual([['G']]);
  });
});
