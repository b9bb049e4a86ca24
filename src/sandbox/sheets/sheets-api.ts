import { z } from 'zod';
import { ROBOT } from './accounts.ts';
import { metadataJson, searchMetadata } from './developer-metadata.ts';
import type { DateTimeRenderOption, ValueRenderOption } from './display/display.ts';
import { rangesOf } from './grid/data-filter.ts';
import { resolveA1 } from './grid/range-reference.ts';
import { refuseProtected } from './protection.ts';
import type { RequestType } from './quota.ts';
import { batchUpdate } from './requests/batch-update.ts';
import { refuseGrowth } from './requests/growth.ts';
import { parseRequest } from './requests/request-kind.ts';
import { json } from './requests/request-shapes.ts';
import { copyOfSheet } from './requests/requests-sheets.ts';
import { draftOf, type NextId, type Spreadsheet, sheetById, sizeOf } from './spreadsheet.ts';
import { sheetProperties, spreadsheetResource } from './spreadsheet-resource.ts';
import { DEFAULT_RENDER, getValues, type RenderOptions } from './values/value-range.ts';
import {
  appendValues,
  batchUpdateValues,
  clearValues,
  namedAt,
  updateValues,
  type WriteOptions,
} from './values/values.ts';
import { clearByFilter, filtersOf, getByFilter, updateByFilter } from './values/values-by-data-filter.ts';
import { selectFields } from './wire/field-mask.ts';
import { badField, invalidArgument, notFound } from './wire/google-error.ts';
import { isJsonObject, type JsonObject } from './wire/json.ts';
import { isMethod, type MethodName } from './wire/methods.ts';
import { maskIn, maskTextIn, snakeCase } from './wire/names.ts';

/** One call: the spreadsheet it is about, the part of the path behind the collection, query and body. */
export interface SheetsCall {
  spreadsheet: Spreadsheet;
  item: string;
  query: URLSearchParams;
  body: unknown;
  nextId: NextId;
  nowMs: number;
  /** Another spreadsheet of the account, for copies. */
  findSpreadsheet: (spreadsheetId: string) => Spreadsheet | undefined;
}

/** What a call answers, and the spreadsheet it changed, which a copy makes another one. */
export interface SheetsOutcome {
  answer: JsonObject;
  spreadsheet?: Spreadsheet;
}

export interface SheetsOperation {
  type: RequestType;
  run: (call: SheetsCall) => SheetsOutcome;
}

export interface SheetsPath {
  spreadsheetId: string;
  item: string;
  operation: SheetsOperation;
  method: MethodName;
}

/** The operations, each under its method and path behind the spreadsheet's id; `*` stands for an item. */
const OPERATIONS: Record<Exclude<MethodName, 'create'>, SheetsOperation> = {
  'GET ': { type: 'read', run: getSpreadsheet },
  'POST :batchUpdate': { type: 'write', run: runBatchUpdate },
  'GET values/*': {
    type: 'read',
    run: (call) => masked(call, getValues(call.spreadsheet, call.item, renderOf(call))),
  },
  'PUT values/*': {
    type: 'write',
    run: (call) => outcome(call, updateValues(call.spreadsheet, call.item, call.body, writeOf(call))),
  },
  'POST values/*:append': { type: 'write', run: runAppend },
  'POST values/*:clear': { type: 'write', run: runClear },
  'GET values:batchGet': { type: 'read', run: runBatchGet },
  'POST values:batchUpdate': { type: 'write', run: runValuesBatchUpdate },
  'POST values:batchClear': { type: 'write', run: runBatchClear },
  'POST values:batchGetByDataFilter': {
    type: 'read',
    run: (call) =>
      masked(call, getByFilter(call.spreadsheet, call.body, renderOf(call, optionsIn(call.body)))),
  },
  'POST values:batchUpdateByDataFilter': {
    type: 'write',
    run: (call) =>
      outcome(call, updateByFilter(call.spreadsheet, call.body, writeOf(call, optionsIn(call.body)))),
  },
  'POST values:batchClearByDataFilter': {
    type: 'write',
    run: (call) => outcome(call, clearByFilter(call.spreadsheet, call.body)),
  },
  'POST :getByDataFilter': { type: 'read', run: getSpreadsheetByFilter },
  'POST sheets/*:copyTo': { type: 'write', run: copySheetTo },
  'POST developerMetadata:search': { type: 'read', run: runMetadataSearch },
  'GET developerMetadata/*': { type: 'read', run: getMetadata },
};

const VERBS = /:(batch(?:Update|Get|Clear)(?:ByDataFilter)?|getByDataFilter|append|clear|search|copyTo)$/;

