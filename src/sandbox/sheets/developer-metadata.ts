import { z } from 'zod';
import {
  type DataFilter,
  dataFilter,
  isNamed,
  locationTypeOf,
  metadataLocation,
} from './grid/data-filter.ts';
import { type RequestKind, requestKind, requiredMask } from './requests/request-kind.ts';
import { fields, jsonObject } from './requests/request-shapes.ts';
import { type DeveloperMetadata, type Spreadsheet, sheetById } from './spreadsheet.ts';
import { invalidArgument } from './wire/google-error.ts';
import type { JsonObject } from './wire/json.ts';

/** Keys and values together, for the spreadsheet and for each tab. */
const MAX_CHARACTERS = 30_000;

const metadataShape = z.object({
  metadataId: z.number().int().optional(),
  metadataKey: z.string().optional(),
  metadataValue: z.string().optional(),
  visibility: z.string().optional(),
  location: metadataLocation.optional(),
});

type Place = Pick<DeveloperMetadata, 'sheetId' | 'line'>;

function placeOf(draft: Spreadsheet, sent: z.infer<typeof metadataLocation>): Place {
  if (sent.dimensionRange) {
    const { sheetId = 0, dimension, startIndex, endIndex } = sent.dimensionRange;
    if (startIndex === undefined || endIndex === undefined) {
      throw invalidArgument('DimensionRange must specify both a startIndex and an endIndex');
    }
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
      throw invalidArgument(
        `Cannot add developer metadata with ID [${metadata.metadataId}] because developer metadata with that ID already exists.`,
      );
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
      if (!matchesAny(draft, metadata, dataFilters)) return metadata;
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
  const gone = draft.developerMetadata.filter((metadata) => matchesAny(draft, metadata, [filter]));
  draft.developerMetadata = draft.developerMetadata.filter((metadata) => !gone.includes(metadata));
  return { deletedDeveloperMetadata: gone.map(metadataJson) };
});

/** The entries that any of the filters names, with the filters that did. */
export function searchMetadata(spreadsheet: Spreadsheet, filters: DataFilter[]): JsonObject[] {
  return spreadsheet.developerMetadata
    .filter((metadata) => matchesAny(spreadsheet, metadata, filters))
    .map((metadata) => ({
      developerMetadata: metadataJson(metadata),
      dataFilters: z
        .array(jsonObject)
        .parse(filters.filter((filter) => matchesAny(spreadsheet, metadata, [filter]))),
    }));
}

function matchesAny(
  spreadsheet: Spreadsheet,
  metadata: DeveloperMetadata,
  filters: readonly DataFilter[],
): boolean {
  return filters.some((filter) => isNamed(spreadsheet, metadata, filter));
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
