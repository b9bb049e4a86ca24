import { z } from 'zod';
import { dimensionRange, gridRange } from '../requests/request-shapes.ts';
import { type DeveloperMetadata, type Spreadsheet, sizeOf } from '../spreadsheet.ts';
import { invalidArgument, secondOf } from '../wire/google-error.ts';
import { areaOf, areasOverlap } from './grid-range.ts';
import { type ResolvedRange, resolveA1, resolveGridRange } from './range-reference.ts';

export const metadataLocation = z.object({
  spreadsheet: z.boolean().optional(),
  sheetId: z.number().int().optional(),
  dimensionRange: dimensionRange.optional(),
});

const lookup = z.object({
  metadataId: z.number().int().optional(),
  metadataKey: z.string().optional(),
  metadataValue: z.string().optional(),
  visibility: z.string().optional(),
  locationType: z.string().optional(),
  locationMatchingStrategy: z.string().optional(),
  metadataLocation: metadataLocation.optional(),
});

/** Names data by its place, or by metadata that is attached to it. */
export const dataFilter = z
  .object({
    developerMetadataLookup: lookup.optional(),
    a1Range: z.string().optional(),
    gridRange: gridRange.optional(),
  })
  .transform((filter) => {
    const [first, second] = Object.entries(filter).flatMap(([name, member]) =>
      member === undefined ? [] : name,
    );
    if (first === undefined) throw invalidArgument('dataFilter.filter must be specified.');
    if (second !== undefined) throw secondOf('filter', 'data_filter', second);
    return filter;
  });

export type DataFilter = z.infer<typeof dataFilter>;

/** The places a filter names now; metadata of the whole spreadsheet names none. */
export function rangesOf(spreadsheet: Spreadsheet, filter: DataFilter): ResolvedRange[] {
  if (filter.a1Range !== undefined) return [resolveA1(spreadsheet, filter.a1Range)];
  if (filter.gridRange) return [resolveGridRange(spreadsheet, filter.gridRange)];
  return spreadsheet.developerMetadata
    .filter((metadata) => isNamed(spreadsheet, metadata, filter))
    .flatMap((metadata) => placeOf(spreadsheet, metadata) ?? []);
}

function placeOf(
  spreadsheet: Spreadsheet,
  { sheetId, line }: Pick<DeveloperMetadata, 'sheetId' | 'line'>,
): ResolvedRange | undefined {
  if (sheetId === undefined) return undefined;
  const [start, end] = [line?.index, line && line.index + 1];
  if (!line) return resolveGridRange(spreadsheet, { sheetId });
  return line.dimension === 'ROWS'
    ? resolveGridRange(spreadsheet, { sheetId, startRowIndex: start, endRowIndex: end })
    : resolveGridRange(spreadsheet, { sheetId, startColumnIndex: start, endColumnIndex: end });
}

/** Whether a filter names an entry: by what it says, or by a place that the entry's place meets. */
export function isNamed(spreadsheet: Spreadsheet, metadata: DeveloperMetadata, filter: DataFilter): boolean {
  const wanted = filter.developerMetadataLookup;
  if (!wanted) {
    const place = placeOf(spreadsheet, metadata);
    return rangesOf(spreadsheet, filter).some(
      ({ sheet, area }) => place?.sheet === sheet && areasOverlap(place.area, area),
    );
  }
  return (
    isWanted(wanted.metadataId, metadata.metadataId) &&
    isWanted(wanted.metadataKey, metadata.metadataKey) &&
    isWanted(wanted.metadataValue, metadata.metadataValue) &&
    isWanted(wanted.visibility, metadata.visibility) &&
    isWanted(wanted.locationType, locationTypeOf(metadata)) &&
    isAtLocation(spreadsheet, metadata, wanted)
  );
}

function isWanted<Value>(wanted: Value | undefined, actual: Value): boolean {
  return wanted === undefined || wanted === actual;
}

/** Places that only meet count as well, unless the lookup wants the very place; the spreadsheet's own meets no other. */
function isAtLocation(
  spreadsheet: Spreadsheet,
  metadata: DeveloperMetadata,
  { metadataLocation: at, locationMatchingStrategy }: z.infer<typeof lookup>,
): boolean {
  if (!at) return true;
  if (at.spreadsheet) return metadata.sheetId === undefined;
  const place = placeOf(spreadsheet, metadata);
  if (!place) return false;
  const { sheetId = at.sheetId ?? 0, dimension, startIndex = 0, endIndex } = at.dimensionRange ?? {};
  if (place.sheet.sheetId !== sheetId) return false;
  const isRows = dimension === 'ROWS';
  const wanted = areaOf(
    !dimension
      ? {}
      : isRows
        ? { startRowIndex: startIndex, endRowIndex: endIndex }
        : { startColumnIndex: startIndex, endColumnIndex: endIndex },
    sizeOf(place.sheet),
  );
  if (locationMatchingStrategy !== 'EXACT_LOCATION') return areasOverlap(place.area, wanted);
  return metadata.line?.dimension === dimension && (!dimension || metadata.line?.index === startIndex);
}

export function locationTypeOf({ sheetId, line }: Pick<DeveloperMetadata, 'sheetId' | 'line'>): string {
  if (line) return line.dimension === 'ROWS' ? 'ROW' : 'COLUMN';
  return sheetId === undefined ? 'SPREADSHEET' : 'SHEET';
}
