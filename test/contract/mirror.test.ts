import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import type { RecordKey } from '../../src/core/record.ts';
import type { Agreement, JournalEntry, OutboxItem, StoredRecord } from '../../src/core/state.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { isOlder, makeDurable } from '../../src/sqlite/file-safety.ts';
import { migrate, migrations } from '../../src/sqlite/migrations.ts';
import { mirrorFile, type OpenMirror, openMirror } from '../../src/sqlite/open.ts';

const lead = (id: string): RecordKey => ({ entity: 'lead', id });

const storedRecord = (key: RecordKey, change: Partial<StoredRecord> = {}): StoredRecord => ({
  key,
  fields: { title: 'Größe – 東京', value: 12.5, isHot: false, note: null, tags: ['a', 'b'] },
  observedAt: 1_790_000_000_000,
  firstSeenAt: 1_780_000_000_000,
  lastSeenAt: 1_790_000_000_001,
  missedSweeps: 0,
  presence: 'present',
  ...change,
});

const agreement = (key: RecordKey, change: Partial<Agreement> = {}): Agreement => ({
  key,
  fields: { title: 'Agreed' },
  offered: { note: 'on its way' },
  changedAt: 1_790_000_000_000,
  notice: '',
  ...change,
});

const outboxItem = (key: RecordKey, change: Partial<OutboxItem> = {}): OutboxItem => ({
  key,
  kind: 'update',
  state: 'waiting',
  fields: { title: 'New' },
  base: { title: 'Old' },
  notice: '',
  run: 'run-1',
  createdAt: 1_790_000_000_000,
  dueAt: 1_790_000_000_000,
  attempts: 0,
  looks: 0,
  ...change,
});

const journalEntry = (at: number): JournalEntry => ({
  at,
  run: 'run-1',
  key: lead('42'),
  kind: 'update',
  side: 'crm',
  before: { title: 'Old' },
  after: { title: 'New' },
  lost: {},
  cause: 'edited in the sheet',
});

const catalog: Catalog = {
  pipelines: [{ id: 1, name: 'Sales', stages: [{ id: 10, name: 'Won', order: 2 }] }],
  leadStatuses: [{ name: 'new', label: 'New' }],
  customFields: [{ key: 'size', name: 'Size', kind: 'select', options: ['S', 'L'] }],
};

let directory: string;
const opened: OpenMirror[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mirror-'));
});

afterEach(() => {
  for (const { mirror } of opened.splice(0)) mirror.close();
  rmSync(directory, { recursive: true });
});

const open = (): OpenMirror => {
  const one = openMirror({ directory });
  opened.push(one);
  return one;
};

const close = (): void => {
  for (const { mirror } of opened.splice(0)) mirror.close();
};

const reopen = (): OpenMirror => {
  close();
  return open();
};

