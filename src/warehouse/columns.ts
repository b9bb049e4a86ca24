import { type Catalog, fieldsInUse } from '../core/fields/catalog.ts';
import {
  customFieldKey,
  customFieldName,
  describeEntity,
  type FieldDefinition,
} from '../core/fields/field.ts';
import type { FieldKind } from '../core/fields/field-kind.ts';
import { type Entity, isListed } from '../core/record.ts';
import type { FieldName } from '../core/value.ts';
import type { ColumnRules, EditPolicy } from './edits/policy.ts';
import type { CustomColumn } from './facts.ts';
import type {
  ColumnEditing,
  ColumnLayout,
  ColumnType,
  Editing,
  TableLayout,
  WarehouseLayout,
} from './port/layout.ts';
import { storableText } from './rows.ts';

const typesOfKinds: Readonly<Record<FieldKind, ColumnType>> = {
  text: 'text',
  number: 'numeric',
  integer: 'bigint',
  boolean: 'boolean',
  date: 'date',
  instant: 'timestamptz',
  // Options come and go, which an enum of the database cannot.
  select: 'text',
  'multi-select': 'text[]',
  user: 'text',
  users: 'text[]',
  lead: 'bigint',
  task: 'bigint',
  stage: 'integer',
  'lead-status': 'text',
  'task-status': 'smallint',
  'task-priority': 'smallint',
};

/** What the kinds hold, for the end of a comment. */
const wordsOfKinds: Readonly<Partial<Record<FieldKind, string>>> = {
  date: 'a day',
  instant: 'a moment',
  select: 'one of the options of the CRM',
  'multi-select': 'some of the options of the CRM',
  user: 'a user of the CRM',
  users: 'users of the CRM',
  lead: 'the id of a lead',
  task: 'the id of a task',
  stage: 'the id of a stage',
  'lead-status': 'the name of a lead status',
  'task-status': 'the id of a task status',
  'task-priority': 'the id of a task priority',
};

const comments: Readonly<Record<Entity, string>> = {
  lead: 'The leads of the CRM. A row is there as long as its lead is.',
  opportunity: 'The opportunities of the CRM. A row is there as long as its opportunity is.',
  task: 'The tasks of the CRM. A row is there as long as its task is.',
  contact: 'The contacts of the leads of the CRM. A row is there as long as its contact is.',
};

export interface LayoutTerms {
  readonly schema: string;
  readonly entities: readonly Entity[];
  readonly hasHistory: boolean;
  /** Absent where edits by SQL are refused. */
  readonly editing?: (Editing & Pick<EditPolicy, 'columns'>) | undefined;
}

/** The tables as the catalog wants them, with the columns that custom fields have. */
export function layoutOf(
  { editing, entities, hasHistory, schema }: LayoutTerms,
  catalog: Catalog,
  custom: readonly CustomColumn[],
): WarehouseLayout {
  const tables = entities.map((entity): TableLayout => {
    const fields = describeEntity(entity, catalog);
    const standard = fields.filter(({ name }) => customFieldKey(name) === undefined);
    return {
      entity,
      idType: isListed(entity) ? 'bigint' : 'uuid',
      comment: comments[entity],
      columns: [
        ...standard.map(standardColumn),
        ...(entity === 'lead' ? custom.map((column) => customColumn(column, fields)) : []),
      ],
    };
  });
  if (!editing) return { schema, hasHistory, tables };
  return {
    schema,
    hasHistory,
    tables: tables.map((table) => withEditing(table, catalog, editing.columns?.[table.entity])),
    editing: { bulkRows: editing.bulkRows },
  };
}

const withEditing = (table: TableLayout, catalog: Catalog, rules: ColumnRules = {}): TableLayout => {
  const fields = new Map(describeEntity(table.entity, catalog).map((field) => [field.name, field]));
  return {
    ...table,
    columns: table.columns.map((column) => {
      const field = column.retiredAt === undefined ? fields.get(column.field) : undefined;
      const editing = field && editingOf(field);
      if (!editing) return column;
      const isReadOnly = rules[column.field]?.isReadOnly;
      return { ...column, editing: isReadOnly ? { ...editing, isReadOnly } : editing };
    }),
  };
};

const referencesOfKinds: Readonly<Partial<Record<FieldKind, ColumnEditing['oneOf']>>> = {
  stage: 'stage',
  'task-status': 'task_status',
  'task-priority': 'task_priority',
};

