import type { FieldDefinition } from '../../../core/fields/field.ts';
import {
  type ChosenSide,
  type Difference,
  isTypedAnswerMeant,
  type MergeView,
  mergeUnknown,
  mergeValue,
  seenValue,
  settleAs,
} from '../../../core/merge.ts';
import { wasReplaced } from '../../../core/reading/observe.ts';
import type { RecordId } from '../../../core/record.ts';
import {
  type Agreement,
  isAnswerLost,
  isUnanswered,
  type KnownRecord,
  waitingFields,
} from '../../../core/state.ts';
import { formatSerial } from '../../../core/text/dates.ts';
import { equalValues, type FieldName, type Value } from '../../../core/value.ts';
import type { Displaced, Edit } from '../../../core/waiting/disorder.ts';
import { conflictScope } from '../../../core/waiting/scopes.ts';
import { isForValues, readSideAnswer, readTypedAnswer } from '../../../core/waiting/typed-answer.ts';
import type { Names } from '../../cells/codec.ts';
import { shownValue } from '../../cells/extra-fields.ts';
import { type FieldCell, readCell, type Seen } from '../../cells/read-cell.ts';
import { isUsualForm } from '../../cells/shown.ts';
import { showWhole } from '../../cells/sync-text.ts';
import { describeCell } from '../../port/cell.ts';
import { type Column, columnOf } from '../../port/layout.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, keepChosen, nothing, type Verdict } from '../verdict.ts';

/** One field of one record in the CRM and in its cell. */
export interface FieldView extends Omit<MergeView, 'rules'>, FieldCell {
  readonly column: Column;
}

/** What to do about one field; `rewrite` where both sides have the value, and the cell should show it in its usual form. */
export type FieldOutcome =
  | Difference
  | { readonly kind: 'same'; readonly value: Value; readonly rewrite: boolean };

/** One field of a row with what was decided for it. Its header is the one people see. */
export interface DecidedField {
  readonly field: FieldDefinition;
  readonly outcome: FieldOutcome;
}

/** Decides one field: reads its cell, and merges what that shows. `choose` is as for {@link mergeValue}. */
export function mergeField(
  view: FieldView,
  names: Names,
  choose: (crm: Value, table: Value) => ChosenSide,
): FieldOutcome {
  const { cell, column, crm, field } = view;
  const seen = readCell(view, names);
  const merged = { ...view, rules: column };
  if (crm === undefined || field.held !== undefined)
    return mergeUnknown(merged, seen.kind === 'value' ? seen.value : undefined);
  if (column.direction === 'toTable') return mergeShown(view, crm, seen, names);
  if (seen.kind === 'refused') return seen;
  const show = (value: Value) => showWhole(field, value, names);
  const outcome = mergeValue({ ...merged, crm }, seen.value, show, choose);
  if (outcome.kind !== 'same') return outcome;
  const isUsual = seen.isUsual && seen.value === crm;
  const isBound = view.hasType && cell.kind === 'number';
  return { ...outcome, rewrite: !isUsual && !isBound && !isUsualForm(field, crm, cell, names) };
}

/** A column that only shows: the CRM's value is put back over whatever is there, except over a formula and a smart chip. */
function mergeShown(view: FieldView, crm: Value, seen: Seen, names: Names): FieldOutcome {
  const isUsual = seen.kind === 'value' && seen.isUsual && seen.value === crm;
  if (isUsual || isUsualForm(view.field, crm, view.cell, names))
    return { kind: 'same', value: crm, rewrite: false };
  const isKept =
    view.cell.kind === 'formula' ||
    view.cell.kind === 'chip' ||
    (view.cell.kind === 'error' && view.cell.formula !== undefined);
  if (isKept && seen.kind === 'refused') return seen;
  const before = seen.kind === 'value' ? seen.value : shownText(view);
  return { kind: 'toTable', value: crm, before, lost: undefined };
}

/** What people saw in a cell that holds no value of its field, for the history: an older list may have kept days there, for example. */
function shownText({ cell, field }: FieldView): Value {
  const day = field.kind === 'instant' && cell.kind === 'number' ? formatSerial(cell.number) : undefined;
  return day ?? (cell.kind === 'empty' ? null : describeCell(cell));
}

/** A row that carries a record, with what the merge of its fields came to. */
export interface MergedRow {
  readonly row: ObservedRow;
  readonly record: KnownRecord;
  readonly agreement: Agreement | undefined;
  /** Without fields of which the record, what is agreed and the cell plainly say the same; with those that show names. */
  readonly decided: readonly DecidedField[];
  /** Somebody changed it and may still be typing: it is taken once it rests. */
  readonly isRestless: boolean;
  /** The answers to conflicts that were made use of, or are over. */
  readonly verdict: Verdict;
}

