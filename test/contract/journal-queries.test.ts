import { expect, test } from 'vitest';
import type { HistoryQuery } from '../../src/core/history.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { openJournal } from '../../src/sqlite/journal.ts';
import { migrate, migrations } from '../../src/sqlite/migrations.ts';

/** A journal, and how SQLite looks for what was asked of it last. */
function openExplained() {
  const connection = connect(':memory:');
  migrate(connection);
  const asked: string[] = [];
  const journal = openJournal({
    ...connection,
    prepare(sql) {
      const statement = connection.prepare<never>(sql);
      return {
        ...statement,
        all(...bindings) {
          asked.push(sql);
          return statement.all(...bindings);
        },
        allWhile(isWanted, ...bindings) {
          asked.push(sql);
          return statement.allWhile(isWanted, ...bindings);
        },
      };
    },
  });
  const explain = () =>
    connection
      .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${asked.at(-1)?.replaceAll('?', '1')}`)
      .all()
      .map(({ detail }) => detail);
  return { connection, explain, journal };
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

const filters: HistoryQuery = {
  key: { entity: 'lead', id: '42' },
  field: 'title',
  run: 'run',
  id: 7,
  since: 1,
  before: 9,
};
const names = Object.keys(filters);
/** Every set of filters but the empty one. */
const allQueries = Array.from({ length: 2 ** names.length - 1 }, (_, index): HistoryQuery => {
  const isAsked = (_filter: unknown, place: number) => ((index + 1) >> place) % 2 === 1;
  return Object.fromEntries(Object.entries(filters).filter(isAsked));
});

test('however long the history is, no set of filters reads all of it, or sorts what it found', () => {
  const { explain, journal } = openExplained();
  expect(allQueries).toHaveLength(63);
  for (const query of allQueries) {
    journal.searchJournal({ ...query, limit: 9 });
    const dear = explain().filter((step) => /^SCAN|B-TREE/.test(step));
    expect({ query, dear }).toEqual({ query, dear: [] });
  }
});

const line = { run: 'run', kind: 'update', side: 'crm', lost: {}, cause: 'edited' } as const;
const lineOf = (at: number, fields: Record<string, string>) => ({
  ...line,
  at,
  key: { entity: 'lead', id: String(at % 3) } as const,
  before: {},
  after: fields,
});

test('every set of filters finds the lines that a reader of all lines would choose', () => {
  const { journal } = openExplained();
  journal.appendJournal(
    Array.from({ length: 40 }, (_, at) => ({
      ...lineOf(at, at % 2 === 0 ? { title: 'a' } : { value: 'b' }),
      run: at % 5 === 0 ? 'five' : 'run',
      before: at % 4 === 0 ? { email: 'c' } : {},
      lost: at % 7 === 0 ? { title: 'd' } : {},
    })),
  );
  const all = journal.searchJournal({});
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, index) => 40 - index));
  const values = { ...filters, key: { entity: 'lead', id: '1' } as const, since: 11, before: 33, id: 29 };
  for (const query of allQueries) {
    const asked: HistoryQuery = Object.fromEntries(
      Object.keys(query).map((name) => [name, Object(values)[name]]),
    );
    const { before = Infinity, field, id, key, run, since = 0 } = asked;
    const wanted = all.filter(
      (entry) =>
        entry.id < before &&
        entry.at >= since &&
        (id === undefined || entry.id === id) &&
        (run === undefined || entry.run === run) &&
        (key === undefined || entry.key.id === key.id) &&
        (field === undefined || field in { ...entry.before, ...entry.after, ...entry.lost }),
    );
    expect({ asked, found: journal.searchJournal(asked) }).toEqual({ asked, found: wanted });
  }
});

test('a page of the history ends before it holds more bytes than it may, and holds at least one line', () => {
  const { journal } = openExplained();
  journal.appendJournal([1, 2, 3, 4].map((at) => lineOf(at, { title: 'ä'.repeat(500) })));
  const ids = (bytesMax: number, before?: number) =>
    journal.searchJournal({ bytesMax, before }).map(({ id }) => id);
  expect(ids(2_500)).toEqual([4, 3]);
  expect(ids(2_500, 3)).toEqual([2, 1]);
  expect(ids(10)).toEqual([4]);
});

test('a field is found in lines that an older version wrote, and nothing is left of lines that are forgotten', () => {
  const connection = connect(':memory:');
  migrate(connection, migrations.slice(0, 7));
  connection.execute(`
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 120000)
    INSERT INTO journal (at, run, key, kind, side, before, after, lost, cause)
    SELECT n, 'run', 'lead-1', 'update', 'crm',
      CASE WHEN n = 2 THEN '{"email":null}' ELSE '{}' END, '{"title":"a","value":"b"}',
      CASE WHEN n = 3 THEN '{"email":"c","title":"d"}' ELSE '{}' END, 'edited' FROM number`);
  migrate(connection);
  const journal = openJournal(connection);
  expect(journal.searchJournal({ field: 'email' }).map(({ at }) => at)).toEqual([3, 2]);
  expect(journal.searchJournal({ field: 'title', limit: 2 }).map(({ at }) => at)).toEqual([120_000, 119_999]);
  journal.forgetJournal(119_999);
  const left = connection.prepare<{ field: string }>('SELECT field FROM journalField').all();
  expect(left.map(({ field }) => field).toSorted()).toEqual(['title', 'title', 'value', 'value']);
  journal.forgetJournal(1e9);
  expect(connection.prepare('SELECT 1 FROM journalField').all()).toEqual([]);
});

test('lines and commands are forgotten that are older than a time, and it is said how many lines', () => {
  const { journal } = openExplained();
  expect(journal.findOldestLine()).toBeUndefined();
  journal.appendJournal([1, 1, 2, 3].map((at) => lineOf(at, { title: 'a' })));
  for (const at of [1, 2]) journal.appendCommand({ at, by: 'anna', name: 'resync', about: '' });
  expect(journal.forgetJournal(2)).toBe(2);
  expect(journal.findOldestLine()).toBe(2);
  expect(journal.readCommands(10).map(({ at }) => at)).toEqual([2]);
  expect(journal.forgetJournal(2)).toBe(0);
});
