import type { ClientBase } from 'pg';
import { syncSchemaOf } from '../warehouse/port/layout.ts';
import { captureTriggers } from './ddl/capture/capture.ts';
import type { Found } from './ddl/found.ts';
import { guardName } from './ddl/guards.ts';
import { qualified } from './ddl/quote.ts';
import { editorOf, readerOf } from './ddl/roles.ts';

/** $1: both schemas, $2: the names of our triggers, $3: the reader, $4: the schema for people, $5: the editor. One round trip; nothing of people's is read. */
const catalogSql = `
WITH relation AS (
  SELECT c.*, n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S')
)
SELECT pg_catalog.json_build_object(
  'roleName', session_user,
  'mayCreateRole', (SELECT rolcreaterole OR rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user),
  'reader', pg_catalog.json_build_object(
    'isThere', EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $3),
    'hasUsage', coalesce((SELECT pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE')
       FROM pg_catalog.pg_roles r, pg_catalog.pg_namespace n WHERE r.rolname = $3 AND n.nspname = $4), false)),
  'editor', pg_catalog.json_build_object('isThere', EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $5)),
  'schemas', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', nspname, 'comment', pg_catalog.obj_description(oid, 'pg_namespace'),
      'isOwn', pg_catalog.pg_has_role(nspowner, 'USAGE'))), '[]')
    FROM pg_catalog.pg_namespace WHERE nspname = ANY($1)),
  'functions', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'schema', n.nspname, 'name', p.proname, 'body', p.prosrc, 'isDefiner', p.prosecdef, 'settings', p.proconfig)), '[]')
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = ANY($1)),
  'relations', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'schema', c.nspname, 'name', c.relname, 'kind', c.relkind,
      'owner', pg_catalog.pg_get_userbyid(c.relowner), 'isOwn', pg_catalog.pg_has_role(c.relowner, 'USAGE'),
      'isWritable', pg_catalog.has_table_privilege(c.oid, 'SELECT') AND pg_catalog.has_table_privilege(c.oid, 'INSERT')
        AND pg_catalog.has_table_privilege(c.oid, 'UPDATE') AND pg_catalog.has_table_privilege(c.oid, 'DELETE')
        AND pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE'),
      'comment', pg_catalog.obj_description(c.oid, 'pg_class'),
      'columns', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod), 'isNotNull', a.attnotnull,
          'hasDefault', a.atthasdef OR a.attidentity <> '', 'comment', pg_catalog.col_description(c.oid, a.attnum))
          ORDER BY a.attnum), '[]')
        FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
      'key', (SELECT pg_catalog.json_agg(a.attname ORDER BY k.place)
        FROM pg_catalog.pg_constraint x CROSS JOIN LATERAL pg_catalog.unnest(x.conkey) WITH ORDINALITY AS k(attnum, place)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE x.conrelid = c.oid AND x.contype = 'p'),
      'hasRowSecurity', c.relrowsecurity AND pg_catalog.row_security_active(c.oid),
      'inherits', EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)),
      'triggers', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'name', t.tgname, 'enabled', t.tgenabled, 'type', t.tgtype, 'oldTable', t.tgoldtable, 'newTable', t.tgnewtable,
          'isPlain', t.tgqual IS NULL AND t.tgattr::text = '' AND t.tgnargs = 0, 'schema', n.nspname, 'function', p.proname)), '[]')
        FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
        JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE t.tgrelid = c.oid AND t.tgname = ANY($2)),
      'cascades', (SELECT pg_catalog.json_agg(x.conname ORDER BY x.conname) FROM pg_catalog.pg_constraint x
        WHERE x.conrelid = c.oid AND x.contype = 'f' AND (x.confdeltype IN ('c', 'n', 'd') OR x.confupdtype IN ('c', 'n', 'd')))
    )), '[]') FROM relation c)
)::text AS found`;

/** Reads what is there. Needs no right in the schemas. */
export async function readFound(client: ClientBase, schema: string): Promise<Found> {
  const sync = syncSchemaOf(schema);
  const { rows } = await client.query<{ found: string }>(catalogSql, [
    [schema, sync],
    [guardName, ...captureTriggers.map(({ name }) => name)],
    readerOf(schema),
    schema,
    editorOf(schema),
  ]);
  const found = JSON.parse(rows[0]?.found ?? '{}') as Omit<Found, 'laidOut'>;
  const list = found.relations.find(({ schema: of, name }) => of === sync && name === 'laid_out');
  return { ...found, laidOut: list?.isWritable ? await readLaidOut(client, sync) : new Map() };
}

async function readLaidOut(client: ClientBase, sync: string): Promise<Map<string, string>> {
  const { rows } = await client.query<{ object: string; digest: string }>(
    `SELECT object, digest FROM ${qualified(sync, 'laid_out')}`,
  );
  return new Map(rows.map(({ object, digest }) => [object, digest]));
}
