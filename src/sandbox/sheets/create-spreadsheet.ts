import { z } from 'zod';
import { addSpreadsheet, type Documents, type StoredFile } from './documents.ts';
import { batchUpdate } from './requests/batch-update.ts';
import { parseRequest } from './requests/request-kind.ts';
import { jsonObject, rowShape } from './requests/request-shapes.ts';
import { type JsonObject, withoutNulls } from './wire/json.ts';

const createdShape = z.object({
  properties: z
    .object({ title: z.string().optional(), locale: z.string().optional(), timeZone: z.string().optional() })
    .default({}),
  sheets: z
    .array(
      z.object({
        properties: jsonObject.default({}),
        data: z
          .array(
            z.object({
              startRow: z.number().int().default(0),
              startColumn: z.number().int().default(0),
              rowData: z.array(rowShape).default([]),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
  namedRanges: z.array(jsonObject).default([]),
});

/** `spreadsheets.create`: a new file with the tabs, cells and named ranges that are sent, or with one empty tab. */
export function createSpreadsheetFile(documents: Documents, body: unknown, nowMs: number): StoredFile {
  const { properties, sheets, namedRanges } = parseRequest(createdShape, withoutNulls(body));
  const { title = 'Untitled spreadsheet', locale, timeZone } = properties;
  const { nextId } = documents.ids;
  const identified = sheets.map((sheet, index) => ({
    ...sheet,
    // Without an id of its own the first tab is number 0.
    sheetId: Number(sheet.properties['sheetId'] ?? (index === 0 ? 0 : nextId())),
  }));
  const requests: JsonObject[] = [
    ...identified.map((sheet, index) => ({
      addSheet: { properties: { title: `Sheet${index + 1}`, ...sheet.properties, sheetId: sheet.sheetId } },
    })),
    ...identified.flatMap(({ sheetId, data }) =>
      data.map(({ startRow, startColumn, rowData }) => ({
        updateCells: {
          start: { sheetId, rowIndex: startRow, columnIndex: startColumn },
          rows: z.array(jsonObject).parse(rowData),
          fields: '*',
        },
      })),
    ),
    ...namedRanges.map((namedRange) => ({ addNamedRange: { namedRange } })),
  ];
  const file = addSpreadsheet(documents, { title, locale, timeZone }, nowMs);
  if (requests.length === 0) return file;
  const blank = sheets.length > 0 ? { ...file.spreadsheet, sheets: [] } : file.spreadsheet;
  file.spreadsheet = batchUpdate(blank, { requests }, '', nextId).spreadsheet;
  return file;
}
