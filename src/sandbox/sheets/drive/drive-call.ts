import type { JsonObject } from '../wire/json.ts';

/** One request to Drive. */
export interface DriveCall {
  method: string;
  rawPath: string;
  query: URLSearchParams;
  body: unknown;
  nowMs: number;
}

/** What Drive answers: JSON, the text of an exported file, or nothing, which is an empty 204. */
export type DriveAnswer = { json: JsonObject } | { text: string; contentType: string } | { empty: true };
