import { type Cascades, createCascades } from '../../core/cascade.ts';
import type { FieldDefinition } from '../../core/fields/field.ts';
import { once } from '../../core/once.ts';
import { type Entity, perEntity, type RecordId, type RecordKey, recordKeyText } from '../../core/record.ts';
import type { Agreement, KnownRecord, OutboxItem } from '../../core/state.ts';
import type { FieldName } from '../../core/value.ts';
import type { Names } from '../cells/codec.ts';
import { summarizeContacts, tabFields } from '../cells/extra-fields.ts';
import { hasNames } from '../cells/shown.ts';
import type { Loose, Standing, TabGround } from '../index/standing.ts';
import { ValueCounts } from '../index/value-counts.ts';
import { ruleTab, type TabRuling } from '../only/tab-rule.ts';
import type { DecideInput } from '../plans/plan.ts';
import { describeCell } from '../port/cell.ts';
import { mayShowInAnyRow } from '../port/damage.ts';
import { type Column, recordTabs, type TabLayout } from '../port/layout.ts';
import { showLayout } from '../port/shown-layout.ts';
import type { ObservedRow, ReadTab } from '../port/table.ts';
import { type Answers, createAnswers, readQuestionTab } from '../questions/answers.ts';
import { createQuestionWriter, type Lookup, type QuestionWriter } from '../questions/questions.ts';

/** What the whole table and all that is known look like from where something is decided. It never changes. */
export interface TableIndex extends Lookup {
  /** With the headers that users see in its layout. */
  readonly input: DecideInput;
  readonly names: Names;
  readonly cascades: Cascades;
  readonly answers: Answers;
  readonly questions: QuestionWriter;
  /** Title of the tab in which users can answer; absent where there is none now. */
  readonly questionsTitle: string | undefined;
  readonly groundOf: (entity: Entity) => TabGround;
  /** The row that has the ID of a record, in any tab. */
  readonly findRow: (key: RecordKey) => ObservedRow | undefined;
  readonly findLead: (id: RecordId) => KnownRecord | undefined;
  /** The contacts of a lead in words. */
  readonly contactsOf: (lead: RecordId) => string | null;
}

/** The same for one tab, with all of its own by id. */
export interface TabIndex extends TableIndex {
  readonly entity: Entity;
  readonly layout: TabLayout<Entity>;
  /** With the rows that are not in step. */
  readonly tab: ReadTab;
  /** Its first row, from which the columns of every row are known; absent where it has none. */
  readonly template: ObservedRow | undefined;
  /** All that it may have, also those without a column. */
  readonly fields: ReadonlyMap<FieldName, FieldDefinition>;
  readonly columns: readonly FieldColumn[];
  /** Of all records, whether they are in step or not. */
  readonly records: ReadonlyMap<RecordId, KnownRecord>;
  readonly agreements: ReadonlyMap<RecordId, Agreement>;
  /** What has to be decided, and the rows of all else: nothing follows from those. */
  readonly loose: Loose;
  /** What is agreed of all that is loose or outside. */
  readonly candidates: TabGround['candidates'];
  readonly inStep: ReadonlyMap<RecordId, ObservedRow>;
  readonly waiting: ReadonlySet<RecordId>;
  /** The records that have no row, and are to have none. */
  readonly outside: ReadonlySet<RecordId>;
  readonly outbox: ReadonlyMap<RecordId, OutboxItem>;
  /** The create that made a record, as long as it is kept. */
  readonly findOrigin: (id: RecordId) => OutboxItem | undefined;
  /** What the tab's own rule says of its records. */
  readonly only: TabRuling;
  /** In how many records of the tab that value of a field is agreed. */
  readonly countAgreed: TabGround['countAgreed'];
}

/** A column with the field that it shows. */
interface FieldColumn {
  readonly column: Column;
  /** Under the header that people see: messages speak of that. */
  readonly field: FieldDefinition;
  /** Its cells show names of what has ids. */
  readonly isNaming: boolean;
}

