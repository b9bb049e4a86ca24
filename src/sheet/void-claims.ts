import type { Mirror } from '../core/mirror.ts';
import type { RecordId } from '../core/record.ts';
import { sheetFacts } from './facts.ts';

/** A user who brings back a row with an old token does so within this time. */
const keptMs = 30 * 24 * 60 * 60 * 1_000;

/** More than one paste brings; keeps the fact small where writes fail for days. */
const keptMax = 20_000;

export const readVoidClaims = (mirror: Mirror): ReadonlySet<RecordId> =>
  new Set(mirror.readFact(sheetFacts.voidClaims)?.map(([token]) => token));

/** Notes that no write of these tokens was confirmed, and none will be. To be called in a transaction. */
export function addVoidClaims(mirror: Mirror, tokens: readonly RecordId[], now: number): void {
  if (tokens.length === 0) return;
  const kept = mirror.readFact(sheetFacts.voidClaims)?.filter(([, at]) => now - at < keptMs) ?? [];
  const added = tokens.map((token) => [token, now] as const);
  mirror.saveFact(sheetFacts.voidClaims, [...kept, ...added].slice(-keptMax));
}
