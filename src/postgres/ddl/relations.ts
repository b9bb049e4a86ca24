import { escapeLiteral } from 'pg';
import type { WarehouseLayout } from '../../warehouse/port/layout.ts';
import { nameList, qualified, quotedBody } from './quote.ts';

/** A column that holds the id of another table. */
export interface Relation {
  readonly table: string;
  readonly column: string;
  readonly sql: string;
}

/** Stages and such are named by whole numbers of the CRM that the layout does not call references. */
const referenceTargets: Readonly<Record<string, string>> = {
  'opportunity.stage_id': 'stage',
  'task.status': 'task_status',
  'task.priority': 'task_priority',
};

/**
 * Foreign keys that only say to programs what belongs together: not enforced, because the CRM's lists come in their own order. The server can
 * say so from version 18 on; an older one gets none.
 */
export function relationsOf(layout: WarehouseLayout): readonly Relation[] {
  const present = new Set(layout.tables.map(({ entity }) => entity));
  return layout.tables.flatMap(({ entity, columns }) =>
    columns.flatMap(({ name, refersTo, isCustom }) => {
      const own = refersTo !== undefined && present.has(refersTo) ? refersTo : undefined;
      const target = own ?? (isCustom ? undefined : referenceTargets[`${entity}.${name}`]);
      return target === undefined
        ? []
        : [{ table: entity, column: name, sql: relationSql(layout.schema, entity, name, target) }];
    }),
  );
}

function relationSql(schema: string, table: string, column: string, target: string): string {
  const relation = qualified(schema, table);
  const add = `ALTER TABLE ${relation} ADD FOREIGN KEY (${nameList([column])}) REFERENCES ${qualified(schema, target)} NOT ENFORCED`;
  return `DO ${quotedBody(`
BEGIN
  IF current_setting('server_version_num')::int >= 180000 AND NOT EXISTS (
    SELECT FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND c.conkey = ARRAY[a.attnum]
     WHERE c.contype = 'f' AND c.conrelid = ${escapeLiteral(relation)}::regclass AND a.attname = ${escapeLiteral(column)}
  ) THEN
    EXECUTE ${escapeLiteral(add)};
  END IF;
END `)}`;
}
