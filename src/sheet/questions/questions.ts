import { type FieldDefinition, findField } from '../../core/fields/field.ts';
import { namingFields } from '../../core/fields/labels.ts';
import type { Entity, RecordId, RecordKey } from '../../core/record.ts';
import type { Agreement, KnownRecord, OutboxItem } from '../../core/state.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listOr } from '../../core/text/list-words.ts';
import type { FieldName, Fields, Value } from '../../core/value.ts';
import { answerLabels, answersTo } from '../../core/waiting/answer.ts';
import { conflictScope } from '../../core/waiting/scopes.ts';
import { type Brake, type Conflict, type Hold, isOfWhole, type Refusal } from '../../core/waiting/waiting.ts';
import type { Names } from '../cells/codec.ts';
import { idCell } from '../cells/shown.ts';
import { describeValue, oneLine } from '../cells/sync-text.ts';
import type { DecideInput, Plan, Question } from '../plans/plan.ts';
import { textCell } from '../port/cell.ts';
import { columnOf, tabOf } from '../port/layout.ts';

/** A reason may name many columns and quote the CRM. One that no cell can hold would keep everything else from being written. */
const reasonLengthMax = 5_000;

export type QuestionWriter = ReturnType<typeof createQuestionWriter>;

/** Finds what is known by the key of a record. */
export interface Lookup {
  readonly findRecord: (key: RecordKey) => KnownRecord | undefined;
  readonly findAgreement: (key: RecordKey) => Agreement | undefined;
  readonly findItem: (key: RecordKey) => OutboxItem | undefined;
}

/** Writes what waits for a user as a question; `undefined` for what no user can answer. */
export function createQuestionWriter({ known, layout }: DecideInput, names: Names, lookup: Lookup) {
  const titleOf = (entity: Entity) => tabOf(layout, entity)?.title ?? entity;
  /** The field with the header that people see. */
  const fieldOf = (entity: Entity, name: FieldName): FieldDefinition | undefined => {
    const [definition, tab] = [findField(entity, name, known.catalog), tabOf(layout, entity)];
    const header = tab && columnOf(tab, name)?.header;
    return definition && { ...definition, header: header ?? definition.header };
  };
  const nameOf = (key: RecordKey): string => {
    const fields = (lookup.findRecord(key) ?? lookup.findItem(key))?.fields ?? {};
    const naming = namingFields.find((name) => fields[name] != null);
    const definition = naming && fieldOf(key.entity, naming);
    return definition ? describeValue(definition, fields[definition.name] ?? null, names) : '';
  };
  const subjectOf = (entity: Entity, id?: RecordId) => ({
    tab: textCell(titleOf(entity)),
    ...(id === undefined ? {} : { record: idCell(id), title: textCell(nameOf({ entity, id })) }),
  });
  /** What is to be changed in the CRM, and for one field also what both sides have there. */
  const wantedOf = (key: RecordKey): Question['cells'] => {
    const item = lookup.findItem(key);
    if (item?.kind !== 'update') return {};
    const changed = Object.keys(item.fields).flatMap((name) => fieldOf(key.entity, name) ?? []);
    const cells = { field: textCell(changed.map(({ header }) => header).join(', ')) };
    const [only, other] = changed;
    if (!only || other) return cells;
    const show = (from: Fields) => textCell(describeValue(only, from[only.name] ?? null, names));
    return { ...cells, crm: show(item.base), table: show(item.fields) };
  };
  return {
    ofBrake({ entity, reason, scope }: Brake): Question | undefined {
      if (answersTo(scope).length === 0) return undefined;
      const what = `${reason} Nothing is written for “${titleOf(entity)}” until this is undone or answered.`;
      return ask(scope, what, subjectOf(entity));
    },
    ofHold({ decision, entity, id, reason }: Hold): Question | undefined {
      if (decision === undefined || entity === 'question') return undefined;
      return ask(decision, reason, subjectOf(entity, id));
    },
    ofRefusal({ decision, entity, id, isIgnored, reason }: Refusal): Question | undefined {
      if (decision === undefined || id === undefined || isIgnored) return undefined;
      return ask(decision, reason, { ...subjectOf(entity, id), ...wantedOf({ entity, id }) });
    },
    ofConflict({ agreed, crm, field: name, key, table }: Conflict): Question {
      const field = fieldOf(key.entity, name);
      const header = field?.header ?? name;
      const show = (value: Value) => textCell(field ? describeValue(field, value, names) : '');
      const hasBase = lookup.findAgreement(key)?.fields[name] !== undefined;
      const reason = hasBase
        ? `${header} was changed in the CRM and in the sheet.`
        : `${header} is not the same in the CRM and in the sheet, and never was.`;
      return ask(conflictScope(key, name), reason, {
        ...subjectOf(key.entity, key.id),
        field: textCell(header),
        crm: show(crm),
        table: show(table),
        ...(hasBase ? { agreed: show(agreed) } : {}),
      });
    },
  };
}

/** Everything in a plan that waits for a user, with brakes first: they stop the most. */
export const findQuestions = (
  writer: QuestionWriter,
  { brakes, conflicts, holds, refusals }: Pick<Plan, 'brakes' | 'conflicts' | 'holds' | 'refusals'>,
): Question[] => [
  ...brakes.flatMap((brake) => writer.ofBrake(brake) ?? []),
  ...holds.flatMap((hold) => writer.ofHold(hold) ?? []),
  ...refusals.flatMap((refusal) => writer.ofRefusal(refusal) ?? []),
  ...conflicts.map((conflict) => writer.ofConflict(conflict)),
];

/** What is left alone until somebody mends it, for people at the sheet to read beside the questions: there is nothing to choose. */
export function findNotices({ layout }: DecideInput, holds: readonly Hold[]): Question[] {
  const byEntity = Map.groupBy(holds.filter(isOfWhole), ({ entity }) => entity);
  return [...byEntity].map(([entity, own]) => {
    const title = tabOf(layout, entity)?.title ?? entity;
    const what = cutText(oneLine(own.map(({ reason }) => reason).join(' ')), reasonLengthMax);
    return { scope: `held:${entity}`, cells: { what: textCell(what), tab: textCell(title) } };
  });
}

function ask(scope: string, reason: string, cells: Question['cells']): Question {
  const labels = answersTo(scope).map((answer) => answerLabels[answer]);
  // The CRM's own words may end in nothing.
  const said = oneLine(reason);
  const sentence = cutText(/[.!?]$/.test(said) ? said : `${said}.`, reasonLengthMax);
  return { scope, cells: { ...cells, what: textCell(`${sentence} Choose ${listOr(labels)}.`) } };
}
