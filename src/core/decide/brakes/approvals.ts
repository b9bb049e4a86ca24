import { parseRecordKey, type RecordId } from '../../record.ts';
import type { Agreement, KnownRecord } from '../../state.ts';
import type { ObservedRow } from '../../table.ts';
import { goneScope, meantScope, noted, type TabContext, vanishedScope } from '../context.ts';
import { isEditedInCrm, ruleOf } from '../lifecycle/absent.ts';
import type { Brake } from '../plan.ts';
import { editsOf, judgeRow } from '../rows/judge.ts';
import { brakeScope, shownOf } from './brakes.ts';
import type { Edit } from './disorder.ts';

/** A brake with all that tripped it. */
export interface Tripped {
  readonly brake: Brake;
  readonly edits: readonly Edit[];
  readonly vanishedRows: readonly RecordId[];
  readonly goneRecords: readonly RecordId[];
}

/*
 * What a person lets go on takes its time: a hundred edits are minutes of requests. The answer is for what they saw, so it is turned into
 * one for each change as soon as it is read, and what comes later is asked about by itself.
 */

/** Whether a person has just let go what tripped the brake, in the face of all of it. */
export function isLetGo({ decision, seenOf }: TabContext, tripped: Tripped): boolean {
  const { brake } = tripped;
  const choice = decision(brake.scope);
  const seen = seenOf(brake.scope);
  const isSeen = seen === undefined || seen === shownOf(brake) || countChanges(tripped) === 0;
  return choice !== undefined && choice !== noted && isSeen;
}

/** Whether a brake that holds was answered before more happened behind it: then it is asked about anew. */
export const isOutrun = ({ peek }: TabContext, { scope }: Brake): boolean => {
  const choice = peek(scope);
  return choice !== undefined && choice !== noted;
};

const countChanges = ({ edits, goneRecords, vanishedRows }: Tripped): number =>
  edits.length + goneRecords.length + vanishedRows.length;

/** The edits that nobody approved, and not with this value. */
export const unapprovedEdits = ({ decision, entity, peek }: TabContext, edits: readonly Edit[]): Edit[] =>
  edits.filter(({ id, field, after }) => {
    const scope = meantScope({ entity, id }, field);
    return peek(scope) !== JSON.stringify(after) || decision(scope) === undefined;
  });

/** The rows that are gone without an answer, once the brake for all of them was answered. */
export function unapprovedLosses(context: TabContext, vanished: readonly Agreement[]): readonly Agreement[] {
  const { peek } = context;
  return notedLosses(context).length > 0
    ? vanished.filter(({ key }) => peek(vanishedScope(key)) === undefined)
    : vanished;
}

/** The brakes for rows that are gone whose answer was taken note of. */
const notedLosses = ({ entity, peek }: TabContext): string[] =>
  [brakeScope(entity, 'emptied'), brakeScope(entity, 'vanished')].filter((scope) => peek(scope) === noted);

/** Keeps for as long as rows are gone that an answer for them was taken note of. One that came too late for its brake is over. */
export function keepNotedLosses(context: TabContext): void {
  for (const scope of notedLosses(context)) context.decision(scope);
}

/** The records gone from the CRM that nobody approved. An approval of one lasts as long as the record is gone and has a row. */
export const unapprovedGone = (
  { decision, entity }: TabContext,
  gone: readonly KnownRecord[],
): KnownRecord[] => gone.filter(({ key: { id } }) => decision(goneScope({ entity, id })) === undefined);

/** Takes note of what an answer was given for. */
export function noteApproval(context: TabContext, tripped: Tripped): void {
  const { brake, edits, goneRecords, vanishedRows } = tripped;
  const { draft, entity, input, peek } = context;
  if (countChanges(tripped) === 0) return;
  const note = (scope: string, choice: string) => draft.noted.push({ scope, choice, at: input.now });
  for (const { id, field, after } of edits) note(meantScope({ entity, id }, field), JSON.stringify(after));
  if (brake.scope === brakeScope(entity, 'torn'))
    draft.tornLetGo.set(entity, new Set(edits.map(({ id }) => id)));
  const answer = peek(brake.scope);
  const choice = answer === 'trash' || answer === 'restore' ? answer : undefined;
  if (choice) draft.lossesLetGo.set(entity, choice);
  for (const id of vanishedRows) {
    const scope = vanishedScope({ entity, id });
    // One that comes back, and is deleted again at once, is not what was agreed to.
    const isBack = (choice ?? ruleOf(context)) === 'trash' && isEditedInCrm(context, id);
    // An approval that says nothing about the rows leaves each of them to the rule for a single row, also where that changes.
    if (peek(scope) === undefined) note(scope, isBack ? 'restore' : (choice ?? noted));
  }
  for (const id of goneRecords) note(goneScope({ entity, id }), noted);
  note(brake.scope, noted);
}

/** Tells of a row whether a person has approved that values in it changed places: any edit of it was approved with the answer. */
export function createMeantSearch(context: TabContext): (row: ObservedRow, id: RecordId) => boolean {
  const { decision, draft, entity, layout, peek } = context;
  const letGo = draft.tornLetGo.get(entity);
  const scope = brakeScope(entity, 'torn');
  if (!letGo && peek(scope) !== noted) return () => false;
  const hasMeant = (id: RecordId) =>
    layout.columns.some(({ field }) => peek(meantScope({ entity, id }, field)) !== undefined);
  return (row, id) => {
    if (letGo?.has(id)) return true;
    const judged = judgeRow(context, row, id);
    const edits = judged ? editsOf(judged) : [];
    // While the edits of a row are on their way, only the answer itself tells.
    const isMeant = judged ? unapprovedEdits(context, edits).length < edits.length : hasMeant(id);
    if (isMeant) decision(scope);
    return isMeant;
  };
}

/** Keeps what was approved of records that wait to be sent or are on their way: they are tried again if that fails. */
export function keepApprovals({ decision, entity, input, outbox }: TabContext): void {
  for (const { scope } of input.known.decisions) {
    const [kind, subject = ''] = scope.split(':');
    const key = kind === 'meant' ? parseRecordKey(subject) : undefined;
    if (key?.entity === entity && outbox.has(key.id)) decision(scope);
  }
}