/** Reads `/v4/spreadsheets/ID/values/A1%3AB2:append`; undefined when the API has no such path. */
export function findOperation(method: string, rawPath: string): SheetsPath | undefined {
  const [, rest] = /^\/v4\/spreadsheets\/(.+)$/.exec(rawPath) ?? [];
  if (rest === undefined) return undefined;
  const verb = VERBS.exec(rest)?.[0] ?? '';
  const [id = '', collection = '', ...items] = rest.slice(0, rest.length - verb.length).split('/');
  const name = `${method} ${collection}${items.length > 0 ? '/*' : ''}${verb}`;
  if (!isMethod(name) || name === 'create') return undefined;
  return {
    spreadsheetId: decodeURIComponent(id),
    item: decodeURIComponent(items.join('/')),
    operation: OPERATIONS[name],
    method: name,
  };
}

function getSpreadsheet({ spreadsheet, query }: SheetsCall): SheetsOutcome {
  const answer = spreadsheetResource(spreadsheet, {
    wanted: query.getAll('ranges').map((text) => resolveA1(spreadsheet, text)),
    includeGridData: isTrue(query, 'includeGridData'),
    mask: maskIn(query),
  });
  return { answer };
}

/** Filters that name nothing leave no tab to show. */
function getSpreadsheetByFilter({ spreadsheet, query, body }: SheetsCall): SheetsOutcome {
  const filters = filtersOf(body);
  const { includeGridData } = parseRequest(z.object({ includeGridData: z.boolean().default(false) }), body);
  const wanted = filters.flatMap((filter) => rangesOf(spreadsheet, filter));
  const mask = maskIn(query);
  const answer = spreadsheetResource(spreadsheet, { wanted, includeGridData, mask });
  const isNothing = filters.length > 0 && wanted.length === 0;
  const { developerMetadata, ...rest } = isNothing ? { ...answer, sheets: [] } : answer;
  const isBrought = spreadsheet.choices.metadataByRange === 'brought';
  return { answer: developerMetadata && isBrought ? { ...rest, developerMetadata } : rest };
}

function runBatchUpdate({ spreadsheet, query, body, nextId }: SheetsCall): SheetsOutcome {
  return batchUpdate(spreadsheet, body, maskTextIn(query), nextId, ROBOT);
}

function runAppend(call: SheetsCall): SheetsOutcome {
  const insertsRows = oneOf(call.query, 'insertDataOption', ['OVERWRITE', 'INSERT_ROWS']) === 'INSERT_ROWS';
  const options = { ...writeOf(call), insertsRows };
  return outcome(call, appendValues(call.spreadsheet, call.item, call.body, options));
}

function runClear(call: SheetsCall): SheetsOutcome {
  const { spreadsheet, clearedRanges } = clearValues(call.spreadsheet, [call.item]);
  const answer = { spreadsheetId: spreadsheet.spreadsheetId, clearedRange: clearedRanges[0] ?? '' };
  return outcome(call, { spreadsheet, answer });
}

function runBatchClear(call: SheetsCall): SheetsOutcome {
  const { ranges } = parseRequest(z.object({ ranges: z.array(z.string()).default([]) }), call.body);
  for (const [position, range] of ranges.entries()) {
    namedAt(`range[${position}]`, () => resolveA1(call.spreadsheet, range));
  }
  const { spreadsheet, clearedRanges } = clearValues(call.spreadsheet, ranges);
  return outcome(call, { spreadsheet, answer: { spreadsheetId: spreadsheet.spreadsheetId, clearedRanges } });
}

function runBatchGet(call: SheetsCall): SheetsOutcome {
  const { spreadsheet, query } = call;
  const options = renderOf(call);
  const valueRanges = query.getAll('ranges').map((range) => getValues(spreadsheet, range, options));
  return masked(call, {
    spreadsheetId: spreadsheet.spreadsheetId,
    ...(valueRanges.length > 0 && { valueRanges }),
  });
}

function runValuesBatchUpdate(call: SheetsCall): SheetsOutcome {
  const body = isJsonObject(call.body) ? call.body : {};
  const { data } = parseRequest(z.object({ data: z.array(json).default([]) }), body);
  return outcome(call, batchUpdateValues(call.spreadsheet, data, writeOf(call, optionsIn(body))));
}

/** The options that other methods take as query parameters, where they travel in the body. */
function optionsIn(body: unknown): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(isJsonObject(body) ? body : {})) {
    if (typeof value === 'string' || typeof value === 'boolean') query.set(name, String(value));
  }
  return query;
}

