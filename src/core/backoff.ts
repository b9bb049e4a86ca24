/** How long to wait before a step that failed is tried again. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Doubles from the first wait to the longest, with the upper half left to chance (0 to 1) so that many do not come back at once. */
export function backoffMs({ firstMs, maxMs }: Backoff, attempts: number, chance: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.max(0, attempts - 1));
  return Math.round(full / 2 + (full / 2) * chance);
}
