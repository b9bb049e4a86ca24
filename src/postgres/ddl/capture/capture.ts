import { escapeIdentifier, escapeLiteral } from 'pg';
import {
  type ColumnLayout,
  type ColumnType,
  syncSchemaOf,
  type TableLayout,
  type WarehouseLayout,
} from '../../../warehouse/port/layout.ts';
import { guardName, guardSearchPath } from '../guards.ts';
import { qualified, quotedBody } from '../quote.ts';
import { checksOf } from './checks.ts';
import { editTableName, newIdName, newIdSql } from './edit-table.ts';

/** The settings by which the daemon's own statements are known, for one transaction each. */
export const runSetting = 'crm_sync.run';
export const entitySetting = 'crm_sync.entity';
/** With it a user means a statement that reaches many rows. */
export const bulkSetting = 'crm_sync.bulk';

/** The channel on which edits are told. */
export const editChannelOf = (schema: string): string => `${schema}_edit`;

export const captureNameOf = ({ entity }: Pick<TableLayout, 'entity'>): string => `capture_${entity}`;

/** A trigger of ours, with the bits of `pg_trigger.tgtype`. */
export interface CaptureTrigger {
  readonly name: string;
  readonly type: number;
  readonly event: string;
  readonly oldTable: string | null;
  readonly newTable: string | null;
}

/** After each statement: the rows before and after it are at hand, and what a user's own triggers made of them. */
export const captureTriggers: readonly CaptureTrigger[] = [
  { name: 'crm_capture_i', type: 4, event: 'AFTER INSERT', oldTable: null, newTable: 'new_rows' },
  { name: 'crm_capture_u', type: 16, event: 'AFTER UPDATE', oldTable: 'old_rows', newTable: 'new_rows' },
  { name: 'crm_capture_d', type: 8, event: 'AFTER DELETE', oldTable: 'old_rows', newTable: null },
  { name: 'crm_capture_t', type: 2 | 32, event: 'BEFORE TRUNCATE', oldTable: null, newTable: null },
];

/** ALWAYS: else a session in the role of a replica passes by unseen. */
export function captureTriggersSql(schema: string, table: TableLayout): string {
  const relation = qualified(schema, table.entity);
  const capture = qualified(syncSchemaOf(schema), captureNameOf(table));
  return [
    `ALTER TABLE ${relation} ALTER COLUMN id SET DEFAULT ${newIdSql(schema, table)}`,
    `DROP TRIGGER IF EXISTS ${guardName} ON ${relation}`,
    ...captureTriggers.flatMap(({ event, name, newTable, oldTable }) => {
      const tables = [
        ...(oldTable ? [`OLD TABLE AS ${oldTable}`] : []),
        ...(newTable ? [`NEW TABLE AS ${newTable}`] : []),
      ];
      const given = tables.length === 0 ? '' : `REFERENCING ${tables.join(' ')} `;
      return [
        `DROP TRIGGER IF EXISTS ${name} ON ${relation}`,
        `CREATE TRIGGER ${name} ${event} ON ${relation}\n  ${given}FOR EACH STATEMENT EXECUTE FUNCTION ${capture}()`,
        `ALTER TABLE ${relation} ENABLE ALWAYS TRIGGER ${name}`,
      ];
    }),
  ].join(';\n');
}

/** Takes back what makes edits of a table be noted: its rows have no ids of their own then. */
export const dropCaptureSql = (schema: string, table: string): string => {
  const relation = qualified(schema, table);
  return [
    ...captureTriggers.map(({ name }) => `DROP TRIGGER IF EXISTS ${name} ON ${relation}`),
    `ALTER TABLE ${relation} ALTER COLUMN id DROP DEFAULT`,
  ].join(';\n');
};

/**
 * The settings of the function. A plan is made once in a session, for the few rows of its first statement as a rule: with loops in loops, one of
 * many rows would take their square.
 */
export const captureSettings = [guardSearchPath, 'enable_nestloop=off'] as const;

export const captureFunctionSql = (layout: WarehouseLayout, table: TableLayout, roleName: string): string =>
  `CREATE OR REPLACE FUNCTION ${qualified(syncSchemaOf(layout.schema), captureNameOf(table))}() RETURNS trigger\n` +
  `LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_nestloop = off AS ${quotedBody(captureBody(layout, table, roleName))}`;

/**
 * Notes what a statement of a user changed, with the values before, and refuses what the CRM would. A statement is the daemon's own where the
 * session is its login's, in a run, and it is about this table: what a user's trigger or foreign key does in a run is not, nor is it an edit.
 */
