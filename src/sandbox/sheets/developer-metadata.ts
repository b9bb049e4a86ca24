import { z } from 'zod';
import { invalidArgument } from './google-error.ts';
import type { JsonObject } from './json.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { dimensionRange, fields, jsonObject } from './request-shapes.ts';
import type { DeveloperMetadata, Spreadsheet } from './spreadsheet.ts';
import { sheetById } from './spreadsheet.ts';

/** Keys and values together, for the spreadsheet and for each tab. */
const MAX_CHARACTERS = 30_000;

const location = z.object({
  spreadsheet: z.boolean().optional(),
  sheetId: z.number().int().optional(),
  dimensionRange: dimensionRange.optional(),
});

const metadataShape = z.object({
  metadataId: z.number().int().optional(),
  metadataKey: z.string().optional(),
  metadataValue: z.string().optional(),
  visibility: z.string().optional(),
  location: location.optional(),
});

const lookup = z.object({
  metadataId: z.number().int().optional(),
  metadataKey: z.string().optional(),
  metadataValue: z.string().optional(),
  visibility: z.string().optional(),
  locationType: z.string().optional(),
  metadataLocation: location.optional(),
});

/** A data filter; only the lookup of metadata is served. */
export const dataFilter = z.object({ developerMetadataLookup: lookup });

type Place = Pick<DeveloperMetadata, 'sheetId' | 'line'>;

function placeOf(draft: Spreadsheet, sent: z.infer<typeof location>): Place {
  if (sent.dimensionRange) {
    const { sheetId = 0, dimension, startIndex = 0, endIndex } = sent.dimensionRange;
    if (endIndex !== startIndex + 1) {
      throw invalidArgument('DimensionRange must represent a single row or column');
    }
    return { sheetId: sheetById(draft, sheetId).sheetId, line: { dimension, index: startIndex } };
  }
  return sent.spreadsheet ? {} : { sheetId: sheetById(draft, sent.sheetId).sheetId };
}

const createDeveloperMetadata = requestKind(
  z.object({ developerMetadata: metadataShape }),
  (draft, { developerMetadata: sent }, nextId) => {
    if (!sent.metadataKey || !sent.visibility || !sent.location) {
      throw invalidArgument('developerMetadata needs a metadataKey, a visibility and a location.');
    }
    const metadata: DeveloperMetadata = {
      metadataId: sent.metadataId ?? nextId(),
      metadataKey: sent.metadataKey,
      metadataValue: sent.metadataValue,
      visibility: sent.visibility,
      ...placeOf(draft, sent.location),
    };
    if (draft.developerMetadata.some(({ metadataId }) => metadataId === metadata.metadataId)) {
      throw invalidArgument(`Developer metadata with id ${metadata.metadataId} already exists.`);
    }
    draft.developerMetadata.push(metadata);
    refuseTooMuch(draft, metadata.sheetId);
    return { developerMetadata: metadataJson(metadata) };
  },
);

function refuseTooMuch(draft: Spreadsheet, sheetId: number | undefined): void {
  const here = draft.developerMetadata.filter((metadata) => metadata.sheetId === sheetId);
  const size = here.reduce(
    (sum, { metadataKey, metadataValue = '' }) => sum + metadataKey.length + metadataValue.length,
    0,
  );
  if (size > MAX_CHARACTERS) {
    throw invalidArgument(`Developer metadata exceeds ${MAX_CHARACTERS} characters.`);
  }
}

const updateDeveloperMetadata = requestKind(
  z.object({ dataFilters: z.array(dataFilter), developerMetadata: metadataShape, fields }),
  (draft, { dataFilters, developerMetadata: sent, fields: maskText }) => {
    const mask = requiredMask(maskText);
    const changed: JsonObject[] = [];
    draft.developerMetadata = draft.developerMetadata.map((metadata) => {
      if (!matchesAny(metadata, dataFilters)) return metadata;
      const next: DeveloperMetadata = {
        ...metadata,
        ...(mask.has('metadataKey') && { metadataKey: sent.metadataKey ?? '' }),
        ...(mask.has('metadataValue') && { metadataValue: sent.metadataValue }),
        ...(mask.has('visibility') && { visibility: sent.visibility ?? metadata.visibility }),
        ...(mask.has('location') && sent.location && { line: undefined, ...placeOf(draft, sent.location) }),
      };
      changed.push(metadataJson(next));
      return next;
    });
    return { developerMetadata: changed };
  },
);

const deleteDeveloperMetadata = requestKind(z.object({ dataFilter }), (draft, { dataFilter: filter }) => {
  const gone = draft.developerMetadata.filter((metadata) => matchesAny(metadata, [filter]));
  draft.developerMetadata = draft.developerMetadata.filter((metadata) => !gone.includes(metadata));
  return { deletedDeveloperMetadata: gone.map(metadataJson) };
});

/** The entries that any of the filters names, with the filters that did. */
export function searchMetadata(
  spreadsheet: Spreadsheet,
  filters: z.infer<typeof dataFilter>[],
): JsonObject[] {
  return spreadsheet.developerMetadata
    .filter((metadata) => matchesAny(metadata, filters))
    .map((metadata) => ({
      developerMetadata: metadataJson(metadata),
      dataFilters: z.array(jsonObject).parse(filters.filter((filter) => matchesAny(metadata, [filter]))),
    }));
}

function matchesAny(metadata: DeveloperMetadata, filters: z.infer<typeof dataFilter>[]): boolean {
  return filters.some(({ developerMetadataLookup: wanted }) => {
    const at = wanted.metadataLocation;
    return (
      (wanted.metadataId === undefined || wanted.metadataId === metadata.metadataId) &&
      (wanted.metadataKey === undefined || wanted.metadataKey === metadata.metadataKey) &&
      (wanted.metadataValue === undefined || wanted.metadataValue === metadata.metadataValue) &&
      (wanted.visibility === undefined || wanted.visibility === metadata.visibility) &&
      (wanted.locationType === undefined || wanted.locationType === locationTypeOf(metadata)) &&
      (at?.sheetId === undefined || at.sheetId === metadata.sheetId) &&
      (at?.dimensionRange === undefined ||
        ((at.dimensionRange.sheetId ?? 0) === metadata.sheetId &&
          at.dimensionRange.dimension === metadata.line?.dimension &&
          (at.dimensionRange.startIndex ?? 0) === metadata.line.index))
    );
  });
}

function locationTypeOf({ sheetId, line }: Place): string {
  if (line) return line.dimension === 'ROWS' ? 'ROW' : 'COLUMN';
  return sheetId === undefined ? 'SPREADSHEET' : 'SHEET';
}

export function metadataJson(metadata: DeveloperMetadata): JsonObject {
  const { sheetId, line, metadataId, metadataKey, metadataValue, visibility } = metadata;
  const place: JsonObject = line
    ? {
        dimensionRange: {
          ...(sheetId && { sheetId }),
          dimension: line.dimension,
          startIndex: line.index,
          endIndex: line.index + 1,
        },
      }
    : sheetId === undefined
      ? { spreadsheet: true }
      : { sheetId };
  return {
    metadataId,
    metadataKey,
    ...(metadataValue !== undefined && { metadataValue }),
    location: { locationType: locationTypeOf(metadata), ...place },
    visibility,
  };
}

export const METADATA_REQUESTS: Record<string, RequestKind> = {
  createDeveloperMetadata,
  updateDeveloperMetadata,
  deleteDeveloperMetadata,
};
