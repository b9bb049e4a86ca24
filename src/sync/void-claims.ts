import type { Mirror } from '../core/mirror.ts';
import type { RecordId } from '../core/record.ts';

/** The claim tokens of which no write was confirmed, each with the time when that was known, epoch ms. */
const voidFact = 'claims.void';

/** A user who brings back a row with an old token does so within this time. */
const keptMs = 30 * 24 * 60 * 60 * 1_000;

/** More than one paste brings; keeps the fact small where writes fail for days. */
const keptMax = 20_000;

type VoidClaim = readonly [token: RecordId, at: number];

const readAll = (mirror: Mirror): readonly VoidClaim[] => JSON.parse(mirror.readFact(voidFact) ?? '[]');

export const readVoidClaims = (mirror: Mirror): ReadonlySet<RecordId> =>
  new Set(readAll(mirror).map(([token]) => token));

/** Notes that no write of these tokens was confirmed, and none will be. To be called in a transaction. */
export function addVoidClaims(mirror: Mirror, tokens: readonly RecordId[], now: number): void {
  if (tokens.length === 0) return;
  const kept = readAll(mirror).filter(([, at]) => now - at < keptMs);
  const added = tokens.map((token): VoidClaim => [token, now]);
  mirror.saveFact(voidFact, JSON.stringify([...kept, ...added].slice(-keptMax)));
}
