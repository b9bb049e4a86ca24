import { isJsonObject } from './json.ts';
import type { MessageName } from './message-fields.ts';
import { fieldsOf, readMessage, refuseUnknownParameters } from './names.ts';

/** What a method takes and gives, by its messages. */
interface Method {
  /** What the body is. */
  request?: MessageName;
  /** What the request calls its body where that is only a part of it. */
  place?: string;
  /** Query parameters beside those that every method takes. */
  query?: readonly string[];
  answer: MessageName;
}

const READ = ['majorDimension', 'valueRenderOption', 'dateTimeRenderOption'];
const WRITE = [
  'valueInputOption',
  'includeValuesInResponse',
  'responseValueRenderOption',
  'responseDateTimeRenderOption',
];

/** The methods of the API by HTTP method and path behind the spreadsheet's id. */
const METHODS = {
  create: { request: 'Spreadsheet', place: 'spreadsheet', answer: 'Spreadsheet' },
  'GET ': {
    query: ['ranges', 'includeGridData', 'excludeTablesInBandedRanges', 'commentsViewMode'],
    answer: 'Spreadsheet',
  },
  'POST :batchUpdate': {
    request: 'BatchUpdateSpreadsheetRequest',
    answer: 'BatchUpdateSpreadsheetResponse',
  },
  'GET values/*': { query: READ, answer: 'ValueRange' },
  'PUT values/*': { request: 'ValueRange', place: 'data', query: WRITE, answer: 'UpdateValuesResponse' },
  'POST values/*:append': {
    request: 'ValueRange',
    place: 'data',
    query: [...WRITE, 'insertDataOption'],
    answer: 'AppendValuesResponse',
  },
  'POST values/*:clear': { request: 'ClearValuesRequest', answer: 'ClearValuesResponse' },
  'GET values:batchGet': { query: [...READ, 'ranges'], answer: 'BatchGetValuesResponse' },
  'POST values:batchUpdate': { request: 'BatchUpdateValuesRequest', answer: 'BatchUpdateValuesResponse' },
  'POST values:batchClear': { request: 'BatchClearValuesRequest', answer: 'BatchClearValuesResponse' },
  'POST values:batchGetByDataFilter': {
    request: 'BatchGetValuesByDataFilterRequest',
    answer: 'BatchGetValuesByDataFilterResponse',
  },
  'POST values:batchUpdateByDataFilter': {
    request: 'BatchUpdateValuesByDataFilterRequest',
    answer: 'BatchUpdateValuesByDataFilterResponse',
  },
  'POST values:batchClearByDataFilter': {
    request: 'BatchClearValuesByDataFilterRequest',
    answer: 'BatchClearValuesByDataFilterResponse',
  },
  'POST :getByDataFilter': { request: 'GetSpreadsheetByDataFilterRequest', answer: 'Spreadsheet' },
  'POST sheets/*:copyTo': { request: 'CopySheetToAnotherSpreadsheetRequest', answer: 'SheetProperties' },
  'POST developerMetadata:search': {
    request: 'SearchDeveloperMetadataRequest',
    answer: 'SearchDeveloperMetadataResponse',
  },
  'GET developerMetadata/*': { answer: 'DeveloperMetadata' },
} as const satisfies Record<string, Method>;

export type MethodName = keyof typeof METHODS;

export const isMethod = (name: string): name is MethodName => Object.hasOwn(METHODS, name);

/** What a path names, which may come in the query as well. */
const PATH_PARAMETERS = ['spreadsheetId', 'range', 'sheetId', 'metadataId'];

/**
 * The body of a call, its fields under the names of the documents.
 * @throws GoogleError 400 that names the parameters and fields which the method does not know.
 */
export function readCall(name: MethodName, query: URLSearchParams, body: unknown): unknown {
  const { request, place, query: taken = [] }: Method = METHODS[name];
  const inBody = request && place === undefined ? fieldsOf(request).keys() : [];
  refuseUnknownParameters(query, new Set([...taken, ...PATH_PARAMETERS, ...inBody]));
  return request && isJsonObject(body) ? readMessage(body, request, place) : body;
}

/** What a method answers with, which a mask may name the parts of. */
export function answerOf(name: MethodName): MessageName {
  return METHODS[name].answer;
}

/** What the mask of a request is about, by the request's kind; all that have a mask are here. */
const MASKED_MESSAGES: Readonly<Record<string, MessageName>> = {
  appendCells: 'CellData',
  repeatCell: 'CellData',
  updateBanding: 'BandedRange',
  updateCells: 'CellData',
  updateDataSource: 'DataSource',
  updateDeveloperMetadata: 'DeveloperMetadata',
  updateDimensionGroup: 'DimensionGroup',
  updateDimensionProperties: 'DimensionProperties',
  updateEmbeddedObjectBorder: 'EmbeddedObjectBorder',
  updateEmbeddedObjectPosition: 'OverlayPosition',
  updateFilterView: 'FilterView',
  updateNamedRange: 'NamedRange',
  updateProtectedRange: 'ProtectedRange',
  updateSheetProperties: 'SheetProperties',
  updateSlicerSpec: 'SlicerSpec',
  updateSpreadsheetProperties: 'SpreadsheetProperties',
  updateTable: 'Table',
};

export const maskedMessage = (kind: string): MessageName | undefined => MASKED_MESSAGES[kind];
