import { aliveValues, journalValues } from './invariants.ts';
import type { People } from './people.ts';

export function backUpDatabase({ sql }: People): string {
  if (!sql) return 'nothing';
  sql.copy = sql.side.database.backUp();
  return 'done';
}

/** Somebody puts the last backup of the database back. What stood only there, and what came of edits since, is lost with it. */
export function restoreDatabase(people: People): string {
  const { sql } = people;
  if (!sql?.copy || sql.wentBack === 'mirror') return 'nothing';
  const before = valuesInTables(people);
  sql.copy();
  sql.wentBack = 'database';
  sql.forgetMasses();
  const left = aliveValues(people)
    .union(people.valuesIn(people.stage.spreadsheet.current()))
    .union(journalValues(people))
    .union(valuesInTables(people));
  for (const value of before) if (!left.has(value)) people.withdrawn.add(value);
  return 'and it goes on';
}

/** All values that rows show and edits name. */
const valuesInTables = ({ sql }: People): Set<string> => {
  const { edits = [], rows = new Map() } = sql?.side.database.content ?? {};
  return new Set(
    [
      ...[...rows.values()].flatMap((table) => [...table.values()].flatMap((row) => Object.values(row))),
      ...edits.flatMap(({ after, before }) => [...Object.values(before), ...Object.values(after)]),
    ].map(String),
  );
};
