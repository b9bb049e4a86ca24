import { journalEntry } from '../core/journal-entry.ts';
import type { Mirror } from '../core/mirror.ts';
import type { OpenWrite } from '../core/open-write.ts';
import type { RecordId } from '../core/record.ts';
import type { Fields } from '../core/value.ts';
import { sheetFacts } from './facts.ts';
import { describeCell } from './port/cell.ts';
import type { Damage, DamagedCell, Suspect } from './port/damage.ts';

const causes = {
  undone: 'a write met moved rows or columns here, and was undone',
  escalated: 'a write met moved rows or columns here, and could not be undone',
} as const;

/**
 * Keeps what a write did to other rows than its own: deciding does not trust them, and the history has what was there. A row of the tab of
 * questions is written anew from what is known. To be called in a transaction.
 */
export function noteDamage(
  mirror: Mirror,
  run: string,
  damage: readonly Damage[],
  { at, state }: Pick<Suspect, 'at'> & { readonly state: keyof typeof causes },
): void {
  let number = nextNumber(mirror, run);
  for (const each of damage) {
    const { entity, id } = each;
    if (entity === 'question') continue;
    mirror.saveSuspect({ id: `${run}.${number}`, at, damage: each, state, clearReads: 0 });
    number += 1;
    const parts = { before: textsOf(each, 'before'), after: textsOf(each, 'written') };
    const change = { kind: 'repair', cause: causes[state], ...parts } as const;
    mirror.appendJournal([journalEntry({ now: at, run }, { entity, id: describeCell(id) }, change)]);
  }
}

/** What a write is known to have done: the mirror keeps it unread. */
export const damageOf = ({ damage }: Pick<OpenWrite, 'damage'>): readonly Damage[] =>
  damage as readonly Damage[];

/** What writes did to rows that they were not meant for. */
export const readSuspects = (mirror: Pick<Mirror, 'readSuspects'>): Suspect[] =>
  mirror.readSuspects() as Suspect[];

/** The damage of writes that are not over, as suspects. */
export const readPending = (writes: readonly OpenWrite[]): Suspect[] =>
  writes.flatMap(({ at, id, ...write }) =>
    damageOf(write).map((each, index) => ({
      id: `${id}.p${index}`,
      at,
      damage: each,
      state: 'pending' as const,
      clearReads: 0,
    })),
  );

/** A write may be settled in several steps. */
function nextNumber(mirror: Mirror, run: string): number {
  const prefix = `${run}.`;
  const own = mirror.readSuspects().filter(({ id }) => id.startsWith(prefix));
  return Math.max(-1, ...own.map(({ id }) => Number(id.slice(prefix.length)))) + 1;
}

const textsOf = ({ cells, own }: Damage, side: keyof DamagedCell): Fields =>
  Object.fromEntries(
    Object.entries({ ...own, ...cells }).flatMap(([name, { [side]: cell }]) =>
      cell.kind === 'empty' ? [] : [[name, describeCell(cell)]],
    ),
  );

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
