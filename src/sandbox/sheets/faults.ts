import { z } from 'zod';
import { personAction } from './people/person-shapes.ts';
import type { RequestType } from './quota.ts';
import {
  apiDisabled,
  type GoogleError,
  internalError,
  notFound,
  permissionDenied,
  quotaExceeded,
  unauthenticated,
  unavailable,
  unsupportedDocument,
} from './wire/google-error.ts';

/** One kind of failure and how often it is still to happen. */
const failure = z.strictObject({
  /**
   * `unavailable` is a 503, `internal` a 500 and `quota` a 429 answer; `page` a 502 page of a front end that is no JSON;
   * `half` the first half of the right answer under status 200; `cut` a connection that ends without an answer.
   */
  kind: z.enum(['unavailable', 'internal', 'quota', 'page', 'half', 'cut']),
  /** Before the request has any effect, or after it has had all of it. */
  when: z.enum(['before', 'after']),
  on: z.enum(['read', 'write']).default('write'),
  times: z.number().int().positive().default(1),
});

/** Why every request about a spreadsheet is turned away until that is put right. */
const REFUSALS = {
  notFound,
  permissionDenied,
  /** Shared for reading only: reads go through, writes do not. */
  readOnly: permissionDenied,
  officeFile: unsupportedDocument,
  apiDisabled,
  unauthenticated,
};

/** What goes wrong from now on; posting replaces it all, `{}` makes everything well again. */
export const faultsShape = z.strictObject({
  latencyMs: z.number().nonnegative().default(0),
  failures: z.array(failure).default([]),
  /** By the id of a spreadsheet, or `*` for all of them. */
  refusals: z
    .record(
      z.string(),
      z.enum(['notFound', 'permissionDenied', 'readOnly', 'officeFile', 'apiDisabled', 'unauthenticated']),
    )
    .default({}),
  /** What a person does just before the next write lands. */
  beforeNextWrite: z.array(personAction).default([]),
});

export type Faults = z.infer<typeof faultsShape>;
export type FaultsInput = z.input<typeof faultsShape>;
export type FailureKind = z.infer<typeof failure>['kind'];

export function noFaults(): Faults {
  return { latencyMs: 0, failures: [], refusals: {}, beforeNextWrite: [] };
}

/** The failure due at this point of a request, counted down; undefined when all goes well. */
export function takeFailure(
  faults: Faults,
  type: RequestType,
  when: 'before' | 'after',
): FailureKind | undefined {
  const due = faults.failures.find((candidate) => candidate.on === type && candidate.when === when);
  if (!due) return undefined;
  due.times -= 1;
  faults.failures = faults.failures.filter((candidate) => candidate.times > 0);
  return due.kind;
}

/** The refusal that stands against a request about a spreadsheet; undefined when there is none. */
export function standingRefusal(
  faults: Faults,
  spreadsheetId: string,
  type: RequestType,
): GoogleError | undefined {
  const reason = faults.refusals[spreadsheetId] ?? faults.refusals['*'];
  if (reason === undefined || (reason === 'readOnly' && type === 'read')) return undefined;
  return REFUSALS[reason]();
}

/** The answer of Google that a failure stands for; undefined for those that are no answer of Google's. */
export function errorOfFailure(kind: FailureKind, type: RequestType): GoogleError | undefined {
  switch (kind) {
    case 'unavailable':
      return unavailable();
    case 'internal':
      return internalError();
    case 'quota':
      return quotaExceeded(type === 'read' ? 'Read' : 'Write');
    default:
      return undefined;
  }
}
