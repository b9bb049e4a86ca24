import { type Entity, entities } from '../core/record.ts';
import type { ObservedTable } from '../core/table.ts';
import type { Link } from './link.ts';
import { rebaseRows } from './rebase.ts';

/** The tab whose rows the mirror speaks of. */
const tabFact = (entity: Entity): string => `table.tab.${entity}`;

const reason =
  'Another tab has taken the place of the one that was kept the same: what it shows may be of former times.';

type ReplacedLink = Pick<Link, 'clock' | 'mirror' | 'newWord' | 'table'>;

/**
 * Rebases the entities whose rows another tab holds than before. A copy that took the place of its original shows what that had when it
 * was made, which would look like edits of today; what is not in it would look deleted. Answers whether there are any.
 */
export function rebaseReplaced(
  { clock, mirror, newWord, table }: ReplacedLink,
  { tabs }: ObservedTable,
): boolean {
  const found = entities.flatMap((entity) => {
    const tab = tabs[entity];
    if (tab.state === 'held' || tab.identity === undefined) return [];
    const now = `${table.identity}/${tab.identity}`;
    const before = mirror.readFact(tabFact(entity));
    return before === now ? [] : [{ entity, now, isReplaced: before !== undefined }];
  });
  if (found.length === 0) return false;
  return mirror.transaction(() => {
    for (const { entity, isReplaced, now } of found) {
      if (isReplaced) rebaseRows(mirror, entity, reason, { now: clock.now(), newWord: newWord() });
      mirror.saveFact(tabFact(entity), now);
    }
    return found.some(({ isReplaced }) => isReplaced);
  });
}
