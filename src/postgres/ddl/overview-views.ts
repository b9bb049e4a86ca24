import { taskStatusChoices } from '../../core/fields/catalog.ts';
import {
  type ColumnLayout,
  syncSchemaOf,
  type TableLayout,
  type WarehouseLayout,
} from '../../warehouse/port/layout.ts';
import type { ViewColumn, ViewDefinition } from './definition.ts';
import { nameList, qualified } from './quote.ts';
import { pastNameOf } from './tables.ts';
import { columnIf, customColumns, standardColumns, viewColumn } from './view-column.ts';

const weighted = 'round(t.value * t.confidence / 100, 2)';

/** When the opportunity came into the stage that it is in: its first version after the last one that had another stage, or ended with the record. */
const enteredSql = (schema: string): string => {
  const past = qualified(syncSchemaOf(schema), pastNameOf('opportunity'));
  return `LEFT JOIN LATERAL (
  SELECT coalesce(min(p.valid_from), t.valid_from) AS at FROM ${past} p
   WHERE p.id = t.id AND p.valid_from > coalesce(
     (SELECT max(o.valid_from) FROM ${past} o WHERE o.id = t.id
        AND (o.stage_id IS DISTINCT FROM t.stage_id OR o.ended IS DISTINCT FROM 'changed')), '-infinity')
) entered ON true`;
};

const leadJoin = (schema: string, lead: TableLayout | undefined): string =>
  lead ? `LEFT JOIN ${qualified(schema, lead.entity)} l ON l.id = t.lead_id` : '';

const joined = (...lines: readonly string[]): string => lines.filter((line) => line !== '').join('\n');

/** PostgreSQL cuts longer names. */
const nameLengthMax = 63;

/** The names of the users in a column; who has none is the id. A column of the table that is called so comes first. */
function userNames(
  schema: string,
  table: TableLayout,
  { name, namesUsers, type }: ColumnLayout,
): ViewColumn[] {
  const isList = type === 'text[]';
  const label = `${name}_name${isList ? 's' : ''}`;
  const isTaken = table.columns.some((column) => column.name === label);
  if (!namesUsers || isTaken || label.length > nameLengthMax) return [];
  const [ids, users] = [`t.${nameList([name])}`, qualified(schema, 'user_name')];
  const one = `coalesce((SELECT u.name FROM ${users} u WHERE u.id = ${ids}), ${ids})`;
  const several = `CASE WHEN ${ids} IS NOT NULL THEN ARRAY(
         SELECT coalesce(u.name, m.id) FROM unnest(${ids}) WITH ORDINALITY m (id, place)
           LEFT JOIN ${users} u ON u.id = m.id ORDER BY m.place) END`;
  return [viewColumn(label, isList ? several : one)];
}

export const leadOverview = (schema: string, table: TableLayout): ViewDefinition => ({
  name: 'lead_overview',
  entity: 'lead',
  showsTable: true,
  columns: [
    viewColumn('id'),
    viewColumn('status_label', 's.label'),
    ...standardColumns(table),
    viewColumn('valid_from'),
    ...table.columns.flatMap((column) => [
      ...(column.isCustom ? [viewColumn(column.name)] : []),
      ...userNames(schema, table, column),
    ]),
  ],
  sources: [
    joined(
      `FROM ${qualified(schema, 'lead')} t`,
      `LEFT JOIN ${qualified(schema, 'lead_status')} s ON s.name = t.status_name`,
    ),
  ],
  comment: 'Leads with the label of their status, and the names of users beside their ids.',
});

export const opportunityOverview = (
  { schema, hasHistory }: WarehouseLayout,
  table: TableLayout,
  lead: TableLayout | undefined,
): ViewDefinition => ({
  name: 'opportunity_overview',
  entity: 'opportunity',
  showsTable: true,
  columns: [
    viewColumn('id'),
    ...columnIf(lead !== undefined, 'lead_title', 'l.title'),
    viewColumn('pipeline_name', 'p.name'),
    viewColumn('stage_name', 's.name'),
    viewColumn('outcome', 's.outcome'),
    ...standardColumns(table),
    viewColumn('weighted_value', weighted),
    ...columnIf(hasHistory, 'stage_entered_at', 'entered.at'),
    ...columnIf(
      hasHistory,
      'days_in_stage',
      'floor(extract(epoch FROM now() - entered.at) / 86400)::integer',
    ),
    viewColumn('valid_from'),
    ...customColumns(table),
  ],
  sources: [
    joined(
      `FROM ${qualified(schema, 'opportunity')} t`,
      leadJoin(schema, lead),
      `LEFT JOIN ${qualified(schema, 'stage')} s ON s.id = t.stage_id`,
      `LEFT JOIN ${qualified(schema, 'pipeline')} p ON p.id = s.pipeline_id`,
      hasHistory ? enteredSql(schema) : '',
    ),
  ],
  comment:
    'Opportunities with the names of their lead, pipeline and stage, the value weighted by confidence, and the days in the stage.',
});

export const pipelineByStage = (schema: string): ViewDefinition => ({
  name: 'pipeline_by_stage',
  entity: 'opportunity',
  columns: [
    viewColumn('pipeline_id', 's.pipeline_id'),
    viewColumn('pipeline_name', 'p.name'),
    viewColumn('stage_id', 's.id'),
    viewColumn('stage_name', 's.name'),
    viewColumn('position', 's.position'),
    viewColumn('outcome', 's.outcome'),
    viewColumn('opportunities', 'count(t.id)'),
    viewColumn('value', 'coalesce(sum(t.value), 0)'),
    viewColumn('weighted_value', `coalesce(sum(${weighted}), 0)`),
  ],
  sources: [
    joined(
      `FROM ${qualified(schema, 'stage')} s`,
      `LEFT JOIN ${qualified(schema, 'pipeline')} p ON p.id = s.pipeline_id`,
      `LEFT JOIN ${qualified(schema, 'opportunity')} t ON t.stage_id = s.id`,
      'GROUP BY s.id, p.id',
      'HAVING s.retired_at IS NULL OR count(t.id) > 0',
    ),
  ],
  comment: 'How many opportunities each stage has now, and what they are worth.',
});

const doneStatus = taskStatusChoices.find(({ aliases }) => aliases.includes('done'))?.id ?? 0;

export const taskOverview = (
  schema: string,
  table: TableLayout,
  lead: TableLayout | undefined,
): ViewDefinition => ({
  name: 'task_overview',
  entity: 'task',
  showsTable: true,
  columns: [
    viewColumn('id'),
    ...columnIf(lead !== undefined, 'lead_title', 'l.title'),
    viewColumn('status_name', 's.name'),
    viewColumn('priority_name', 'p.name'),
    ...standardColumns(table),
    viewColumn(
      'is_overdue',
      `coalesce(t.due_date < current_date AND t.status IS DISTINCT FROM ${doneStatus}, false)`,
    ),
    viewColumn('valid_from'),
    ...customColumns(table),
  ],
  sources: [
    joined(
      `FROM ${qualified(schema, 'task')} t`,
      leadJoin(schema, lead),
      `LEFT JOIN ${qualified(schema, 'task_status')} s ON s.id = t.status`,
      `LEFT JOIN ${qualified(schema, 'task_priority')} p ON p.id = t.priority`,
    ),
  ],
  comment:
    'Tasks with the names of their lead, status and priority. Overdue is one that is not completed although its due date is over, by the date of your session.',
});
