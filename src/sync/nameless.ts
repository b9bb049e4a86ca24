import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities, type RecordId } from '../core/record.ts';

/** Elements of the CRM's lists without an id that can be used, in words; by the lead below which a list is, or by nothing. */
type Nameless = Readonly<Record<string, readonly string[]>>;

const namelessFact = (entity: Entity): string => `crm.nameless.${entity}`;

const readFact = (mirror: Mirror, entity: Entity): Nameless =>
  JSON.parse(mirror.readFact(namelessFact(entity)) || '{}') as Nameless;

/** Keeps what a whole list showed without an id: until it is read again, any record that is missing may be one of these. */
export function saveNameless(
  mirror: Mirror,
  entity: Entity,
  words: readonly string[],
  leadId: RecordId = '',
): void {
  const before = readFact(mirror, entity);
  if (words.length === 0 && before[leadId] === undefined) return;
  const { [leadId]: _before, ...others } = before;
  mirror.saveFact(
    namelessFact(entity),
    JSON.stringify(words.length === 0 ? others : { ...others, [leadId]: words }),
  );
}

/** The kinds of record in whose lists some elements have no id that can be used, with where they are. */
export const readNameless = (mirror: Mirror): ReadonlyMap<Entity, readonly string[]> =>
  new Map(
    entities.flatMap((entity) => {
      const words = Object.values(readFact(mirror, entity)).flat();
      return words.length === 0 ? [] : [[entity, words] as const];
    }),
  );
