import { type Catalog, emptyCatalog, leadStatusChoices } from '../core/fields/catalog.ts';
import { describeEntity, type FieldDefinition } from '../core/fields/field.ts';
import type { FieldKind } from '../core/fields/field-kind.ts';
import type { BlankRule, ConflictPolicy, Direction } from '../core/merge.ts';
import type { Entity } from '../core/record.ts';
import { labelKey } from '../core/text/label-key.ts';
import type { FieldName } from '../core/value.ts';
import type { BrakeLimits } from '../core/waiting/brakes.ts';
import type { Link } from '../sync/link.ts';
import { choicesOf, createNames, type Names } from './cells/codec.ts';
import { extraFields, recordUrlField } from './cells/extra-fields.ts';
import type { OnlyRule } from './only/rule.ts';
import type { Column, Layout } from './port/layout.ts';
import { questionTab } from './questions/question-tab.ts';

/** What a person may change about a column; what is absent is taken from the tab. */
export interface ColumnPolicy {
  readonly header?: string | undefined;
  readonly direction?: Direction | undefined;
  readonly conflict?: ConflictPolicy | undefined;
  readonly blank?: BlankRule | undefined;
}

export interface TabPolicy {
  readonly title: string;
  readonly conflict: ConflictPolicy;
  readonly columns: Readonly<Record<FieldName, ColumnPolicy>>;
  /** The fields whose columns stand first in a new tab, from left to right; the others follow in their own order. */
  readonly order?: readonly FieldName[] | undefined;
  /** What holds for this tab instead of the policy's own rule. */
  readonly vanishedRows?: VanishedRowPolicy | undefined;
  /** Header of the column of checkboxes that pause rows; absent where there is to be none. */
  readonly pauseHeader?: string | undefined;
  /** Which records the tab has; all where absent. */
  readonly only?: OnlyRule | undefined;
}

/** What becomes of the CRM's record when its row vanished from the table: a person is asked, it is trashed, or the row comes back. */
export type VanishedRowPolicy = 'ask' | 'trash' | 'restore';

/** The rules by which is decided; from the configuration. */
export interface Policy {
  readonly tabs: Readonly<Record<Entity, TabPolicy>>;
  /** Title of the tab in which people answer what waits for them; absent where there is to be none. */
  readonly questionsTitle?: string | undefined;
  /** The form of the addresses of records in the CRM, for a column that shows them. */
  readonly recordUrl?: string | undefined;
  readonly vanishedRows: VanishedRowPolicy;
  readonly brakes: BrakeLimits;
  /** New rows that are written to the table in one cycle at most; the rest follows in the next. */
  readonly appendsMax: number;
  /** Rows of a tab that are only behind and are written to in one cycle at most; the rest follows in the next. */
  readonly updatesMax: number;
}

/** What users call the records of each kind: as its tab is called. */
export const titlesOf = ({ tabs }: Policy): Link['titles'] => ({
  lead: tabs.lead.title,
  opportunity: tabs.opportunity.title,
  task: tabs.task.title,
  contact: tabs.contact.title,
});

/** The tabs and columns that follow from the policy and what the CRM has. Tabs of other kinds of record are left alone. */
export function buildLayout(
  entities: readonly Entity[],
  { questionsTitle, recordUrl, tabs }: Policy,
  catalog: Catalog,
): Layout {
  const names = createNames(catalog, [], 'UTC');
  const ofRecords = entities.map((entity) => {
    const tab = tabs[entity];
    const fields = describeEntity(entity, catalog);
    const wanted = extraFields(entity, fields).filter(({ name }) => tab.columns[name] !== undefined);
    const columns = [...fields, ...wanted].flatMap((field) =>
      buildColumn(field, tab, names, catalog).map((column) => ({
        ...column,
        ...(field.name === recordUrlField && recordUrl !== undefined ? { template: recordUrl } : {}),
      })),
    );
    const pause = tab.pauseHeader === undefined ? {} : { pauseHeader: tab.pauseHeader };
    return { entity, title: tab.title, columns: arrange(columns, tab.order ?? []), ...pause };
  });
  return questionsTitle === undefined ? ofRecords : [...ofRecords, questionTab(questionsTitle)];
}

function arrange(columns: readonly Column[], order: readonly FieldName[]): Column[] {
  const placeOf = ({ field }: Column) => (order.includes(field) ? order.indexOf(field) : order.length);
  return columns.toSorted((left, right) => placeOf(left) - placeOf(right));
}

