import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eraseFromCopies, foreignFilesSaying } from '../../src/app/subject/copies.ts';
import { type ErasePlan, findObstacles, isKept } from '../../src/app/subject/obstacles.ts';
import { facts } from '../../src/core/facts.ts';
import { parseRecordKey, type RecordKey } from '../../src/core/record.ts';
import { emptyAgreement, type JournalEntry } from '../../src/core/state.ts';
import { mentionsOf } from '../../src/core/subject.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { migrate, migrations } from '../../src/sqlite/migrations.ts';
import { mirrorFile } from '../../src/sqlite/open.ts';
import { subjectTables } from '../../src/sqlite/subject-rows.ts';
import {
  lead,
  openMirrorDirectory,
  openWrite,
  outboxItem,
  storedRecord,
} from '../support/mirror-directory.ts';

const { directory, open, reopen } = openMirrorDirectory();
const email = 'anna@persona.example';

const keyOf = (text: string): RecordKey => parseRecordKey(text)!;
const line = (key: RecordKey, change: Partial<JournalEntry> = {}): JournalEntry => ({
  at: 1,
  run: 'run-1',
  key,
  kind: 'update',
  side: 'crm',
  before: {},
  after: {},
  lost: {},
  cause: 'changed in the CRM',
  ...change,
});

/** Erases who is meant, as the command does it, and returns the mirror as it is then. */
function erase(keys: readonly string[], address?: string) {
  const { mirror, subjects } = reopen();
  const subject = subjects.meet(keys, address);
  const present = new Set(
    mirror
      .readRecords()
      .flatMap(({ key, presence }) => (presence === 'present' ? [`${key.entity}-${key.id}`] : [])),
  );
  const isPresent = (key: string) => present.has(key);
  subjects.erase(
    subject,
    subjects.rows(subject).filter((row) => !isKept(row, { isPresent })),
    ['sheet'],
  );
  return reopen().mirror;
}

test('an address is not said by a longer one, and is by any that is written otherwise', () => {
  const says = mentionsOf([email]).isIn;
  for (const text of [
    email,
    'ANNA@persona.example',
    `<${email}>`,
    `to ${email}.`,
    JSON.stringify({ a: `x\n${email}` }),
  ])
    expect([text, says(text)]).toEqual([text, true]);
  for (const text of [`jo${email}`, `jo.${email}`, `${email}.de`, `${email}-x`, 'anna@persona'])
    expect([text, says(text)]).toEqual([text, false]);
});

test('every table of a mirror is one whose rows are about records, or is known to be about none', () => {
  open();
  const file = connect(mirrorFile(directory).replace('mirror.db', 'other.db'));
  migrate(file);
  const tables = file
    .prepare<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    )
    .all();
  file.close();
  const changed = ['command', 'fact', 'feedRun', 'journalField', 'openWrite', 'suspect'];
  const aboutNone = ['budgetSlot', 'catalog', 'dueCount', 'follower', 'sweep'];
  expect(tables.map(({ name }) => name).toSorted()).toEqual(
    [...Object.keys(subjectTables), ...changed, ...aboutNone].toSorted(),
  );
});

