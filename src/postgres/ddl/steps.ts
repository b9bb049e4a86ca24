import { createHash } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { Entity } from '../../core/record.ts';
import { syncSchemaOf, type TableLayout, type WarehouseLayout } from '../../warehouse/port/layout.ts';
import { captureFunctionSql, captureTriggersSql, dropCaptureSql, editChannelOf } from './capture/capture.ts';
import {
  areCaptureTriggersAsMade,
  hasCaptureTriggers,
  isCaptureFunctionAsMade,
} from './capture/capture-check.ts';
import { editObjectsSql, newIdName } from './capture/edit-table.ts';
import { editFunctionsSql } from './capture/question-table.ts';
import { withoutCleaned } from './cleaned.ts';
import { commentSteps } from './comments.ts';
import type { TableDefinition } from './definition.ts';
import { type Found, findRelation, findSchema, isTaken } from './found.ts';
import { isGuardFunctionAsMade, isGuardTriggerAsMade } from './guard-check.ts';
import { guardFunctionSql, guardName, guardTriggerSql } from './guards.ts';
import {
  captureMark,
  columnMark,
  editMark,
  editorMark,
  grantMark,
  relationMark,
  tableMark,
  viewMark,
} from './marks.ts';
import { qualified } from './quote.ts';
import { relationsOf } from './relations.ts';
import {
  createEditorSql,
  createReaderSql,
  grantEditingSql,
  grantEditSql,
  grantReadSql,
  grantSchemaSql,
} from './roles.ts';
import { addColumnsSql, createTableSql, tablesOf } from './tables.ts';
import { viewSql, viewsOf } from './views.ts';

/** SQL that is to be run, and what the database remembers of it afterwards. */
export interface Step {
  readonly sql: string;
  /** Objects with a digest of what made them. */
  readonly marks?: readonly (readonly [object: string, digest: string])[];
  /** A view that cannot be made because of people's own things keeps no table from being written. */
  readonly view?: string;
}

const digestOf = (sql: string): string => createHash('sha256').update(sql).digest('hex').slice(0, 32);

const isAllThere = (found: Found, table: TableDefinition): boolean => {
  const names = new Set(findRelation(found, table)?.columns.map(({ name }) => name));
  return table.columns.every(({ name }) => names.has(name));
};

function schemaSteps(schema: string, found: Found): Step[] {
  return [schema, syncSchemaOf(schema)]
    .filter((name) => !findSchema(found, name))
    .map((name) => ({ sql: `CREATE SCHEMA IF NOT EXISTS ${escapeIdentifier(name)}` }));
}

/** Whether a table or column of ours is missing that was there before. */
export const hasLost = (layout: WarehouseLayout, found: Found): boolean =>
  tablesOf(withoutCleaned(layout, found)).some((table) => {
    const relation = findRelation(found, table);
    if (!relation) return found.laidOut.has(tableMark(table.name));
    const there = new Set(relation.columns.map(({ name }) => name));
    return table.columns.some(
      ({ name }) => !there.has(name) && found.laidOut.has(columnMark(table.name, name)),
    );
  });

/** Creates what is missing of a table; what was there before only with consent. */
function tableSteps(table: TableDefinition, found: Found, mayMend: boolean): Step[] {
  if (isTaken(found, table)) return [];
  const relation = findRelation(found, table);
  const marks = table.columns.map(({ name }) => [columnMark(table.name, name), table.name] as const);
  if (!relation) {
    if (found.laidOut.has(tableMark(table.name)) && !mayMend) return [];
    const create = {
      sql: createTableSql(table),
      marks: [[tableMark(table.name), table.name] as const, ...marks],
    };
    return found.isUnknown && table.entity
      ? [create, { sql: addColumnsSql(table, table.columns) }]
      : [create];
  }
  const there = new Set(relation.columns.map(({ name }) => name));
  const missing = table.columns.filter(
    ({ name }) => !there.has(name) && (mayMend || !found.laidOut.has(columnMark(table.name, name))),
  );
  return missing.length === 0 ? [] : [{ sql: addColumnsSql(table, missing), marks }];
}

