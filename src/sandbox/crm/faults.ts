import { z } from 'zod';

const faultTarget = {
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).optional(),
  /** Path below the base address, `*` for any run of characters: `/leads/*`. */
  path: z.string().default('*'),
  /** How many matching requests meet the fault. */
  times: z.int().min(1).default(1),
  /** The answer is held back this long before the request is carried out, even if the client has gone. */
  delayMs: z.int().min(0).default(0),
};

/** Something that goes wrong with the next requests that match. */
export const faultSchema = z.discriminatedUnion('kind', [
  /** Only slow. */
  z.object({ ...faultTarget, kind: z.literal('slow') }),
  /** The connection is cut and nothing was done. */
  z.object({ ...faultTarget, kind: z.literal('dropBefore') }),
  /** The request is carried out, then the connection is cut. */
  z.object({ ...faultTarget, kind: z.literal('dropAfter') }),
  /** An error envelope with this status, before anything was done or (`afterCommit`) after it. */
  z.object({
    ...faultTarget,
    kind: z.literal('status'),
    status: z.int().min(400).max(599),
    afterCommit: z.boolean().default(false),
  }),
  /** 429 although the window has room. */
  z.object({ ...faultTarget, kind: z.literal('rateLimited') }),
  /** 200 with an HTML page, as a proxy in between may send; nothing was done. */
  z.object({ ...faultTarget, kind: z.literal('garbage') }),
  /** A listing answers 200 without elements. */
  z.object({ ...faultTarget, kind: z.literal('emptyList') }),
  /** A listing (or single read) answers what it answered to the same request the time before. */
  z.object({ ...faultTarget, kind: z.literal('staleList') }),
]);
export type Fault = z.output<typeof faultSchema>;

/** Body of `POST /__sandbox/faults`: forgets (`clear`), then adds, then sets the delay of all requests. */
export const faultOrder = z.object({
  clear: z.boolean().default(false),
  faults: z.array(faultSchema).default([]),
  latencyMs: z.int().min(0).optional(),
});
export type FaultOrder = z.output<typeof faultOrder>;

/** The faults that are switched on. */
export class FaultPlan {
  #faults: Fault[] = [];
  #latencyMs = 0;

  order({ clear, faults, latencyMs }: FaultOrder): void {
    if (clear) {
      this.#faults = [];
      this.#latencyMs = 0;
    }
    this.#faults.push(...faults);
    this.#latencyMs = latencyMs ?? this.#latencyMs;
  }

  /** The first fault that fits the request, with one of its times used up. */
  take(method: string, path: string): Fault | undefined {
    const fault = this.#faults.find((candidate) => fits(candidate, method, path));
    if (!fault) return undefined;
    const left = { ...fault, times: fault.times - 1 };
    this.#faults = this.#faults.flatMap((other) => (other !== fault ? other : left.times > 0 ? left : []));
    return fault;
  }

  /** Delay of every request, besides that of faults. */
  get latencyMs(): number {
    return this.#latencyMs;
  }

  /** What is still to come. */
  pending(): Omit<FaultOrder, 'clear'> {
    return { faults: this.#faults, latencyMs: this.#latencyMs };
  }
}

function fits(fault: Fault, method: string, path: string): boolean {
  const pattern = fault.path.split('*').map(RegExp.escape).join('.*');
  return (fault.method === undefined || fault.method === method) && new RegExp(`^${pattern}$`).test(path);
}
