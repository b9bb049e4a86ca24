import { describeEntity } from '../../core/fields/field.ts';
import { nameField } from '../../core/fields/refusal-words.ts';
import { findFault } from '../../core/fields/validate.ts';
import { advance, waitingStep } from '../../core/outbox.ts';
import { isUnanswered } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { equalFields, type Fields, type Value } from '../../core/value.ts';
import { refusedScope } from '../../core/waiting/scopes.ts';
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
} from './context.ts';

/** Decides about a row that was inserted by SQL and has no record so far. */
export function decideCreate(context: EditContext, subject: EditedRecord): EditVerdict {
  const { edits, item, key } = subject;
  if (isUnanswered(item)) return nothingToDo;
  if (item?.state === 'done' && item.recordId !== undefined) return adopt(subject, item.recordId);
  if (!edits.some(({ kind }) => kind === 'insert')) {
    const note = 'Its row was taken back before.';
    return { edits: edits.map((edit) => come(edit, 'lost', note)), dropsStep: item !== undefined };
  }
  const last = edits.at(-1);
  if (last?.kind === 'delete') {
    const note = 'The row was deleted before its record was created.';
    return {
      edits: edits.map((edit) => come(edit, edit === last ? 'done' : 'superseded', note)),
      dropsStep: item !== undefined,
    };
  }
  const scope = refusedScope(key);
  const answer = context.choice(scope);
  const made = fieldsOf(context, subject);
  if (made.kind !== 'fields') {
    const state = made.kind === 'waits' ? 'taken' : 'refused';
    const told = tell(edits, state, made.reason);
    return made.kind === 'waits'
      ? { edits: told, dropsStep: item !== undefined }
      : { edits: told, dropsStep: item !== undefined, refusals: [refusal(subject, made.reason)] };
  }
  const { fields } = made;
  const isAsBefore = item && equalFields(item.fields, fields);
  // Whatever was written to the row since, nobody knows whether its record is there.
  if (item?.state === 'review' || (isAsBefore && item.state === 'refused')) {
    if (answer !== 'retry') {
      const words = item.error?.message ?? 'The CRM does not take it.';
      const reason = nameField(words, (name) => editedField(context, key.entity, name)?.header);
      const told = item.state === 'review' ? `${reason} ${reviewAdvice}` : reason;
      return {
        edits: tell(edits, item.state === 'review' ? 'held' : 'refused', told),
        refusals: [{ ...refusal(subject, told), decision: scope, ...ignoredBy(answer) }],
      };
    }
    const step =
      item.state === 'review'
        ? waitingStep(context, key, { kind: 'create', fields, base: {} })
        : advance(item, 'retried', { at: context.now, run: context.run });
    return { edits: tell(edits, 'taken', ''), step, spent: [scope] };
  }
  if (isAsBefore) return { edits: tell(edits, 'taken', item.error?.message ?? '') };
  return {
    edits: tell(edits, 'taken', ''),
    step: waitingStep(context, key, { kind: 'create', fields, base: {} }),
    spent: answer === undefined ? [] : [scope],
  };
}

const reviewAdvice = 'Delete this row if it is; retry creates a new record.';

const refusal = ({ edits, key }: EditedRecord, reason: string) => ({
  entity: key.entity,
  id: edits[0]?.row ?? key.id,
  reason,
});

/** The record is there: the insert is done, and what was edited since is an edit of the record. */
function adopt({ edits, key }: EditedRecord, recordId: string): EditVerdict {
  const made = { entity: key.entity, id: recordId };
  return {
    edits: edits.map((edit) =>
      edit.kind === 'insert'
        ? come(edit, 'done', '', { key: made, newId: recordId })
        : { ...edit, key: made },
    ),
    dropsStep: true,
  };
}

const tell = (edits: readonly TakenEdit[], state: TakenEdit['state'], note: string): readonly TakenEdit[] =>
  edits
    .map((edit) => (edit.kind === 'delete' ? edit : come(edit, state, note)))
    .filter((edit, place) => edit !== edits[place]);

type Made =
  | { readonly kind: 'fields'; readonly fields: Fields }
  | { readonly kind: 'waits'; readonly reason: string }
  | { readonly kind: 'never'; readonly reason: string };

/** What the record is to have: what was inserted, with what was written to the row since. */
function fieldsOf(context: EditContext, { edits, key }: EditedRecord): Made {
  const written: Fields = Object.assign({}, ...edits.map(({ after }) => after));
  const fields: Record<string, Value> = {};
  let waits: string | undefined;
  const unknown = Object.keys(written).find(
    (name) => written[name] !== null && !editedField(context, key.entity, name),
  );
  if (unknown !== undefined) return { kind: 'never', reason: `The CRM has no field ${unknown}.` };
  for (const { isReadOnly, name } of describeEntity(key.entity, context.catalog)) {
    const field = editedField(context, key.entity, name);
    const value = written[name] ?? null;
    if (!field || isReadOnly) continue;
    if (field.held !== undefined) {
      if (value === null) continue;
      return { kind: 'never', reason: `${field.header} is left alone, because ${field.held}.` };
    }
    const found = resolve(context, field, value);
    if (found.kind === 'never') return found;
    if (found.kind === 'waits') {
      waits ??= found.reason;
      continue;
    }
    const { isKept: _, ...insertable } = field;
    const fault = findShapeFault(field, found.value) ?? findFault(insertable, found.value);
    if (fault !== undefined) return { kind: 'never', reason: fault };
    if (found.value !== null) fields[name] = found.value;
  }
  return waits === undefined ? { kind: 'fields', fields } : { kind: 'waits', reason: waits };
}
