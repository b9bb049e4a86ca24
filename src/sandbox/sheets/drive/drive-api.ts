import { OWNER, ROBOT } from '../accounts.ts';
import { addSpreadsheet, type Documents, type StoredFile } from '../documents.ts';
import { type FieldMask, parseFieldMask, selectFields } from '../wire/field-mask.ts';
import { driveBadRequest, driveFileNotFound } from '../wire/google-error.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import type { DriveAnswer, DriveCall } from './drive-call.ts';
import { answerComments } from './drive-comments.ts';
import { exportedText } from './drive-export.ts';
import { answerPermissions } from './drive-permissions.ts';
import { isNamedBy } from './drive-query.ts';

const SPREADSHEET_TYPE = 'application/vnd.google-apps.spreadsheet';

/** Without a `fields` parameter Drive gives only these. */
const DEFAULT_FIELDS = 'kind,id,name,mimeType';

const MAX_PAGE_SIZE = 1000;

/** Answers `/drive/v3/files…`; undefined where the API has no such path. */
export function answerDrive(documents: Documents, call: DriveCall): DriveAnswer | undefined {
  const [path, id, part, item] =
    /^\/drive\/v3\/files(?:\/([^/]+)(?:\/(copy|export|permissions|comments)(?:\/([^/]+))?)?)?$/.exec(
      call.rawPath,
    ) ?? [];
  if (path === undefined) return undefined;
  if (id === undefined) return answerCollection(documents, call);
  const fileId = decodeURIComponent(id);
  const file = documents.files.get(fileId);
  if (!file) throw driveFileNotFound(fileId);
  if (part === 'permissions') return answerPermissions(documents, file, call, item);
  if (part === 'comments') return answerComments(documents, file, call, item);
  if (part === 'export') return exportedText(file.spreadsheet, call.query.get('mimeType'));
  if (part === 'copy') return call.method === 'POST' ? copyFile(documents, file, call) : undefined;
  return answerFile(documents, file, call);
}

function answerCollection(documents: Documents, call: DriveCall): DriveAnswer | undefined {
  if (call.method === 'GET') return { json: listFiles(documents, call.query) };
  if (call.method !== 'POST') return undefined;
  const { name, parents } = isJsonObject(call.body) ? call.body : {};
  const title = typeof name === 'string' ? name : 'Untitled spreadsheet';
  const file = addSpreadsheet(documents, { title }, call.nowMs);
  file.owner = ROBOT;
  if (Array.isArray(parents)) file.parents = parents.map(String);
  return { json: shownFile(file, call.query) };
}

function answerFile(documents: Documents, file: StoredFile, call: DriveCall): DriveAnswer | undefined {
  switch (call.method) {
    case 'GET':
      return { json: shownFile(file, call.query) };
    case 'PATCH':
      updateFile(file, call);
      return { json: shownFile(file, call.query) };
    case 'DELETE':
      documents.files.delete(file.spreadsheet.spreadsheetId);
      return { empty: true };
    default:
      return undefined;
  }
}

function copyFile(documents: Documents, file: StoredFile, { body, query, nowMs }: DriveCall): DriveAnswer {
  const { name, parents } = isJsonObject(body) ? body : {};
  const title = typeof name === 'string' ? name : `Copy of ${file.spreadsheet.properties.title}`;
  const copy = addSpreadsheet(documents, { title }, nowMs);
  const { spreadsheetId, choices } = copy.spreadsheet;
  const properties = { ...file.spreadsheet.properties, title };
  copy.spreadsheet = { ...file.spreadsheet, spreadsheetId, properties, choices };
  copy.owner = ROBOT;
  copy.parents = Array.isArray(parents) ? parents.map(String) : file.parents;
  return { json: shownFile(copy, query) };
}

/** Renames a file, puts it into the trash or takes it out, or into other folders. A trashed one can still be edited. */
function updateFile(file: StoredFile, { body, query, nowMs }: DriveCall): void {
  const { name, trashed } = isJsonObject(body) ? body : {};
  if (typeof name === 'string') {
    const properties = { ...file.spreadsheet.properties, title: name };
    file.spreadsheet = { ...file.spreadsheet, properties };
    file.modifiedAtMs = nowMs;
  }
  if (typeof trashed === 'boolean') file.trashed = trashed;
  const listed = (parameter: string) => query.get(parameter)?.split(',') ?? [];
  const removed = listed('removeParents');
  file.parents = [...file.parents.filter((parent) => !removed.includes(parent)), ...listed('addParents')];
  file.revision += 1;
}

/** Last changed first. */
function listFiles(documents: Documents, query: URLSearchParams): JsonObject {
  const pageSize = Number(query.get('pageSize') ?? 100);
  if (!(pageSize >= 1 && pageSize <= MAX_PAGE_SIZE)) {
    throw driveBadRequest(
      `Invalid value '${query.get('pageSize')}'. Values must be within the range: [value: 1\n, value: ${MAX_PAGE_SIZE}\n]`,
      'page_size',
    );
  }
  const start = Number(query.get('pageToken') || 0);
  if (Number.isNaN(start)) throw driveBadRequest('Invalid Value', 'pageToken');
  const found = [...documents.files.values()]
    .toSorted((one, other) => other.modifiedAtMs - one.modifiedAtMs)
    .map(fileJson)
    .filter((file) => isNamedBy(file, query.get('q') ?? ''));
  const end = start + pageSize;
  const whole: JsonObject = {
    kind: 'drive#fileList',
    ...(end < found.length && { nextPageToken: String(end) }),
    incompleteSearch: false,
    files: found.slice(start, end),
  };
  const fields = query.get('fields') ?? `kind,nextPageToken,incompleteSearch,files(${DEFAULT_FIELDS})`;
  return selectFields(whole, parseFieldMask(fields));
}

function shownFile(file: StoredFile, query: URLSearchParams): JsonObject {
  const mask: FieldMask = parseFieldMask(query.get('fields') ?? DEFAULT_FIELDS);
  return selectFields(fileJson(file), mask);
}

function fileJson(file: StoredFile): JsonObject {
  const { spreadsheet, createdAtMs, modifiedAtMs, revision, trashed, parents, owner } = file;
  return {
    kind: 'drive#file',
    id: spreadsheet.spreadsheetId,
    name: spreadsheet.properties.title,
    mimeType: SPREADSHEET_TYPE,
    createdTime: new Date(createdAtMs).toISOString(),
    modifiedTime: new Date(modifiedAtMs).toISOString(),
    version: String(revision + 1),
    trashed,
    explicitlyTrashed: trashed,
    parents,
    owners: [{ kind: 'drive#user', emailAddress: owner, me: owner === ROBOT }],
    ownedByMe: owner === ROBOT,
    shared: owner === OWNER || file.permissions.length > 0,
    capabilities: { canEdit: true, canTrash: owner === ROBOT, canDelete: owner === ROBOT },
    webViewLink: `https://docs.google.com/spreadsheets/d/${spreadsheet.spreadsheetId}/edit?usp=drivesdk`,
  };
}