describe('an erased person', () => {
  test('takes along what belongs to it, also what only the history knows', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('1'), { presence: 'gone' }));
    mirror.saveRecord(storedRecord(keyOf('task-5'), { presence: 'gone', fields: { lead_id: 1 } }));
    mirror.saveRecord(storedRecord(keyOf('task-6'), { presence: 'gone', fields: { parent_task_id: 5 } }));
    mirror.saveRecord(storedRecord(keyOf('task-7'), { fields: { lead_id: 2 } }));
    mirror.appendJournal([
      line(lead('1')),
      line(keyOf('opportunity-8'), { after: { lead_id: 1 } }),
      line(keyOf('opportunity-8'), { after: { note: 'Of the lead.' } }),
      line(keyOf('contact-1.u-u')),
      line(keyOf('task-7'), { before: { lead_id: 1 }, after: { lead_id: 2 } }),
      line(keyOf('task-7'), { after: { title: 'Of another lead.' } }),
      line(lead('11')),
    ]);
    const left = erase(['lead-1']);
    expect(left.readRecords().map(({ key }) => key)).toEqual([keyOf('task-7')]);
    expect(left.searchJournal({}).map(({ key, after }) => [key.id, after])).toEqual([
      ['11', {}],
      ['7', { title: 'Of another lead.' }],
    ]);
    expect(left.searchJournal({ field: 'note' })).toEqual([]);
  });

  test('who is named by an address takes along the lines of others that say it, and no more of those', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(keyOf('contact-1.u-u'), { presence: 'gone', fields: { email } }));
    mirror.saveRecord(storedRecord(lead('1'), { fields: { title: 'Acme' } }));
    mirror.saveAgreement({
      ...emptyAgreement(lead('1'), 1),
      fields: { title: 'Acme' },
      notice: `Ask ${email}`,
    });
    mirror.appendJournal([
      line(lead('1'), { before: { title: `Ask ${email}` } }),
      line(lead('1'), { before: { title: `Ask jo${email}` } }),
      line(keyOf('contact-3.v-v'), { after: { email } }),
      line(keyOf('contact-3.v-v'), { after: { full_name: 'Anna' } }),
    ]);
    const left = erase([], email);
    expect(left.readRecords().map(({ key }) => key)).toEqual([lead('1')]);
    expect(left.searchJournal({}).map(({ before }) => before)).toEqual([{ title: `Ask jo${email}` }]);
    expect(left.readAgreements()).toMatchObject([{ fields: { title: 'Acme' }, notice: 'Ask …' }]);
  });

  test('that the CRM no longer has is known by what the history says it held', () => {
    const { mirror } = open();
    const contact = keyOf('contact-1.u-u');
    mirror.saveRecord(
      storedRecord(contact, { presence: 'gone', fields: { full_name: 'Anna', email: null } }),
    );
    mirror.saveRecord(storedRecord(keyOf('contact-2.v-v'), { fields: { full_name: 'Ben', email: null } }));
    mirror.appendJournal([
      line(contact, { kind: 'create', after: { full_name: 'Anna', phone_number: '0301234' } }),
      line(contact, { before: { email }, after: { email: null } }),
      line(keyOf('contact-2.v-v'), { before: { email }, after: { email: null } }),
      line(keyOf('contact-2.v-v'), { after: { full_name: 'Ben' } }),
    ]);
    const left = erase([], email);
    expect(left.readRecords().map(({ key }) => key.id)).toEqual(['2.v-v']);
    expect(left.searchJournal({}).map(({ after }) => after)).toEqual([{ full_name: 'Ben' }]);
  });

  test('is taken out of what our last write to another record replaced, and of how a side showed it there', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('1'), { presence: 'gone', fields: { title: 'Wolpertinger' } }));
    mirror.saveRecord(
      storedRecord(lead('7'), { fields: {}, written: { at: 5, before: { title: `Ask ${email}` } } }),
    );
    const shown = {
      lead_id: [
        ['Wolpertinger', 1],
        ['Other', 2],
      ],
    } as const;
    mirror.saveAgreement({ ...emptyAgreement(keyOf('task-5'), 1), shown });
    mirror.saveAgreement({ ...emptyAgreement(lead('9'), 1), notice: 'Wolpertingers are none.' });
    const left = erase(['lead-1'], email);
    expect(left.readRecords()).toMatchObject([{ key: lead('7'), fields: {} }]);
    expect(left.readRecords()[0]).not.toHaveProperty('written');
    expect(left.readAgreements()).toMatchObject([
      { shown: { lead_id: [['Other', 2]] } },
      { notice: 'Wolpertingers are none.' },
    ]);
  });

  test('leaves the addresses of others in a text, and writes to a side that is no longer there do not keep it', () => {
    const { mirror } = open();
    const notice = `jo.${email}, ${email}.br and ${email}`;
    mirror.saveRecord(storedRecord(lead('1')));
    mirror.saveAgreement({ ...emptyAgreement(lead('1'), 1), notice });
    mirror.of('warehouse').saveOpenWrite(openWrite());
    mirror.saveOpenWrite(openWrite({ id: 'w2' }));
    mirror.saveFact(facts.nameless('contact'), { '5': ['GET /leads/5/contacts, element 1'] });
    mirror.appendJournal([line(keyOf('contact-5.u-u'), { after: { email } })]);
    expect(reopen().subjects.isWriting(['warehouse'])).toBe(true);
    expect(reopen().subjects.isWriting([])).toBe(false);
    const left = erase(['lead-5'], email);
    expect(left.readAgreements()).toMatchObject([{ notice: `jo.${email}, ${email}.br and …` }]);
    expect(left.of('warehouse').readOpenWrites()).toEqual([]);
    expect(left.readOpenWrites()).toHaveLength(1);
    expect(left.readFact(facts.nameless('contact'))).toEqual({});
  });

  test('keeps what the CRM has of it now, where the past alone is meant', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('1')));
    mirror.saveAgreement(emptyAgreement(lead('1'), 1));
    mirror.appendJournal([line(lead('1'))]);
    const left = erase(['lead-1']);
    expect(
      [left.readRecords(), left.readAgreements(), left.searchJournal({})].map(({ length }) => length),
    ).toEqual([1, 1, 0]);
  });

  test('who is called as a word of the program changes nothing of others', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('1'), { presence: 'gone', fields: { title: 'lead' } }));
    mirror.appendCommand({ at: 1, by: 'control', name: 'answer', about: 'vanished:lead-1 trash' });
    mirror.appendCommand({ at: 1, by: 'control', name: 'answer', about: 'vanished:lead-11 trash' });
    mirror.saveFact(sheetFacts.lostRows, [
      ['lead-1', 5],
      ['lead-11', 6],
    ]);
    mirror.saveFact(sheetFacts.offeredLeads, 'lead');
    const left = erase(['lead-1']);
    expect(left.readCommands(5).map(({ about }) => about)).toEqual([
      'vanished:lead-11 trash',
      'vanished:… trash',
    ]);
    expect(left.readFact(sheetFacts.lostRows)).toEqual([['lead-11', 6]]);
    expect(left.readFact(sheetFacts.offeredLeads)).toBe('lead');
  });
});

