import { describeCell } from './cell.ts';
import { type Entity, entities, isClaimToken } from './record.ts';
import type { Agreement } from './state.ts';
import type { ObservedTable } from './table.ts';

/** Why nothing that the mirror remembers of an entity may be trusted until a person agrees; empty once somebody did. */
const rebaseFact = (entity: Entity): string => `rebase.${entity}`;

/** The fact that a copy of the mirror carries: whoever starts from it starts from another time. */
export const copiedFact = 'copiedAt';

/** What rebasing needs of the mirror. */
interface Facts {
  readFact(name: string): string | undefined;
  saveFact(name: string, text: string): void;
}

export const saveRebase = (mirror: Facts, entity: Entity, reason: string): void =>
  mirror.saveFact(rebaseFact(entity), reason);

/**
 * The entities whose agreements have to be found anew, with the reason. A mirror that has none at all meets a tab that was synced before
 * when its own file was lost.
 */
export function readRebases(
  mirror: Facts,
  agreements: readonly Agreement[],
  table: ObservedTable,
): ReadonlyMap<Entity, string> {
  const agreed = new Set(agreements.map(({ key }) => key.entity));
  return new Map(
    entities.flatMap((entity) => {
      const isNew = !agreed.has(entity) && hasIds(table, entity);
      const reason = mirror.readFact(rebaseFact(entity)) ?? (isNew ? newMirrorReason : '');
      return reason === '' ? [] : [[entity, reason] as const];
    }),
  );
}

const newMirrorReason = 'The mirror is new, but the sheet was synced before.';

function hasIds({ tabs }: ObservedTable, entity: Entity): boolean {
  const tab = tabs[entity];
  return (
    tab.state === 'read' && tab.rows.some(({ id }) => id.kind !== 'empty' && !isClaimToken(describeCell(id)))
  );
}
