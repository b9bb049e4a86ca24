import { wasReplaced } from '../../observe.ts';
import type { RecordId } from '../../record.ts';
import { type Agreement, isAnswerLost, isUnanswered, type KnownRecord } from '../../state.ts';
import type { ObservedRow } from '../../table.ts';
import { isForValues, readSideAnswer, readTypedAnswer } from '../../typed-answer.ts';
import { equalValues, type FieldName, type Value } from '../../value.ts';
import type { Displaced, Edit } from '../brakes/disorder.ts';
import { conflictScope, type TabContext } from '../context.ts';
import { originOf } from '../identity/origin.ts';
import { type DecidedField, type FieldOutcome, isTypedAnswerMeant, mergeField } from './merge.ts';
import { waitingFields } from './waiting-edits.ts';

/** A row that carries a record, with what the merge of every field came to. */
export interface JudgedRow {
  readonly record: KnownRecord;
  readonly agreement: Agreement | undefined;
  readonly decided: readonly DecidedField[];
  /** Somebody changed it and may still be typing: it is taken once it rests. */
  readonly isRestless: boolean;
}

/** The rows of a tab that were judged already, for as long as it is decided. */
const judgedRows = new WeakMap<TabContext, Map<ObservedRow, JudgedRow>>();

/**
 * Merges every field of a row, once for the brakes and for the row itself, also where its record is gone: a sort that tore rows apart may
 * have brought values of another row there. `undefined` while nothing is to be merged, because its record is unknown or being sent.
 */
export function judgeRow(context: TabContext, row: ObservedRow, id: RecordId): JudgedRow | undefined {
  const ofTab = judgedRows.get(context) ?? new Map<ObservedRow, JudgedRow>();
  judgedRows.set(context, ofTab);
  const known = ofTab.get(row);
  if (known?.record.key.id === id) return known;
  const judged = judgeAnew(context, row, id);
  if (judged) ofTab.set(row, judged);
  return judged;
}

function judgeAnew(context: TabContext, row: ObservedRow, id: RecordId): JudgedRow | undefined {
  const record = context.records.get(id);
  if (!record || isBeingSent(context, id) || isUnread(context, record)) return undefined;
  const agreement = context.agreements.get(id);
  const decided = mergeRow(context, row, record, agreement);
  const isEdited = decided.some(({ outcome }) => isPersonsEdit(outcome));
  return {
    record,
    agreement,
    decided,
    isRestless: isEdited && context.input.isRestless(context.entity, row),
  };
}

/** The values that a person changed in a judged row. */
export function editsOf({ record, agreement, decided }: JudgedRow): Edit[] {
  return decided.flatMap(({ field, outcome }) => {
    const after = typedValue(outcome);
    if (after === undefined) return [];
    return [{ id: record.key.id, field: field.name, before: agreement?.fields[field.name] ?? null, after }];
  });
}

/** The values of a judged row that the CRM has no more, where nobody changed them in the table and it was not us who emptied them. */
export function clearedOf(judged: JudgedRow): Edit[] {
  const { record, agreement, decided } = judged;
  return decided.flatMap(({ field: { name }, outcome }) => {
    if (outcome.kind !== 'toTable' || outcome.value !== null) return [];
    if (outcome.lost !== undefined || outcome.isUndone || isTakenBack(judged, name)) return [];
    const agreed = displacedValue(agreement, record.key.id, name);
    return agreed ? [{ ...agreed, after: null }] : [];
  });
}

/** Whether our last writes replaced the agreed value in the CRM, and the table has yet to follow: a person took something back. */
function isTakenBack({ record: { written }, agreement }: JudgedRow, name: FieldName): boolean {
  const agreed = agreement?.fields[name];
  if (written === undefined || agreed === undefined) return false;
  return wasReplaced(written, name, agreed) && (agreement?.changedAt ?? 0) <= written.at;
}

/**
 * The values of a judged row in whose cells something stands that nobody can read, that the CRM never takes, or that the CRM happens to have
 * as well by now.
 */
export function lostValuesOf({ record, agreement, decided }: JudgedRow): Displaced[] {
  return decided.flatMap(({ field: { name }, outcome }) => {
    const lost = displacedValue(agreement, record.key.id, name);
    const isLost =
      (outcome.kind === 'refused' && outcome.typed === undefined) ||
      (outcome.kind === 'same' && !equalValues(record.fields[name] ?? null, lost?.before ?? null));
    return lost && isLost ? lost : [];
  });
}

