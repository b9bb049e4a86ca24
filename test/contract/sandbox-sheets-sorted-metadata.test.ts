import { describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../support/sandbox-sheets-client.ts';

const tag = (metadataKey: string, dimension: string, startIndex: number) => ({
  createDeveloperMetadata: {
    developerMetadata: {
      metadataKey,
      visibility: 'DOCUMENT',
      location: { dimensionRange: { sheetId: 0, dimension, startIndex, endIndex: startIndex + 1 } },
    },
  },
});

/** A list of three rows below a header, its second row and second column tagged. */
async function tagged() {
  const emulator = await startEmulator();
  await emulator.fill([
    ['Name', 'Rank'],
    ['c', 1],
    ['a', 3],
    ['b', 2],
  ]);
  const frozen = { properties: { sheetId: 0, gridProperties: { frozenRowCount: 1 } } };
  await emulator.batch([
    { updateSheetProperties: { ...frozen, fields: 'gridProperties.frozenRowCount' } },
    tag('row a', 'ROWS', 2),
    tag('rank', 'COLUMNS', 1),
    tag('empty row', 'ROWS', 10),
  ]);
  return emulator;
}

async function indexOf({ api, spreadsheetId }: Emulator, metadataKey: string) {
  const requestBody = { dataFilters: [{ developerMetadataLookup: { metadataKey } }] };
  const { data } = await api.spreadsheets.developerMetadata.search({ spreadsheetId, requestBody });
  return data.matchedDeveloperMetadata?.[0]?.developerMetadata?.location?.dimensionRange?.startIndex;
}

const byName = {
  range: { sheetId: 0, startRowIndex: 1, endRowIndex: 4 },
  sortSpecs: [{ dimensionIndex: 0 }],
};
const byRank = { sheet: 0, column: 1, descending: true } as const;
const sorts = [
  ['sortRange', ({ batch }) => batch([{ sortRange: byName }]), 1],
  [
    'sortRange over one column of the row',
    ({ batch }) => batch([{ sortRange: { ...byName, range: { ...byName.range, endColumnIndex: 1 } } }]),
    1,
  ],
  [
    'a basic filter that sorts',
    ({ batch }) =>
      batch([
        {
          setBasicFilter: {
            filter: { range: { sheetId: 0, endRowIndex: 4 }, sortSpecs: [{ dimensionIndex: 0 }] },
          },
        },
      ]),
    1,
  ],
  ['a person', ({ person }) => person({ kind: 'sort', ...byRank }), 1],
  ['a person who takes it back', ({ person }) => person({ kind: 'sort', ...byRank }, { kind: 'undo' }), 2],
] as const satisfies [string, (emulator: Emulator) => Promise<unknown>, number][];

describe('metadata of a row', () => {
  test.each(sorts)('goes with its row when it is sorted by %s', async (_, sort, index) => {
    const emulator = await tagged();
    await sort(emulator);
    expect(await emulator.read(`A${index + 1}`)).toEqual([['a']]);
    expect(await indexOf(emulator, 'row a')).toBe(index);
    expect(await indexOf(emulator, 'rank')).toBe(1);
    expect(await indexOf(emulator, 'empty row')).toBe(10);
  });

  test('stays in its place where that is chosen', async () => {
    const emulator = await tagged();
    await emulator.choose({ '*': { sortedRowMetadata: 'stays' } });
    await emulator.batch([{ sortRange: byName }]);
    expect(await indexOf(emulator, 'row a')).toBe(2);
  });
});

test('metadata of a column goes with its column when that is moved', async () => {
  const emulator = await tagged();
  await emulator.person({ kind: 'moveColumns', sheet: 0, column: 1, count: 1, to: 0 });
  expect(await indexOf(emulator, 'rank')).toBe(0);
});
