import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { type HeardSheet, hearSheet } from '../support/sheet-line.ts';
import { sheetLayout } from '../support/table-steps.ts';

let sheet: SandboxSheet;
let heard: HeardSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
  heard = await hearSheet(sheet);
  await heard.table.layOut(labelled(['New', 'Won', 'Lost']), 'create');
  heard.takeRequests();
});

afterEach(async () => {
  await heard[Symbol.asyncDispose]();
  await sheet.close();
});

/** The layout with these labels in the dropdown of the statuses. */
const labelled = (labels: readonly string[]): Layout =>
  sheetLayout.map((tab) => ({
    ...tab,
    columns: tab.columns.map((column) => (column.labels ? { ...column, labels } : column)),
  }));

/** The kinds of the requests that a start writes with, and the columns of the dropdowns among them. */
async function writtenAtStart(layout: Layout): Promise<readonly string[]> {
  await sheet.openTable().read(layout);
  const { table } = heard;
  await table.layOut(layout, 'refresh');
  await table.layOut(layout, 'create');
  const written = heard.takeRequests().filter(({ url }) => url.includes(':batchUpdate'));
  return written.flatMap(({ body }) =>
    (JSON.parse(body) as { requests: Record<string, { range?: { startColumnIndex?: number } }>[] }).requests
      .flatMap((request) => Object.entries(request))
      .map(([kind, { range }]) => (range ? `${kind} ${range.startColumnIndex}` : kind)),
  );
}

/** The column of the statuses, behind ID, Sync and Title. */
const statusColumn = 3;

const dropdown = (startRowIndex: number, endRowIndex: number, rule: object) => ({
  setDataValidation: {
    range: {
      sheetId: 0,
      startRowIndex,
      endRowIndex,
      startColumnIndex: statusColumn,
      endColumnIndex: statusColumn + 1,
    },
    rule,
  },
});

describe('a dropdown, of whose chips people choose the colours,', () => {
  test.each([
    ['stand in another order', ['Lost', 'New', 'Won']],
    ['are written in other case', ['NEW', 'won', 'Lost']],
    ['have other spaces', ['New ', 'Won', 'Lost']],
    ['are the same', ['New', 'Won', 'Lost']],
  ])('is not written again where its labels %s', async (_, labels) => {
    expect(await writtenAtStart(labelled(labels))).toEqual([]);
  });

  test.each([
    ['one comes', ['New', 'Won', 'Lost', 'Paused']],
    ['one goes', ['New', 'Won']],
    ['one has another name', ['New', 'Won', 'Gone']],
  ])('is written once where of its labels %s, and nothing else is', async (_, labels) => {
    expect(await writtenAtStart(labelled(labels))).toEqual([`setDataValidation ${statusColumn}`]);
    expect(await writtenAtStart(labelled(labels))).toEqual([]);
  });

  test('is not written again where a person put a row without one right below the header', async () => {
    await sheet.batch({
      insertDimension: {
        range: { sheetId: 0, dimension: 'ROWS', startIndex: 1, endIndex: 2 },
        inheritFromBefore: true,
      },
    });
    expect(await writtenAtStart(labelled(['New', 'Won', 'Lost']))).toEqual([]);
  });

  test('stays as it is where a person takes its labels from a list of their own', async () => {
    await sheet.person(
      { kind: 'addTab', title: 'Lists' },
      { kind: 'paste', sheet: 'Lists', row: 0, column: 0, rows: [['New'], ['Won'], ['Lost']] },
    );
    const values = [{ userEnteredValue: '=Lists!A1:A3' }];
    await sheet.batch(dropdown(1, 1000, { condition: { type: 'ONE_OF_RANGE', values }, showCustomUi: true }));
    expect(await writtenAtStart(labelled(['New', 'Won', 'Lost', 'Paused']))).toEqual([]);
  });

  test('is written where a person took it away', async () => {
    await sheet.batch(
      dropdown(1, 1000, { condition: { type: 'TEXT_CONTAINS', values: [{ userEnteredValue: 'e' }] } }),
    );
    expect(await writtenAtStart(labelled(['New', 'Won', 'Lost']))).toEqual([
      `setDataValidation ${statusColumn}`,
    ]);
  });
});

test('widths, formats, colours, notes and frozen rows that a person chose are not written again at a start', async () => {
  const body = { sheetId: 0, startRowIndex: 1, startColumnIndex: 2, endColumnIndex: 3 };
  await sheet.batch(
    {
      updateDimensionProperties: {
        range: { sheetId: 0, dimension: 'COLUMNS', startIndex: 2, endIndex: 3 },
        properties: { pixelSize: 333 },
        fields: 'pixelSize',
      },
    },
    {
      updateSheetProperties: {
        properties: { sheetId: 0, gridProperties: { frozenRowCount: 2 } },
        fields: 'gridProperties.frozenRowCount',
      },
    },
    {
      repeatCell: {
        range: body,
        cell: { userEnteredFormat: { backgroundColor: { red: 1 }, numberFormat: { type: 'NUMBER' } } },
        fields: 'userEnteredFormat(backgroundColor,numberFormat)',
      },
    },
    {
      updateCells: {
        start: { sheetId: 0, columnIndex: 2 },
        rows: [{ values: [{ note: 'Ours' }] }],
        fields: 'note',
      },
    },
  );
  expect(await writtenAtStart(labelled(['New', 'Won', 'Lost']))).toEqual([]);
});
