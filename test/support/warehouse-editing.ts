import { onTestFinished } from 'vitest';
import type { ColumnEditing, WarehouseLayout } from '../../src/warehouse/port/layout.ts';
import { customColumn, layoutWith } from './warehouse-layout.ts';
import { openWarehouse } from './warehouse-stage.ts';

/** By table and column, what people may change. */
const editable: Readonly<Record<string, ColumnEditing>> = {
  'lead.title': { isRequired: true, lengthMax: 10 },
  'lead.status_name': {},
  'lead.cf_kind': { options: ["it's red", 'blue'] },
  'lead.cf_tags': { options: ['a', 'b'] },
  'opportunity.lead_id': { isRequired: true },
  'opportunity.stage_id': { isRequired: true, oneOf: 'stage' },
  'opportunity.value': { isKept: true, min: 0 },
  'opportunity.confidence': { isKept: true, min: 0, max: 100 },
  'opportunity.expected_close_date': { isKept: true },
  'opportunity.note': {},
  'task.title': { isRequired: true },
  'task.parent_task_id': {},
  'contact.lead_id': { isRequired: true, isFixed: true },
  'contact.full_name': { isRequired: true },
};

/** A layout whose tables people edit. */
export function editableLayout(bulkRows = 3): WarehouseLayout {
  const layout = layoutWith([customColumn('cf_kind'), customColumn('cf_tags', { type: 'text[]' })]);
  return {
    ...layout,
    editing: { bulkRows },
    tables: layout.tables.map((table) => ({
      ...table,
      columns: table.columns.map((column) => {
        const editing = editable[`${table.entity}.${column.name}`];
        return editing ? { ...column, editing } : column;
      }),
    })),
  };
}

let editors = 0;

/** A database that an editor may change, with two stages of which one is retired, a lead 1, and an opportunity 5 of it. */
export async function openEditing(layout = editableLayout()) {
  const stage = await openWarehouse();
  onTestFinished(() => stage[Symbol.asyncDispose]());
  await stage.layOut(layout);
  editors += 1;
  const name = `editor_${process.pid}_${editors}`;
  await stage.admin.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'; GRANT crm_editor TO ${name}`);
  onTestFinished(async () => void (await stage.admin.query(`DROP ROLE ${name}`)));
  const editor = await stage.database.connect(name, 'secret');
  /** As the daemon writes to a table. */
  const write = (entity: string, sql: string) =>
    stage.write(`SELECT set_config('crm_sync.entity', '${entity}', true); ${sql}`);
  await write(
    'lead',
    "INSERT INTO crm.lead (id, title, status_name) VALUES (1, 'one', 'new'), (2, 'two', 'new')",
  );
  await write(
    'opportunity',
    `INSERT INTO crm.stage (id, name, retired_at) VALUES (10, 'Open', NULL), (11, 'Old', now());
     INSERT INTO crm.opportunity (id, lead_id, stage_id, value, confidence, expected_close_date)
     VALUES (5, 1, 10, 12.50, 20, '2026-05-01')`,
  );
  return {
    ...stage,
    editor,
    editorName: name,
    writeTo: write,
    /** What is noted of edits, oldest first. */
    async edits(): Promise<Record<string, unknown>[]> {
      const { rows } = await stage.admin.query(
        'SELECT entity, id, op, changed, state, by_role FROM crm_sync.edit ORDER BY seq',
      );
      return rows;
    },
    /** As {@link edits}, shorter. */
    async noted(): Promise<unknown[]> {
      const { rows } = await stage.admin.query('SELECT op, id, changed FROM crm_sync.edit ORDER BY seq');
      return rows.map(({ changed, id, op }) => [op, id, changed]);
    },
  };
}
