import { type Cascades, createCascades } from '../../core/cascade.ts';
import type { FieldDefinition } from '../../core/fields/field.ts';
import { once } from '../../core/once.ts';
import { type Entity, type RecordId, type RecordKey, recordKeyText } from '../../core/record.ts';
import type { Agreement, KnownRecord, OutboxItem } from '../../core/state.ts';
import type { FieldName } from '../../core/value.ts';
import { createNames, type Names } from '../cells/codec.ts';
import { summarizeContacts, tabFields } from '../cells/extra-fields.ts';
import { comingTitles, namesOfRecords, titledChoices } from '../cells/lead-names.ts';
import { ruleTab, type TabRuling } from '../only/tab-rule.ts';
import type { DecideInput } from '../plans/plan.ts';
import { describeCell } from '../port/cell.ts';
import { recordTabs, type TabLayout } from '../port/layout.ts';
import { showLayout } from '../port/shown-layout.ts';
import type { ObservedRow, ReadTab } from '../port/table.ts';
import { type Answers, createAnswers, readQuestionTab } from '../questions/answers.ts';
import { createQuestionWriter, type QuestionWriter } from '../questions/questions.ts';

/** What the whole table and all that is known look like from where something is decided. It never changes. */
export interface TableIndex {
  /** With the headers that users see in its layout. */
  readonly input: DecideInput;
  readonly names: Names;
  readonly cascades: Cascades;
  readonly answers: Answers;
  readonly questions: QuestionWriter;
  /** Title of the tab in which users can answer; absent where there is none now. */
  readonly questionsTitle: string | undefined;
  /** The row that has the ID of a record, in any tab. */
  readonly findRow: (key: RecordKey) => ObservedRow | undefined;
  readonly findAgreement: (key: RecordKey) => Agreement | undefined;
  readonly findLead: (id: RecordId) => KnownRecord | undefined;
  /** The contacts of a lead in words. */
  readonly contactsOf: (lead: RecordId) => string | null;
}

/** The same for one tab, with all of its own by id. */
export interface TabIndex extends TableIndex {
  readonly entity: Entity;
  readonly layout: TabLayout<Entity>;
  readonly tab: ReadTab;
  readonly fields: ReadonlyMap<FieldName, FieldDefinition>;
  readonly records: ReadonlyMap<RecordId, KnownRecord>;
  readonly agreements: ReadonlyMap<RecordId, Agreement>;
  readonly outbox: ReadonlyMap<RecordId, OutboxItem>;
  /** The create that made a record, as long as it is kept. */
  readonly findOrigin: (id: RecordId) => OutboxItem | undefined;
  /** What the tab's own rule says of its records. */
  readonly only: TabRuling;
  /** In how many records of the tab that value of a field is agreed. */
  readonly countAgreed: (name: FieldName, value: unknown) => number;
}

export function indexTable(given: DecideInput): TableIndex {
  const { known, table } = given;
  const input = { ...given, layout: showLayout(given.layout, table) };
  const leads = titledChoices('lead', known.records, known.agreements);
  const names = {
    ...createNames(known.catalog, leads, table.timeZone, comingTitles('lead', known, table)),
    ...namesOfRecords(known, () => comingTitles('task', known, table)),
  };
  const questionTab = readQuestionTab(table);
  const rows = once(() => indexRows(input));
  const allLeads = once(() => byId('lead', known.records));
  const contacts = once(() => summarizeContacts(known.records));
  const agreements = once(() => new Map(known.agreements.map((each) => [recordKeyText(each.key), each])));
  return {
    input,
    names,
    cascades: createCascades(known.records, known.outbox),
    answers: createAnswers(known.decisions, questionTab, input.now),
    questions: createQuestionWriter(input, names),
    questionsTitle: questionTab && input.policy.questionsTitle,
    findRow: (key) => rows().get(recordKeyText(key)),
    contactsOf: (lead) => contacts().get(lead) ?? null,
    findLead: (id) => allLeads().get(id),
    findAgreement: (key) => agreements().get(recordKeyText(key)),
  };
}

const indexRows = ({ layout, table }: DecideInput): ReadonlyMap<string, ObservedRow> =>
  new Map(
    recordTabs(layout).flatMap(({ entity }) => {
      const tab = table.tabs[entity];
      if (tab.state === 'held') return [];
      return tab.rows.map((row) => [recordKeyText({ entity, id: describeCell(row.id) }), row] as const);
    }),
  );

/** `agreements` is what is agreed in the columns that are where they were. */
export function indexTab(
  table: TableIndex,
  layout: TabLayout<Entity>,
  tab: ReadTab,
  agreements: ReadonlyMap<RecordId, Agreement>,
): TabIndex {
  const { entity } = layout;
  const { known } = table.input;
  const outbox = byId(entity, known.outbox);
  const made = [...outbox.values()].filter(({ kind, state }) => kind === 'create' && state === 'done');
  // Of several that made one record the first counts.
  const origins = new Map(made.toReversed().map((item) => [item.recordId, item]));
  const ruled = {
    ...table,
    entity,
    layout,
    tab,
    fields: new Map(tabFields(entity, known.catalog).map((field) => [field.name, field])),
    records: byId(entity, known.records),
    agreements,
    outbox,
    findOrigin: (id: RecordId) => origins.get(id),
    countAgreed: createCounts(agreements),
  };
  return { ...ruled, only: ruleTab(ruled) };
}

export const byId = <Item extends { readonly key: RecordKey }>(entity: Entity, items: readonly Item[]) =>
  new Map(items.filter((item) => item.key.entity === entity).map((item) => [item.key.id, item]));

function createCounts(agreements: ReadonlyMap<RecordId, Agreement>): TabIndex['countAgreed'] {
  const byField = new Map<FieldName, ReadonlyMap<string, readonly Agreement[]>>();
  return (name, value) => {
    const byValue =
      byField.get(name) ?? Map.groupBy(agreements.values(), ({ fields }) => JSON.stringify(fields[name]));
    byField.set(name, byValue);
    return byValue.get(JSON.stringify(value))?.length ?? 0;
  };
}
