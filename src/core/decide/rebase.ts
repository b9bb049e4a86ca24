import type { Binding } from './bind.ts';
import { stopped } from './brakes.ts';
import type { TabContext } from './context.ts';
import { judgeRow } from './judge.ts';
import type { Brake } from './plan.ts';

/**
 * The brake of a tab whose agreements have to be found anew: a person agrees once they know what that comes to. Equal values are then
 * agreed, different ones wait as conflicts, and records without a row get one.
 */
export function findRebase(context: TabContext, { claimed, records }: Binding): Brake[] {
  const { entity, input } = context;
  const cause = input.known.rebases.get(entity);
  if (cause === undefined) return [];
  const scope = `brake:${entity}:rebase`;
  if (!input.known.sweptEntities.has(entity))
    return [
      {
        scope: `brake:${entity}:reading`,
        entity,
        reason: `${cause} The CRM is being read.`,
        changes: stopped([]),
      },
    ];
  const differing = records.filter(({ row, id }) =>
    judgeRow(context, row, id)?.decided.some(
      ({ outcome }) => outcome.kind !== 'same' && outcome.kind !== 'unknown',
    ),
  );
  const ids = new Set(records.map(({ id }) => id));
  const unseen = [...context.records.values()].filter(
    ({ key, presence }) => presence === 'present' && !ids.has(key.id),
  );
  const claims = claimed.filter(({ id }) => !context.outbox.has(id));
  if (records.length + unseen.length + claims.length === 0) return [];
  const counts = [
    `${records.length - differing.length} rows are equal on both sides`,
    `${differing.length} differ and would wait for a person`,
    `${unseen.length} records would get a row`,
    ...(claims.length > 0 ? [`${claims.length} rows were being created and would wait for a person`] : []),
  ];
  const changes = stopped(differing.map(({ id }) => ({ id, what: 'differs' })));
  return [{ scope, entity, reason: `${cause} ${counts.join(', ')}.`, changes }];
}
