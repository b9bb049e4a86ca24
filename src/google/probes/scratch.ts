import { area, quoteTitle } from '../a1.ts';
import type { Request, Spreadsheet } from '../client.ts';

/*
 * What no document says of Google is tried on a hidden tab of ours, which is there for some seconds. Each unknown has rows of its own. Nothing
 * names any other tab.
 */

export const scratchTitle = 'crm-sheet-sync probes, please leave';
export const scratchId = 1_913_724_615;

/** Rows of which one is hidden between two that are shown, and where copies of them go. */
export interface HiddenRows {
  /** The first of the three. */
  readonly top: number;
  /** Where a copy of the hidden one alone goes. */
  readonly loneCopy: number;
  /** Where a copy of all three goes. */
  readonly blockCopy: number;
}

/** Below the header of the filter. */
export const filtered: HiddenRows = { top: 1, loneCopy: 8, blockCopy: 9 };
export const handHidden: HiddenRows = { top: 4, loneCopy: 12, blockCopy: 13 };

/** What is in the first column of the three rows. */
export const texts = ['above', 'hidden', 'below'] as const;

/** The header rows of two Tables that have two rows each. */
export const tableRows = { upper: 20, lower: 30 };

/** The rows below everything else, which are read for the time that it takes. */
export const timed = { top: 40, rows: 500, columns: 20 };

export const scratchSize = { rowCount: timed.top + timed.rows, columnCount: timed.columns };

/** Where the replies of all unknowns are read. */
export const scratchRange = `${quoteTitle(scratchTitle)}!1:${timed.top}`;

/** A rectangle of the scratch tab. */
export const part = (row: number, column: number, height: number, width: number) =>
  area(scratchId, row, column, height, width);

/** Makes the scratch tab with all that is tried there, and hidden, so that no user's selected tab changes. */
export const makeScratch = (): Request[] => [
  {
    addSheet: {
      properties: { sheetId: scratchId, title: scratchTitle, hidden: true, gridProperties: scratchSize },
    },
  },
  writeTexts(0, ['header', ...texts, ...texts]),
  {
    setBasicFilter: {
      filter: {
        range: part(0, 0, filtered.top + texts.length, 1),
        filterSpecs: [{ columnIndex: 0, filterCriteria: { hiddenValues: [texts[1]] } }],
      },
    },
  },
  {
    updateDimensionProperties: {
      range: {
        sheetId: scratchId,
        dimension: 'ROWS',
        startIndex: handHidden.top + 1,
        endIndex: handHidden.top + 2,
      },
      properties: { hiddenByUser: true },
      fields: 'hiddenByUser',
    },
  },
  {
    repeatCell: {
      range: part(timed.top, 0, timed.rows, timed.columns),
      cell: { userEnteredValue: { stringValue: 'as much as is in a cell' } },
      fields: 'userEnteredValue',
    },
  },
];

export const removeScratch: Request = { deleteSheet: { sheetId: scratchId } };

export const writeTexts = (rowIndex: number, column: readonly string[]): Request => ({
  updateCells: {
    start: { sheetId: scratchId, rowIndex, columnIndex: 0 },
    rows: column.map((stringValue) => ({ values: [{ userEnteredValue: { stringValue } }] })),
    fields: 'userEnteredValue',
  },
});

/** Field mask of what the unknowns read of a reply. */
export const replyFields =
  'sheets(properties.sheetId,tables(name,range),' +
  'data(startRow,rowMetadata(hiddenByFilter,hiddenByUser),rowData.values.userEnteredValue))';

/** The scratch tab in a reply. */
export const scratchIn = ({ sheets = [] }: Spreadsheet) =>
  sheets.find(({ properties }) => properties?.sheetId === scratchId);
