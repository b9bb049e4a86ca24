import { z } from 'zod';
import type { Cell } from '../cell.ts';
import { chipRunsShape } from '../display/chips.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../wire/json.ts';

/** The parts that many requests share, as Google's discovery document names them. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'expected an object');
export const json = z.custom<Json>();
/** A whole number; JSON may bring it as text, as it does for Google. */
export const int32 = z.preprocess(
  (sent) => (typeof sent === 'string' && /^-?\d+$/.test(sent) ? Number(sent) : sent),
  z.number().int(),
);
const index = int32.pipe(z.number().nonnegative());

/** A range whose indexes are numbers; a negative one Google refuses in words of its own. */
const rangeShape = <Shape extends z.ZodRawShape>(name: string, shape: Shape) =>
  z.object(shape).transform((range) => {
    const isNegative = ([key, value]: [string, unknown]) => /Index$/.test(key) && Number(value) < 0;
    if (Object.entries(range).some(isNegative)) throw invalidArgument(`${name} indexes must be >= 0`);
    return range;
  });

export const gridRange = rangeShape('GridRange', {
  sheetId: int32.optional(),
  startRowIndex: int32.optional(),
  endRowIndex: int32.optional(),
  startColumnIndex: int32.optional(),
  endColumnIndex: int32.optional(),
});

export const gridCoordinate = z.object({
  sheetId: int32.optional(),
  rowIndex: index.optional(),
  columnIndex: index.optional(),
});

export const dimension = z.enum(['ROWS', 'COLUMNS']);

export const dimensionRange = rangeShape('DimensionRange', {
  sheetId: int32.optional(),
  dimension,
  startIndex: int32.optional(),
  endIndex: int32.optional(),
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
  chipRuns: chipRunsShape.optional(),
  dataValidation: jsonObject.optional(),
  note: z.string().optional(),
});

export const rowShape = z.object({ values: z.array(cellShape).optional() });

export const fields = z.string().default('');
