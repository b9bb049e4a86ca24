import { answerLabels, answersTo } from '../../answer.ts';
import { type Cell, textCell } from '../../cell.ts';
import type { Names } from '../../codec.ts';
import { cutText } from '../../cut-text.ts';
import { type FieldDefinition, findField } from '../../field.ts';
import { columnOf, tabOf } from '../../layout.ts';
import { type Entity, type RecordId, type RecordKey, recordKeyText } from '../../record.ts';
import type { FieldName, Fields, Value } from '../../value.ts';
import { conflictScope, type DecideInput } from '../context.ts';
import type { Draft } from '../draft.ts';
import { isOfTab, type Question } from '../plan.ts';
import { describeValue, oneLine } from '../rows/describe-value.ts';
import { idCell } from '../rows/row-values.ts';
import { listOr } from './list-words.ts';

/** A reason may name many columns and quote the CRM. One that no cell can hold would keep everything else from being written. */
const reasonLengthMax = 5_000;

/** Everything in a plan that waits for a person, with brakes first: they stop the most. */
export function findQuestions(input: DecideInput, draft: Draft, names: Names): Question[] {
  if (draft.brakes.length + draft.holds.length + draft.conflicts.length + draft.refusals.length === 0)
    return [];
  const subjects = createSubjects(input, names);
  const answerable = draft.brakes.filter(({ scope }) => answersTo(scope).length > 0);
  const brakes = answerable.map(({ scope, entity, reason }) => {
    const what = `${reason} Nothing is written for “${subjects.title(entity)}” until this is undone or answered.`;
    return ask(scope, what, subjects.cells(entity));
  });
  const holds = draft.holds.flatMap(({ decision, entity, id, reason }) =>
    decision === undefined || entity === 'question'
      ? []
      : [ask(decision, reason, subjects.cells(entity, id))],
  );
  const refusals = draft.refusals.flatMap(({ decision, entity, id, isIgnored, reason }) =>
    decision === undefined || id === undefined || isIgnored
      ? []
      : [ask(decision, reason, { ...subjects.cells(entity, id), ...subjects.wanted({ entity, id }) })],
  );
  const conflicts = draft.conflicts.map(({ key, field: name, crm, table, agreed }) => {
    const field = subjects.field(key.entity, name);
    const header = field?.header ?? name;
    const show = (value: Value) => textCell(field ? describeValue(field, value, names) : '');
    const hasBase = subjects.hasAgreed(key, name);
    const reason = hasBase
      ? `${header} was changed in the CRM and in the sheet.`
      : `${header} is not the same in the CRM and in the sheet, and never was.`;
    return ask(conflictScope(key, name), reason, {
      ...subjects.cells(key.entity, key.id),
      field: textCell(header),
      crm: show(crm),
      table: show(table),
      ...(hasBase ? { agreed: show(agreed) } : {}),
    });
  });
  return [...brakes, ...holds, ...refusals, ...conflicts];
}

/** What is left alone until somebody mends it, for people at the sheet to read beside the questions: there is nothing to choose. */
export function findNotices({ layout }: DecideInput, { holds }: Draft): Question[] {
  const byEntity = Map.groupBy(holds.filter(isOfTab), ({ entity }) => entity);
  return [...byEntity].map(([entity, own]) => {
    const title = tabOf(layout, entity)?.title ?? entity;
    const what = cutText(oneLine(own.map(({ reason }) => reason).join(' ')), reasonLengthMax);
    return { scope: `held:${entity}`, cells: { what: textCell(what), tab: textCell(title) } };
  });
}

function ask(scope: string, reason: string, cells: Readonly<Record<string, Cell>>): Question {
  const labels = answersTo(scope).map((answer) => answerLabels[answer]);
  // The CRM's own words may end in nothing.
  const said = oneLine(reason);
  const sentence = cutText(/[.!?]$/.test(said) ? said : `${said}.`, reasonLengthMax);
  return { scope, cells: { ...cells, what: textCell(`${sentence} Choose ${listOr(labels)}.`) } };
}

/** What questions are about, as people know it. */
interface Subjects {
  title(entity: Entity): string;
  /** The field with the header that people see. */
  field(entity: Entity, name: FieldName): FieldDefinition | undefined;
  cells(entity: Entity, id?: RecordId): Readonly<Record<string, Cell>>;
  /** What is to be changed in the CRM, and for one field also what both sides have there. */
  wanted(key: RecordKey): Readonly<Record<string, Cell>>;
  /** Whether both sides ever had the same there. */
  hasAgreed(key: RecordKey, name: FieldName): boolean;
}

function createSubjects({ known, layout }: DecideInput, names: Names): Subjects {
  const title = (entity: Entity) => tabOf(layout, entity)?.title ?? entity;
  const field: Subjects['field'] = (entity, name) => {
    const [definition, tab] = [findField(entity, name, known.catalog), tabOf(layout, entity)];
    const header = tab && columnOf(tab, name)?.header;
    return definition && { ...definition, header: header ?? definition.header };
  };
  const byKey = <Item extends { readonly key: RecordKey }>(items: readonly Item[]) =>
    new Map(items.map((item) => [recordKeyText(item.key), item]));
  const records = byKey(known.records);
  const agreements = byKey(known.agreements);
  const outbox = byKey(known.outbox);
  const nameOf = (key: RecordKey): string => {
    const { entity } = key;
    const text = recordKeyText(key);
    const fields = (records.get(text) ?? outbox.get(text))?.fields ?? {};
    const naming = (['title', 'full_name', 'lead_id'] as const).find((name) => fields[name] != null);
    const definition = naming && field(entity, naming);
    return definition ? describeValue(definition, fields[definition.name] ?? null, names) : '';
  };
  return {
    title,
    field,
    wanted(key) {
      const item = outbox.get(recordKeyText(key));
      if (item?.kind !== 'update') return {};
      const changed = Object.keys(item.fields).flatMap((name) => field(key.entity, name) ?? []);
      const cells = { field: textCell(changed.map(({ header }) => header).join(', ')) };
      const [only, other] = changed;
      if (!only || other) return cells;
      const show = (from: Fields) => textCell(describeValue(only, from[only.name] ?? null, names));
      return { ...cells, crm: show(item.base), table: show(item.fields) };
    },
    hasAgreed: (key, name) => agreements.get(recordKeyText(key))?.fields[name] !== undefined,
    cells: (entity, id) => ({
      tab: textCell(title(entity)),
      ...(id === undefined ? {} : { record: idCell(id), title: textCell(nameOf({ entity, id })) }),
    }),
  };
}
