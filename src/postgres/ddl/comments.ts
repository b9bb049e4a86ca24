import { escapeIdentifier, escapeLiteral } from 'pg';
import { syncSchemaOf, type WarehouseLayout } from '../../warehouse/port/layout.ts';
import type { TableDefinition } from './definition.ts';
import { type Found, findRelation, findSchema, isTaken } from './found.ts';
import { qualified } from './quote.ts';
import { viewsOf } from './views.ts';

/** By this comment a schema is known for one of ours, also when that of the machinery is lost. */
export const schemaComment = 'What the CRM has, kept by crm-sheet-sync.';
const syncComment = 'The machinery of crm-sheet-sync: nothing here is meant for people.';

interface Comment {
  readonly on: string;
  readonly text: string;
  readonly before: string | null | undefined;
  readonly view?: string;
}

function tableComments(table: TableDefinition, found: Found): Comment[] {
  const relation = findRelation(found, table);
  const on = qualified(table.schema, table.name);
  const before = new Map(relation?.columns.map(({ name, comment }) => [name, comment]));
  return [
    { on: `TABLE ${on}`, text: table.comment, before: relation?.comment },
    ...table.columns.map(({ name, comment }) => ({
      on: `COLUMN ${on}.${escapeIdentifier(name)}`,
      text: comment,
      before: before.get(name),
    })),
  ];
}

/** Only the owner of a schema may comment on it: one that an administrator made stays as it is. */
function schemaComments(found: Found, name: string, text: string): Comment[] {
  const schema = findSchema(found, name);
  const on = `SCHEMA ${escapeIdentifier(name)}`;
  return schema?.isOwn === false ? [] : [{ on, text, before: schema?.comment }];
}

/** Comments that differ from those that are there. */
export function commentSteps(
  layout: WarehouseLayout,
  tables: readonly TableDefinition[],
  found: Found,
): { readonly sql: string; readonly view?: string }[] {
  const { schema } = layout;
  const comments: Comment[] = [
    ...schemaComments(found, schema, schemaComment),
    ...schemaComments(found, syncSchemaOf(schema), syncComment),
    ...tables.filter((table) => !isTaken(found, table)).flatMap((table) => tableComments(table, found)),
  ];
  const views: Comment[] = viewsOf(layout).map(({ name, comment }) => ({
    on: `VIEW ${qualified(schema, name)}`,
    text: comment,
    before: findRelation(found, { schema, name })?.comment,
    view: name,
  }));
  return [...comments, ...views]
    .filter(({ text, before }) => text !== before)
    .map(({ on, text, view }) => ({
      sql: `COMMENT ON ${on} IS ${escapeLiteral(text)}`,
      ...(view === undefined ? {} : { view }),
    }));
}
