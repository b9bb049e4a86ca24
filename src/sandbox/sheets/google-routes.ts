import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { choicesFor } from './control/choices.ts';
import { countCells } from './control/read-time.ts';
import { createSpreadsheetFile } from './create-spreadsheet.ts';
import { storeSpreadsheet } from './documents.ts';
import { answerDrive } from './drive/drive-api.ts';
import { errorOfFailure, type FailureKind, standingRefusal, takeFailure } from './faults.ts';
import { admitRequest, type RequestType } from './quota.ts';
import { performActions, type Sandbox } from './sandbox.ts';
import { findOperation, type SheetsPath } from './sheets-api.ts';
import { spreadsheetResource } from './spreadsheet-resource.ts';
import { answerText, sendJson, sendText } from './wire/answer.ts';
import { badField, GoogleError, invalidArgument, notFound, quotaExceeded } from './wire/google-error.ts';
import type { Json, JsonObject } from './wire/json.ts';
import { answerOf, readCall } from './wire/methods.ts';
import { checkMask, maskIn } from './wire/names.ts';

/** What stands for the id of a spreadsheet that has none yet. */
const newSpreadsheet = '';

/** Serves `/v4/spreadsheets…` and `/drive/v3/files…` as Google answers them. */
export function registerGoogleRoutes(server: FastifyInstance, sandbox: Sandbox): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  server.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  server.all('/v4/*', (request, reply) => answerSheets(sandbox, request, reply));
  server.post('/v4/spreadsheets', (request, reply) => {
    if (!admitRequest(sandbox.quota, newSpreadsheet, 'write', sandbox.clock())) throw quotaExceeded('Write');
    const { query } = splitUrl(request.url);
    const body = readCall('create', query, parseBody(request.body));
    const mask = maskIn(query);
    checkMask(mask, answerOf('create'));
    const { spreadsheet } = createSpreadsheetFile(sandbox.documents, body, sandbox.clock());
    const answer = spreadsheetResource(spreadsheet, { wanted: [], includeGridData: false, mask });
    return sendJson(request, reply, answer);
  });
  server.all('/drive/v3/*', (request, reply) => {
    const { path, query } = splitUrl(request.url);
    const body = parseBody(request.body);
    const call = { method: request.method, rawPath: path, query, body, nowMs: sandbox.clock() };
    const found = answerDrive(sandbox.documents, call);
    if (!found) throw notFound();
    if ('json' in found) return sendJson(request, reply, found.json);
    if ('text' in found) return sendText(request, reply.type(found.contentType), found.text);
    return reply.code(204).send();
  });
}

async function answerSheets(
  sandbox: Sandbox,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { path, query } = splitUrl(request.url);
  const found = findOperation(request.method, path);
  if (!found) throw notFound();
  const { type } = found.operation;
  const askedAt = sandbox.clock();
  if (sandbox.faults.latencyMs > 0) await delay(sandbox.faults.latencyMs);
  const user = query.get('quotaUser') ?? found.spreadsheetId;
  if (!admitRequest(sandbox.quota, user, type, sandbox.clock())) {
    throw quotaExceeded(type === 'read' ? 'Read' : 'Write');
  }
  const early = takeFailure(sandbox.faults, type, 'before');
  if (early) return fail(early, type, request, reply);
  const refusal = standingRefusal(sandbox.faults, found.spreadsheetId, type);
  if (refusal) throw refusal;
  const body = readCall(found.method, query, parseBody(request.body));
  const answer = runOperation(sandbox, found, query, body);
  const { readMicrosPerCell } = choicesFor(sandbox.documents.choices, found.spreadsheetId);
  if (type === 'read' && readMicrosPerCell > 0) await delay((readMicrosPerCell * countCells(answer)) / 1_000);
  const late = takeFailure(sandbox.faults, type, 'after');
  if (late) return fail(late, type, request, reply, answer);
  const text = answerText(request, answer);
  sandbox.answeredBytes += Buffer.byteLength(text);
  sandbox.answeringMs += sandbox.clock() - askedAt;
  return sendText(request, reply.type('application/json; charset=UTF-8'), text);
}

function runOperation(
  sandbox: Sandbox,
  found: SheetsPath,
  query: URLSearchParams,
  body: unknown,
): JsonObject {
  const file = sandbox.documents.files.get(found.spreadsheetId);
  if (!file) throw notFound();
  checkMask(maskIn(query), answerOf(found.method));
  if (found.operation.type === 'write') actBeforeWrite(sandbox, found.spreadsheetId);
  const { nextId } = sandbox.documents.ids;
  const findSpreadsheet = (id: string) => sandbox.documents.files.get(id)?.spreadsheet;
  const { item, operation } = found;
  const nowMs = sandbox.clock();
  const call = { spreadsheet: file.spreadsheet, item, query, body, nextId, nowMs, findSpreadsheet };
  const { answer, spreadsheet } = operation.run(call);
  const changed = spreadsheet && sandbox.documents.files.get(spreadsheet.spreadsheetId);
  if (changed) storeSpreadsheet(changed, spreadsheet, nowMs);
  return answer;
}

/** Lets a person act between the daemon's read and its write. */
function actBeforeWrite(sandbox: Sandbox, spreadsheetId: string): void {
  const file = sandbox.documents.files.get(spreadsheetId);
  const actions = sandbox.faults.beforeNextWrite;
  sandbox.faults.beforeNextWrite = [];
  if (file && actions.length > 0) performActions(sandbox, file, actions);
}

/** Spoils an answer; `answer` is the right one where there is one already. */
async function fail(
  kind: FailureKind,
  type: RequestType,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: JsonObject = {},
): Promise<FastifyReply> {
  const error = errorOfFailure(kind, type);
  if (error) return sendError(request, reply, error);
  if (kind === 'page')
    return reply.code(502).type('text/html').send('<html><title>502 Bad Gateway</title></html>');
  if (kind === 'half') {
    const whole = answerText(request, answer);
    return reply.type('application/json').send(whole.slice(0, Math.ceil(whole.length / 2)));
  }
  reply.hijack();
  reply.raw.destroy();
  return reply;
}

export function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const [path = '', search = ''] = url.split('?', 2);
  return { path, query: new URLSearchParams(search) };
}

/** @throws GoogleError 400 when the body is not JSON. */
export function parseBody(body: unknown): unknown {
  if (typeof body !== 'string' || body.trim() === '') return {};
  try {
    const parsed: Json = JSON.parse(body);
    return parsed;
  } catch (error) {
    const message = `Invalid JSON payload received. ${error instanceof Error ? error.message : 'Unexpected token.'}`;
    throw badField(message, '', message);
  }
}

/** Sends a refusal in Google's form; anything unforeseen is a 500 that says what broke. */
export async function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): Promise<FastifyReply> {
  if (error instanceof GoogleError) return sendJson(request, reply, error.body, error.code);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const refusal = invalidArgument('Request payload size exceeds the limit: 10485760 bytes.');
    return sendError(request, reply, refusal);
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return sendJson(request, reply, { error: { code: 500, message, status: 'INTERNAL' } }, 500);
}
