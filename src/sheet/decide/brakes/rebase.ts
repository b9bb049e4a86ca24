import type { RecordId } from '../../../core/record.ts';
import type { FieldName } from '../../../core/value.ts';
import { brakeOf } from '../../../core/waiting/brakes.ts';
import type { Brake, StoppedChange } from '../../../core/waiting/waiting.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { Binding } from '../identity/bind.ts';
import type { FieldOutcome } from '../rows/merge.ts';
import type { MergedRow } from '../rows/merge-row.ts';
import type { TabIndex } from '../tab-index.ts';

/**
 * The brake of a tab whose agreements have to be found anew: a person agrees once they know what that comes to. Equal values are then
 * agreed, different ones wait as conflicts, an empty side takes what the other has, and records without a row get one.
 */
export function findRebase(
  index: TabIndex,
  { claimed, records, strangers }: Binding,
  merges: ReadonlyMap<ObservedRow, MergedRow>,
): Brake[] {
  const { entity, input } = index;
  const cause = input.known.rebases.get(entity);
  if (cause === undefined) return [];
  if (!input.known.sweptEntities.has(entity))
    return [brakeOf(entity, 'reading', `${cause} The CRM is being read.`)];
  const outcomesOf = ({ row }: Binding['records'][number]) =>
    merges.get(row)?.decided.map(({ outcome }) => outcome.kind) ?? [];
  const differing = records.filter((bound) =>
    outcomesOf(bound).some((kind) => kind !== 'same' && kind !== 'unknown'),
  );
  const asking = differing.filter((bound) =>
    outcomesOf(bound).some((kind) => kind === 'conflict' || kind === 'refused'),
  );
  const filled = differing.length - asking.length;
  const ids = new Set(records.map(({ id }) => id));
  const unseen = [...index.records.values()].filter(
    ({ key, presence }) => presence === 'present' && !ids.has(key.id),
  );
  const claims = claimed.filter(({ id }) => !index.outbox.has(id));
  // Strangers count as well: rows of records of which the CRM lists none show that one of both lists is not whole.
  if (records.length + unseen.length + claims.length + strangers.length === 0) return [];
  const counts = [
    `${records.length - differing.length} rows are equal on both sides`,
    `${differing.length} differ`,
    ...(asking.length > 0 ? [`${asking.length} of them would wait for a person`] : []),
    ...(filled > 0
      ? [`${filled} of them would be filled in without asking, where one side is empty or only shows`]
      : []),
    `${unseen.length} records would get a row`,
    ...(claims.length > 0 ? [`${claims.length} rows were being created and would wait for a person`] : []),
    ...(strangers.length > 0 ? [`${strangers.length} rows have an ID that no record of the CRM has`] : []),
  ];
  const changes = differing.flatMap(({ row, id }) => {
    const { decided = [] } = merges.get(row) ?? {};
    return decided.flatMap(({ field, outcome }) => describeDifference(id, field.name, outcome));
  });
  return [brakeOf(entity, 'rebase', `${cause} ${counts.join(', ')}.`, changes)];
}

/** What the CRM has in a field that differs, and what the table has instead. */
function describeDifference(id: RecordId, field: FieldName, outcome: FieldOutcome): StoppedChange[] {
  const change = { id, what: 'differs', field } as const;
  switch (outcome.kind) {
    case 'same':
    case 'unknown':
      return [];
    case 'conflict':
      return [{ ...change, before: outcome.crm, after: outcome.table }];
    case 'toTable':
      return [{ ...change, before: outcome.value, after: outcome.before }];
    case 'toCrm':
      return [{ ...change, before: outcome.base, after: outcome.value }];
    default:
      return [change];
  }
}
