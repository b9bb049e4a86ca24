import { describe, expect, test } from 'vitest';
import type { Choices } from '../../src/sandbox/sheets/control/choices.ts';
import { countCells } from '../../src/sandbox/sheets/control/read-time.ts';
import { refusalOf, startEmulator } from '../support/sandbox-sheets-client.ts';

const rows = (startRowIndex: number, endRowIndex: number, startColumnIndex: number) => ({
  sheetId: 0,
  startRowIndex,
  endRowIndex,
  startColumnIndex,
  endColumnIndex: startColumnIndex + 1,
});

const filter = {
  range: { sheetId: 0, endColumnIndex: 1, endRowIndex: 5 },
  filterSpecs: [{ columnIndex: 0, filterCriteria: { hiddenValues: ['Won'] } }],
};

/** A column whose third row, `Won`, is hidden by the basic filter, with a column of letters beside it. */
async function filtered(hiddenRowCopy?: Choices['hiddenRowCopy']) {
  const emulator = await startEmulator();
  await emulator.fill([['Stage'], ['New'], ['Won'], ['Lost'], ['Old']]);
  await emulator.batch([{ setBasicFilter: { filter } }]);
  if (hiddenRowCopy) await emulator.choose({ '*': { hiddenRowCopy } });
  const copy = (source: object, destination: object) =>
    emulator.batch([{ copyPaste: { source, destination } }]);
  const column = async (range: string) => (await emulator.read(range, { majorDimension: 'COLUMNS' }))?.[0];
  return { ...emulator, copy, column };
}

describe('copies of rows that a filter hides', () => {
  const blocks = [
    [undefined, ['New', 'Lost', 'New', 'Lost']],
    ['skipAndTile', ['New', 'Lost', 'New', 'Lost']],
    ['nothing', ['New', '', 'Lost']],
    ['copied', ['New', 'Won', 'Lost']],
  ] as const;
  test.each(blocks)('come to this when %s is chosen: %j', async (choice, copied) => {
    const { copy, column } = await filtered(choice);
    await copy(rows(1, 4, 0), rows(6, 10, 2));
    expect(await column('C7:C10')).toEqual(copied);
  });

  test.each(blocks)('alone do nothing unless they are copied like others (%s)', async (choice) => {
    const { copy, column } = await filtered(choice);
    await copy(rows(2, 3, 0), rows(6, 7, 2));
    expect(await column('C7')).toEqual(choice === 'copied' ? ['Won'] : undefined);
  });

  const targets = [
    ['skipAndTile', ['New', '', 'New']],
    ['nothing', ['New', '', 'New']],
    ['copied', ['New', 'New', 'New']],
  ] as const;
  test.each(targets)(
    'as places to paste to are left alone or not when %s is chosen',
    async (choice, copied) => {
      const { copy, column } = await filtered(choice);
      await copy(rows(1, 2, 0), rows(1, 4, 3));
      expect(await column('D2:D5')).toEqual(copied);
    },
  );

  test('turned into columns leave out the column that was hidden', async () => {
    const { batch, read } = await filtered('nothing');
    const pasteOrientation = 'TRANSPOSE';
    await batch([{ copyPaste: { source: rows(1, 4, 0), destination: rows(6, 7, 2), pasteOrientation } }]);
    expect(await read('C7:E7')).toEqual([['New', '', 'Lost']]);
  });

  test('can refuse the whole batch, and only a batch that meets one', async () => {
    const { copy, batch, column } = await filtered('refused');
    await copy(rows(0, 2, 0), rows(6, 8, 2));
    expect(await column('C7:C8')).toEqual(['Stage', 'New']);
    const write = {
      updateCells: {
        start: { sheetId: 0, columnIndex: 5 },
        rows: [{ values: [{ note: 'n' }] }],
        fields: 'note',
      },
    };
    for (const [source, destination] of [
      [rows(2, 3, 0), rows(6, 7, 3)],
      [rows(1, 2, 0), rows(1, 4, 3)],
    ] as const) {
      const refusal = await refusalOf(batch([write, { copyPaste: { source, destination } }]));
      expect(refusal).toMatchObject({
        code: 400,
        message: expect.stringMatching(/^Invalid requests\[1\]\.copyPaste: /),
      });
    }
    expect(await column('D1:D8')).toBeUndefined();
  });
});

