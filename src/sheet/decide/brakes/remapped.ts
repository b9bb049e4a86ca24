import { seenValue } from '../../../core/merge.ts';
import type { Entity, RecordId } from '../../../core/record.ts';
import type { Agreement } from '../../../core/state.ts';
import { equalValues, type FieldName } from '../../../core/value.ts';
import { brakeOf, brakeScope } from '../../../core/waiting/brakes.ts';
import type { Brake, StoppedChange } from '../../../core/waiting/waiting.ts';
import type { Remap } from '../../column-moves.ts';
import type { FieldOutcome } from '../rows/merge.ts';
import type { MergedRow } from '../rows/merge-row.ts';
import type { TabIndex } from '../tab-index.ts';

/** The brake of a tab whose columns the configuration puts elsewhere. */
export const remapScope = (entity: Entity): string => brakeScope(entity, 'columns');

/**
 * The agreements without those fields. A field that is met under another header, or after it was off, has nothing agreed: equal values are
 * agreed again, empty cells filled, and different ones wait for a person.
 */
export function forgetRemapped(
  agreements: ReadonlyMap<string, Agreement>,
  remap: Remap | undefined,
  isAgreedTo: boolean,
): ReadonlyMap<string, Agreement> {
  const names = new Set([...(remap?.off ?? []), ...(isAgreedTo ? Object.keys(remap?.moved ?? {}) : [])]);
  if (names.size === 0) return agreements;
  const without = (fields: Agreement['fields']) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
  return new Map(
    [...agreements].map(([id, agreement]) => {
      const { fields, offered } = agreement;
      if (![...names].some((name) => name in fields || name in offered)) return [id, agreement] as const;
      return [id, { ...agreement, fields: without(fields), offered: without(offered) }] as const;
    }),
  );
}

/** The cells of moved columns that do not show what was agreed, and would be taken for edits: nothing is written until a person agrees. */
export function findRemapped({ entity, input, layout }: TabIndex, merged: readonly MergedRow[]): Brake[] {
  const moved = input.known.remaps.get(entity)?.moved ?? {};
  const changes = merged.flatMap(({ record, agreement, decided }) =>
    decided.flatMap(({ field, outcome }) =>
      field.name in moved ? describeDifference(record.key.id, field.name, agreement, outcome) : [],
    ),
  );
  if (changes.length === 0) return [];
  const reason =
    `The configuration puts columns of “${layout.title}” elsewhere than before: ${Object.values(moved).join(', ')}. ` +
    `${changes.length} cells there do not show what both sides had. Put the configuration back, or approve: ` +
    'then columns that only come from the CRM show its values, empty cells are filled, and other differences wait for a person.';
  return [brakeOf(entity, 'columns', reason, changes)];
}

function describeDifference(
  id: RecordId,
  field: FieldName,
  agreement: Agreement | undefined,
  outcome: FieldOutcome,
): StoppedChange[] {
  const before = agreement?.fields[field];
  if (before === undefined) return [];
  if (outcome.kind === 'refused') return [{ id, what: 'differs', field, before }];
  const after = outcome.kind === 'same' ? undefined : seenValue(outcome);
  if (after === undefined || equalValues(before, after)) return [];
  return [{ id, what: 'differs', field, before, after }];
}
