import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Fact, facts } from '../../src/core/facts.ts';
import type { SideStores } from '../../src/core/mirror.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import { keepBeforeMigration, schemaCopies } from '../../src/sqlite/backup.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { makeDurable } from '../../src/sqlite/file-safety.ts';
import { jsonFactsSchema, migrate, migrations } from '../../src/sqlite/migrations.ts';
import { mirrorFile, openMirror } from '../../src/sqlite/open.ts';
import { failure, lead, openMirrorDirectory, openWrite, suspect } from '../support/mirror-directory.ts';

/** The schema from which on each side has stores of its own. */
const sideStoresSchema = 14;

const { directory, open, close } = openMirrorDirectory();

describe('a file of another version', () => {
  test('fault 63: a file of a later version is refused and left as it is', () => {
    open();
    close();
    const connection = connect(mirrorFile(directory));
    connection.setSetting('user_version', 999);
    connection.close();
    const before = readFileSync(mirrorFile(directory));

    expect(failure(() => openMirror({ directory }))).toMatchObject({
      code: 'STATE_NEWER',
      message: expect.not.stringContaining('copy'),
    });
    expect(readFileSync(mirrorFile(directory)).equals(before)).toBe(true);
  });

  test('a version that finds the file of a later one names the newest copy from before the upgrade that it can read', () => {
    const backups = join(directory, 'backups');
    const upgrade = (steps: readonly string[]) => {
      const connection = connect(mirrorFile(directory));
      migrate(connection, steps, schemaCopies(connection, mirrorFile(directory)));
      connection.close();
    };
    const later = [...migrations, 'CREATE TABLE later (name TEXT)'];
    upgrade(migrations.slice(0, 1));
    upgrade(migrations);
    upgrade(later);
    upgrade([...later, 'CREATE TABLE latest (name TEXT)']);
    const names = readdirSync(backups).toSorted();
    const own = names.find((name) => name.includes(`schema-${migrations.length}-`)) ?? 'none';
    const refused = failure(() => openMirror({ directory }));

    expect(names).toHaveLength(3);
    expect(names.map((name) => statSync(join(backups, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(refused).toMatchObject({
      code: 'STATE_NEWER',
      message: expect.stringContaining(join(backups, own)),
    });
    copyFileSync(join(backups, own), mirrorFile(directory));
    expect(open().mirror.readFact(facts.copiedAt)).toContain(`schema ${migrations.length}`);
  });

  test('every fact is read from a file whose version kept each as a text of its own form', () => {
    const earlier = connect(mirrorFile(directory));
    migrate(earlier, migrations.slice(0, jsonFactsSchema - 1));
    const insert = earlier.prepare('INSERT INTO fact (name, content) VALUES (?, ?)');
    for (const [{ name }, text] of earlierFacts) insert.run(name, text);
    earlier.close();
    const { mirror } = open();

    const { found: _found, leadColumns: _leadColumns, only: _only, ...ofSheet } = sheetFacts;
    const { emptiedFields: _emptiedFields, forgotten: _forgotten, ...common } = facts;
    const names = Object.values({ ...common, ...ofSheet }).map(
      (fact) => (typeof fact === 'function' ? fact('lead') : fact).name,
    );
    expect(new Set(earlierFacts.map(([{ name }]) => name))).toEqual(new Set([...names, 'rebase.task']));
    for (const [fact, text, value] of earlierFacts)
      expect([fact.name, text, mirror.readFact(fact)]).toStrictEqual([fact.name, text, value]);
  });

  test('what a version kept that knew one side alone is that side’s, in the order in which it came', () => {
    const earlier = connect(mirrorFile(directory));
    migrate(earlier, migrations.slice(0, sideStoresSchema - 1));
    const insert = (table: string, row: Readonly<Record<string, string | number>>) => {
      const [names, values] = [Object.keys(row), Object.values(row)];
      const places = names.map(() => '?').join();
      earlier.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${places})`).run(...values);
    };
    for (const key of ['lead-42', 'lead-7']) {
      insert('agreement', { key, fields: '{"title":"A"}', offered: '{}', changedAt: 1, notice: 'told' });
      insert('outbox', {
        ...{
          key,
          kind: 'update',
          state: 'refused',
          fields: '{"title":"B"}',
          base: '{"title":"A"}',
          notice: '',
        },
        ...{ run: 'r', createdAt: 1, shownUntil: 2, dueAt: 3, attempts: 4, sentAt: 5, looks: 6, isUndo: 1 },
        ...{ errorCode: 'CRM_REFUSED', errorMessage: 'No.', recordId: '9' },
      });
      insert('decision', { scope: `refused:${key}`, choice: 'retry', at: 1 });
    }
    for (const at of [2, 1]) {
      insert('openWrite', { id: `w${at}`, content: JSON.stringify({ ...openWrite(), at }) });
      insert('suspect', { id: `w${at}.0`, content: JSON.stringify({ ...suspect(), at }) });
    }
    earlier.close();
    const { mirror } = open();

    const kept = (stores: SideStores) => [
      stores.readAgreements(),
      stores.readOutbox(),
      stores.readDecisions(),
      stores.readOpenWrites(),
      stores.readSuspects(),
    ];
    const ids = ['42', '7'];
    expect(kept(mirror)).toStrictEqual([
      ids.map((id) => ({
        ...{ key: lead(id), fields: { title: 'A' }, offered: {}, changedAt: 1, notice: 'told' },
      })),
      ids.map((id) => ({
        ...{ key: lead(id), kind: 'update', state: 'refused', fields: { title: 'B' }, base: { title: 'A' } },
        ...{ notice: '', run: 'r', createdAt: 1, shownUntil: 2, dueAt: 3, attempts: 4, sentAt: 5, looks: 6 },
        ...{ error: { code: 'CRM_REFUSED', message: 'No.' }, recordId: '9', isUndo: true },
      })),
      ids.map((id) => ({ scope: `refused:lead-${id}`, choice: 'retry', at: 1 })),
      [2, 1].map((at) => ({ ...openWrite(), at })),
      [2, 1].map((at) => ({ ...suspect(), at })),
    ]);
    expect(kept(mirror.of('warehouse'))).toEqual([[], [], [], [], []]);
    // What is saved again keeps its place.
    mirror.saveDecision({ scope: 'refused:lead-42', choice: 'ignore', at: 2 });
    expect(mirror.readDecisions().map(({ choice }) => choice)).toEqual(['ignore', 'retry']);
  });

  test('a file of an earlier version is copied before its schema changes, and the copy says so', () => {
    mkdirSync(directory, { recursive: true });
    const earlier = connect(mirrorFile(directory));
    migrate(earlier, migrations.slice(0, 1));
    earlier.prepare('INSERT INTO fact (name, content) VALUES (?, ?)').run('name', 'kept');
    earlier.close();
    open();
    const [name = ''] = readdirSync(join(directory, 'backups'));
    expect(name).toMatch(/^before-leaving-schema-1-[-\dT.]+Z\.db$/);
    const copy = connect(join(directory, 'backups', name));
    expect(copy.readSetting('user_version')).toBe(1);
    expect(copy.prepare('SELECT name, content FROM fact ORDER BY name').all()).toStrictEqual([
      { name: 'copiedAt', content: 'the time before schema 1 was left' },
      { name: 'name', content: 'kept' },
    ]);
    copy.close();
  });

  test('each upgrade from an earlier version leaves a copy of its own, and one that is tried again only one', () => {
    const backups = join(directory, 'backups');
    mkdirSync(directory, { recursive: true });
    const write = (content: string) => {
      const connection = connect(mirrorFile(directory));
      makeDurable(connection);
      migrate(connection, migrations.slice(0, 1));
      connection.prepare('INSERT OR REPLACE INTO fact (name, content) VALUES (?, ?)').run('name', content);
      connection.close();
    };
    const upgrade = () => {
      const connection = connect(mirrorFile(directory));
      makeDurable(connection);
      keepBeforeMigration(connection, mirrorFile(directory), 1);
      connection.close();
    };
    write('first');
    upgrade();
    upgrade();
    expect(readdirSync(backups)).toHaveLength(1);
    copyFileSync(join(backups, readdirSync(backups)[0]!), mirrorFile(directory));
    write('months later');
    upgrade();
    const contents = readdirSync(backups).map((name) => {
      const copy = connect(join(backups, name));
      const [fact] = copy.prepare<{ content: string }>("SELECT content FROM fact WHERE name = 'name'").all();
      copy.close();
      return fact?.content;
    });
    expect(contents.toSorted()).toEqual(['first', 'months later']);
  });

  test('fault 63: a migration that fails half-way leaves the file as it was before all of its steps', () => {
    const connection = connect(mirrorFile(directory));
    const [one, two] = ['CREATE TABLE one (name TEXT)', 'CREATE TABLE two (name TEXT)'];
    const tables = connection.prepare('SELECT name FROM sqlite_schema');
    migrate(connection, [one]);

    expect(() => migrate(connection, [one, two, one])).toThrow('already exists');
    expect(connection.readSetting('user_version')).toBe(1);
    expect(tables.all()).toStrictEqual([{ name: 'one' }]);
    migrate(connection, [one, two]);
    expect(connection.readSetting('user_version')).toBe(2);
    connection.close();
  });
});

/** Facts as a version wrote them that kept no JSON, with what they say. */
const earlierFacts: readonly (readonly [fact: Fact<unknown>, text: string, value: unknown])[] = [
  [facts.crmAddress, 'https://crm.example/api', 'https://crm.example/api'],
  [sheetFacts.spreadsheet, '1mAg88', '1mAg88'],
  [sheetFacts.offeredLeads, '1mag88', '1mag88'],
  [facts.copiedAt, 'the time before schema 9 was left', 'the time before schema 9 was left'],
  [facts.run, '2 1790000000000', [2, 1_790_000_000_000]],
  [facts.leaseToken, '7', 7],
  [facts.knownKeys, 'fc203e fc203f', ['fc203e', 'fc203f']],
  [facts.otherKeys, '', undefined],
  [facts.isOtherCatalog, 'other', true],
  [facts.lastLineOfOther, '12', 12],
  [facts.areFieldsEmpty, 'empty', true],
  [facts.emptySweeps('lead'), '2', 2],
  [facts.nameless('lead'), '{"":["page 1"]}', { '': ['page 1'] }],
  [sheetFacts.columns('lead'), '{"title":{"direction":"both"}}', { title: { direction: 'both' } }],
  [sheetFacts.rebase('lead'), 'The “mirror” is "new".', 'The “mirror” is "new".'],
  [sheetFacts.rebase('task'), '', ''],
  [sheetFacts.word, 'c0ffee', 'c0ffee'],
  [sheetFacts.writes, 'w1 w2 w3', ['w1', 'w2', 'w3']],
  [sheetFacts.tab('lead'), '1mAg88/0', '1mAg88/0'],
  [
    sheetFacts.metFields('lead'),
    'title\ncustom.a "b" c\ncustom.\\n',
    ['title', 'custom.a "b" c', 'custom.\\n'],
  ],
  [sheetFacts.boxedFields('lead'), 'custom.newsletter', ['custom.newsletter']],
  [
    sheetFacts.lostRows,
    '[["lead-1",5],["contact",6]]',
    [
      ['lead-1', 5],
      ['contact', 6],
    ],
  ],
  [sheetFacts.voidClaims, '[["new-a-b",5]]', [['new-a-b', 5]]],
];
