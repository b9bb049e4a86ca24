import { parseRecordKey, type RecordId } from '../../../core/record.ts';
import type { Agreement, Decision, KnownRecord } from '../../../core/state.ts';
import { brakeScope, shownOf } from '../../../core/waiting/brakes.ts';
import type { Edit } from '../../../core/waiting/disorder.ts';
import { goneScope, meantScope, noted, vanishedScope } from '../../../core/waiting/scopes.ts';
import type { Brake } from '../../../core/waiting/waiting.ts';
import type { Answered } from '../../questions/answers.ts';
import { isEditedInCrm, type Release, ruleOf } from '../lifecycle/vanished.ts';
import { editsOf, type MergedRow } from '../rows/merge.ts';
import type { TabIndex } from '../tab-index.ts';
import { keepChosen, nothing, type Verdict } from '../verdict.ts';

/** A brake with all that tripped it. */
export interface Tripped {
  readonly brake: Brake;
  readonly edits: readonly Edit[];
  readonly vanishedRows: readonly RecordId[];
  readonly goneRecords: readonly RecordId[];
}

/*
 * What a user lets go on takes its time: a hundred edits are minutes of requests. The answer is for what they saw, so it is turned into
 * one for each change as soon as it is read, and what comes later is asked about by itself.
 */

/** Finds the answer that was kept, if a user gave it in the face of all that tripped the brake. */
export function findKept({ answers }: TabIndex, tripped: Tripped): Answered | undefined {
  const kept = answers.find(tripped.brake.scope);
  if (!kept || kept.choice === noted) return undefined;
  const isSeen = kept.seen === undefined || kept.seen === shownOf(tripped.brake);
  return isSeen || countChanges(tripped) === 0 ? kept : undefined;
}

/** Finds the answer by which a user lets go what tripped the brake: one that was kept, or one that stands beside its question. */
export function findApproval(index: TabIndex, tripped: Tripped) {
  const { answers, questions } = index;
  const { brake } = tripped;
  const { scope } = brake;
  const kept = findKept(index, tripped);
  if (kept) return { approval: kept, verdict: { scopes: [scope] } };
  const chosen = answers.choose(scope, () => questions.ofBrake(brake), { shown: shownOf(brake) });
  if (chosen) return { approval: chosen, verdict: keepChosen(scope, chosen) };
  // Answered before more happened behind it, it is asked about anew.
  const isOutrun = (answers.choice(scope) ?? noted) !== noted;
  return { approval: undefined, verdict: { scopes: [scope], ...(isOutrun ? { spent: [scope] } : {}) } };
}

const countChanges = ({ edits, goneRecords, vanishedRows }: Tripped): number =>
  edits.length + goneRecords.length + vanishedRows.length;

/** Whether a user approved the edit, with this value. */
const isApproved = ({ answers, entity }: TabIndex, { after, field, id }: Edit): boolean =>
  answers.choice(meantScope({ entity, id }, field)) === JSON.stringify(after);

/** The edits that nobody approved, and not with this value. */
export const unapprovedEdits = (index: TabIndex, edits: readonly Edit[]): Edit[] =>
  edits.filter((edit) => !isApproved(index, edit));

/** The rows that are gone without an answer, once the brake for all of them was answered. */
export function unapprovedLosses(index: TabIndex, vanished: readonly Agreement[]): readonly Agreement[] {
  return notedLosses(index).length > 0
    ? vanished.filter(({ key }) => index.answers.choice(vanishedScope(key)) === undefined)
    : vanished;
}

/** The brakes for rows that are gone whose answer was taken note of. */
export const notedLosses = ({ answers, entity }: TabIndex): string[] =>
  [brakeScope(entity, 'emptied'), brakeScope(entity, 'vanished')].filter(
    (scope) => answers.choice(scope) === noted,
  );

/** The records gone from the CRM that nobody approved. An approval of one lasts as long as the record is gone and has a row. */
export const unapprovedGone = ({ answers, entity }: TabIndex, gone: readonly KnownRecord[]): KnownRecord[] =>
  gone.filter(({ key: { id } }) => answers.choice(goneScope({ entity, id })) === undefined);