describe('nothing is erased', () => {
  const obstacles = (change: Partial<ErasePlan> = {}) => {
    const { subjects } = reopen();
    const subject = subjects.meet(['lead-1'], email);
    return findObstacles({
      subject,
      rows: subjects.rows(subject),
      tableRows: [],
      isWriting: subjects.isWriting(['sheet']),
      isPresent: () => false,
      due: subjects.dueAmong(new Set(['lead-1'])),
      isCurrent: () => true,
      tabs: ['lead'],
      isPastOnly: false,
      ...change,
    });
  };

  test('while the CRM has it, unless the past alone is meant', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('1')));
    mirror.saveRecord(storedRecord(lead('2'), { fields: { title: `Ask ${email}.` } }));
    const isPresent = () => true;
    expect(obstacles({ isPresent })).toEqual([
      expect.stringMatching(/^The CRM still has lead-1\. /),
      expect.stringMatching(/^The CRM still has lead-2, which says the address\. /),
    ]);
    expect(obstacles({ isPresent, isPastOnly: true })).toEqual([]);
  });

  test('while the sheet has a row of it, or a change, an edit or a write is not over', () => {
    const { mirror } = open();
    const warehouse = mirror.of('warehouse');
    mirror.setFollowers(['warehouse']);
    mirror.saveAgreement(emptyAgreement(lead('1'), 1));
    warehouse.saveAgreement(emptyAgreement(lead('1'), 1));
    mirror.saveOutboxItem(outboxItem(lead('1')));
    warehouse.feed.noteDue([lead('1')]);
    mirror.saveOpenWrite(openWrite());
    const edit = { edit_id: 'e', id: '1', ended_at: null };
    const table = '"crm_sync"."edit"';
    expect(obstacles({ tableRows: [{ table, entity: 'lead', isOwn: true, row: edit }] })).toEqual([
      'The sheet still has a row of lead-1: delete it there.',
      'A change of lead-1 waits for the CRM, or for an answer: see status.',
      'An edit of lead-1 by SQL is not over.',
      'The warehouse does not know all of lead-1 yet.',
      'A write to a side is not over.',
    ]);
    expect(obstacles({ tabs: [], due: [] })).toHaveLength(2);
  });

  test('while the sheet may still say the address in the row of another record, or the warehouse does', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('7'), { fields: { title: 'No more' } }));
    mirror.saveAgreement({ ...emptyAgreement(lead('7'), 1), fields: { title: `Ask ${email}` } });
    const shown = { table: '"crm"."lead"', entity: 'lead', isOwn: false, row: { id: 7 } } as const;
    const question = {
      table: '"crm"."question"',
      entity: 'lead',
      isOwn: true,
      row: { id: '1', answer: 'trash' },
    } as const;
    expect(obstacles({ isPresent: () => true, tableRows: [shown, question] })).toEqual([
      'The row of lead-7 in the sheet may still say the address.',
      'The row of lead-7 in the warehouse still says the address.',
      'A question about lead-1 was answered by SQL, and the answer is not taken yet.',
    ]);
    expect(obstacles({ isPresent: () => true, tableRows: [shown], isPastOnly: true })).toEqual([]);
  });

  test('while a rule keeps the record out of its tab it has no row there', () => {
    const { mirror } = open();
    mirror.saveAgreement({ ...emptyAgreement(lead('1'), 1), leave: { state: 'left', at: 1 } });
    expect(obstacles()).toEqual([]);
  });
});