const failure = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe('what the mirror keeps', () => {
  test('records come back as they were saved, by key and by entity, also after a restart', () => {
    const { mirror } = open();
    const written = { at: 1_790_000_000_002, before: { title: 'Before' } };
    const gone = storedRecord(lead('42'), { written, missedSweeps: 2, presence: 'gone' });
    const task = storedRecord({ entity: 'task', id: '7' });
    mirror.saveRecord(storedRecord(lead('42')));
    mirror.saveRecord(task);
    mirror.saveRecord(gone);

    const { mirror: later } = reopen();
    expect(later.readRecords()).toStrictEqual([gone, task]);
    expect(later.readRecords('task')).toStrictEqual([task]);
    expect(later.findRecord(lead('42'))).toStrictEqual(gone);
    later.saveRecord(storedRecord(lead('42')));
    expect(later.findRecord(lead('42'))).toStrictEqual(storedRecord(lead('42')));
    expect(later.findRecord(lead('43'))).toBeUndefined();
  });

  test('agreements come back as they were saved, also after a restart', () => {
    const { mirror } = open();
    mirror.saveAgreement(agreement(lead('1')));
    mirror.saveAgreement(agreement(lead('2')));
    mirror.saveAgreement(agreement(lead('1'), { notice: 'CRM won', offered: {} }));
    mirror.dropAgreement(lead('2'));

    const { mirror: later } = reopen();
    expect(later.readAgreements()).toStrictEqual([agreement(lead('1'), { notice: 'CRM won', offered: {} })]);
    expect(later.findAgreement(lead('1'))?.notice).toBe('CRM won');
    expect(later.findAgreement(lead('2'))).toBeUndefined();
  });

  test('outbox items come back as they were saved, with and without what is optional', () => {
    const { mirror } = open();
    const plain = outboxItem(lead('1'));
    const full = outboxItem(lead('new-k3v9'), {
      kind: 'create',
      state: 'review',
      sentAt: 1_790_000_000_003,
      looks: 2,
      error: { code: 'CRM_UNKNOWN_OUTCOME', message: 'POST /leads timed out.' },
      recordId: '77',
    });
    mirror.saveOutboxItem(plain);
    mirror.saveOutboxItem(outboxItem(full.key, { kind: 'create' }));
    mirror.saveOutboxItem(full);

    const { mirror: later } = reopen();
    expect(later.readOutbox()).toStrictEqual([plain, full]);
    expect(later.findOutboxItem(full.key)).toStrictEqual(full);
    later.dropOutboxItem(full.key);
    expect(later.readOutbox()).toStrictEqual([plain]);
  });

  test('the journal answers its latest entries, newest first', () => {
    const { mirror } = open();
    mirror.appendJournal([journalEntry(1), journalEntry(2)]);
    mirror.appendJournal([journalEntry(3)]);

    expect(reopen().mirror.readJournal(2)).toStrictEqual([journalEntry(3), journalEntry(2)]);
  });

  test('decisions, sweeps, readings of contacts, facts and the catalog replace what was there', () => {
    const { mirror } = open();
    expect(mirror.readCatalog()).toBeUndefined();
    expect(mirror.readFact('account')).toBeUndefined();
    mirror.saveDecision({ scope: 'vanished:lead-42', choice: 'delete', at: 1 });
    mirror.saveDecision({ scope: 'vanished:lead-42', choice: 'restore', at: 2 });
    mirror.saveDecision({ scope: 'brake', choice: 'go', at: 3 });
    mirror.dropDecision('brake');
    mirror.saveSweep({ entity: 'lead', startedAt: 1, isComplete: false, pages: 0, records: 0 });
    const sweep = {
      entity: 'lead',
      startedAt: 1,
      finishedAt: 2,
      isComplete: true,
      pages: 3,
      records: 4,
    } as const;
    mirror.saveSweep(sweep);
    mirror.saveSweep({ ...sweep, entity: 'task', isComplete: false });
    const read = { leadId: '42', at: 5, leadVersion: 'present {}' };
    mirror.saveContactRead({ ...read, at: 4 });
    mirror.saveContactRead(read);
    mirror.saveFact('account', 'first');
    mirror.saveFact('account', 'second');
    mirror.saveCatalog({ ...catalog, pipelines: [] });
    mirror.saveCatalog(catalog);

    const { mirror: later } = reopen();
    expect(later.readDecisions()).toStrictEqual([{ scope: 'vanished:lead-42', choice: 'restore', at: 2 }]);
    expect(later.readSweeps()).toStrictEqual([sweep, { ...sweep, entity: 'task', isComplete: false }]);
    expect(later.readContactReads()).toStrictEqual([read]);
    expect(later.readFact('account')).toBe('second');
    expect(later.readCatalog()).toStrictEqual(catalog);
  });

  test('budget slots are kept per key, can move, are never free too early, and are forgotten when past', () => {
    const { budgetLog } = open();
    const first = budgetLog.addSlot('key-a', 1_000.2);
    const second = budgetLog.addSlot('key-a', 500);
    budgetLog.addSlot('key-b', 900);
    budgetLog.moveSlot(second, 2_000);

    const { budgetLog: later } = reopen();
    expect(later.readSlots('key-a')).toStrictEqual([
      { id: first, freeAt: 1_001 },
      { id: second, freeAt: 2_000 },
    ]);
    later.forgetSlots(1_001);
    expect(later.readSlots('key-b')).toStrictEqual([]);
    expect(later.readSlots('key-a')).toHaveLength(2);
  });
});

