import { escapeLiteral } from 'pg';
import { syncSchemaOf } from '../../../warehouse/port/layout.ts';
import type { TableDefinition } from '../definition.ts';
import { guardSearchPath } from '../guards.ts';
import { qualified, quotedBody } from '../quote.ts';
import { editTableName } from './edit-table.ts';

export const questionTableName = 'question';

/** What waits for a user, who answers it there. */
export const questionTable = (schema: string): TableDefinition => ({
  schema,
  name: questionTableName,
  columns: [
    { name: 'scope', type: 'text', comment: 'Names the question.' },
    { name: 'entity', type: 'text', comment: 'The table that it is about.' },
    {
      name: 'id',
      type: 'text',
      comment: 'The id of the row that it is about; empty where it is about many.',
    },
    { name: 'what', type: 'text', comment: 'The question.' },
    { name: 'answers', type: 'text[]', comment: 'What can be answered.' },
    {
      name: 'answer',
      type: 'text',
      rule: 'CONSTRAINT one_of_the_answers CHECK (answer IS NULL OR answer = ANY (answers))',
      comment: 'One of the answers; it is empty again once it was taken.',
    },
    { name: 'asked_at', type: 'timestamptz', comment: 'Since when it waits.' },
  ],
  key: ['scope'],
  comment: 'What waits for a user: UPDATE the answer with one of the answers.',
});

export const tellName = 'tell_edit';
export const revertName = 'revert';

/** What goes with edits beside the tables: the daemon is told of answers, and a user can take edits of a row back. */
export function editFunctionsSql(schema: string, channel: string): string {
  const sync = syncSchemaOf(schema);
  const questions = qualified(schema, questionTableName);
  const tell = qualified(sync, tellName);
  const setting = `SECURITY DEFINER SET ${guardSearchPath.replace('=', ' = ')}`;
  return [
    `CREATE OR REPLACE FUNCTION ${tell}() RETURNS trigger\nLANGUAGE plpgsql ${setting} AS ${quotedBody(`
BEGIN
  PERFORM pg_notify(${escapeLiteral(channel)}, '');
  RETURN NULL;
END `)}`,
    `DROP TRIGGER IF EXISTS crm_tell ON ${questions}`,
    `CREATE TRIGGER crm_tell AFTER UPDATE OF answer ON ${questions} FOR EACH STATEMENT EXECUTE FUNCTION ${tell}()`,
    `CREATE OR REPLACE FUNCTION ${qualified(schema, revertName)}(entity text, id text) RETURNS uuid\nLANGUAGE plpgsql ${setting} AS ${quotedBody(`
#variable_conflict use_variable
DECLARE
  made uuid;
BEGIN
  IF NOT EXISTS (SELECT FROM ${qualified(sync, editTableName)} e WHERE e.entity = entity AND e.id = id AND e.ended_at IS NULL) THEN
    RAISE EXCEPTION USING ERRCODE = '23514', MESSAGE = format('No edit of %s %s is open: it shows what the CRM has.', entity, id);
  END IF;
  INSERT INTO ${qualified(sync, editTableName)} AS n (entity, id, op, changed) VALUES (entity, id, 'R', '{}') RETURNING n.edit_id INTO made;
  PERFORM pg_notify(${escapeLiteral(channel)}, '');
  RETURN made;
END `)}`,
    `REVOKE ALL ON FUNCTION ${qualified(schema, revertName)}(text, text) FROM PUBLIC`,
  ].join(';\n');
}
