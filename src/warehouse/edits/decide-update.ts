import { type FieldDefinition, findField } from '../../core/fields/field.ts';
import { nameField } from '../../core/fields/refusal-words.ts';
import { journalEntry } from '../../core/journal-entry.ts';
import { mergeUnknown, mergeValue, type Outcome, wantedFields } from '../../core/merge.ts';
import { tellReplaced } from '../../core/notice.ts';
import { advance, waitingStep } from '../../core/outbox.ts';
import { isAnswerLost, isUnanswered, type OutboxItem, type StoredRecord } from '../../core/state.ts';
import { type EditEnd, type EditState, isOpen, type TakenEdit } from '../../core/taken-edit.ts';
import { equalFields, equalValues, type FieldName, type Fields, type Value } from '../../core/value.ts';
import { conflictScope, refusedScope } from '../../core/waiting/scopes.ts';
import { isForValues, readSideAnswer } from '../../core/waiting/typed-answer.ts';
import type { Conflict, Refusal } from '../../core/waiting/waiting.ts';
import {
  come,
  type EditContext,
  type EditedRecord,
  type EditVerdict,
  editedField,
  findShapeFault,
  ignoredBy,
  nothingToDo,
  resolve,
  showSql,
} from './context.ts';

/** One field that is edited: what it was, what its user wants, and what is to be done. */
interface EditedField {
  readonly field: FieldDefinition;
  /** The open edits of it, oldest first. */
  readonly edits: readonly TakenEdit[];
  readonly base: Value;
  readonly wanted: Value;
  readonly outcome: Outcome;
  /** What it has come to, or what it waits for. */
  readonly state: EditState;
  readonly note: string;
}

/** Whether a step of the record has no end yet: until then nothing is decided about it. */
export const isUnderWay = (item: OutboxItem | undefined, record: StoredRecord | undefined): boolean =>
  isUnanswered(item) ||
  item?.isUndo === true ||
  (item?.state === 'waiting' && record !== undefined && isAnswerLost(item, record));

/** Decides about a record of the CRM whose row was edited: each field by its base, its value in the CRM, and the value that was written last. */
export function decideUpdate(context: EditContext, subject: EditedRecord): EditVerdict {
  const { item, key, record } = subject;
  if (isUnderWay(item, record) || !record) return nothingToDo;
  const scope = refusedScope(key);
  const answer = item?.state === 'refused' ? context.choice(scope) : undefined;
  const spent: string[] = [];
  const merged = fieldsOf(subject).map(([name, edits]) =>
    mergeEdited(context, subject, record, name, edits, spent),
  );
  const all = merged.map((each) =>
    answer === 'revert' && each.outcome.kind === 'toCrm' ? takenBack(each) : each,
  );
  const { base, fields } = wantedFields(all);
  const sent = stepOf(context, subject, { base, fields, all, isRetried: answer === 'retry' });
  // What is ignored is so until the row changes.
  const isAnswerOver = answer !== 'ignore' || sent.step !== undefined || sent.dropsStep;
  if (answer !== undefined && isAnswerOver) spent.push(scope);
  const told = all.map((each) =>
    withRefusal(each, sent.step ?? (sent.dropsStep ? undefined : item), fields, context),
  );
  const edits = withReplaced(subject.edits.map((edit) => endOf(edit, told, subject)));
  const lost = told.filter(({ state }) => state === 'lost');
  return {
    ...sent,
    edits: edits.filter((edit, place) => edit !== subject.edits[place]),
    // What a value was preferred to, by the rule or a user, is its base from then on: else the next decision would not know of that.
    bases: Object.fromEntries(
      told
        .filter(isPending)
        .map(({ base: each, field, outcome }) => [
          field.name,
          outcome.kind === 'toCrm' ? outcome.base : each,
        ]),
    ),
    isDue: told.some((each) => !isPending(each)) || subject.edits.some(({ kind }) => kind === 'revert'),
    conflicts: told.flatMap(({ base: agreed, field, outcome }): Conflict[] =>
      outcome.kind === 'conflict'
        ? [{ key, field: field.name, agreed, crm: outcome.crm, table: outcome.table }]
        : [],
    ),
    refusals: refusalsOf(key, told, sent.step ?? item, { decision: scope, ...ignoredBy(answer) }),
    journal: lost.map(({ field, wanted }) =>
      journalEntry(context, key, {
        kind: 'update',
        before: { [field.name]: wanted },
        after: { [field.name]: record.fields[field.name] ?? null },
        lost: { [field.name]: wanted },
        cause: answer === 'revert' ? 'taken back by a user' : 'conflict: the CRM wins',
      }),
    ),
    spent,
  };
}