function guardSteps(schema: string, tables: readonly TableDefinition[], found: Found, isNew: Filter): Step[] {
  const guarded = tables.filter((table) => table.isGuarded && !isTaken(found, table));
  const triggers = guarded.flatMap((table) => {
    const relation = findRelation(found, table);
    const isWanted = relation ? !isGuardTriggerAsMade(schema, relation) : isNew(table);
    return [
      ...(relation && hasCaptureTriggers(relation) ? [{ sql: dropCaptureSql(schema, table.name) }] : []),
      ...(isWanted ? [{ sql: guardTriggerSql(schema, table.name) }] : []),
    ];
  });
  const isMade = isGuardFunctionAsMade(schema, found);
  return [...(isMade ? [] : [{ sql: guardFunctionSql(schema, found.roleName) }]), ...triggers];
}

type Filter = (table: TableDefinition) => boolean;

/** In the place of the guards: what notes the edits of each table. */
function captureSteps(
  layout: WarehouseLayout,
  tables: readonly TableDefinition[],
  found: Found,
  isNew: Filter,
): Step[] {
  const { schema } = layout;
  const objects = `${editObjectsSql(schema)};\n${editFunctionsSql(schema, editChannelOf(schema))}`;
  const areMade = found.laidOut.get(editMark) === digestOf(objects) && !tables.some(isNew);
  const ofTables = layout.tables.flatMap((table): Step[] => {
    const shown = tables.find(({ entity, isGuarded }) => isGuarded && entity === table.entity);
    if (!shown || isTaken(found, shown)) return [];
    const relation = findRelation(found, shown);
    const isTriggered = relation ? areCaptureTriggersAsMade(schema, table, relation) : !isNew(shown);
    return [
      ...(isCaptureFunctionAsMade(layout, table, found) ? [] : [captureFunctionStep(layout, table, found)]),
      ...(isTriggered ? [] : [{ sql: captureTriggersSql(schema, table) }]),
    ];
  });
  return [
    ...(areMade ? [] : [{ sql: objects, marks: [[editMark, digestOf(objects)] as const] }]),
    ...ofTables,
  ];
}

function captureFunctionStep(layout: WarehouseLayout, table: TableLayout, found: Found): Step {
  const sql = captureFunctionSql(layout, table, found.roleName);
  return { sql, marks: [[captureMark(table.entity), digestOf(sql)]] };
}

/** The tables whose edits were noted once, and are not now because of something that others did. */
export function gapsOf(layout: WarehouseLayout, found: Found): readonly Entity[] {
  if (!layout.editing || !found.laidOut.has(editMark)) return [];
  const { schema, tables } = layout;
  return tables.flatMap((table) => {
    const relation = findRelation(found, { schema, name: table.entity });
    if (!relation || relation.triggers.some(({ name }) => name === guardName)) return [];
    const made = captureFunctionStep(layout, table, found).marks?.[0]?.[1];
    const wasMade = found.laidOut.get(captureMark(table.entity)) === made;
    const isReplaced = wasMade && !isCaptureFunctionAsMade(layout, table, found);
    return isReplaced || !areCaptureTriggersAsMade(schema, table, relation) ? [table.entity] : [];
  });
}

function viewSteps(layout: WarehouseLayout, found: Found, hasNews: boolean): Step[] {
  return viewsOf(layout).flatMap((view) => {
    const relation = findRelation(found, { schema: layout.schema, name: view.name });
    const table = findRelation(found, { schema: layout.schema, name: view.entity });
    const ofTable = new Set(table?.columns.map(({ name }) => name));
    const sql = viewSql(layout.schema, view, relation && { columns: relation.columns, ofTable });
    const mark = viewMark(view.name);
    const isMade = relation !== undefined && found.laidOut.get(mark) === digestOf(sql);
    return isMade && !hasNews ? [] : [{ sql, marks: [[mark, digestOf(sql)] as const], view: view.name }];
  });
}

