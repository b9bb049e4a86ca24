import { expect, test } from 'vitest';
import { connect } from '../../src/sqlite/connection.ts';
import { openJournal } from '../../src/sqlite/journal.ts';
import { migrate } from '../../src/sqlite/migrations.ts';

/** A journal, and how SQLite looks for what was asked of it last. */
function openExplained() {
  const connection = connect(':memory:');
  migrate(connection);
  const asked: string[] = [];
  const journal = openJournal({
    ...connection,
    prepare(sql) {
      const statement = connection.prepare<never>(sql);
      const noting = (...bindings: Parameters<typeof statement.all>) => {
        asked.push(sql);
        return statement.all(...bindings);
      };
      return { ...statement, all: noting };
    },
  });
  const explain = () =>
    connection
      .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${asked.at(-1)?.replaceAll('?', '1')}`)
      .all()
      .map(({ detail }) => detail);
  return { explain, journal };
}

test('however long the history is, what every cycle asks of it is found by an index', () => {
  const { explain, journal } = openExplained();
  journal.readBusyRecords(1, 2);
  expect(explain()[0]).toMatch(/^SEARCH journal USING INDEX journalByTime/);
  journal.searchJournal({ key: { entity: 'lead', id: '42' }, since: 1, limit: 9 });
  expect(explain()).toEqual([expect.stringMatching(/^SEARCH journal USING INDEX journalByKey/)]);
});

test('a run and a line of the history are found by an index too', () => {
  const { explain, journal } = openExplained();
  journal.searchJournal({ run: 'run', limit: 9 });
  expect(explain()).toEqual([expect.stringMatching(/^SEARCH journal USING INDEX journalByRun/)]);
  journal.searchJournal({ id: 7, limit: 9 });
  expect(explain()).toEqual([expect.stringMatching(/^SEARCH journal USING INTEGER PRIMARY KEY/)]);
});