function copySheetTo(call: SheetsCall): SheetsOutcome {
  const { spreadsheet, item, body, nextId, findSpreadsheet } = call;
  const { destinationSpreadsheetId } = parseRequest(z.object({ destinationSpreadsheetId: z.string() }), body);
  const destination = findSpreadsheet(destinationSpreadsheetId);
  if (!destination) throw notFound();
  const draft = draftOf(destination);
  const source = sheetById(spreadsheet, Number(item));
  refuseGrowth(draft, undefined, sizeOf(source));
  const copy = copyOfSheet(source, draft, nextId);
  draft.sheets.push(copy);
  return { ...masked(call, sheetProperties(copy, draft.sheets.length - 1)), spreadsheet: draft };
}

function runMetadataSearch(call: SheetsCall): SheetsOutcome {
  const { spreadsheet, body } = call;
  const matchedDeveloperMetadata = searchMetadata(spreadsheet, filtersOf(body));
  return masked(call, matchedDeveloperMetadata.length > 0 ? { matchedDeveloperMetadata } : {});
}

function getMetadata(call: SheetsCall): SheetsOutcome {
  const { spreadsheet, item } = call;
  const metadata = spreadsheet.developerMetadata.find(({ metadataId }) => String(metadataId) === item);
  if (!metadata) throw notFound();
  return masked(call, metadataJson(metadata));
}

function masked({ query }: SheetsCall, answer: JsonObject): SheetsOutcome {
  return { answer: selectFields(answer, maskIn(query)) };
}

/** What a write of values comes to; it is refused as a whole where it reached into a protected range. */
function outcome(call: SheetsCall, { spreadsheet, answer }: Required<SheetsOutcome>): SheetsOutcome {
  refuseProtected(call.spreadsheet, spreadsheet, ROBOT);
  return { ...masked(call, answer), spreadsheet };
}

function oneOf<Option extends string>(
  query: URLSearchParams,
  name: string,
  options: readonly Option[],
): Option {
  const sent = query.get(name);
  const found = options.find((option) => option === sent);
  if (found) return found;
  const [fallback] = options;
  if (sent === null && fallback) return fallback;
  const description = `Invalid value at '${snakeCase(name)}' (type.googleapis.com/google.apps.sheets.v4.${OPTION_TYPES[name]}), "${sent}"`;
  throw badField(description, snakeCase(name), description);
}

/** The types of the options under the names they have in a request. */
const OPTION_TYPES: Record<string, string> = {
  majorDimension: 'Dimension',
  valueInputOption: 'ValueInputOption',
  insertDataOption: 'AppendValuesRequest.InsertDataOption',
  valueRenderOption: 'ValueRenderOption',
  dateTimeRenderOption: 'DateTimeRenderOption',
  responseValueRenderOption: 'ValueRenderOption',
  responseDateTimeRenderOption: 'DateTimeRenderOption',
};

/** Clients in Python write `True`. */
function isTrue(query: URLSearchParams, name: string): boolean {
  return query.get(name)?.toLowerCase() === 'true';
}

const VALUE_RENDER: readonly ValueRenderOption[] = ['FORMATTED_VALUE', 'UNFORMATTED_VALUE', 'FORMULA'];
const DATE_RENDER: readonly DateTimeRenderOption[] = ['SERIAL_NUMBER', 'FORMATTED_STRING'];

function renderOf({ spreadsheet, query: asked }: SheetsCall, query = asked): RenderOptions {
  return {
    majorDimension: oneOf(query, 'majorDimension', ['ROWS', 'COLUMNS']),
    valueRender: oneOf(query, 'valueRenderOption', VALUE_RENDER),
    dateRender: oneOf(query, 'dateTimeRenderOption', DATE_RENDER),
    chipText: spreadsheet.choices.chipText,
  };
}

function writeOf({ nowMs, spreadsheet, query: asked }: SheetsCall, query = asked): WriteOptions {
  const sent = query.get('valueInputOption') ?? 'INPUT_VALUE_OPTION_UNSPECIFIED';
  if (sent === 'INPUT_VALUE_OPTION_UNSPECIFIED') {
    throw invalidArgument("'valueInputOption' is required but not specified");
  }
  const input = oneOf(query, 'valueInputOption', ['RAW', 'USER_ENTERED']);
  if (!isTrue(query, 'includeValuesInResponse')) return { input, nowMs };
  const includeValues = {
    ...DEFAULT_RENDER,
    valueRender: oneOf(query, 'responseValueRenderOption', VALUE_RENDER),
    dateRender: oneOf(query, 'responseDateTimeRenderOption', DATE_RENDER),
    chipText: spreadsheet.choices.chipText,
  };
  return { input, nowMs, includeValues };
}
