import type { Json, JsonObject } from './json.ts';

/** A refusal in Google's words; `body` is what goes over the wire. */
export class GoogleError extends Error {
  readonly code: number;
  /** The name of the code, as `INVALID_ARGUMENT`; Drive's answers have none. */
  readonly status: string | undefined;
  readonly body: JsonObject;

  constructor(code: number, status: string | undefined, message: string, body: JsonObject) {
    super(message);
    this.code = code;
    this.status = status;
    this.body = body;
  }
}

function rpcError(code: number, status: string, message: string, details?: Json[]): GoogleError {
  return new GoogleError(code, status, message, {
    error: { code, message, status, ...(details && { details }) },
  });
}

export function invalidArgument(message: string, details?: Json[]): GoogleError {
  return rpcError(400, 'INVALID_ARGUMENT', message, details);
}

/** A 400 that names the members of the request which are wrong. */
export function badField(message: string, field: string, description: string): GoogleError {
  const violation = { field, description };
  return invalidArgument(message, [
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [violation] },
  ]);
}

/** A member that is wrong; one of the whole request has no place. */
export type FieldViolation = { field?: string; description: string };

/** A 400 about several members at once, each named in a line of its own. */
export function badFields(violations: FieldViolation[]): GoogleError {
  return invalidArgument(violations.map(({ description }) => description).join('\n'), [
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations },
  ]);
}

/** Of several members only one may be sent; `group` is what they are called together. */
export function secondOf(group: string, field: string, second: string): GoogleError {
  const words = `Invalid value at '${field}' (oneof), oneof field '${group}' is already set. Cannot set '${second}'`;
  return badField(words, field, words);
}

export function notFound(): GoogleError {
  return rpcError(404, 'NOT_FOUND', 'Requested entity was not found.');
}

export function unavailable(): GoogleError {
  return rpcError(503, 'UNAVAILABLE', 'The service is currently unavailable.');
}

/** Not Google's answer but the sandbox's own, about what Google can do and it cannot. */
export function unimplemented(message: string): GoogleError {
  return rpcError(501, 'UNIMPLEMENTED', message);
}

export function internalError(): GoogleError {
  return rpcError(500, 'INTERNAL', 'Internal error encountered.');
}

/** The account is known and was not given this spreadsheet, or may only look at it. */
export function permissionDenied(): GoogleError {
  return rpcError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
}

/** An Excel file that was opened in Google Sheets and never converted. */
export function unsupportedDocument(): GoogleError {
  const message =
    'This operation is not supported for this document. The document must not be an Office file.';
  return rpcError(400, 'FAILED_PRECONDITION', message);
}

export function unauthenticated(): GoogleError {
  const message =
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid ' +
    'authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.';
  return rpcError(401, 'UNAUTHENTICATED', message, [errorInfo('ACCESS_TOKEN_EXPIRED', { service: SERVICE })]);
}

const SERVICE = 'sheets.googleapis.com';
const CONSUMER = '1071851248496';

function errorInfo(reason: string, metadata: JsonObject): JsonObject {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com', metadata };
}

/** The project of the service account never switched the Sheets API on. */
export function apiDisabled(): GoogleError {
  const url = `https://console.developers.google.com/apis/api/${SERVICE}/overview?project=${CONSUMER}`;
  const message =
    `Google Sheets API has not been used in project ${CONSUMER} before or it is disabled. Enable it by visiting ` +
    `${url} then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our ` +
    'systems and retry.';
  const link = { description: 'Google developers console API activation', url };
  return rpcError(403, 'PERMISSION_DENIED', message, [
    { '@type': 'type.googleapis.com/google.rpc.Help', links: [link] },
    errorInfo('SERVICE_DISABLED', { service: SERVICE, consumer: `projects/${CONSUMER}` }),
  ]);
}

/** The 429 body; the kind of request names the bucket that is empty. */
export function quotaExceeded(kind: 'Read' | 'Write'): GoogleError {
  const metric = `${kind} requests`;
  const message =
    `Quota exceeded for quota metric '${metric}' and limit '${metric} per minute per user' ` +
    `of service '${SERVICE}' for consumer 'project_number:${CONSUMER}'.`;
  return rpcError(429, 'RESOURCE_EXHAUSTED', message, [
    errorInfo('RATE_LIMIT_EXCEEDED', {
      quota_limit: `${kind}RequestsPerMinutePerUser`,
      consumer: `projects/${CONSUMER}`,
      quota_metric: `${SERVICE}/${kind.toLowerCase()}_requests`,
      service: SERVICE,
    }),
  ]);
}

/** Drive answers in an older shape than Sheets: a list of errors and no `status`. */
function driveError(code: number, reason: string, message: string, location?: string): GoogleError {
  const place = location !== undefined && { location, locationType: 'parameter' };
  const error = { message, domain: 'global', reason, ...place };
  return new GoogleError(code, undefined, message, { error: { code, message, errors: [error] } });
}

export function driveFileNotFound(fileId: string): GoogleError {
  return driveNotFound('File', fileId, 'fileId');
}

export function driveNotFound(kind: string, id: string, location: string): GoogleError {
  return driveError(404, 'notFound', `${kind} not found: ${id}.`, location);
}

export function driveBadRequest(message: string, location?: string, code: 400 | 403 = 400): GoogleError {
  return driveError(code, code === 400 ? 'invalid' : 'forbidden', message, location);
}
