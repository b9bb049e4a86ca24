import { z } from 'zod';
import { type DataFilter, dataFilter, rangesOf } from '../grid/data-filter.ts';
import { formatRange } from '../grid/range-reference.ts';
import { parseRequest } from '../requests/request-kind.ts';
import { json } from '../requests/request-shapes.ts';
import type { Spreadsheet } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import type { JsonObject } from '../wire/json.ts';
import { type RenderOptions, valueRange } from './value-range.ts';
import { batchUpdateValues, clearValues, type ValuesOutcome, type WriteOptions } from './values.ts';

const filtersShape = z.object({ dataFilters: z.array(dataFilter).default([]) });

/** The filters of a request's body. */
export function filtersOf(body: unknown): DataFilter[] {
  const { dataFilters } = parseRequest(filtersShape, body);
  if (dataFilters.length === 0) throw invalidArgument('Must specify at least one dataFilter.');
  return dataFilters;
}

/** `values.batchGetByDataFilter`: every range that some filter names, once, with the filters that named it. */
export function getByFilter(spreadsheet: Spreadsheet, body: unknown, options: RenderOptions): JsonObject {
  const named = new Map<string, { range: JsonObject; filters: DataFilter[] }>();
  for (const filter of filtersOf(body)) {
    for (const { sheet, area } of rangesOf(spreadsheet, filter)) {
      const text = formatRange(sheet, area);
      const entry = named.get(text) ?? { range: valueRange(sheet, area, options), filters: [] };
      named.set(text, { ...entry, filters: [...entry.filters, filter] });
    }
  }
  const valueRanges = [...named.values()].map(({ range, filters }) => ({
    valueRange: range,
    dataFilters: filters.map(filterJson),
  }));
  return {
    spreadsheetId: spreadsheet.spreadsheetId,
    ...(valueRanges.length > 0 && { valueRanges }),
  };
}

const updateShape = z.object({
  data: z
    .array(
      z.object({
        dataFilter,
        majorDimension: z.string().optional(),
        values: z.array(z.array(json)).default([]),
      }),
    )
    .default([]),
});

/** `values.batchUpdateByDataFilter`: the values go to every range their filter names; more than it holds is refused. */
export function updateByFilter(
  spreadsheet: Spreadsheet,
  body: unknown,
  options: WriteOptions,
): ValuesOutcome {
  const entries = parseRequest(updateShape, body).data.flatMap(({ dataFilter: filter, ...values }) =>
    rangesOf(spreadsheet, filter).map(({ sheet, area }) => ({
      filter,
      values: { ...values, range: formatRange(sheet, area) },
    })),
  );
  const { spreadsheet: changed, answer } = batchUpdateValues(
    spreadsheet,
    entries.map(({ values }) => values),
    options,
  );
  const responses = Array.isArray(answer['responses']) ? answer['responses'] : [];
  const named = entries.map(({ filter }, index): JsonObject => {
    const { spreadsheetId: _, ...rest } = z.record(z.string(), json).parse(responses[index] ?? {});
    return { ...rest, dataFilter: filterJson(filter) };
  });
  return { spreadsheet: changed, answer: { ...answer, responses: named } };
}

/** `values.batchClearByDataFilter`. */
export function clearByFilter(spreadsheet: Spreadsheet, body: unknown): ValuesOutcome {
  const ranges = filtersOf(body).flatMap((filter) =>
    rangesOf(spreadsheet, filter).map(({ sheet, area }) => formatRange(sheet, area)),
  );
  const { spreadsheet: changed, clearedRanges } = clearValues(spreadsheet, ranges);
  const { spreadsheetId } = spreadsheet;
  return { spreadsheet: changed, answer: { spreadsheetId, clearedRanges } };
}

/** A filter as it was sent. */
export function filterJson(filter: DataFilter): JsonObject {
  const { developerMetadataLookup, a1Range, gridRange } = filter;
  return {
    ...(developerMetadataLookup && { developerMetadataLookup: z.json().parse(developerMetadataLookup) }),
    ...(a1Range !== undefined && { a1Range }),
    ...(gridRange && { gridRange: { ...gridRange } }),
  };
}
