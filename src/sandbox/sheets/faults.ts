import { z } from 'zod';
import { personAction } from './person-shapes.ts';
import type { RequestType } from './quota.ts';

/** One kind of failure and how often it is still to happen. */
const failure = z.strictObject({
  /** A 503 answer, or a connection cut without one. */
  kind: z.enum(['unavailable', 'cut']),
  /** Before the request has any effect, or after it has had all of it. */
  when: z.enum(['before', 'after']),
  on: z.enum(['read', 'write']).default('write'),
  times: z.number().int().positive().default(1),
});

/** What goes wrong from now on; posting replaces it all, `{}` makes everything well again. */
export const faultsShape = z.strictObject({
  latencyMs: z.number().nonnegative().default(0),
  failures: z.array(failure).default([]),
  /** What a person does just before the next write lands. */
  beforeNextWrite: z.array(personAction).default([]),
});

export type Faults = z.infer<typeof faultsShape>;
export type FaultsInput = z.input<typeof faultsShape>;
export type FailureKind = z.infer<typeof failure>['kind'];

export function noFaults(): Faults {
  return { latencyMs: 0, failures: [], beforeNextWrite: [] };
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