/**
 * Merges the fields of a row, for the brakes and for the row itself, also where its record is gone: a sort that tore rows apart may have
 * brought values of another row there. `undefined` while nothing is to be merged, because its record is unknown or being sent.
 */
export function mergeRow(index: TabIndex, row: ObservedRow, id: RecordId): MergedRow | undefined {
  const record = index.records.get(id);
  if (!record || isBeingSent(index, id) || isUnread(index, record)) return undefined;
  const agreement = index.agreements.get(id);
  const decided = mergeFields(index, row, record);
  const isEdited = decided.some(({ outcome }) => isPersonsEdit(outcome));
  return {
    row,
    record,
    agreement,
    decided,
    isRestless: isEdited && index.input.isRestless(index.entity, row),
    verdict: join(...decided.map(({ verdict }) => verdict)),
  };
}

/** The values that a user changed in a row. */
export function editsOf({ record, agreement, decided }: MergedRow): Edit[] {
  return decided.flatMap(({ field, outcome }) => {
    const after = typedValue(outcome);
    if (after === undefined) return [];
    return [{ id: record.key.id, field: field.name, before: agreement?.fields[field.name] ?? null, after }];
  });
}

/** The values of a row that the CRM has no longer, where nobody changed them in the table and it was not us who emptied them. */
export function clearedOf(merged: MergedRow): Edit[] {
  const { agreement, decided } = merged;
  return decided.flatMap(({ field: { name }, outcome }) => {
    if (outcome.kind !== 'toTable' || outcome.value !== null) return [];
    if (outcome.lost !== undefined || outcome.isUndone || isTakenBack(merged, name)) return [];
    const agreed = displacedValue(agreement, name);
    return agreed ? [{ ...agreed, after: null }] : [];
  });
}

/** Whether our last writes replaced the agreed value in the CRM, and the table has yet to follow: a person took something back. */
function isTakenBack({ record: { written }, agreement }: MergedRow, name: FieldName): boolean {
  const agreed = agreement?.fields[name];
  if (written === undefined || agreed === undefined) return false;
  return wasReplaced(written, name, agreed) && (agreement?.changedAt ?? 0) <= written.at;
}

/**
 * The values of a row in whose cells something stands that nobody can read, that the CRM never takes, or that the CRM happens to have
 * as well by now.
 */
export function lostValuesOf({ record, agreement, decided }: MergedRow): Displaced[] {
  return decided.flatMap(({ field: { name }, outcome }) => {
    const lost = displacedValue(agreement, name);
    const isLost =
      (outcome.kind === 'refused' && outcome.typed === undefined) ||
      (outcome.kind === 'same' && !equalValues(record.fields[name] ?? null, lost?.before ?? null));
    return lost && isLost ? lost : [];
  });
}

/** All values of a record whose row is gone. */
export const valuesOfVanished = (agreement: Agreement): Displaced[] =>
  Object.keys(agreement.fields).flatMap((name) => displacedValue(agreement, name) ?? []);

function displacedValue(agreement: Agreement | undefined, field: FieldName): Displaced | undefined {
  const before = agreement?.fields[field] ?? null;
  return agreement && before !== null ? { id: agreement.key.id, field, before } : undefined;
}

/** What a person put into the cell, whatever becomes of it; `undefined` when nobody changed it to a value. */
function typedValue(outcome: FieldOutcome): Value | undefined {
  if (outcome.kind === 'toTable') return outcome.lost;
  if (outcome.kind === 'refused') return outcome.typed;
  return outcome.kind === 'same' ? undefined : seenValue(outcome);
}

/**
 * Whether a step of the record has no end yet. Something that is taken back is being sent until it is done: the row would else take it for
 * its own. So is an update whose answer got lost and that has landed: what it replaced has to come into the history.
 */
function isBeingSent({ outbox, records }: TabIndex, id: RecordId): boolean {
  const item = outbox.get(id);
  if (isUnanswered(item) || item?.isUndo === true) return true;
  const record = records.get(id);
  return item?.state === 'waiting' && record !== undefined && isAnswerLost(item, record);
}

/**
 * Whether all that the CRM told of a record is its answer to our create, and that lacks some of what was sent: it is read next. Until then what
 * the row shows would pass for edits of what the CRM has not told.
 */
function isUnread(index: TabIndex, { fields, firstSeenAt, key, lastSeenAt }: KnownRecord): boolean {
  const sent = lastSeenAt <= firstSeenAt ? index.findOrigin(key.id)?.fields : undefined;
  return sent !== undefined && Object.keys(sent).some((name) => fields[name] === undefined);
}

