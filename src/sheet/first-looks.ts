import { entities, isClaimToken, recordKeyText } from '../core/record.ts';
import type { Plan } from './plans/plan.ts';
import { type Memory, rowName, rowsIn } from './rest.ts';

/** A change in the table that has not reached the CRM: what is known of when it was made, monotonic ms. */
interface FirstLook {
  /** When the last look began that did not have it. */
  readonly before: number;
  /** The last look that found its row changed. */
  readonly changedAt: number;
}

/** Changes by the record of their row or, where that has no ID, by all that the row holds. Lost on restart, then nothing is measured of them. */
export type FirstLooks = ReadonlyMap<string, FirstLook>;

/** The looks with what the read that `memory` ends with found changed. `before` is when the read before that began; absent where there was none. */
export function noteChanges(
  looks: FirstLooks,
  { at, changed }: Memory,
  before: number | undefined,
): FirstLooks {
  if (changed.length === 0 || before === undefined) return looks;
  const noted = new Map(looks);
  for (const name of changed) noted.set(name, { before: looks.get(name)?.before ?? before, changedAt: at });
  return noted;
}

/**
 * What of the looks a change may still need: its row does not rest, it waits in the outbox, or its row was claimed by what was applied. What
 * waits for a person is none of it, because that says nothing about the daemon.
 */
export function keepOpen(
  looks: FirstLooks,
  memory: Memory,
  applied: Plan | undefined,
  {
    isOutbound,
    typingPauseMs,
  }: { readonly isOutbound: (name: string) => boolean; readonly typingPauseMs: number },
): FirstLooks {
  if (looks.size === 0) return looks;
  const isOpen = (name: string, { changedAt }: FirstLook) =>
    memory.rows.has(name) ||
    changedAt === memory.at ||
    memory.at - changedAt < typingPauseMs ||
    isOutbound(name);
  return new Map([
    ...[...looks].filter(([name, look]) => isOpen(name, look)),
    ...claimed(looks, memory, applied),
  ]);
}

/** From its claim on a row has an ID, and its change the name of the record that comes of it. */
function claimed(looks: FirstLooks, memory: Memory, applied: Plan | undefined): [string, FirstLook][] {
  const claims = (applied?.table ?? []).flatMap(({ key, write }) =>
    key && isClaimToken(key.id) && write.kind === 'set' && write.id
      ? [{ key, position: write.position }]
      : [],
  );
  if (claims.length === 0) return [];
  const names = new Map(
    entities.flatMap((entity) =>
      rowsIn(memory, entity).map((row) => [`${entity} ${row.position}`, rowName(entity, row)]),
    ),
  );
  return claims.flatMap(({ key, position }): [string, FirstLook][] => {
    const look = looks.get(names.get(`${key.entity} ${position}`) ?? '');
    return look ? [[recordKeyText(key), look]] : [];
  });
}
