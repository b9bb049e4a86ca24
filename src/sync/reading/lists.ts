import { facts } from '../../core/facts.ts';
import type { Mirror } from '../../core/mirror.ts';
import { sweepsToProve } from '../../core/reading/observe.ts';
import { type Entity, entities, isListed } from '../../core/record.ts';
import type { StoredRecord } from '../../core/state.ts';

/** The records of a kind, or of all, that are not known to be gone. */
export const readPresent = (mirror: Mirror, entity?: Entity): StoredRecord[] =>
  mirror.readRecords(entity).filter(({ presence }) => presence === 'present');

/** The entities that were read from the CRM to the end at least once: of these it is known what the CRM does not have. */
export const readSwept = (mirror: Mirror): ReadonlySet<Entity> =>
  new Set(mirror.readSweeps().flatMap(({ entity, isComplete }) => (isComplete ? entity : [])));

/** Takes note of how many records a complete sweep showed. To be called in a transaction. */
export function noteListed(mirror: Mirror, entity: Entity, records: number): void {
  const now = records > 0 ? 0 : Math.min(countEmptySweeps(mirror, entity) + 1, sweepsToProve);
  mirror.saveFact(facts.emptySweeps(entity), now);
}

const countEmptySweeps = (mirror: Mirror, entity: Entity): number =>
  mirror.readFact(facts.emptySweeps(entity)) ?? 0;

/**
 * The entities of which the CRM lists nothing, sweep after sweep: where no record is known, none can be asked for whether one empty answer
 * was a slip. Contacts stand in a list for each lead, and those do not all slip at once.
 */
export const readEmptyLists = (mirror: Mirror): ReadonlySet<Entity> =>
  new Set(
    entities.filter((entity) => !isListed(entity) || countEmptySweeps(mirror, entity) >= sweepsToProve),
  );

/** Keeps what a whole list showed without an id: until it is read again, any record that is missing may be one of these. */
export function saveNameless(mirror: Mirror, entity: Entity, words: readonly string[], leadId = ''): void {
  const before = mirror.readFact(facts.nameless(entity)) ?? {};
  if (words.length === 0 && before[leadId] === undefined) return;
  const { [leadId]: _before, ...others } = before;
  mirror.saveFact(facts.nameless(entity), words.length === 0 ? others : { ...others, [leadId]: words });
}

/** The kinds of record in whose lists some elements have no id that can be used, with where they are. */
export const readNameless = (mirror: Mirror): ReadonlyMap<Entity, readonly string[]> =>
  new Map(
    entities.flatMap((entity) => {
      const words = Object.values(mirror.readFact(facts.nameless(entity)) ?? {}).flat();
      return words.length === 0 ? [] : [[entity, words] as const];
    }),
  );
