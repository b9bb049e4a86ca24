import type { ColumnLayout, TableLayout, WarehouseLayout } from '../../src/warehouse/port/layout.ts';
import type { Keeper } from '../../src/warehouse/port/port.ts';

const column = (
  name: string,
  type: ColumnLayout['type'],
  more: Partial<ColumnLayout> = {},
): ColumnLayout => ({ field: name, name, type, comment: `Holds ${name}.`, ...more });

/** A column for a custom field of the leads. */
export const customColumn = (name: string, more: Partial<ColumnLayout> = {}): ColumnLayout =>
  column(name, 'text', { isCustom: true, ...more });

const leadTable = (custom: readonly ColumnLayout[]): TableLayout => ({
  entity: 'lead',
  idType: 'bigint',
  columns: [
    column('title', 'text'),
    column('status_name', 'text'),
    column('created_at', 'timestamptz'),
    ...custom,
  ],
  comment: 'Leads.',
});

const opportunityTable: TableLayout = {
  entity: 'opportunity',
  idType: 'bigint',
  columns: [
    column('lead_id', 'bigint', { refersTo: 'lead' }),
    column('stage_id', 'integer'),
    column('value', 'numeric'),
    column('confidence', 'integer'),
    column('expected_close_date', 'date'),
    column('note', 'text'),
  ],
  comment: 'Opportunities.',
};

const taskTable: TableLayout = {
  entity: 'task',
  idType: 'bigint',
  columns: [
    column('title', 'text'),
    column('status', 'smallint'),
    column('priority', 'smallint'),
    column('due_date', 'date'),
    column('lead_id', 'bigint', { refersTo: 'lead' }),
    column('parent_task_id', 'bigint', { refersTo: 'task' }),
  ],
  comment: 'Tasks.',
};

const contactTable: TableLayout = {
  entity: 'contact',
  idType: 'uuid',
  columns: [column('lead_id', 'bigint', { refersTo: 'lead' }), column('full_name', 'text')],
  comment: 'Contacts.',
};

/** A layout with all entities and these custom columns of the leads. */
export const layoutWith = (
  custom: readonly ColumnLayout[] = [],
  more: Partial<WarehouseLayout> = {},
): WarehouseLayout => ({
  schema: 'crm',
  tables: [leadTable(custom), opportunityTable, taskTable, contactTable],
  hasHistory: true,
  ...more,
});

/** The keeper of a test. */
export const testKeeper: Keeper = { link: 'main', account: 'acme', word: 'mirror-1', token: 1 };
