import { escapeIdentifier, escapeLiteral } from 'pg';
import { syncSchemaOf, type TableLayout, type WarehouseLayout } from '../../warehouse/port/layout.ts';
import { crmRowSources } from './capture/edit-views.ts';
import type { ViewDefinition } from './definition.ts';
import { qualified } from './quote.ts';
import { pastNameOf } from './tables.ts';
import { customColumns, standardColumns, viewColumn } from './view-column.ts';

export const historyNameOf = (entity: TableLayout['entity']): string => `${entity}_history`;

/** What is edited by SQL and not in the CRM so far is no version. */
export function historyView({ editing, schema }: WarehouseLayout, table: TableLayout): ViewDefinition {
  const live = editing ? crmRowSources(schema, table) : [`FROM ${qualified(schema, table.entity)} t`];
  const onlyPast = (name: string, type: string) =>
    viewColumn(name, `t.${name}`, ...live.map(() => `NULL::${type}`));
  return {
    name: historyNameOf(table.entity),
    entity: table.entity,
    showsTable: true,
    columns: [
      viewColumn('id'),
      ...standardColumns(table),
      viewColumn('valid_after'),
      viewColumn('valid_from'),
      onlyPast('valid_until', 'timestamptz'),
      onlyPast('ended', 'text'),
      viewColumn('made_by'),
      ...customColumns(table),
    ],
    sources: [`FROM ${qualified(syncSchemaOf(schema), pastNameOf(table.entity))} t`, ...live],
    comment: `Every version of each ${table.entity}: those that are over, and the one of now, whose valid_until is empty.`,
  };
}

/** One row for each field that changed from a version to the next, values as text. */
export function changeView(schema: string, table: TableLayout): ViewDefinition {
  const columns = table.columns.map(({ name }, index) => {
    const column = escapeIdentifier(name);
    return { name, before: `b${index}`, value: `a${index}`, column };
  });
  const earlier = columns.flatMap(({ column, before, value }) => [
    `h.${column}::text AS ${value}`,
    `lag(h.${column}::text) OVER w AS ${before}`,
  ]);
  const pairs = columns.map(({ name, before, value }) => `(${escapeLiteral(name)}, v.${before}, v.${value})`);
  const versions = [
    'h.id',
    'h.valid_from',
    'h.valid_after',
    'h.made_by',
    'lag(h.valid_from) OVER w AS before_from',
    ...earlier,
  ];
  return {
    name: `${table.entity}_change`,
    entity: table.entity,
    columns: [
      viewColumn(`${table.entity}_id`, 'v.id'),
      viewColumn('field', 'c.field'),
      viewColumn('before', 'c.before'),
      viewColumn('after', 'c.after'),
      viewColumn('changed_at', 'v.valid_from'),
      viewColumn('changed_after', 'v.valid_after'),
      viewColumn('made_by', 'v.made_by'),
    ],
    sources: [
      `FROM (
  SELECT ${versions.join(', ')}
    FROM ${qualified(schema, historyNameOf(table.entity))} h
  WINDOW w AS (PARTITION BY h.id ORDER BY h.valid_from)
) v
CROSS JOIN LATERAL (VALUES\n  ${pairs.join(',\n  ')}\n) AS c(field, before, after)
WHERE v.before_from IS NOT NULL AND c.before IS DISTINCT FROM c.after`,
    ],
    comment: `Each change of a field of a ${table.entity}: what it was, what it became, and when. The change was after changed_after, and not after changed_at.`,
  };
}