/** Grants are given once: an operator may take one back. */
function grantSteps(layout: WarehouseLayout, found: Found): Step[] {
  const { schema } = layout;
  const { reader } = found;
  if (!reader.isThere && !found.mayCreateRole) return [];
  const mayGrantUsage = findSchema(found, schema)?.isOwn ?? true;
  const isFirst = !reader.isThere || (mayGrantUsage && !reader.hasUsage);
  const tables = tablesOf(layout).filter((table) => table.schema === schema && !isTaken(found, table));
  const relations = [
    ...tables.map(({ name }) => ({ name })),
    ...viewsOf(layout).map(({ name }) => ({ name, view: name })),
  ];
  const due = relations.filter(
    ({ name }) => isFirst || !found.laidOut.has(grantMark(name)) || !findRelation(found, { schema, name }),
  );
  return [
    ...(reader.isThere ? [] : [{ sql: createReaderSql(schema) }]),
    ...(isFirst && mayGrantUsage ? [{ sql: grantSchemaSql(schema) }] : []),
    ...due.map(({ name, ...view }) => ({
      sql: grantReadSql(schema, name),
      marks: [[grantMark(name), name] as const],
      ...view,
    })),
  ];
}

/** As the reader's; what may be written follows from the columns that there are. */
function editorSteps(layout: WarehouseLayout, found: Found): Step[] {
  const { schema, tables } = layout;
  if (!layout.editing || !(found.editor.isThere || found.mayCreateRole)) return [];
  const once = (mark: string, sql: string, view?: string): Step[] =>
    found.editor.isThere && found.laidOut.get(mark) === digestOf(sql)
      ? []
      : [{ sql, marks: [[mark, digestOf(sql)] as const], ...(view === undefined ? {} : { view }) }];
  const shown = tablesOf(layout).filter((table) => table.schema === schema && !isTaken(found, table));
  return [
    ...(found.editor.isThere ? [] : [{ sql: createEditorSql(schema) }]),
    ...once(editorMark('schema'), grantEditingSql(schema, newIdName)),
    ...shown.flatMap(({ entity, name }) => {
      const isEdited = tables.some((table) => table.entity === entity);
      return once(editorMark(name), grantEditSql(schema, name, isEdited));
    }),
    ...viewsOf(layout).flatMap(({ name }) => once(editorMark(name), grantEditSql(schema, name, false), name)),
  ];
}

function relationSteps(layout: WarehouseLayout, found: Found): Step[] {
  return relationsOf(layout).flatMap(({ table: name, column, sql }) => {
    const table = { schema: layout.schema, name };
    const mark = relationMark(name, column);
    const isMade = found.laidOut.has(mark) && findRelation(found, table) !== undefined;
    return isMade || isTaken(found, table) ? [] : [{ sql, marks: [[mark, column] as const] }];
  });
}

/** What has to be run so that the database has all of the layout. What was there before and is missing takes a person's consent. */
export function stepsOf(whole: WarehouseLayout, found: Found, mayMend: boolean): readonly Step[] {
  const layout = withoutCleaned(whole, found);
  const tables = tablesOf(layout);
  const made = tables.map((table) => ({ table, steps: tableSteps(table, found, mayMend) }));
  const isNew: Filter = (table) => made.some((one) => one.table === table && one.steps.length > 0);
  const basis = [...schemaSteps(layout.schema, found), ...made.flatMap(({ steps }) => steps)];
  const guarded = [
    ...basis,
    ...(layout.editing
      ? captureSteps(layout, tables, found, isNew)
      : guardSteps(layout.schema, tables, found, isNew)),
  ];
  // What is built on the tables waits until they are complete.
  if (tables.some((table) => !isNew(table) && !isAllThere(found, table))) return guarded;
  return [
    ...guarded,
    ...relationSteps(layout, found),
    ...viewSteps(layout, found, basis.length > 0),
    ...commentSteps(layout, tables, found),
    ...grantSteps(layout, found),
    ...editorSteps(layout, found),
  ];
}

/** Notes what was laid out by the steps, which make something. */
export function marksSql(schema: string, steps: readonly Step[]): string {
  const marks = steps.flatMap(({ marks: own = [] }) => own);
  const values = marks.map((mark) => `(${mark.map(escapeLiteral).join(', ')})`).join(',\n  ');
  return `INSERT INTO ${qualified(syncSchemaOf(schema), 'laid_out')} AS l (object, digest) VALUES\n  ${values}\nON CONFLICT (object) DO UPDATE SET digest = excluded.digest WHERE l.digest <> excluded.digest`;
}