/** The scopes of the approvals that are in use: of edits with the value that was approved, and of records that are gone. */
export function approvalScopes(
  index: TabIndex,
  edits: readonly Edit[],
  gone: readonly KnownRecord[],
): string[] {
  const { entity } = index;
  const approved = edits.filter((edit) => isApproved(index, edit));
  return [
    ...approved.map(({ field, id }) => meantScope({ entity, id }, field)),
    ...gone.map(({ key: { id } }) => goneScope({ entity, id })),
  ];
}

/** Takes note of what an answer was given for. */
export function noteApproval(index: TabIndex, tripped: Tripped, { choice: answer }: Answered): Verdict {
  const { brake, edits, goneRecords, vanishedRows } = tripped;
  const { answers, entity, input } = index;
  if (countChanges(tripped) === 0) return nothing;
  const note = (scope: string, choice: string): Decision => ({ scope, choice, at: input.now });
  const choice = isAboutLosses(answer) ? answer : undefined;
  const losses = vanishedRows.flatMap((id) => {
    const scope = vanishedScope({ entity, id });
    if (answers.choice(scope) !== undefined) return [];
    // One that comes back, and is deleted again at once, is not what was agreed to.
    const isBack = (choice ?? ruleOf(index)) === 'trash' && isEditedInCrm(index, id);
    // An approval that says nothing about the rows leaves each of them to the rule for a single row, also where that changes.
    return [note(scope, isBack ? 'restore' : (choice ?? noted))];
  });
  const notes = [
    ...edits.map(({ id, field, after }) => note(meantScope({ entity, id }, field), JSON.stringify(after))),
    ...losses,
    ...goneRecords.map((id) => note(goneScope({ entity, id }), noted)),
    note(brake.scope, noted),
  ];
  return { scopes: notes.map(({ scope }) => scope), answers: notes };
}

/** What follows from an answer for what it was given for, before that was taken note of. */
export function releaseOf(
  { entity }: TabIndex,
  { brake, edits }: Tripped,
  { at, choice }: Answered,
): Release {
  return {
    ...(isAboutLosses(choice) ? { losses: { at, choice } } : {}),
    ...(brake.scope === brakeScope(entity, 'torn') ? { torn: new Set(edits.map(({ id }) => id)) } : {}),
  };
}

const isAboutLosses = (choice: string): choice is 'trash' | 'restore' =>
  choice === 'trash' || choice === 'restore';

/** Whether a user has approved that values in a row changed places: any edit of it was approved with the answer. */
export function findTornApproval(
  index: TabIndex,
  id: RecordId,
  merged: MergedRow | undefined,
  { torn }: Release,
): { readonly isMeant: boolean; readonly verdict: Verdict } {
  const { answers, entity, layout } = index;
  const scope = brakeScope(entity, 'torn');
  if (torn?.has(id)) return { isMeant: true, verdict: nothing };
  if (!torn && answers.choice(scope) !== noted) return { isMeant: false, verdict: nothing };
  const isMeantIn = (name: string) => answers.choice(meantScope({ entity, id }, name)) !== undefined;
  // While the edits of a row are on their way, only the answer itself tells.
  const isMeant = merged
    ? editsOf(merged).some((edit) => isApproved(index, edit))
    : layout.columns.some(({ field }) => isMeantIn(field));
  return { isMeant, verdict: isMeant ? { scopes: [scope] } : nothing };
}

/** The approvals of records that wait to be sent or are on their way: they are tried again if that fails. */
export const approvalsOnTheirWay = ({ entity, input, outbox }: TabIndex): string[] =>
  input.known.decisions.flatMap(({ scope }) => {
    const [kind, subject = ''] = scope.split(':');
    const key = kind === 'meant' ? parseRecordKey(subject) : undefined;
    return key?.entity === entity && outbox.has(key.id) ? [scope] : [];
  });