const isPersonsEdit = (outcome: FieldOutcome) =>
  typedValue(outcome) !== undefined ||
  outcome.kind === 'refused' ||
  (outcome.kind === 'toTable' && outcome.isUndone) ||
  (outcome.kind === 'same' && outcome.rewrite);

interface MergedField extends DecidedField {
  readonly verdict: Verdict;
}

function mergeFields(index: TabIndex, row: ObservedRow, record: KnownRecord): MergedField[] {
  const agreement = index.agreements.get(record.key.id);
  const waiting = waitingFields(index.outbox.get(record.key.id));
  const { answered = {}, at: writtenAt } = record.written ?? {};
  const isJustSent = agreement !== undefined && agreement.changedAt === writtenAt;
  // It waits since then, whatever was agreed of other fields meanwhile. Where nothing waits, as in a column that was off or after the tab was
  // replaced, what stands in the cell may be older than what the CRM has.
  const isFirstEdit = (name: FieldName) =>
    agreement?.fields[name] === undefined && waiting[name] !== undefined;
  const merged: MergedField[] = [];
  for (const { column, field, isNaming } of index.columns) {
    const { name } = field;
    const cell = row.cells[name];
    if (!cell) continue;
    const crm = shownValue(index, record, column);
    const [agreed, offered] = [agreement?.fields[name], agreement?.offered[name]];
    const isAsAgreed =
      crm !== undefined && crm === agreed && offered === undefined && field.held === undefined;
    const shown = agreement?.shown?.[name];
    if (isAsAgreed && isUsualForm(field, crm, cell, index.names)) {
      // Most fields of a row that changed are as they were. From those nothing follows, but how they show names is noted at each look.
      if (isNaming || shown)
        merged.push({ field, outcome: { kind: 'same', value: crm, rewrite: false }, verdict: nothing });
      continue;
    }
    const view: FieldView = {
      column,
      field,
      crm,
      unread: record.unread?.[name],
      agreed,
      offered,
      cell,
      shown,
      hasType: index.tab.typed?.has(name),
      isBoxed: index.tab.boxed?.has(name),
      waiting: waiting[name],
      answered: isJustSent || isFirstEdit(name) ? answered[name] : undefined,
    };
    merged.push(mergeUnderAnswer(index, conflictScope(record.key, name), view));
  }
  return merged;
}

/** Merges a field with what was answered to its conflict. What was answered for other values is over. */
function mergeUnderAnswer({ answers, names }: TabIndex, scope: string, given: FieldView): MergedField {
  const choice = answers.choice(scope);
  const view = { ...given, typed: readTypedAnswer(choice) };
  let verdict = nothing;
  const choose = (crm: Value, table: Value) => {
    const answer = readSideAnswer(choice);
    const isForThis = answer ? isForValues(answer, crm, table) : isTypedAnswerMeant(view, crm, table);
    const isOutrun = choice !== undefined && !isForThis;
    verdict = { scopes: [scope], ...(isOutrun ? { spent: [scope] } : {}) };
    return isOutrun ? undefined : answer?.side;
  };
  const outcome = mergeField(view, names, choose);
  return { field: view.field, outcome, verdict };
}

/** The row with its conflicts settled that are asked about in exactly the words beside which a user chose a side. */
export function settleChosen(index: TabIndex, merged: MergedRow): MergedRow {
  const { decided, record, verdict } = merged;
  const { key } = record;
  // What cannot be sent is said first, and nothing else asked of that row.
  if (decided.some(({ outcome }) => outcome.kind === 'refused')) return merged;
  const settled = decided.map((each): MergedField => {
    const { field, outcome } = each;
    if (outcome.kind !== 'conflict') return { field, outcome, verdict: nothing };
    const { kind: _, ...values } = outcome;
    const [conflict, scope] = [{ key, field: field.name, ...values }, conflictScope(key, field.name)];
    const ask = () => index.questions.ofConflict(conflict);
    const chosen = index.answers.choose(scope, ask, { conflict });
    const [side, column] = [readSideAnswer(chosen?.choice)?.side, columnOf(index.layout, field.name)];
    if (!chosen || !side || !column) return { ...each, verdict: nothing };
    const show = (value: Value) => showWhole(field, value, index.names);
    const settledAs = settleAs(side, { rules: column, field }, outcome, show);
    return { field, outcome: settledAs, verdict: keepChosen(scope, chosen) };
  });
  const chosen = join(...settled.map((each) => each.verdict));
  const spent = verdict.spent?.filter((scope) => !chosen.scopes?.includes(scope)) ?? [];
  return { ...merged, decided: settled, verdict: join({ ...verdict, spent }, chosen) };
}
