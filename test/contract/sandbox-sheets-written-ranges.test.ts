import { describe, expect, test } from 'vitest';
import { startEmulator } from '../support/sandbox-sheets-client.ts';

/** What `values.update` and `values.append` answer about a tab of six headers. */
async function writes() {
  const { api, fill, spreadsheetId } = await startEmulator();
  await fill([['id', 'first', 'groups', 'last', 'text', 'number']]);
  const options = { spreadsheetId, valueInputOption: 'USER_ENTERED', includeValuesInResponse: true };
  return {
    update: async (range: string, values: unknown[][]) =>
      (await api.spreadsheets.values.update({ ...options, range, requestBody: { values } })).data,
    append: async (values: unknown[][]) =>
      (await api.spreadsheets.values.append({ ...options, range: 'Sheet1!A1', requestBody: { values } })).data
        .updates,
  };
}

describe('the range of an update', () => {
  test('is that of its values, and what is shown of it is the range that was asked for', async () => {
    const { update } = await writes();
    expect(await update('Sheet1!A2:F2', [['1', 'John', '', '']])).toMatchObject({
      updatedRange: 'Sheet1!A2:D2',
      updatedRows: 1,
      updatedColumns: 4,
      updatedCells: 4,
      updatedData: { range: 'Sheet1!A2:F2', values: [['1', 'John']] },
    });
  });

  test('from one cell on is shown as far as it was written', async () => {
    const { update } = await writes();
    const answer = await update('Sheet1!B3', [[1, 2], [3]]);
    expect(answer).toMatchObject({ updatedRange: 'Sheet1!B3:C4', updatedData: { range: 'Sheet1!B3:C4' } });
  });

  test('of a whole tab is shown whole', async () => {
    const { update } = await writes();
    const answer = await update('Sheet1', [['x']]);
    expect(answer).toMatchObject({ updatedRange: 'Sheet1!A1', updatedData: { range: 'Sheet1!A1:Z1000' } });
  });
});

test('nulls at the end of what is appended are no part of the range, an empty text is', async () => {
  const { append } = await writes();
  expect(await append([['1', 'John', '', null, null, null]])).toMatchObject({
    updatedRange: 'Sheet1!A2:C2',
    updatedRows: 1,
    updatedColumns: 3,
    updatedCells: 3,
    updatedData: { range: 'Sheet1!A2:C2', values: [['1', 'John']] },
  });
});

test('nulls between values are part of the range', async () => {
  const { append } = await writes();
  const answer = await append([
    [null, 'a', null],
    ['b', null],
  ]);
  expect(answer).toMatchObject({
    updatedRange: 'Sheet1!A2:B3',
    updatedRows: 2,
    updatedColumns: 2,
    updatedCells: 2,
  });
});

const titles = [
  ['Deals', 'Deals'],
  ['Sheet_2', 'Sheet_2'],
  ['D3', "'D3'"],
  ['tab1', "'tab1'"],
  ['2026', "'2026'"],
  ['export-records', "'export-records'"],
  ['Лист1', "'Лист1'"],
  ['My tab', "'My tab'"],
  ["Bob's", "'Bob''s'"],
] as const;
test.each(titles)('a tab called %s is named %s in ranges', async (title, named) => {
  const { api, batch, spreadsheetId } = await startEmulator();
  await batch([{ updateSheetProperties: { properties: { sheetId: 0, title }, fields: 'title' } }]);
  const range = `'${title.replaceAll("'", "''")}'!A1:B2`;
  const { data } = await api.spreadsheets.values.get({ spreadsheetId, range });
  expect(data.range).toBe(`${named}!A1:B2`);
});