/** What the database can check of an edit of the field; absent where people do not edit it. */
function editingOf(field: FieldDefinition): ColumnEditing | undefined {
  const { held, isFixed, isKept, isReadOnly, isRequired, kind, lengthMax, max, min, options } = field;
  if (isReadOnly || held !== undefined) return undefined;
  const oneOf = referencesOfKinds[kind];
  return {
    ...(isRequired ? { isRequired } : {}),
    ...(isKept ? { isKept } : {}),
    ...(isFixed ? { isFixed } : {}),
    ...(lengthMax === undefined ? {} : { lengthMax }),
    // A row that is not in the CRM so far has an id below 0.
    ...(min === undefined || kind === 'lead' || kind === 'task' ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(options === undefined ? {} : { options }),
    ...(oneOf === undefined ? {} : { oneOf }),
  };
}

/** What the column of a field is called as a rule. A custom field whose column is called otherwise is named by its key. */
export function columnNameOf({ name }: Pick<FieldDefinition, 'name'>): string {
  const key = customFieldKey(name);
  return key === undefined ? name.replaceAll('.', '_') : columnName(key, '', new Set());
}

/** What the field of a column is called as a rule; the reverse of {@link columnNameOf}. */
export const fieldNameOf = (column: string): FieldName =>
  column.startsWith(customPrefix) ? customFieldName(column.slice(customPrefix.length)) : column;

function standardColumn(field: FieldDefinition): ColumnLayout {
  const { kind, name } = field;
  const isParent = kind === 'lead' || kind === 'task';
  return {
    field: name,
    name: columnNameOf(field),
    // A confidence is a percentage.
    type: kind === 'integer' ? 'integer' : typesOfKinds[kind],
    comment: commentOf(field),
    ...(isParent ? { refersTo: kind } : {}),
  };
}

function customColumn(
  { key, name, retiredAt, type }: CustomColumn,
  fields: readonly FieldDefinition[],
): ColumnLayout {
  const field = fields.find((candidate) => candidate.name === customFieldName(key));
  const gone = retiredAt === undefined ? '' : ` Not in use in the CRM since ${retiredAt.slice(0, 10)}.`;
  return {
    field: customFieldName(key),
    name,
    type,
    comment: `${field && gone === '' ? commentOf(field) : `Field ${storableText(key)}.`}${gone}`,
    isCustom: true,
    ...(field?.kind === 'user' || field?.kind === 'users' ? { namesUsers: true } : {}),
    ...(retiredAt === undefined ? {} : { retiredAt }),
  };
}

function commentOf({ header, kind, max, min }: FieldDefinition): string {
  const words = wordsOfKinds[kind];
  const bounds = min === undefined ? '' : ` At least ${min}${max === undefined ? '' : `, at most ${max}`}.`;
  return `${storableText(header)}${words === undefined ? '' : `: ${words}`}.${bounds}`;
}

/**
 * The columns of custom fields, after those that were kept. A field keeps its column under any name that it is given; one that comes back
 * gets its old one, and one that holds something of another type a new one beside it. `at` is ISO 8601.
 */
export function nextColumns(
  kept: readonly CustomColumn[],
  catalog: Catalog,
  at: string,
): readonly CustomColumn[] {
  const wanted = fieldsInUse(catalog).map(({ key, kind }) => ({ key, type: typesOfKinds[kind] }));
  const isWanted = ({ key, type }: CustomColumn) =>
    wanted.some((field) => field.key === key && field.type === type);
  const next = kept.map((column): CustomColumn => {
    const { retiredAt = at, ...rest } = column;
    return isWanted(column) ? rest : { ...rest, retiredAt };
  });
  for (const { key, type } of wanted) {
    if (next.some((column) => column.key === key && column.type === type)) continue;
    const earlier = next.filter((column) => column.key === key).length;
    const suffix = earlier === 0 ? '' : `_${earlier + 1}`;
    next.push({ key, type, name: columnName(key, suffix, new Set(next.map(({ name }) => name))) });
  }
  return next;
}

const customPrefix = 'cf_';

/** PostgreSQL cuts longer names. */
const nameLengthMax = 63;

function columnName(key: string, suffix: string, taken: ReadonlySet<string>): string {
  const bare = `${customPrefix}${key.toLowerCase().replace(/[^a-z0-9_]/g, '_')}`;
  const name = `${bare}${suffix}`;
  if (name.length <= nameLengthMax && !taken.has(name)) return name;
  const end = `_${hashOf(key)}${suffix}`;
  return `${bare.slice(0, nameLengthMax - end.length)}${end}`;
}

/** Six hexadecimal digits that follow from the text: FNV-1a, https://www.rfc-editor.org/rfc/rfc9923. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const unit of new TextEncoder().encode(text)) hash = Math.imul(hash ^ unit, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0').slice(-6);
}