export function captureBody(
  { editing, schema }: WarehouseLayout,
  table: TableLayout,
  roleName: string,
): string {
  const bulkRows = editing?.bulkRows ?? 0;
  const sync = syncSchemaOf(schema);
  const edit = qualified(sync, editTableName);
  const name = `${schema}.${table.entity}`;
  const refuse = (words: string, hint?: string) =>
    `RAISE EXCEPTION USING ERRCODE = '23514', SCHEMA = ${escapeLiteral(schema)}, TABLE = ${escapeLiteral(table.entity)}, MESSAGE = ${words}${hint === undefined ? '' : `,\n      HINT = ${escapeLiteral(hint)}`};`;
  const columns = table.columns.filter((column) => column.editing);
  const written = columns.filter(({ editing: rules }) => !rules?.isReadOnly);
  const isChanged = differs(written.map((column) => column.name));
  const note = (op: string, changed: string, from: string) =>
    `INSERT INTO ${edit} (entity, id, op, changed, state)\n    SELECT ${escapeLiteral(table.entity)}, ${op === 'D' ? 'o' : 'n'}.id, ${escapeLiteral(op)}, ${changed}, state_of FROM ${from};`;
  return `
#variable_conflict use_variable
DECLARE
  is_run boolean := coalesce(current_setting('${runSetting}', true), '') <> '' AND session_user = ${escapeLiteral(roleName)};
  state_of text := CASE WHEN is_run THEN 'side_effect' ELSE 'new' END;
  reached bigint;
  fault text;
BEGIN
  IF is_run AND pg_trigger_depth() = 1 AND current_setting('${entitySetting}', true) = ${escapeLiteral(table.entity)} THEN
    RETURN NULL;
  END IF;
  IF tg_op = 'TRUNCATE' THEN
    ${refuse(escapeLiteral(`${name} is not emptied at once: each row is a record of the CRM.`), 'Delete the rows that are meant.')}
  END IF;
  IF tg_op = 'UPDATE' THEN
    IF EXISTS (SELECT FROM old_rows o WHERE NOT EXISTS (SELECT FROM new_rows n WHERE n.id = o.id)) THEN
      ${refuse(escapeLiteral(`The CRM gives ids: that of a row of ${name} does not change.`))}
    END IF;
    SELECT count(*) INTO reached FROM old_rows o JOIN new_rows n USING (id) WHERE ${isChanged};
  ELSIF tg_op = 'INSERT' THEN
    SELECT count(*) INTO reached FROM new_rows;
  ELSE
    SELECT count(*) INTO reached FROM old_rows;
  END IF;
  IF reached > ${bulkRows} AND NOT is_run AND coalesce(current_setting('${bulkSetting}', true), '') <> 'on' THEN
    ${refuse(`format('This statement reaches %s rows of ${name}; ${bulkRows} may change at once in the CRM.', reached)`, `Was a WHERE forgotten? If it is meant: SET LOCAL ${bulkSetting} = 'on' in the same transaction.`)}
  END IF;
  IF tg_op = 'UPDATE' THEN
    IF NOT is_run THEN
      SELECT ${firstFault(schema, table, (check, of) => `n.${of} IS DISTINCT FROM o.${of} AND (${check})`, 'U')} INTO fault
        FROM old_rows o JOIN new_rows n USING (id) ORDER BY 1 NULLS LAST LIMIT 1;
    END IF;
  ELSIF tg_op = 'INSERT' AND NOT is_run THEN
    ${insertedIdCheck(edit, sync, table, refuse)}
    SELECT ${firstFault(schema, table, (check) => check, 'I')} INTO fault
      FROM new_rows n ORDER BY 1 NULLS LAST LIMIT 1;
  END IF;
  IF fault IS NOT NULL THEN
    ${refuse('fault')}
  END IF;
  IF reached = 0 THEN
    RETURN NULL;
  END IF;
  IF tg_op = 'UPDATE' THEN
    ${note('U', pairsOf(written), `old_rows o JOIN new_rows n USING (id) WHERE ${isChanged}`)}
  ELSIF tg_op = 'INSERT' THEN
    ${note('I', valuesOf(written, 'n'), 'new_rows n')}
  ELSE
    ${note('D', `to_jsonb(o) || ${valuesOf(columns, 'o')}`, 'old_rows o')}
  END IF;
  PERFORM pg_notify(${escapeLiteral(editChannelOf(schema))}, '');
  RETURN NULL;
END `;
}

const rowOf = (alias: string, names: readonly string[]): string =>
  `ROW(${names.map((name) => `${alias}.${escapeIdentifier(name)}`).join(', ')})`;

const differs = (names: readonly string[]): string =>
  names.length === 0 ? 'false' : `${rowOf('o', names)} IS DISTINCT FROM ${rowOf('n', names)}`;

/** The columns that people see and none of them writes, with why. */
const readOnly = (table: TableLayout) => [
  ...table.columns
    .filter(({ editing }) => !editing || editing.isReadOnly)
    .map(({ editing, name, retiredAt }) => ({
      name,
      why: editing
        ? 'is not edited by SQL, as the configuration says: edit it in the CRM'
        : retiredAt === undefined
          ? 'is set by the CRM'
          : 'is no longer in use in the CRM',
    })),
  ...['valid_from', 'valid_after', 'made_by'].map((name) => ({ name, why: 'is set by the daemon' })),
];

