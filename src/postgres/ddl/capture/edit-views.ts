import { escapeLiteral } from 'pg';
import { syncSchemaOf, type TableLayout, type WarehouseLayout } from '../../../warehouse/port/layout.ts';
import type { ViewDefinition } from '../definition.ts';
import { qualified } from '../quote.ts';
import { viewColumn } from '../view-column.ts';
import { editTable, editTableName } from './edit-table.ts';

/** What came of each edit, and what differs from the CRM on purpose, for people. */
export const editViews = (layout: WarehouseLayout): ViewDefinition[] => [
  ...editView(layout),
  ...unsyncedView(layout),
];

const unsyncedView = ({ schema, tables }: WarehouseLayout): ViewDefinition[] =>
  tables.slice(0, 1).map(({ entity }) => ({
    name: 'unsynced',
    entity,
    columns: [
      ...['entity', 'id'].map((name) => viewColumn(name, `e.${name}`)),
      viewColumn('field', 'p.key', 'NULL'),
      viewColumn('before', 'p.value ->> 0', 'NULL'),
      viewColumn('value', 'p.value ->> 1', 'NULL'),
      viewColumn('op', 'e.op'),
      viewColumn('state', 'e.state'),
      viewColumn('note', 'e.note'),
      viewColumn('since', 'e.at'),
      viewColumn('by_role', 'e.by_role'),
      viewColumn('edit_id', 'e.edit_id'),
    ],
    sources: [
      `FROM ${editsOf(schema)} e CROSS JOIN LATERAL jsonb_each(e.changed) p WHERE e.ended_at IS NULL AND e.op = 'U'`,
      `FROM ${editsOf(schema)} e WHERE e.ended_at IS NULL AND e.op IN ('I', 'D')`,
    ],
    comment: 'Where rows differ from the CRM, and why: what is not here is the same.',
  }));

/** What a user wants to know comes before what programs need. */
const shownFirst = [
  ...['at', 'entity', 'id', 'op', 'changed', 'state', 'note', 'new_id', 'ended_at'],
  ...['by_role', 'by_app', 'xid', 'edit_id', 'seq'],
];

const editView = ({ schema, tables }: WarehouseLayout): ViewDefinition[] =>
  tables.slice(0, 1).map(({ entity }) => ({
    name: editTableName,
    entity,
    columns: shownFirst.map((name) => viewColumn(name)),
    sources: [`FROM ${editsOf(schema)} t`],
    comment: editTable(schema).comment,
  }));

/**
 * Where the rows come from that show what the CRM has: those without an open edit as they are; those with one, with the values before it; and
 * those that are deleted, as they were. A row that was inserted is not in the CRM so far.
 */
export function crmRowSources(schema: string, { entity, idType }: TableLayout): readonly string[] {
  const shown = qualified(schema, entity);
  const open = (op: string) =>
    `FROM ${editsOf(schema)} e WHERE e.ended_at IS NULL AND e.entity = ${escapeLiteral(entity)} AND e.op = '${op}'`;
  const isOfCrm = (row: string) =>
    `${idType === 'bigint' ? `${row}.id >= 0 AND ` : ''}NOT EXISTS (SELECT ${open('I')} AND e.id = ${row}.id::text)`;
  // The first edit of a field tells what it was.
  const bases = `(
  SELECT f.id, jsonb_object_agg(f.key, f.value -> 0) AS base FROM (
    SELECT DISTINCT ON (e.id, p.key) e.id, p.key, p.value
      FROM ${editsOf(schema)} e CROSS JOIN LATERAL jsonb_each(e.changed) p
     WHERE e.ended_at IS NULL AND e.entity = ${escapeLiteral(entity)} AND e.op = 'U'
     ORDER BY e.id, p.key, e.seq) f
   GROUP BY f.id)`;
  return [
    `FROM ${shown} t WHERE ${isOfCrm('t')} AND NOT EXISTS (SELECT ${open('U')} AND e.id = t.id::text)`,
    `FROM ${shown} l JOIN ${bases} b ON b.id = l.id::text CROSS JOIN LATERAL jsonb_populate_record(l, b.base) t WHERE ${isOfCrm('l')}`,
    `FROM (SELECT DISTINCT ON (e.id) e.* ${open('D')} ORDER BY e.id, e.seq) d LEFT JOIN ${bases} b ON b.id = d.id
     CROSS JOIN LATERAL jsonb_populate_record(NULL::${shown}, d.changed || coalesce(b.base, '{}')) t
 WHERE ${isOfCrm('t')} AND NOT EXISTS (SELECT FROM ${shown} l WHERE l.id = t.id)`,
  ];
}

const editsOf = (schema: string): string => qualified(syncSchemaOf(schema), editTableName);
