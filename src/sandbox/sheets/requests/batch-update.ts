import { z } from 'zod';
import { OWNER } from '../accounts.ts';
import { METADATA_REQUESTS } from '../developer-metadata.ts';
import { recalculate } from '../formulas/recalculate.ts';
import { resolveA1 } from '../grid/range-reference.ts';
import { isLockedOut, refuseProtected } from '../protection.ts';
import { draftOf, type NextId, type Spreadsheet } from '../spreadsheet.ts';
import { spreadsheetResource } from '../spreadsheet-resource.ts';
import { maskOf, parseFieldMask, selectFields } from '../wire/field-mask.ts';
import { badField, invalidArgument, secondOf, unimplemented } from '../wire/google-error.ts';
import { isJsonObject, type JsonObject, withoutNulls } from '../wire/json.ts';
import { maskedMessage } from '../wire/methods.ts';
import { checkMask } from '../wire/names.ts';
import { parseRequest, type RequestKind, refuseRequest } from './request-kind.ts';
import { jsonObject } from './request-shapes.ts';
import { BORDER_REQUESTS } from './requests-borders.ts';
import { CELL_REQUESTS } from './requests-cells.ts';
import { CONDITIONAL_FORMAT_REQUESTS } from './requests-conditional-formats.ts';
import { DIMENSION_GROUP_REQUESTS } from './requests-dimension-groups.ts';
import { DIMENSION_REQUESTS } from './requests-dimensions.ts';
import { EMBEDDED_OBJECT_REQUESTS } from './requests-embedded-objects.ts';
import { FILL_REQUESTS } from './requests-fill.ts';
import { MERGE_REQUESTS } from './requests-merges.ts';
import { NAMED_RANGE_REQUESTS } from './requests-named-ranges.ts';
import { OVERLAY_REQUESTS } from './requests-overlays.ts';
import { RANGE_REQUESTS } from './requests-ranges.ts';
import { SHEET_REQUESTS } from './requests-sheets.ts';
import { TABLE_REQUESTS } from './requests-tables.ts';
import { TEXT_REQUESTS } from './requests-text.ts';

const REQUEST_KINDS: Record<string, RequestKind> = {
  ...CELL_REQUESTS,
  ...DIMENSION_REQUESTS,
  ...SHEET_REQUESTS,
  ...TABLE_REQUESTS,
  ...DIMENSION_GROUP_REQUESTS,
  ...TEXT_REQUESTS,
  ...FILL_REQUESTS,
  ...BORDER_REQUESTS,
  ...EMBEDDED_OBJECT_REQUESTS,
  ...RANGE_REQUESTS,
  ...MERGE_REQUESTS,
  ...OVERLAY_REQUESTS,
  ...CONDITIONAL_FORMAT_REQUESTS,
  ...NAMED_RANGE_REQUESTS,
  ...METADATA_REQUESTS,
};

/** Google has these too: data from BigQuery and comments of people, neither of which is here. */
const UNSERVED_KINDS: ReadonlySet<string> = new Set([
  'addDataSource',
  'updateDataSource',
  'deleteDataSource',
  'refreshDataSource',
  'cancelDataSourceRefresh',
  'insertComment',
  'updateCommentPost',
  'deleteComment',
  'addCommentReply',
  'deleteCommentReply',
]);

const batchShape = z.object({
  requests: z.array(jsonObject).default([]),
  includeSpreadsheetInResponse: z.boolean().default(false),
  responseRanges: z.array(z.string()).default([]),
  responseIncludeGridData: z.boolean().default(false),
});

export interface BatchOutcome {
  spreadsheet: Spreadsheet;
  answer: JsonObject;
}

/**
 * `spreadsheets.batchUpdate`: applies the requests in order to a draft, all of them or none, as an account that the
 * spreadsheet's protections may bind.
 * @throws GoogleError 400 named by the request's position; the given spreadsheet is unchanged then.
 */
export function batchUpdate(
  spreadsheet: Spreadsheet,
  body: unknown,
  fields: string,
  nextId: NextId,
  account = OWNER,
): BatchOutcome {
  const mask = parseFieldMask(fields);
  checkMask(mask, 'BatchUpdateSpreadsheetResponse');
  const batch = parseRequest(batchShape, withoutNulls(body));
  if (batch.requests.length === 0) throw invalidArgument('Must specify at least one request.');
  const draft = draftOf(spreadsheet);
  const replies = batch.requests.map((request, position) =>
    applyRequest(draft, request, position, nextId, account),
  );
  recalculate(draft);
  const answer: JsonObject = { spreadsheetId: draft.spreadsheetId, replies };
  const spreadsheetMask = maskOf(mask, 'updatedSpreadsheet');
  if (batch.includeSpreadsheetInResponse && spreadsheetMask) {
    answer['updatedSpreadsheet'] = spreadsheetResource(draft, {
      wanted: batch.responseRanges.map((text) => resolveA1(draft, text)),
      includeGridData: batch.responseIncludeGridData,
      mask: spreadsheetMask,
    });
  }
  return { spreadsheet: draft, answer: selectFields(answer, mask) };
}

function applyRequest(
  draft: Spreadsheet,
  request: JsonObject,
  position: number,
  nextId: NextId,
  account: string,
): JsonObject {
  const [kind, second] = Object.keys(request);
  if (kind === undefined) throw invalidArgument(`Invalid requests[${position}]: No request set.`);
  if (second !== undefined) throw secondOf('kind', `requests[${position}]`, second);
  const apply = REQUEST_KINDS[kind];
  if (UNSERVED_KINDS.has(kind)) throw unimplemented(`The sandbox does not know how to do ${kind}.`);
  if (!apply) {
    const description = `Invalid JSON payload received. Unknown name "${kind}" at 'requests[${position}]': Cannot find field.`;
    throw badField(description, `requests[${position}]`, description);
  }
  try {
    const sent = request[kind];
    refuseUnknownInMask(kind, sent);
    const before = isLockedOut(draft, account) && draftOf(draft);
    const reply = apply(draft, isJsonObject(sent) ? sent : {}, nextId, account);
    if (before) refuseProtected(before, draft, account);
    return reply ? { [kind]: reply } : {};
  } catch (error) {
    throw refuseRequest(error, position, kind);
  }
}

/** No record gives Google's words for this. */
function refuseUnknownInMask(kind: string, sent: unknown): void {
  const message = maskedMessage(kind);
  const fields = isJsonObject(sent) ? sent['fields'] : undefined;
  if (!message || typeof fields !== 'string') return;
  checkMask(parseFieldMask(fields), message, (path) => invalidArgument(`Invalid field: ${path}`));
}