test.each([
  ['copied', ['New', 'Won', 'Lost']],
  ['asFiltered', ['New', '', 'Lost']],
] as const)(
  'copies of rows that are hidden by hand are chosen apart: %s',
  async (handHiddenRowCopy, copied) => {
    const { batch, choose, copy, column } = await filtered('nothing');
    const range = { sheetId: 0, dimension: 'ROWS', startIndex: 2, endIndex: 3 };
    await batch([
      { clearBasicFilter: { sheetId: 0 } },
      { updateDimensionProperties: { range, properties: { hiddenByUser: true }, fields: 'hiddenByUser' } },
    ]);
    await choose({ '*': { hiddenRowCopy: 'nothing', handHiddenRowCopy } });
    await copy(rows(1, 4, 0), rows(6, 10, 2));
    expect(await column('C7:C10')).toEqual(copied);
  },
);

test.each([
  ['brought', 1],
  ['leftOut', 0],
] as const)('the metadata of a spreadsheet is %s by a read of ranges', async (metadataByRange, entries) => {
  const { api, batch, choose, spreadsheetId } = await startEmulator();
  const developerMetadata = { metadataKey: 'k', visibility: 'DOCUMENT', location: { spreadsheet: true } };
  await batch([{ createDeveloperMetadata: { developerMetadata } }]);
  await choose({ '*': { metadataByRange } });
  const read = async (dataFilters: object[]) =>
    (await api.spreadsheets.getByDataFilter({ spreadsheetId, requestBody: { dataFilters } })).data
      .developerMetadata?.length ?? 0;
  expect(await read([{ gridRange: rows(0, 1, 0) }])).toBe(entries);
});

test('the time of a read goes by the cells that its answer brings', () => {
  const row = (length: number) => ({ values: Array.from({ length }, () => ({})) });
  const sheet = (...lengths: number[]) => ({ data: [{ rowData: lengths.map(row) }, { startRow: 5 }] });
  expect(countCells({ sheets: [sheet(2, 0, 3), sheet(4), {}] })).toBe(9);
  expect(countCells({ values: [[1, 2]] })).toBe(0);
});

test('what is chosen for one spreadsheet leaves others as they are, and `*` reaches those made later', async () => {
  const { api, choose, spreadsheetId, rootUrl } = await startEmulator();
  await choose({ [spreadsheetId]: { tableGrowth: 'never' }, '*': { tableGrowth: 'always' } });
  const { data } = await api.spreadsheets.create({ requestBody: { properties: { title: 'Other' } } });
  const endOfTable = async (id: string) => {
    const table = { table: { range: { sheetId: 0, endRowIndex: 3, endColumnIndex: 2 } } };
    const range = { sheetId: 0, dimension: 'ROWS', startIndex: 3, endIndex: 4 };
    const requests = [{ addTable: table }, { insertDimension: { range, inheritFromBefore: true } }];
    await api.spreadsheets.batchUpdate({ spreadsheetId: id, requestBody: { requests } });
    const found = await api.spreadsheets.get({ spreadsheetId: id, fields: 'sheets.tables.range' });
    return found.data.sheets?.[0]?.tables?.[0]?.range?.endRowIndex;
  };
  expect(await endOfTable(spreadsheetId)).toBe(3);
  expect(await endOfTable(data.spreadsheetId ?? '')).toBe(4);
  expect(
    (await fetch(`${rootUrl}/__sandbox/choices`, { method: 'POST', body: '{"*":{"no":1}}' })).status,
  ).toBe(400);
});

describe('a row inserted right behind a Table', () => {
  const cases = [
    [undefined, true, 4],
    [undefined, false, 3],
    ['always', false, 4],
    ['never', true, 3],
  ] as const;
  test.each(cases)(
    'makes it larger or not (%s, inherits: %s)',
    async (tableGrowth, inheritFromBefore, end) => {
      const { api, batch, choose, spreadsheetId } = await startEmulator();
      if (tableGrowth) await choose({ [spreadsheetId]: { tableGrowth } });
      await batch([{ addTable: { table: { range: { sheetId: 0, endRowIndex: 3, endColumnIndex: 2 } } } }]);
      const range = { sheetId: 0, dimension: 'ROWS', startIndex: 3, endIndex: 4 };
      await batch([{ insertDimension: { range, inheritFromBefore } }]);
      const { data } = await api.spreadsheets.get({
        spreadsheetId,
        fields: 'sheets.tables.range.endRowIndex',
      });
      expect(data).toMatchObject({ sheets: [{ tables: [{ range: { endRowIndex: end } }] }] });
    },
  );
});