test('what an earlier version deleted without overwriting it is gone as well', () => {
  open();
  reopen().mirror.close();
  const file = connect(mirrorFile(directory));
  file.setSetting('secure_delete', 'OFF');
  file.execute(`INSERT INTO fact (name, content) VALUES ('old', '"${'Wolpertinger '.repeat(500)}"')`);
  file.execute("DELETE FROM fact WHERE name = 'old'");
  file.close();
  const isThere = () => readFileSync(mirrorFile(directory)).includes('Wolpertinger');
  expect(isThere()).toBe(true);
  const { mirror, subjects } = open();
  subjects.erase(subjects.meet(['lead-1']), [], []);
  mirror.close();
  expect(isThere()).toBe(false);
});

describe('copies of the mirror', () => {
  test('keep a record that the CRM has and that held the address then, without the lines that say it', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('1'), { fields: { 'custom.manager': email } }));
    mirror.saveRecord(storedRecord(keyOf('task-2'), { fields: { lead_id: 1 } }));
    mirror.appendJournal([
      line(lead('1'), { after: { title: 'Kept' } }),
      line(lead('1'), { after: { note: email } }),
    ]);
    const { backUp } = reopen();
    const copy = backUp(Date.UTC(2026, 0, 1));
    reopen().mirror.saveRecord(storedRecord(lead('1'), { fields: { 'custom.manager': null } }));
    const { subjects } = reopen();
    eraseFromCopies(directory, subjects.meet([], email), (key) => key === 'lead-1');
    const file = connect(copy);
    const read = (table: string) => file.prepare<{ key: string }>(`SELECT key FROM ${table}`).all();
    expect(read('record').map(({ key }) => key)).toEqual(['task-2']);
    expect(read('journal').map(({ key }) => key)).toEqual(['lead-1']);
    file.close();
    expect(readFileSync(copy).includes(email)).toBe(false);
  });

  test('of an earlier schema are erased from, and what is no copy is named', () => {
    const { mirror } = open();
    mirror.saveRecord(storedRecord(lead('1'), { presence: 'gone', fields: { title: 'Wolpertinger' } }));
    mirror.appendJournal([line(lead('1'), { after: { title: 'Wolpertinger' } })]);
    const { backUp, subjects } = reopen();
    const [copy = ''] = [backUp(Date.UTC(2026, 0, 1))];
    mkdirSync(join(directory, 'backups'), { recursive: true });
    const old = join(directory, 'backups', 'before-leaving-schema-4-2026-01-01T00-00-00.000Z.db');
    const file = connect(old);
    migrate(file, migrations.slice(0, 4));
    file.execute(`INSERT INTO journal (at, run, key, kind, side, before, after, lost, cause)
      VALUES (1, 'r', 'lead-1', 'update', 'crm', '{}', '{"title":"Wolpertinger"}', '{}', 'x'),
        (1, 'r', 'lead-2', 'update', 'crm', '{}', '{"title":"Other"}', '{}', 'x')`);
    file.close();
    writeFileSync(join(directory, 'backups', 'mine.db'), 'Wolpertinger, and no database');
    const { erased, failed } = eraseFromCopies(directory, subjects.meet(['lead-1']), () => false);
    expect(erased).toHaveLength(2);
    expect(failed).toEqual([
      { name: 'mine.db', reason: expect.stringContaining('is not an SQLite database') },
    ]);
    for (const each of [copy, old]) expect(readFileSync(each).includes('Wolpertinger')).toBe(false);
    expect(readFileSync(old).includes('Other')).toBe(true);
    writeFileSync(join(directory, 'notes.txt'), 'Ask WOLPERTINGER.');
    expect(foreignFilesSaying(directory, ['Wolpertinger'])).toEqual(['notes.txt']);
  });
});