describe('transactions', () => {
  test('a transaction that throws leaves nothing behind and hands its error on', () => {
    const { mirror } = open();
    const error = failure(() =>
      mirror.transaction(() => {
        mirror.saveFact('half', 'done');
        mirror.appendJournal([journalEntry(1)]);
        throw new Error('interrupted');
      }),
    );

    expect(error).toStrictEqual(new Error('interrupted'));
    expect([mirror.readFact('half'), mirror.readJournal(1)]).toStrictEqual([undefined, []]);
  });

  test('what was read before a transaction that throws is read again after it', () => {
    const { mirror } = open();
    const [kept, added] = [storedRecord(lead('1')), storedRecord(lead('2'))];
    mirror.saveRecord(kept);
    mirror.saveAgreement(agreement(lead('1')));
    expect([mirror.readRecords(), mirror.readAgreements().length]).toStrictEqual([[kept], 1]);
    failure(() =>
      mirror.transaction(() => {
        mirror.saveRecord({ ...kept, presence: 'gone' });
        mirror.saveRecord(added);
        mirror.dropAgreement(lead('1'));
        throw new Error('interrupted');
      }),
    );

    expect(mirror.readRecords()).toStrictEqual([kept]);
    expect(mirror.readAgreements()).toStrictEqual([agreement(lead('1'))]);
  });

  test('items are read in the order in which they were first saved, whatever became of them since', () => {
    const { mirror } = open();
    for (const id of ['1', '2', '3']) mirror.saveAgreement(agreement(lead(id)));
    mirror.readAgreements();
    mirror.saveAgreement(agreement(lead('2'), { notice: 'saved again' }));
    mirror.dropAgreement(lead('1'));
    mirror.saveAgreement(agreement(lead('1')));
    const order = mirror.readAgreements().map(({ key }) => key.id);

    expect(order).toStrictEqual(['2', '3', '1']);
    expect(reopen().mirror.readAgreements()).toStrictEqual(mirror.readAgreements());
  });

  test('a transaction answers what its work answers, and can not be nested', () => {
    const { mirror } = open();
    expect(mirror.transaction(() => 42)).toBe(42);
    expect(() => mirror.transaction(() => mirror.transaction(() => 1))).toThrow('inside another');
    expect(mirror.transaction(() => 43)).toBe(43);
  });

  test('a writer that is killed keeps every commit it has told of, and no half of one', async () => {
    const writer = startWriter();
    for await (const line of writer.lines) {
      if (Number(line) < 200) continue;
      writer.process.kill('SIGKILL');
      break;
    }
    await writer.ended;

    const { mirror } = open();
    const count = mirror.readAgreements().length;
    expect(count).toBeGreaterThanOrEqual(200);
    expect(mirror.readFact('last')).toBe(String(count));
  });
});