/** All values of a record whose row is gone. */
export const valuesOfVanished = (agreement: Agreement): Displaced[] =>
  Object.keys(agreement.fields).flatMap((name) => displacedValue(agreement, agreement.key.id, name) ?? []);

function displacedValue(
  agreement: Agreement | undefined,
  id: RecordId,
  field: FieldName,
): Displaced | undefined {
  const before = agreement?.fields[field];
  return before === undefined || before === null ? undefined : { id, field, before };
}

/** What a person put into the cell, whatever becomes of it; `undefined` when nobody changed it to a value. */
function typedValue(outcome: FieldOutcome): Value | undefined {
  switch (outcome.kind) {
    case 'toCrm':
      return outcome.value;
    case 'toTable':
      return outcome.lost;
    case 'conflict':
      return outcome.table;
    case 'typed':
      return outcome.before;
    case 'refused':
      return outcome.typed;
    default:
      return undefined;
  }
}

/**
 * Whether a step of the record has no end yet. Something that is taken back is being sent until it is done: the row would else take it for
 * its own. So is an update whose answer got lost and that has landed: what it replaced has to come into the history.
 */
function isBeingSent({ outbox, records }: TabContext, id: RecordId): boolean {
  const item = outbox.get(id);
  if (isUnanswered(item) || item?.isUndo === true) return true;
  const record = records.get(id);
  return item?.state === 'waiting' && record !== undefined && isAnswerLost(item, record);
}

/**
 * Whether all that the CRM told of a record is its answer to our create, and that lacks some of what was sent: it is read next. Until then what
 * the row shows would pass for edits of what the CRM has not told.
 */
function isUnread(context: TabContext, { fields, firstSeenAt, key, lastSeenAt }: KnownRecord): boolean {
  const sent = lastSeenAt <= firstSeenAt ? originOf(context, key.id)?.fields : undefined;
  return sent !== undefined && Object.keys(sent).some((name) => fields[name] === undefined);
}

const isPersonsEdit = (outcome: FieldOutcome) =>
  outcome.kind === 'toCrm' ||
  outcome.kind === 'conflict' ||
  outcome.kind === 'typed' ||
  outcome.kind === 'refused' ||
  (outcome.kind === 'toTable' && (outcome.lost !== undefined || outcome.isUndone)) ||
  (outcome.kind === 'same' && outcome.rewrite);

function mergeRow(
  context: TabContext,
  row: ObservedRow,
  record: KnownRecord,
  agreement: Agreement | undefined,
): DecidedField[] {
  const waiting = waitingFields(context.outbox.get(record.key.id));
  const { answered = {}, at: writtenAt } = record.written ?? {};
  const isJustSent = agreement !== undefined && agreement.changedAt === writtenAt;
  // It waits since then, whatever was agreed of other fields meanwhile. Where nothing waits, as in a column that was off or after the tab was
  // replaced, what stands in the cell may be older than what the CRM has.
  const isFirstEdit = (name: FieldName) =>
    agreement?.fields[name] === undefined && waiting[name] !== undefined;
  return context.layout.columns.flatMap((column) => {
    const [field, cell] = [context.fields.get(column.field), row.cells[column.field]];
    if (!field || !cell) return [];
    const { name } = field;
    const scope = conflictScope(record.key, name);
    const view = {
      column,
      // Messages speak of the column as people see it.
      field: field.header === column.header ? field : { ...field, header: column.header },
      crm: record.fields[name],
      unread: record.unread?.[name],
      agreed: agreement?.fields[name],
      offered: agreement?.offered[name],
      cell,
      shown: agreement?.shown?.[name],
      hasType: context.tab.typed?.has(name),
      isBoxed: context.tab.boxed?.has(name),
      typed: readTypedAnswer(context.peek(scope)),
      waiting: waiting[name],
      answered: isJustSent || isFirstEdit(name) ? answered[name] : undefined,
    };
    const choose = (crm: Value, table: Value) => {
      const choice = context.decision(scope);
      const answer = readSideAnswer(choice);
      const isForThis = answer ? isForValues(answer, crm, table) : isTypedAnswerMeant(view, crm, table);
      if (choice === undefined || isForThis) return answer?.side;
      context.draft.outrunDecisions.add(scope);
      return undefined;
    };
    return [{ field: view.field, outcome: mergeField(view, context.names, choose) }];
  });
}