/** Indexes the whole table. What `standing` knows apart is for speed alone. */
export function indexTable(given: DecideInput, standing: Standing): TableIndex {
  const { known, table } = given;
  const input = { ...given, layout: showLayout(given.layout, table) };
  const grounds = perEntity((entity) => standing.groundOf(entity));
  const groundOf = (entity: Entity) => grounds[entity];
  const names = standing.namesFor(given);
  const questionTab = readQuestionTab(table);
  const rows = once(() => indexRows(input, groundOf));
  const outbox = once(() => new Map(known.outbox.map((item) => [recordKeyText(item.key), item])));
  const lookup: Lookup = {
    findRecord: ({ entity, id }) => groundOf(entity).records.get(id),
    findAgreement: ({ entity, id }) => groundOf(entity).agreements.get(id),
    findItem: (key) => outbox().get(recordKeyText(key)),
  };
  return {
    ...lookup,
    input,
    groundOf,
    names,
    cascades: createCascades({ ...lookup, ownedBy: (owner) => standing.ownedBy(owner) }, known.outbox),
    answers: createAnswers(known.decisions, questionTab, input.now),
    questions: createQuestionWriter(input, names, lookup),
    questionsTitle: questionTab && input.policy.questionsTitle,
    findRow: (key) => groundOf(key.entity).inStep.get(key.id) ?? rows().get(recordKeyText(key)),
    contactsOf: (id) => summarizeContacts(standing.ownedBy({ entity: 'lead', id }, ['contact'])),
    findLead: (id) => groundOf('lead').records.get(id),
  };
}

const indexRows = (
  { layout, table }: DecideInput,
  groundOf: TableIndex['groundOf'],
): ReadonlyMap<string, ObservedRow> =>
  new Map(
    recordTabs(layout).flatMap(({ entity }) => {
      if (table.tabs[entity].state === 'held') return [];
      const { rows } = groundOf(entity).loose();
      return rows.map((row) => [recordKeyText({ entity, id: describeCell(row.id) }), row] as const);
    }),
  );

/**
 * `agreements` is what is agreed in the columns that are where they were. Where that is not what is known, or rows have to be met anew, or any of
 * them may show what a write deleted by mistake, every row is decided.
 */
export function indexTab(
  table: TableIndex,
  layout: TabLayout<Entity>,
  tab: ReadTab,
  agreements: ReadonlyMap<RecordId, Agreement>,
): TabIndex {
  const { entity } = layout;
  const { known } = table.input;
  const ground = table.groundOf(entity);
  const isWhole =
    agreements !== ground.agreements ||
    known.rebases.has(entity) ||
    known.suspects.some(({ damage }) => damage.entity === entity && mayShowInAnyRow(damage));
  const own = isWhole ? wholeGround(ground, agreements, tab) : ground;
  const loose = own.loose();
  const outbox = byId(entity, known.outbox);
  const made = [...outbox.values()].filter(({ kind, state }) => kind === 'create' && state === 'done');
  // Of several that made one record the first counts.
  const origins = new Map(made.toReversed().map((item) => [item.recordId, item]));
  const fields = new Map(tabFields(entity, known.catalog).map((field) => [field.name, field]));
  const ruled = {
    ...table,
    ...own,
    entity,
    layout,
    tab: { ...tab, rows: loose.rows },
    template: tab.rows[0],
    loose,
    fields,
    columns: layout.columns.flatMap((column) => {
      const field = fields.get(column.field);
      return field ? [{ column, field: { ...field, header: column.header }, isNaming: hasNames(field) }] : [];
    }),
    outbox,
    findOrigin: (id: RecordId) => origins.get(id),
  };
  return { ...ruled, only: ruleTab(ruled) };
}

/** A ground on which everything is decided. */
function wholeGround(
  { records }: TabGround,
  agreements: ReadonlyMap<RecordId, Agreement>,
  { rows }: ReadTab,
): TabGround {
  const counts = new ValueCounts(() => agreements.values());
  const loose = { records: [...records.values()], agreements: [...agreements.values()], rows };
  return {
    records,
    agreements,
    countAgreed: (name, value) => counts.count(name, value),
    loose: () => loose,
    candidates: () => loose.agreements,
    inStep: new Map(),
    waiting: new Set(),
    outside: new Set(),
  };
}

/** Whether all of a record could be read, no list lacked it, and nothing of it waits to be sent. */
export const isAtRest = (
  { outbox }: Pick<TabIndex, 'outbox'>,
  { key, missedSweeps, unread }: KnownRecord,
): boolean => missedSweeps <= 0 && unread === undefined && !outbox.has(key.id);

export const byId = <Item extends { readonly key: RecordKey }>(entity: Entity, items: readonly Item[]) =>
  new Map(items.filter((item) => item.key.entity === entity).map((item) => [item.key.id, item]));