const isPending = ({ state }: Pick<EditedField, 'state'>): boolean =>
  state === 'taken' || state === 'conflict' || state === 'held' || state === 'refused';

/**
 * The fields of which something is open, each with its edits. What was taken back counts no more, but for the base of what was written to the same
 * field since: the row still showed it then.
 */
function fieldsOf({ edits }: EditedRecord): readonly (readonly [FieldName, readonly TakenEdit[]])[] {
  const byField = new Map<FieldName, TakenEdit[]>();
  for (const edit of edits)
    for (const name of Object.keys(edit.kind === 'update' ? edit.after : {}))
      if (edit.ended[name] === undefined) byField.set(name, [...(byField.get(name) ?? []), edit]);
  const since = edits.slice(edits.findLastIndex(({ kind }) => kind === 'revert') + 1);
  return [...byField].filter(([, own]) => own.some((edit) => since.includes(edit)));
}

function mergeEdited(
  context: EditContext,
  { agreement, key }: EditedRecord,
  record: StoredRecord,
  name: FieldName,
  edits: readonly TakenEdit[],
  spent: string[],
): EditedField {
  const { catalog, policy } = context;
  const last = edits.at(-1)?.after[name] ?? null;
  const field = editedField({ catalog }, key.entity, name);
  const shown = edits[0]?.before[name] ?? null;
  const meant = field ? resolve(context, field, shown) : undefined;
  const agreed = agreement?.fields[name];
  const base = agreed !== undefined ? agreed : meant?.kind === 'value' ? meant.value : shown;
  const whole = { edits, base, wanted: last, field: field ?? { name, header: name, kind: 'text' as const } };
  const refuse = (reason: string): EditedField => ({
    ...whole,
    outcome: { kind: 'refused', reason },
    state: 'refused',
    note: reason,
  });
  if (!field) return refuse(`The CRM has no field ${name} any more.`);
  const found = resolve(context, field, last);
  if (found.kind === 'waits')
    return { ...whole, outcome: { kind: 'unknown' }, state: 'taken', note: found.reason };
  if (found.kind === 'never') return refuse(found.reason);
  const wanted = found.value;
  const shape = findShapeFault(field, wanted);
  if (shape !== undefined) return refuse(shape);
  const isJustSent = agreement !== undefined && agreement.changedAt === record.written?.at;
  const view = {
    rules: {
      direction: 'both' as const,
      conflict: policy.columns?.[key.entity]?.[name]?.conflict ?? policy.conflict,
    },
    field,
    agreed: base,
    offered: undefined,
    unread: record.unread?.[name],
    answered: isJustSent ? record.written?.answered?.[name] : undefined,
  };
  const crm = record.fields[name];
  const scope = conflictScope(key, name);
  const choose = (ours: Value, theirs: Value) => {
    const side = readSideAnswer(context.choice(scope));
    if (!side) return undefined;
    spent.push(scope);
    return isForValues(side, ours, theirs) ? side.side : undefined;
  };
  const outcome: Outcome =
    crm === undefined || field.held !== undefined
      ? crm === undefined && view.unread === undefined
        ? { kind: 'unknown', reason: 'The record is being read.' }
        : mergeUnknown({ ...view, crm }, wanted)
      : mergeValue({ ...view, crm }, wanted, showSql, choose);
  const isSent = !equalValues(base, edits[0]?.before[name] ?? null);
  return { ...whole, wanted, outcome, ...comesTo(field, outcome, isSent) };
}

/** What an outcome comes to for the last edit of its field. */
function comesTo(
  { header }: FieldDefinition,
  outcome: Outcome,
  isSent: boolean,
): Pick<EditedField, 'state' | 'note'> {
  const ended: EditEnd = isSent ? 'done' : 'void';
  switch (outcome.kind) {
    case 'same':
      return { state: ended, note: '' };
    case 'toTable':
      return outcome.lost === undefined
        ? { state: ended, note: '' }
        : { state: 'lost', note: `The CRM has ${showSql(outcome.value)} for ${header}.` };
    case 'conflict':
      return {
        state: 'conflict',
        note: `The CRM has ${showSql(outcome.crm)} for ${header}, which was ${showSql(outcome.agreed)} before: which one stands?`,
      };
    case 'refused':
      return { state: 'refused', note: outcome.reason };
    case 'unknown':
      return { state: 'held', note: outcome.reason ?? `${header} is left alone.` };
    default:
      return { state: 'taken', note: '' };
  }
}

const takenBack = (each: EditedField): EditedField => ({
  ...each,
  outcome: { kind: 'toTable', value: each.base, before: each.wanted, lost: each.wanted },
  state: 'lost',
  note: 'It was taken back.',
});

