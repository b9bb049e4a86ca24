import { z } from 'zod';
import type { Cell } from './cell.ts';
import type { Json, JsonObject } from './json.ts';
import { isJsonObject } from './json.ts';

/** The parts that many requests share, as Google's discovery document names them. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'expected an object');
export const json = z.custom<Json>();
/** A whole number; JSON may bring it as text, as it does for Google. */
export const int32 = z.preprocess(
  (sent) => (typeof sent === 'string' && /^-?\d+$/.test(sent) ? Number(sent) : sent),
  z.number().int(),
);
const index = int32.pipe(z.number().nonnegative());

export const gridRange = z.object({
  sheetId: int32.optional(),
  startRowIndex: index.optional(),
  endRowIndex: index.optional(),
  startColumnIndex: index.optional(),
  endColumnIndex: index.optional(),
});

export const gridCoordinate = z.object({
  sheetId: int32.optional(),
  rowIndex: index.optional(),
  columnIndex: index.optional(),
});

export const dimension = z.enum(['ROWS', 'COLUMNS']);

export const dimensionRange = z.object({
  sheetId: int32.optional(),
  dimension,
  startIndex: index.optional(),
  endIndex: index.optional(),
});

const extendedValue = z.object({
  numberValue: z.number().optional(),
  stringValue: z.string().optional(),
  boolValue: z.boolean().optional(),
  formulaValue: z.string().optional(),
});

/** Read-only parts of a cell (effectiveValue, formattedValue) are let through and ignored. */
export const cellShape: z.ZodType<Cell> = z.object({
  userEnteredValue: extendedValue.optional(),
  userEnteredFormat: jsonObject.optional(),
  textFormatRuns: json.optional(),
  dataValidation: jsonObject.optional(),
  note: z.string().optional(),
});

export const rowShape = z.object({ values: z.array(cellShape).optional() });

export const fields = z.string().default('');
