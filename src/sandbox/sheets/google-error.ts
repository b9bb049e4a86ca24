import type { Json, JsonObject } from './json.ts';

/** A refusal in Google's words; `body` is what goes over the wire. */
export class GoogleError extends Error {
  readonly code: number;
  readonly body: JsonObject;

  constructor(code: number, message: string, body: JsonObject) {
    super(message);
    this.code = code;
    this.body = body;
  }
}

function rpcError(code: number, status: string, message: string, details?: Json[]): GoogleError {
  return new GoogleError(code, message, { error: { code, message, status, ...(details && { details }) } });
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

export function notFound(): GoogleError {
  return rpcError(404, 'NOT_FOUND', 'Requested entity was not found.');
}

export function unavailable(): GoogleError {
  return rpcError(503, 'UNAVAILABLE', 'The service is currently unavailable.');
}

const CONSUMER = '1071851248496';

/** The 429 body; the kind of request names the bucket that is empty. */
export function quotaExceeded(kind: 'Read' | 'Write'): GoogleError {
  const metric = `${kind} requests`;
  const message =
    `Quota exceeded for quota metric '${metric}' and limit '${metric} per minute per user' ` +
    `of service 'sheets.googleapis.com' for consumer 'project_number:${CONSUMER}'.`;
  return rpcError(429, 'RESOURCE_EXHAUSTED', message, [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'RATE_LIMIT_EXCEEDED',
      domain: 'googleapis.com',
      metadata: {
        quota_limit: `${kind}RequestsPerMinutePerUser`,
        consumer: `projects/${CONSUMER}`,
        quota_metric: `sheets.googleapis.com/${kind.toLowerCase()}_requests`,
        service: 'sheets.googleapis.com',
      },
    },
  ]);
}

/** Drive answers in an older shape than Sheets: a list of errors and no `status`. */
export function driveFileNotFound(fileId: string): GoogleError {
  const message = `File not found: ${fileId}.`;
  const error = {
    message,
    domain: 'global',
    reason: 'notFound',
    location: 'fileId',
    locationType: 'parameter',
  };
  return new GoogleError(404, message, { error: { code: 404, message, errors: [error] } });
}