interface Wanted {
  readonly fields: Fields;
  readonly base: Fields;
  readonly all: readonly EditedField[];
  readonly isRetried: boolean;
}

/** The step that the outbox is to have, where it has another one. */
function stepOf(
  context: EditContext,
  { item, key }: EditedRecord,
  { all, base, fields, isRetried }: Wanted,
): Pick<EditVerdict, 'dropsStep' | 'step'> {
  if (Object.keys(fields).length === 0) return { dropsStep: item !== undefined };
  const isAsBefore =
    item?.kind === 'update' &&
    item.state !== 'review' &&
    equalFields(item.fields, fields) &&
    equalFields(item.base, base);
  if (isAsBefore)
    return isRetried ? { step: advance(item, 'retried', { at: context.now, run: context.run }) } : {};
  const notice = tellReplaced(
    all.flatMap(({ field, outcome }) =>
      outcome.kind === 'toCrm' && outcome.lost !== undefined
        ? [{ field: field.name, words: `${field.header} was ${showSql(outcome.lost)}` }]
        : [],
    ),
  );
  return { step: waitingStep(context, key, { kind: 'update', fields, base, notice }) };
}

/** Says what the CRM has against a step that waits or was refused. */
function withRefusal(
  each: EditedField,
  item: OutboxItem | undefined,
  sent: Fields,
  { catalog }: EditContext,
): EditedField {
  if (each.outcome.kind !== 'toCrm' || sent[each.field.name] === undefined || !item?.error) return each;
  const { entity } = item.key;
  const note = nameField(item.error.message, (name) => findField(entity, name, catalog)?.header);
  return { ...each, state: item.state === 'refused' ? 'refused' : each.state, note };
}

function refusalsOf(
  { entity, id }: EditedRecord['key'],
  all: readonly EditedField[],
  item: OutboxItem | undefined,
  asked: Pick<Refusal, 'decision' | 'isIgnored'>,
): Refusal[] {
  const notes = [...new Set(all.filter(({ state }) => state === 'refused').map(({ note }) => note))];
  const isOfCrm = item?.state === 'refused';
  return notes.map((reason) => ({ entity, id, reason, ...(isOfCrm ? asked : {}) }));
}

/** From what has most weight to the least. */
const weights: readonly EditState[] = [
  'conflict',
  'refused',
  'held',
  'taken',
  'lost',
  'done',
  'superseded',
  'void',
];

/** What an edit has come to, by its fields. */
function endOf(edit: TakenEdit, all: readonly EditedField[], subject: EditedRecord): TakenEdit {
  if (edit.kind === 'revert') return come(edit, 'done', 'It was taken back.');
  if (edit.kind !== 'update') return edit;
  const ended: Record<FieldName, EditEnd> = { ...edit.ended };
  const open: EditedField[] = [];
  const counting = new Set(all.map(({ field }) => field.name));
  for (const name of Object.keys(edit.after)) if (!counting.has(name)) ended[name] ??= 'superseded';
  for (const each of all) {
    if (!each.edits.includes(edit)) continue;
    const { name } = each.field;
    if (each.edits.at(-1) !== edit) ended[name] = wasSent(each, edit, subject) ? 'done' : 'superseded';
    else if (isPending(each)) open.push(each);
    else ended[name] = each.state as EditEnd;
  }
  const states = [...Object.values(ended), ...open.map(({ state }) => state)];
  const state = weights.find((candidate) => states.includes(candidate)) ?? 'void';
  const mine = all.filter((each) => each.edits.at(-1) === edit && each.state === state);
  const note = [...new Set(mine.map((each) => each.note))].filter(Boolean).join(' ');
  const isChanged = Object.keys(ended).length > Object.keys(edit.ended).length;
  return come(edit, state, note, isChanged ? { ended } : {});
}

/** The delete of a row that was inserted again ends with the edit that this was, and waits for what that waits for. */
function withReplaced(edits: readonly TakenEdit[]): readonly TakenEdit[] {
  const open = edits.find((edit) => edit.kind !== 'delete' && isOpen(edit));
  return edits.map((edit) =>
    edit.kind === 'delete'
      ? come(edit, open?.state ?? 'superseded', 'The same row was inserted again.')
      : edit,
  );
}

/** Whether the CRM took what the edit says before a later one of the same field was made. */
const wasSent = (
  { base, edits, field }: EditedField,
  edit: TakenEdit,
  { agreement }: EditedRecord,
): boolean =>
  agreement?.fields[field.name] !== undefined &&
  !equalValues(base, edits[0]?.before[field.name] ?? null) &&
  equalValues(edit.after[field.name] ?? null, base);
