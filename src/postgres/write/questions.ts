import type { Questions } from '../../warehouse/port/port.ts';
import type { Session } from '../connection.ts';
import { questionTableName } from '../ddl/capture/question-table.ts';
import type { Names } from '../names.ts';

/** Writes what waits for users. An answer stays until it was taken, or the question is another one. */
export async function writeQuestions(
  session: Session,
  names: Names,
  { asked, taken }: Questions,
): Promise<void> {
  const table = names.shown(questionTableName);
  await session.run(
    `WITH sent AS MATERIALIZED (
       SELECT scope, entity, id, what, ARRAY(SELECT jsonb_array_elements_text(answers)) AS answers
         FROM jsonb_to_recordset($1::jsonb) AS r (scope text, entity text, id text, what text, answers jsonb)),
     free AS MATERIALIZED (SELECT scope FROM ${table} FOR UPDATE SKIP LOCKED),
     over AS (DELETE FROM ${table} q USING free f WHERE f.scope = q.scope AND NOT EXISTS (SELECT FROM sent s WHERE s.scope = q.scope)),
     changed AS (
       UPDATE ${table} q SET what = s.what, answers = s.answers, answer = NULL
         FROM sent s JOIN free f ON f.scope = s.scope WHERE s.scope = q.scope
          AND (ROW(q.what, q.answers) IS DISTINCT FROM ROW(s.what, s.answers) OR (q.answer IS NOT NULL AND q.scope = ANY ($2::text[]))))
     INSERT INTO ${table} (scope, entity, id, what, answers, asked_at)
     SELECT s.scope, s.entity, s.id, s.what, s.answers, clock_timestamp() FROM sent s
      WHERE NOT EXISTS (SELECT FROM ${table} q WHERE q.scope = s.scope)`,
    [JSON.stringify(asked), taken],
  );
}