/** The rules' headers stand, that of the column that pauses rows among them. A field that the CRM calls like one has its own name behind it. */
export function headerOf({ header, name }: FieldDefinition, { columns, pauseHeader }: TabPolicy): string {
  const own = columns[name]?.header;
  if (own !== undefined) return own;
  const given = [pauseHeader, ...Object.values(columns).map((column) => column.header)].map((text) =>
    labelKey(text ?? ''),
  );
  return given.includes(labelKey(header)) ? `${header} (${name})` : header;
}

function buildColumn(field: FieldDefinition, tab: TabPolicy, names: Names, catalog: Catalog): Column[] {
  const rules = tab.columns[field.name] ?? {};
  const direction = field.isReadOnly && rules.direction !== 'off' ? 'toTable' : (rules.direction ?? 'both');
  if (direction === 'off') return [];
  // Leads and tasks are too many and too restless for a list in each cell; a list of several can not be one.
  const hasDropdown = !['lead', 'task', 'multi-select'].includes(field.kind);
  const labels = hasDropdown ? choicesOf(field, names)?.labels : undefined;
  const colours = field.kind === 'lead-status' ? coloursOf(catalog) : {};
  const header = headerOf(field, tab);
  const column: Column = {
    field: field.name,
    kind: field.kind,
    header,
    ...(header === field.header ? {} : { fieldHeader: field.header }),
    direction,
    conflict: rules.conflict ?? tab.conflict,
    ...(rules.blank ? { blank: rules.blank } : {}),
    ...(field.min === undefined ? {} : { min: field.min }),
    ...(field.max === undefined ? {} : { max: field.max }),
    ...(labels ? { labels } : {}),
    ...(Object.keys(colours).length > 0 ? { colours } : {}),
    ...(field.held === undefined ? {} : { held: field.held }),
  };
  const isNamed = names.users.labels.length > 0;
  return [{ ...column, note: describeColumn(field, column, isNamed ? namedUsers[field.kind] : undefined) }];
}

function coloursOf(catalog: Catalog): Record<string, string> {
  const colors = new Map(catalog.leadStatuses.map(({ color, name }) => [name, color]));
  return Object.fromEntries(
    leadStatusChoices(catalog).flatMap(({ id, label }) => {
      const color = colors.get(id);
      return color === undefined ? [] : [[label, color]];
    }),
  );
}

/** Names of the fields that every CRM has, for checking a configuration before the CRM was asked. */
export const standardFieldNames = (entity: Entity): FieldName[] =>
  describeEntity(entity, emptyCatalog).map((field) => field.name);

/** What a cell takes, by the kind of its field; limits come behind it. */
const accepted: Readonly<Record<FieldKind, string>> = {
  text: 'Text; what is typed stays as it is',
  number: 'A number',
  integer: 'A whole number',
  boolean: 'A checkbox',
  date: 'A date',
  instant: 'A date with a time',
  select: 'One of the options in the dropdown',
  'multi-select': 'Options of the CRM, separated by commas',
  user: 'A user of the CRM, by id',
  users: 'Users of the CRM by id, separated by commas',
  lead: 'A lead: its title where only one lead has it, its id, or both',
  task: 'A task: its title where only one task has it, its id, or both',
  stage: 'A stage as in the dropdown: Pipeline / Stage',
  'lead-status': 'A status of the dropdown',
  'task-status': 'A status of the dropdown',
  'task-priority': 'A priority of the dropdown',
};

/** The same where users have names. */
const namedUsers: Readonly<Partial<Record<FieldKind, string>>> = {
  user: 'A user of the CRM: a name of the dropdown, or an id',
  users: 'Users of the CRM by name or id, separated by commas',
};

/** What people read at the header of a column: what it `takes`, and what becomes of what they type. */
function describeColumn(
  field: FieldDefinition,
  column: Omit<Column, 'note'>,
  takes = accepted[field.kind],
): string {
  if (field.held !== undefined)
    return `Held: ${field.held}. What is typed here is not sent until the field is back; then it goes on by itself.`;
  if (field.isReadOnly || column.direction === 'toTable') {
    return 'Shown from the CRM. What is typed here is replaced and does not reach the CRM.';
  }
  const { isFixed, isRequired } = field;
  const said = [
    [takes, ...limitsOf(field)].join(', '),
    ...(isRequired ? ['A new row is not sent without it'] : []),
    isFixed ? 'It goes to the CRM with a new row and can not be changed later' : 'Edits go to the CRM',
  ];
  return `${said.join('. ')}.`;
}

function limitsOf({ kind, lengthMax, max, min }: FieldDefinition): string[] {
  if (kind === 'task') return [];
  return [
    ...(lengthMax === undefined ? [] : [`${lengthMax} characters at most`]),
    ...(min === undefined ? [] : [max === undefined ? `at least ${min}` : `from ${min} to ${max}`]),
  ];
}