/** The columns that no new record can be without, and that the configuration keeps from SQL: no row can be inserted. */
const notTaken = ({ columns }: TableLayout): readonly string[] =>
  columns
    .filter(({ editing }) => editing?.isReadOnly && editing.isRequired)
    .map(
      ({ name }) =>
        `A new record needs ${name}, which the configuration does not take from SQL: set the direction of its column to both, or add the record in the CRM.`,
    );

/** The first sentence about a row that the CRM would refuse, else NULL. */
function firstFault(
  schema: string,
  table: TableLayout,
  when: (check: string, column: string) => string,
  op: 'U' | 'I',
): string {
  const cases = [
    ...(op === 'I' ? notTaken(table) : []).map((words) => `WHEN true THEN ${escapeLiteral(words)}`),
    ...readOnly(table).map(({ name, why }) => {
      const column = escapeIdentifier(name);
      const isSet = op === 'U' ? `n.${column} IS DISTINCT FROM o.${column}` : `n.${column} IS NOT NULL`;
      return `WHEN ${isSet} THEN ${escapeLiteral(`${name} ${why}.`)}`;
    }),
    ...table.columns.flatMap((column) => {
      const quoted = escapeIdentifier(column.name);
      const isFixed = op === 'U' && column.editing?.isFixed;
      return isFixed
        ? [
            `WHEN n.${quoted} IS DISTINCT FROM o.${quoted} THEN ${escapeLiteral(`${column.name} is set when a row is inserted, and never again.`)}`,
          ]
        : checksOf(schema, insertable(column, op)).map(
            ({ isFault, words }) => `WHEN ${when(isFault, quoted)} THEN ${words}`,
          );
    }),
  ];
  return `CASE ${cases.join('\n              ')} END`;
}

/** What may not be emptied may be left out of a new row. */
function insertable(column: ColumnLayout, op: 'U' | 'I'): ColumnLayout {
  if (op === 'U' || !column.editing) return column;
  const { isKept: _, ...editing } = column.editing;
  return { ...column, editing };
}

/** An id of the CRM names a row that is there, unless the same transaction deleted it; one below 0 is the sequence's, and used once. */
function insertedIdCheck(
  edit: string,
  sync: string,
  { entity, idType }: TableLayout,
  refuse: (words: string) => string,
): string {
  const own = escapeLiteral(entity);
  const isReplaced = `EXISTS (SELECT FROM ${edit} e WHERE e.entity = ${own} AND e.id = n.id::text AND e.op = 'D' AND e.xid = pg_current_xact_id())`;
  const isUsed = `EXISTS (SELECT FROM ${edit} e WHERE e.entity = ${own} AND e.id = n.id::text AND e.op = 'I')`;
  const sequence = qualified(sync, newIdName);
  const bad =
    idType === 'uuid'
      ? isUsed
      : `n.id >= 0 OR n.id < (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${sequence}) OR ${isUsed}`;
  return `IF EXISTS (SELECT FROM new_rows n WHERE NOT ${isReplaced} AND (${bad})) THEN
      ${refuse(escapeLiteral('The CRM gives ids: leave id out.'))}
    END IF;`;
}

/** Numbers that a driver would read through a float go as text. */
const asText: ReadonlySet<ColumnType> = new Set(['numeric', 'bigint']);

const jsonOf = (alias: string, { name, type }: ColumnLayout): string =>
  `${alias}.${escapeIdentifier(name)}${asText.has(type) ? '::text' : ''}`;

/** A call takes at most 100 arguments. */
const argumentsMax = 48;

function objectOf(columns: readonly ColumnLayout[], shownAs: (column: ColumnLayout) => string): string {
  if (columns.length === 0) return "'{}'::jsonb";
  const chunks: string[] = [];
  for (let from = 0; from < columns.length; from += argumentsMax) {
    const pairs = columns
      .slice(from, from + argumentsMax)
      .map((column) => `${escapeLiteral(column.name)}, ${shownAs(column)}`);
    chunks.push(`jsonb_build_object(${pairs.join(', ')})`);
  }
  return chunks.join(' || ');
}

const valuesOf = (columns: readonly ColumnLayout[], alias: string): string =>
  objectOf(columns, (column) => jsonOf(alias, column));

/** Of each column that differs the value before and the value after. An empty one within the pair stays. */
const pairsOf = (columns: readonly ColumnLayout[]): string =>
  `jsonb_strip_nulls(${objectOf(columns, (column) => {
    const name = escapeIdentifier(column.name);
    return `CASE WHEN o.${name} IS DISTINCT FROM n.${name} THEN jsonb_build_array(${jsonOf('o', column)}, ${jsonOf('n', column)}) END`;
  })})`;
