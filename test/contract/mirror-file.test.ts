import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { facts } from '../../src/core/facts.ts';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { lateLandingMs } from '../../src/core/open-write.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { isOlder, makeDurable } from '../../src/sqlite/file-safety.ts';
import { migrate } from '../../src/sqlite/migrations.ts';
import { mirrorFile, openMirror } from '../../src/sqlite/open.ts';
import {
  failure,
  lead,
  openMirrorDirectory,
  openWrite,
  outboxItem,
  storedRecord,
  suspect,
} from '../support/mirror-directory.ts';

const { directory, opened, open, close, startWriter } = openMirrorDirectory();

describe('the file', () => {
  test('a directory that is missing is made', () => {
    const { mirror } = openMirror({ directory: join(directory, 'deep', 'state') });
    mirror.close();
    expect(existsSync(mirrorFile(join(directory, 'deep', 'state')))).toBe(true);
  });

  test('of the copies the newest are kept, of those from before upgrades as many', () => {
    const backups = join(directory, 'backups');
    mkdirSync(backups);
    const own = ['mirror-aug.db', 'mirror-before-move.db', 'mirror-2099-01-01T00-00-00.000Z.db', 'notes.txt'];
    const schemas = [1, 2, 3].map((day) => `before-leaving-schema-9-2026-01-0${day}T00-00-00.000Z.db`);
    for (const name of [...own, ...schemas]) writeFileSync(join(backups, name), '');
    mkdirSync(join(backups, 'mirror-2020-01-01T00-00-00.000Z.db'));
    const { backUp, mirror } = openMirror({ directory, backupsMax: 2 });
    const files = [1, 2, 3].map((day) => backUp(Date.UTC(2026, 5, day)));
    mirror.close();
    expect(existsSync(files[2] ?? '')).toBe(true);
    expect(readdirSync(backups).toSorted()).toEqual(
      [
        ...own,
        ...schemas.slice(1),
        'mirror-2020-01-01T00-00-00.000Z.db',
        'mirror-2026-06-02T00-00-00.000Z.db',
        'mirror-2026-06-03T00-00-00.000Z.db',
      ].toSorted(),
    );
  });

  test('nothing of what was deleted stays in the file', () => {
    const { mirror } = open();
    for (let id = 1; id <= 200; id += 1)
      mirror.saveRecord(
        storedRecord(lead(String(id)), { fields: { title: `Known as ${id} Petra Zwiebel` } }),
      );
    for (let id = 1; id <= 199; id += 1) mirror.dropRecord(lead(String(id)));
    close();
    const found = readFileSync(mirrorFile(directory))
      .toString('latin1')
      .match(/\d+ Petra Zwiebel/g);
    expect(found).toEqual(['200 Petra Zwiebel']);
  });

  test('a directory that can not be is a matter of configuration', () => {
    writeFileSync(join(directory, 'a-file'), '');
    const inAFile = failure(() => openMirror({ directory: join(directory, 'a-file', 'state') }));
    mkdirSync(join(directory, 'state', 'mirror.db'), { recursive: true });
    const notAFile = failure(() => openMirror({ directory: join(directory, 'state') }));

    expect(inAFile).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('a-file') });
    expect(notAFile).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('STATE_DIR') });
  });

  test('a state directory that git or a umask opened to others is closed to them, and all that the daemon keeps there', () => {
    open().backUp(1_790_000_000_000);
    close();
    const strange = join(directory, 'notes.txt');
    const ballast = join(directory, 'ballast');
    for (const path of [strange, ballast]) writeFileSync(path, '');
    const backups = join(directory, 'backups');
    const copies = readdirSync(backups).map((name) => join(backups, name));
    const own = [directory, mirrorFile(directory), ballast, backups, ...copies];
    for (const path of [...own, strange]) chmodSync(path, 0o777);
    const { openToOthers } = open();
    const made = [`${mirrorFile(directory)}-wal`];

    expect(openToOthers).toEqual([]);
    expect([...own, ...made].filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([]);
    expect(statSync(strange).mode & 0o777).toBe(0o777);
  });

  test('what the daemon makes in its state directory nobody else can read, whatever the umask', () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const state = join(directory, 'new');
    const { backUp, mirror } = openMirror({ directory: state, reserveBytes: 1024 });
    mirror.expectRoom();
    backUp(1_790_000_000_000);
    const paths = ['.', ...readdirSync(state, { recursive: true, encoding: 'utf8' })];
    const modes = paths.map((name) => [name, statSync(join(state, name)).mode & 0o077]);
    mirror.close();

    expect(modes.length).toBeGreaterThanOrEqual(6);
    expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
  });

  test('closing writes the log back, so that the one file is a whole copy', () => {
    open().mirror.saveFact(sheetFacts.word, 'kept');
    close();

    expect(existsSync(`${mirrorFile(directory)}-wal`)).toBe(false);
    expect(open().mirror.readFact(sheetFacts.word)).toBe('kept');
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
    expect(failure(() => open().mirror.readFact(facts.leaseToken))).toBeGreaterThan(0);
  });

  test('fault 62: a file that is not a database is refused and left as it is', () => {
    writeFileSync(mirrorFile(directory), 'Dear diary, '.repeat(1000));

    expect(failure(() => openMirror({ directory }))).toMatchObject({ code: 'STATE_BROKEN' });
    expect(readFileSync(mirrorFile(directory), 'utf8')).toBe('Dear diary, '.repeat(1000));
  });

  test('fault 62: a file with a damaged page is refused and left as it is', () => {
    const { mirror } = open();
    mirror.transaction(() => saveRecords(mirror, 500));
    close();
    const content = readFileSync(mirrorFile(directory));
    content.fill(0xff, content.length - 8192, content.length - 4096);
    writeFileSync(mirrorFile(directory), content);

    expect(failure(() => openMirror({ directory }))).toMatchObject({ code: 'STATE_BROKEN' });
    expect(readFileSync(mirrorFile(directory)).equals(content)).toBe(true);
  });

  test('a backup that is put beside the log of a daemon that was killed is refused, and both stay as they are', () => {
    const { backUp, mirror } = open();
    mirror.saveFact(sheetFacts.word, 'backed up');
    const backup = backUp(0);
    mirror.saveFact(sheetFacts.word, 'written later');
    const killed = join(directory, 'killed');
    mkdirSync(killed);
    copyFileSync(backup, mirrorFile(killed));
    copyFileSync(`${mirrorFile(directory)}-wal`, `${mirrorFile(killed)}-wal`);
    const files = () => [mirrorFile(killed), `${mirrorFile(killed)}-wal`].map((file) => readFileSync(file));
    const before = files();

    expect(failure(() => openMirror({ directory: killed }))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('mirror.db-wal'),
    });
    expect(files()).toEqual(before);
    rmSync(`${mirrorFile(killed)}-wal`);
    const restored = openMirror({ directory: killed });
    opened.push(restored);
    expect(restored.mirror.readFact(sheetFacts.word)).toBe('backed up');
    expect(restored.mirror.readFact(facts.copiedAt)).toBe('1970-01-01T00:00:00.000Z');
  });

  test('the tables refuse a value of the wrong type', () => {
    const { mirror } = open();
    const wrong = storedRecord(lead('1'), { observedAt: Number.NaN });
    const fractional = storedRecord(lead('1'), { observedAt: 1.5 });

    expect(() => mirror.saveRecord(wrong)).toThrow('NOT NULL');
    expect(() => mirror.saveRecord(fractional)).toThrow('cannot store REAL value in INTEGER column');
  });

  test('fault 57: commits survive a power cut: the log is synced on every open, although the library would not', () => {
    open();
    close();
    const connection = connect(mirrorFile(directory));
    const before = connection.readSetting('synchronous');
    makeDurable(connection);

    expect([before, connection.readSetting('synchronous')]).toStrictEqual([1, 2]);
    connection.close();
  });

  test('a user who may have no more of the disk is told so, as where it is full', async () => {
    const { ended, lines } = startWriter('ulimit -f 640 && exec "$@"');
    const told: string[] = [];
    for await (const line of lines) told.push(line);
    await ended;
    expect(told.at(-1)).toBe('STATE_FULL');
    expect(open().mirror.readFact(facts.leaseToken)).toBe(Number(told.at(-2)));
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

  test('fault 70: times from before the clock was set back are taken for now, and what was past stays as it was', () => {
    const { mirror } = open();
    const now = 1_790_000_000_500;
    const past = storedRecord(lead('1'));
    mirror.saveRecord(past);
    mirror.saveRecord(storedRecord(lead('2'), { observedAt: now + 3_600_000, lastSeenAt: now + 3_600_000 }));
    const future = now + 3_600_000;
    const ahead = { createdAt: future, shownUntil: future, sentAt: future + 1, dueAt: now + 7_200_000 };
    mirror.saveOutboxItem(outboxItem(lead('2'), { ...ahead, state: 'unknown', kind: 'create' }));
    close();

    const later = openMirror({ directory, now });
    opened.push(later);
    expect(later.timesCorrected).toBe(2);
    expect(later.mirror.findRecord(lead('1'))).toStrictEqual(past);
    expect(later.mirror.findRecord(lead('2'))).toMatchObject({ observedAt: now, lastSeenAt: now });
    const corrected = { createdAt: now - 1, shownUntil: now - 1, sentAt: now - 1, dueAt: now + 60_000 };
    expect(later.mirror.findOutboxItem(lead('2'))).toMatchObject(corrected);
  });

  test('an answer, and a write to the sheet whose reply was lost, are of no later time either: the one lets nothing go that comes after it, the other is over in time', () => {
    const { mirror } = open();
    const now = 1_790_000_000_500;
    const ahead = now + 24 * 3_600_000;
    mirror.saveDecision({ scope: 'loop:lead-1', choice: 'approve', at: ahead });
    const lost = openWrite({ at: ahead, settlesAt: ahead + lateLandingMs });
    mirror.saveOpenWrite(lost);
    const settled = { ...lost, id: 'w2', at: now - 10_000, settlesAt: now + 10_000 };
    mirror.saveOpenWrite(settled);
    mirror.saveSuspect(suspect({ at: ahead }));
    close();

    const later = openMirror({ directory, now });
    opened.push(later);
    expect(later.mirror.readDecisions()).toMatchObject([{ scope: 'loop:lead-1', at: now }]);
    const corrected = { ...lost, at: now, settlesAt: now + lateLandingMs };
    expect(later.mirror.readOpenWrites()).toStrictEqual([corrected, settled]);
    expect(later.mirror.readSuspects()).toStrictEqual([suspect({ at: now })]);
  });

  describe('a write to the sheet that an earlier version left open', () => {
    const confirms = { key: lead('1'), offers: { title: 'Written' }, notice: '' };
    const earlier = {
      id: 'w1',
      at: 5,
      outcome: 'unknown',
      settlesAt: 7,
      keeping: { run: 'w1', from: 0 },
      height: 6,
      places: { lead: { title: 1 } },
      sets: [
        { entity: 'lead', position: 1, slot: 0, idSeen: textCell('1'), cells: {}, confirms },
        { entity: 'lead', position: 2, slot: 1, idSeen: emptyCell, id: textCell('new-a-b'), cells: {} },
      ],
      deletes: [
        {
          kind: 'delete',
          entity: 'lead',
          position: 3,
          slot: 2,
          idSeen: textCell('3'),
          confirms: { ...confirms, mends: { write: 'w0', slot: 4 } },
        },
      ],
      appends: [{ kind: 'append', entity: 'lead', slot: -1, cells: {}, confirms }],
    };
    const readBack = (content: unknown) => {
      open();
      close();
      const connection = connect(mirrorFile(directory));
      const insert = connection.prepare("INSERT INTO openWrite (side, id, content) VALUES ('sheet', ?, ?)");
      insert.run('w1', JSON.stringify(content));
      connection.close();
      return open().mirror.readOpenWrites();
    };

    test('keeps what follows from its steps and the tokens that it may have written, and hands all of it to the adapter of the sheet', () => {
      const [write, ...others] = readBack(earlier);
      expect(others).toEqual([]);
      expect(write).toStrictEqual({
        id: 'w1',
        at: 5,
        settlesAt: 7,
        receipt: expect.any(String),
        confirms: [
          [0, confirms],
          [2, confirms],
          [-1, confirms],
        ],
        tokens: ['new-a-b'],
        damage: [],
      });
      expect(JSON.parse(write?.receipt ?? '')).toStrictEqual({ earlier });
    });

    test('claims nothing any longer where its reply is known', () => {
      expect(readBack({ ...earlier, outcome: 'answered' })).toMatchObject([{ tokens: [] }]);
    });

    test('has nothing left to undo where it is of the first form, which says too little', () => {
      const { appends: _appends, places: _places, ...first } = earlier;
      const [write] = readBack(first);
      expect(write).toMatchObject({ id: 'w1', confirms: [], tokens: [], damage: [] });
      expect(JSON.parse(write?.receipt ?? '')).toMatchObject({
        earlier: { sets: [], deletes: [], appends: [] },
      });
    });
  });

  test('what stands in a sound file and can not be read is damage, and no error that nobody foresaw', () => {
    const { mirror } = open();
    mirror.saveRecord({ ...storedRecord(lead('1')), written: { at: 1, before: { title: 'Acme' } } });
    mirror.saveOutboxItem(outboxItem(lead('1')));
    mirror.saveCatalog(emptyCatalog);
    mirror.saveOpenWrite(openWrite());
    mirror.saveSuspect(suspect());
    mirror.saveFact(sheetFacts.rebase('lead'), 'The mirror is new.');
    mirror.saveFact(facts.leaseToken, 7);
    close();
    const connection = connect(mirrorFile(directory));
    for (const [table, column] of [
      ['record', 'writtenBefore'],
      ['outbox', 'fields'],
      ['catalog', 'content'],
      ['openWrite', 'content'],
      ['suspect', 'content'],
      ['fact', 'content'],
    ])
      connection.execute(`UPDATE ${table} SET ${column} = substr(${column}, 1, 9)`);
    connection.execute("UPDATE fact SET content = json_quote(content) WHERE name = 'lease.token'");
    connection.close();
    const opening = openMirror({ directory, now: 1_790_000_000_500 });
    opened.push(opening);
    const { readCatalog, readFact, readOpenWrites, readOutbox, readRecords, readSuspects } = opening.mirror;
    const readFacts = [() => readFact(sheetFacts.rebase('lead')), () => readFact(facts.leaseToken)];
    for (const read of [
      () => readRecords(),
      readOutbox,
      readCatalog,
      readOpenWrites,
      readSuspects,
      ...readFacts,
    ])
      expect(failure(read)).toMatchObject({ code: 'STATE_BROKEN' });
  });
});

function saveRecords(mirror: Mirror, count: number): void {
  for (let id = 1; id <= count; id++) mirror.saveRecord(storedRecord(lead(String(id))));
}

async function firstLine(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) return line;
  return '';
}
