import { addSpreadsheet, type Documents, type StoredFile } from './documents.ts';
import { type FieldMask, parseFieldMask, selectFields } from './field-mask.ts';
import { driveFileNotFound } from './google-error.ts';
import { isJsonObject, type JsonObject } from './json.ts';

const SPREADSHEET_TYPE = 'application/vnd.google-apps.spreadsheet';

/** Without a `fields` parameter Drive gives only these. */
const DEFAULT_FIELDS = 'kind,id,name,mimeType';

export interface DriveCall {
  method: string;
  rawPath: string;
  query: URLSearchParams;
  body: unknown;
  nowMs: number;
}

/** Answers `/drive/v3/files…`; `undefined` in `answer` is an empty 204. */
export function answerDrive(
  documents: Documents,
  call: DriveCall,
): { answer: JsonObject | undefined } | undefined {
  const [path, id, isCopy] = /^\/drive\/v3\/files(?:\/([^/]+?)(\/copy)?)?$/.exec(call.rawPath) ?? [];
  if (path === undefined) return undefined;
  const fields = call.query.get('fields');
  const mask = parseFieldMask(fields ?? DEFAULT_FIELDS);
  if (id === undefined) {
    if (call.method === 'GET') return { answer: listFiles(documents, call.query, fields) };
    return call.method === 'POST' ? { answer: createFile(documents, call, mask) } : undefined;
  }
  const fileId = decodeURIComponent(id);
  const file = documents.files.get(fileId);
  if (!file) throw driveFileNotFound(fileId);
  if (call.method === 'GET') return { answer: selectFields(fileJson(file), mask) };
  if (call.method === 'POST' && isCopy) return { answer: copyFile(documents, file, call, mask) };
  if (call.method === 'PATCH') return { answer: renameFile(file, call, mask) };
  if (call.method !== 'DELETE') return undefined;
  documents.files.delete(fileId);
  return { answer: undefined };
}

function createFile(documents: Documents, { body, nowMs }: DriveCall, mask: FieldMask): JsonObject {
  const title =
    isJsonObject(body) && typeof body['name'] === 'string' ? body['name'] : 'Untitled spreadsheet';
  return selectFields(fileJson(addSpreadsheet(documents, { title }, nowMs)), mask);
}

function copyFile(
  documents: Documents,
  file: StoredFile,
  { body, nowMs }: DriveCall,
  mask: FieldMask,
): JsonObject {
  const name = isJsonObject(body) ? body['name'] : undefined;
  const title = typeof name === 'string' ? name : `Copy of ${file.spreadsheet.properties.title}`;
  const copy = addSpreadsheet(documents, { title }, nowMs);
  const { spreadsheetId } = copy.spreadsheet;
  const properties = { ...file.spreadsheet.properties, title };
  copy.spreadsheet = { ...file.spreadsheet, spreadsheetId, properties };
  return selectFields(fileJson(copy), mask);
}

function renameFile(file: StoredFile, { body, nowMs }: DriveCall, mask: FieldMask): JsonObject {
  if (isJsonObject(body) && typeof body['name'] === 'string') {
    const properties = { ...file.spreadsheet.properties, title: body['name'] };
    file.spreadsheet = { ...file.spreadsheet, properties };
    file.modifiedAtMs = nowMs;
    file.revision += 1;
  }
  return selectFields(fileJson(file), mask);
}

/** Last changed first; of the query language, `name` and `mimeType` equality joined by `and` are understood. */
function listFiles(documents: Documents, query: URLSearchParams, fields: string | null): JsonObject {
  const terms = [
    ...(query.get('q') ?? '').matchAll(/(name|mimeType)\s*=\s*(?:"((?:\\.|[^"])*)"|'((?:\\.|[^'])*)')/g),
  ];
  const files = [...documents.files.values()]
    .toSorted((one, other) => other.modifiedAtMs - one.modifiedAtMs)
    .map(fileJson)
    .filter((file) =>
      terms.every(
        ([, name = '', double, single]) => file[name] === withoutBackslashes(double ?? single ?? ''),
      ),
    );
  const whole: JsonObject = { kind: 'drive#fileList', incompleteSearch: false, files };
  return selectFields(whole, parseFieldMask(fields ?? `kind,incompleteSearch,files(${DEFAULT_FIELDS})`));
}

function withoutBackslashes(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

function fileJson({ spreadsheet, createdAtMs, modifiedAtMs, revision }: StoredFile): JsonObject {
  return {
    kind: 'drive#file',
    id: spreadsheet.spreadsheetId,
    name: spreadsheet.properties.title,
    mimeType: SPREADSHEET_TYPE,
    createdTime: new Date(createdAtMs).toISOString(),
    modifiedTime: new Date(modifiedAtMs).toISOString(),
    version: String(revision + 1),
    trashed: false,
  };
}