describe('the file', () => {
  test('a directory that is missing is made', () => {
    const { mirror } = openMirror({ directory: join(directory, 'deep', 'state') });
    mirror.close();
    expect(existsSync(mirrorFile(join(directory, 'deep', 'state')))).toBe(true);
  });

  test('a directory that can not be is a matter of configuration', () => {
    writeFileSync(join(directory, 'a-file'), '');
    const inAFile = failure(() => openMirror({ directory: join(directory, 'a-file', 'state') }));
    mkdirSync(join(directory, 'state', 'mirror.db'), { recursive: true });
    const notAFile = failure(() => openMirror({ directory: join(directory, 'state') }));

    expect(inAFile).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('a-file') });
    expect(notAFile).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('STATE_DIR') });
  });

  test('closing writes the log back, so that the one file is a whole copy', () => {
    open().mirror.saveFact('name', 'kept');
    close();

    expect(existsSync(`${mirrorFile(directory)}-wal`)).toBe(false);
    expect(open().mirror.readFact('name')).toBe('kept');
  });

  test('another process is refused while the mirror is open, and let in afterwards', async () => {
    open();
    const refused = startWriter();
    expect(await firstLine(refused.lines)).toBe('STATE_LOCKED');
    await refused.ended;
    close();

    const admitted = startWriter();
    expect(await firstLine(admitted.lines)).toBe('1');
    expect(failure(() => openMirror({ directory }))).toMatchObject({ code: 'STATE_LOCKED' });
    admitted.process.kill('SIGKILL');
    await admitted.ended;
    expect(failure(() => open().mirror.readFact('last'))).toMatch(/^\d+$/);
  });

  test('a file of a later version is refused and left as it is', () => {
    open();
    close();
    const connection = connect(mirrorFile(directory));
    connection.setSetting('user_version', 999);
    connection.close();
    const before = readFileSync(mirrorFile(directory));

    expect(failure(() => openMirror({ directory }))).toMatchObject({ code: 'STATE_NEWER' });
    expect(readFileSync(mirrorFile(directory)).equals(before)).toBe(true);
  });

  test('a file that is not a database is refused and left as it is', () => {
    writeFileSync(mirrorFile(directory), 'Dear diary, '.repeat(1000));

    expect(failure(() => openMirror({ directory }))).toMatchObject({ code: 'STATE_BROKEN' });
    expect(readFileSync(mirrorFile(directory), 'utf8')).toBe('Dear diary, '.repeat(1000));
  });

  test('a file with a damaged page is refused and left as it is', () => {
    const { mirror } = open();
    mirror.transaction(() => saveRecords(mirror, 500));
    close();
    const content = readFileSync(mirrorFile(directory));
    content.fill(0xff, content.length - 8192, content.length - 4096);
    writeFileSync(mirrorFile(directory), content);

    expect(failure(() => openMirror({ directory }))).toMatchObject({ code: 'STATE_BROKEN' });
    expect(readFileSync(mirrorFile(directory)).equals(content)).toBe(true);
  });

  test('the tables refuse a value of the wrong type', () => {
    const { mirror } = open();
    const wrong = storedRecord(lead('1'), { observedAt: Number.NaN });
    const fractional = storedRecord(lead('1'), { observedAt: 1.5 });

    expect(() => mirror.saveRecord(wrong)).toThrow('NOT NULL');
    expect(() => mirror.saveRecord(fractional)).toThrow('cannot store REAL value in INTEGER column');
  });

  test('commits survive a power cut: the log is synced on every open, although the library would not', () => {
    open();
    close();
    const connection = connect(mirrorFile(directory));
    const before = connection.readSetting('synchronous');
    makeDurable(connection);

    expect([before, connection.readSetting('synchronous')]).toStrictEqual([1, 2]);
    connection.close();
  });

  test('a full disk is said as such and leaves what was there readable', () => {
    const connection = connect(mirrorFile(directory));
    migrate(connection);
    const insert = connection.prepare('INSERT INTO fact (name, content) VALUES (?, ?)');
    insert.run('small', 'kept');
    connection.setSetting('max_page_count', connection.readSetting('page_count'));

    const error = failure(() => connection.transaction(() => insert.run('big', 'x'.repeat(100_000))));
    expect(error).toMatchObject({ code: 'STATE_FULL', message: expect.stringContaining('mirror.db') });
    expect(connection.prepare('SELECT name FROM fact').all()).toStrictEqual([{ name: 'small' }]);
    connection.close();
  });

  test.each([
    ['3.51.2', true],
    ['3.9.0', true],
    ['2.99.99', true],
    ['3.51.3', false],
    ['3.54.1', false],
    ['4.0.0', false],
    ['unknown', true],
  ])('SQLite %s is older than 3.51.3: %s', (version, expected) => {
    expect(isOlder(version.split('.').map(Number), [3, 51, 3])).toBe(expected);
  });

  test('times from before the clock was set back are taken for now, and what was past stays as it was', () => {
    const { mirror } = open();
    const now = 1_790_000_000_500;
    const past = storedRecord(lead('1'));
    mirror.saveRecord(past);
    mirror.saveRecord(storedRecord(lead('2'), { observedAt: now + 3_600_000, lastSeenAt: now + 3_600_000 }));
    const ahead = { createdAt: now + 3_600_000, sentAt: now + 3_600_001, dueAt: now + 7_200_000 };
    mirror.saveOutboxItem(outboxItem(lead('2'), { ...ahead, state: 'unknown', kind: 'create' }));
    close();

    const later = openMirror({ directory, now });
    opened.push(later);
    expect(later.timesCorrected).toBe(2);
    expect(later.mirror.findRecord(lead('1'))).toStrictEqual(past);
    expect(later.mirror.findRecord(lead('2'))).toMatchObject({ observedAt: now, lastSeenAt: now });
    const corrected = { createdAt: now, sentAt: now, dueAt: now + 60_000 };
    expect(later.mirror.findOutboxItem(lead('2'))).toMatchObject(corrected);
  });

  test('a file of an earlier version is copied before its schema changes, and the copy says so', () => {
    mkdirSync(directory, { recursive: true });
    const earlier = connect(mirrorFile(directory));
    migrate(earlier, migrations.slice(0, 1));
    earlier.prepare('INSERT INTO fact (name, content) VALUES (?, ?)').run('name', 'kept');
    earlier.close();
    open();
    const copy = connect(join(directory, 'backups', 'before-leaving-schema-1.db'));
    expect(copy.readSetting('user_version')).toBe(1);
    expect(copy.prepare('SELECT name, content FROM fact ORDER BY name').all()).toStrictEqual([
      { name: 'copiedAt', content: 'the time before schema 1 was left' },
      { name: 'name', content: 'kept' },
    ]);
    copy.close();
  });

  test('a migration that fails half-way leaves the file at the step before', () => {
    const connection = connect(mirrorFile(directory));
    const steps = [
      'CREATE TABLE one (name TEXT)',
      'CREATE TABLE two (name TEXT); CREATE TABLE one (name TEXT)',
    ];
    const tables = connection.prepare('SELECT name FROM sqlite_schema');

    expect(() => migrate(connection, steps)).toThrow('already exists');
    expect(connection.readSetting('user_version')).toBe(1);
    expect(tables.all()).toStrictEqual([{ name: 'one' }]);
    migrate(connection, [steps[0]!, 'CREATE TABLE two (name TEXT)']);
    expect(connection.readSetting('user_version')).toBe(2);
    connection.close();
  });
});

function saveRecords(mirror: Mirror, count: number): void {
  for (let id = 1; id <= count; id++) mirror.saveRecord(storedRecord(lead(String(id))));
}

function startWriter() {
  const script = new URL('../support/mirror-writer.ts', import.meta.url).pathname;
  const process_ = spawn(process.execPath, [script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { process: process_, lines: createInterface(process_.stdout), ended: once(process_, 'exit') };
}

async function firstLine(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) return line;
  return '';
}
