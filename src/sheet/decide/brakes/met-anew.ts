import { seenValue } from '../../../core/merge.ts';
import type { Entity, RecordId } from '../../../core/record.ts';
import { type Agreement, isUnanswered } from '../../../core/state.ts';
import { equalValues, type FieldName } from '../../../core/value.ts';
import { brakeOf, brakeScope } from '../../../core/waiting/brakes.ts';
import type { Brake, StoppedChange } from '../../../core/waiting/waiting.ts';
import type { Remap } from '../../column-map.ts';
import type { DecideInput } from '../../plans/plan.ts';
import { recordTabs } from '../../port/layout.ts';
import { isBlank, type ObservedRow } from '../../port/table.ts';
import type { Binding } from '../identity/bind.ts';
import { isInTable } from '../identity/likeness.ts';
import type { FieldOutcome, MergedRow } from '../rows/merge.ts';
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
    (record) =>
      record.presence === 'present' && !ids.has(record.key.id) && index.only.fitOf(record).kind === 'fits',
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
  const changed = [...agreements].flatMap(([id, agreement]) => {
    const { fields, offered } = agreement;
    if (![...names].some((name) => name in fields || name in offered)) return [];
    return [[id, { ...agreement, fields: without(fields), offered: without(offered) }] as const];
  });
  // Where the agreements are others, every row is decided at once.
  return changed.length === 0 ? agreements : new Map([...agreements, ...changed]);
}

/** The cells of moved columns that do not show what was agreed, and would be taken for edits: nothing is written until a person agrees. */
export function findRemapped({ entity, input, layout }: TabIndex, merged: readonly MergedRow[]): Brake[] {
  const moved = input.known.remaps.get(entity)?.moved;
  if (!moved) return [];
  const changes = merged.flatMap(({ record, agreement, decided }) =>
    decided.flatMap(({ field: { name: field }, outcome }): StoppedChange[] => {
      const before = agreement?.fields[field];
      if (before === undefined || !(field in moved)) return [];
      const change = { id: record.key.id, what: 'differs', field, before } as const;
      if (outcome.kind === 'refused') return [change];
      const after = outcome.kind === 'same' ? undefined : seenValue(outcome);
      return after === undefined || equalValues(before, after) ? [] : [{ ...change, after }];
    }),
  );
  if (changes.length === 0) return [];
  const reason =
    `The configuration puts columns of “${layout.title}” elsewhere than before: ${Object.values(moved).join(', ')}. ` +
    `${changes.length} cells there do not show what both sides had. Put the configuration back, or approve: ` +
    'then columns that only come from the CRM show its values, empty cells are filled, and other differences wait for a person.';
  return [brakeOf(entity, 'columns', reason, changes)];
}

/**
 * A tab that somebody filled before the daemon came: rows without an ID, and nothing agreed about any record. Most likely they are records
 * that the CRM has already, so that creating them would double them all, and appending the CRM's would double the rows. A tab may be
 * filled at will where the CRM has nothing, or has what was created from it.
 */
export function findFirstMeeting(index: TabIndex, unbound: readonly ObservedRow[]): Brake[] {
  const { entity, inStep, input, layout, loose, outside } = index;
  const rows = unbound.filter((row) => !isBlank(row));
  if (rows.length === 0 || hasMet(index)) return [];
  const { emptyLists, sweptEntities } = input.known;
  const isEmptyCrm =
    sweptEntities.has(entity) &&
    inStep.size + outside.size === 0 &&
    loose.records.every(({ presence }) => presence === 'gone');
  if (isEmptyCrm && emptyLists.has(entity)) return [];
  const [first] = rows;
  const found = `${rows.length} rows without an ID stand in “${layout.title}”, the first in row ${(first?.position ?? 0) + 1}.`;
  // By itself this goes on: to be asked what an empty answer is worth helps nobody.
  if (isEmptyCrm) {
    const reason = `${found} The CRM lists nothing, and is read once more before they are new records.`;
    return [brakeOf(entity, 'reading', reason)];
  }
  const reason = `${found} Stop the daemon and run init --match-by with a column that tells them apart, or approve to create all of them as new records.`;
  return [brakeOf(entity, 'first', reason)];
}

/**
 * Whether anything is agreed, or about to be: a record that was made from a row may not be read yet. A tab that follows a rule was met, also where
 * no record fits it.
 */
function hasMet(index: TabIndex): boolean {
  const { entity, inStep, input, outbox } = index;
  const { rebases, remaps, rules } = input.known;
  const isSettled = !rebases.has(entity) && !remaps.has(entity);
  return (
    inStep.size > 0 ||
    (isSettled && rules.get(entity)?.applied !== undefined) ||
    index.candidates().some((agreement) => isInTable(index, agreement)) ||
    [...outbox.values()].some((item) => item.kind === 'create' && isUnanswered(item))
  );
}

/**
 * The brake of every tab while the CRM may show the records of another account. It holds until the account is the known one again, or a
 * person has taken it for the one to work with; then everything that was agreed is forgotten, and found anew before anything is written.
 */
export function findOtherAccount({ entity, input }: TabIndex): Brake[] {
  const { accountDoubt } = input.known;
  if (!accountDoubt) return [];
  const { isOther, reason } = accountDoubt;
  return [brakeOf(entity, isOther ? 'account' : 'reading', reason)];
}

/** Whether a user takes the other account for the one to work with. One tab stands for all: there is one account. */
export const isAccountTaken = (input: DecideInput, isAnswered: (scope: string) => boolean): boolean =>
  input.known.accountDoubt?.isOther === true &&
  recordTabs(input.layout).some(({ entity }) => isAnswered(brakeScope(entity, 'account')));
