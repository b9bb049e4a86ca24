import { describe, expect, test } from 'vitest';
import { facts } from '../../src/core/facts.ts';
import type { Catalog } from '../../src/core/fields/catalog.ts';
import type { RecordKey } from '../../src/core/record.ts';
import type { Agreement, JournalEntry } from '../../src/core/state.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import {
  failure,
  lead,
  openMirrorDirectory,
  openWrite,
  outboxItem,
  storedRecord,
  suspect,
} from '../support/mirror-directory.ts';

const { open, reopen, startWriter } = openMirrorDirectory();

const agreement = (key: RecordKey, change: Partial<Agreement> = {}): Agreement => ({
  key,
  fields: { title: 'Agreed' },
  offered: { note: 'on its way' },
  changedAt: 1_790_000_000_000,
  notice: '',
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

describe('what the mirror keeps of one side', () => {
  test('is not what it keeps of another, also after a restart, and comes back in its own order', () => {
    const { mirror } = open();
    const other = mirror.of('warehouse');
    const [first, second] = [agreement(lead('7')), agreement(lead('42'))];
    for (const each of [first, second]) mirror.saveAgreement(each);
    other.saveAgreement({ ...second, notice: 'of the warehouse' });
    mirror.saveOutboxItem(outboxItem(lead('42')));
    other.saveOutboxItem({ ...outboxItem(lead('42')), run: 'of the warehouse' });
    mirror.saveDecision({ scope: 'conflict:lead-42:title', choice: 'crm', at: 1 });
    other.saveDecision({ scope: 'conflict:lead-42:title', choice: 'table', at: 2 });
    other.saveOpenWrite(openWrite());
    other.saveSuspect(suspect());
    other.dropOutboxItem(lead('7'));
    other.dropAgreement(lead('7'));

    const { mirror: later } = reopen();
    const warehouse = later.of('warehouse');
    expect(later.readAgreements()).toStrictEqual([first, second]);
    expect(warehouse.readAgreements()).toStrictEqual([{ ...second, notice: 'of the warehouse' }]);
    expect(later.findOutboxItem(lead('42'))?.run).not.toBe(warehouse.findOutboxItem(lead('42'))?.run);
    expect([later, warehouse].map((each) => each.readDecisions().map(({ choice }) => choice))).toEqual([
      ['crm'],
      ['table'],
    ]);
    expect([later.readOpenWrites(), later.readSuspects()]).toEqual([[], []]);
    expect([warehouse.readOpenWrites(), warehouse.readSuspects()]).toStrictEqual([
      [openWrite()],
      [suspect()],
    ]);
  });

  test('may have the same name as something of another side, and does not take its place', () => {
    const { mirror } = open();
    const sides = [mirror, mirror.of('warehouse')];
    for (const [index, each] of sides.entries()) {
      each.saveOpenWrite({ ...openWrite(), at: index });
      each.saveSuspect({ ...suspect(), at: index });
    }
    const { mirror: later } = reopen();
    const timesOf = (items: readonly { readonly at: number }[]) => items.map(({ at }) => at);
    expect(
      [later, later.of('warehouse')].map((each) => [
        timesOf(each.readOpenWrites()),
        timesOf(each.readSuspects()),
      ]),
    ).toEqual([
      [[0], [0]],
      [[1], [1]],
    ]);
  });

  test('is dropped alone', () => {
    const { mirror } = open();
    const other = mirror.of('warehouse');
    for (const each of [mirror, other]) each.saveAgreement(agreement(lead('42')));
    other.dropAgreement(lead('42'));
    const { mirror: later } = reopen();
    expect([later, later.of('warehouse')].map((each) => each.readAgreements().length)).toEqual([1, 0]);
  });

  test('is among the steps of all sides, and everything else is shared', () => {
    const { mirror } = open();
    const other = mirror.of('warehouse');
    expect(mirror.of('warehouse')).toBe(other);
    mirror.saveOutboxItem(outboxItem(lead('7')));
    other.saveOutboxItem(outboxItem(lead('42')));
    other.saveRecord(storedRecord(lead('42')));
    for (const each of [mirror, other]) {
      expect(each.readAllSteps().map(({ key }) => key)).toEqual([lead('7'), lead('42')]);
      expect(each.readRecords()).toHaveLength(1);
    }
  });
});

describe('what the mirror keeps', () => {
  test('records come back as they were saved, by key and by entity, also after a restart', () => {
    const { mirror } = open();
    const written = { at: 1_790_000_000_002, before: { title: 'Before' } };
    const gone = storedRecord(lead('42'), { written, missedSweeps: 2, presence: 'gone' });
    const rewritten = { ...written, answered: { title: 'As the CRM has it' }, earlier: { title: 'First' } };
    const task = storedRecord({ entity: 'task', id: '7' }, { written: rewritten, madeBy: 'sheet' });
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
    const shown = {
      status_name: [['Talking', 'talk']],
      'custom.topics': [['Web; seo', ['Web', 'SEO']]],
    } as const;
    const noticed = { at: 7, fields: ['title'] };
    const leave = { state: 'leaving', at: 8 } as const;
    const changed = agreement(lead('1'), { notice: 'CRM won', noticed, offered: {}, shown, leave });
    mirror.saveAgreement(changed);
    mirror.dropAgreement(lead('2'));

    const { mirror: later } = reopen();
    expect(later.readAgreements()).toStrictEqual([changed]);
    expect(later.findAgreement(lead('1'))?.notice).toBe('CRM won');
    expect(later.findAgreement(lead('2'))).toBeUndefined();
  });

  test('outbox items come back as they were saved, with and without what is optional', () => {
    const { mirror } = open();
    const plain = outboxItem(lead('1'));
    const full = outboxItem(lead('new-k3v9'), {
      kind: 'create',
      state: 'review',
      shownUntil: 1_790_000_000_002,
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

  test('writes that are not over and suspects come back as they were saved, oldest first', () => {
    const { mirror } = open();
    for (const id of ['w1', 'w2', 'w3']) mirror.saveOpenWrite(openWrite({ id }));
    mirror.saveOpenWrite(openWrite({ id: 'w1', damage: [suspect().damage] }));
    mirror.dropOpenWrite('w2');
    for (const id of ['w1.1', 'w1.0', 'w2.0']) mirror.saveSuspect(suspect({ id }));
    mirror.saveSuspect(suspect({ id: 'w1.1', clearReads: 1 }));
    mirror.dropSuspect('w2.0');

    const { mirror: later } = reopen();
    expect(later.readOpenWrites()).toStrictEqual([
      openWrite({ id: 'w1', damage: [suspect().damage] }),
      openWrite({ id: 'w3' }),
    ]);
    expect(later.readSuspects()).toStrictEqual([
      suspect({ id: 'w1.1', clearReads: 1 }),
      suspect({ id: 'w1.0' }),
    ]);
  });

  test('the journal answers its latest entries, newest first', () => {
    const { mirror } = open();
    mirror.appendJournal([journalEntry(1), journalEntry(2)]);
    mirror.appendJournal([journalEntry(3)]);

    expect(reopen().mirror.searchJournal({ limit: 2 })).toStrictEqual([
      { ...journalEntry(3), id: 3 },
      { ...journalEntry(2), id: 2 },
    ]);
  });

  test('the journal finds a field by what stood there before, after, or was lost', () => {
    const { mirror } = open();
    const lost = { ...journalEntry(3), before: {}, after: {}, lost: { title: 'Typed' } };
    mirror.appendJournal([journalEntry(1), { ...journalEntry(2), before: {} }, lost]);
    mirror.appendJournal([{ ...journalEntry(4), before: { note: 'title' }, after: {} }]);

    expect(mirror.searchJournal({ field: 'title' }).map(({ at }) => at)).toEqual([3, 2, 1]);
  });

  test('decisions, sweeps, readings of contacts, facts and the catalog replace what was there', () => {
    const { mirror } = open();
    expect(mirror.readCatalog()).toBeUndefined();
    expect(mirror.readFact(sheetFacts.word)).toBeUndefined();
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
    mirror.saveFact(sheetFacts.word, 'first');
    mirror.saveFact(sheetFacts.word, 'second');
    mirror.saveCatalog({ ...catalog, pipelines: [] });
    mirror.saveCatalog(catalog);

    const { mirror: later } = reopen();
    expect(later.readDecisions()).toStrictEqual([{ scope: 'vanished:lead-42', choice: 'restore', at: 2 }]);
    expect(later.readSweeps()).toStrictEqual([sweep, { ...sweep, entity: 'task', isComplete: false }]);
    expect(later.readContactReads()).toStrictEqual([read]);
    expect(later.readFact(sheetFacts.word)).toBe('second');
    expect(later.readCatalog()).toStrictEqual(catalog);
  });

  test('budget slots are kept with their key, can move, are never free too early, and are forgotten when past', () => {
    const { budgetLog } = open();
    const first = budgetLog.addSlot('key-a', 1_000.2);
    const second = budgetLog.addSlot('key-a', 500);
    const third = budgetLog.addSlot('key-b', 900);
    budgetLog.moveSlot(second, 2_000);

    const { budgetLog: later } = reopen();
    expect(later.readSlots()).toStrictEqual([
      { id: third, key: 'key-b', freeAt: 900 },
      { id: first, key: 'key-a', freeAt: 1_001 },
      { id: second, key: 'key-a', freeAt: 2_000 },
    ]);
    later.forgetSlots(1_001);
    expect(later.readSlots().map(({ id }) => id)).toStrictEqual([first, second]);
  });
});

describe('that a record was seen once more', () => {
  const first = { ...storedRecord(lead('42')), firstSeenAt: 1, observedAt: 5, lastSeenAt: 5 };
  const again = { ...first, observedAt: 9, lastSeenAt: 9 };

  test('counts at once, costs no write, and is written with the next thing that is known of it', () => {
    const { mirror } = open();
    mirror.saveRecord(first);
    const changes = mirror.countChanges();
    mirror.saveRecord(again);
    expect([mirror.findRecord(first.key), mirror.readRecords()]).toStrictEqual([again, [again]]);
    expect(mirror.countChanges()).toBe(changes);
    const { mirror: later } = reopen();
    expect(later.readRecords()).toStrictEqual([first]);
    const missed = { ...again, missedSweeps: 1 };
    for (const each of [again, missed]) later.saveRecord(each);
    expect(reopen().mirror.readRecords()).toStrictEqual([missed]);
  });

  test('outlives a transaction that fails, and nothing else of it does', () => {
    const { mirror } = open();
    mirror.saveRecord(first);
    mirror.saveRecord(again);
    const other = { ...storedRecord(lead('43')), firstSeenAt: 1 };
    mirror.saveRecord(other);
    failure(() =>
      mirror.transaction(() => {
        mirror.saveRecord({ ...other, fields: { title: 'half done' } });
        throw new Error('interrupted');
      }),
    );
    expect(mirror.readRecords()).toStrictEqual([again, other]);
  });
});

describe('transactions', () => {
  test('fault 77: a transaction that throws leaves nothing behind and hands its error on', () => {
    const { mirror } = open();
    const error = failure(() =>
      mirror.transaction(() => {
        mirror.saveFact(sheetFacts.word, 'half done');
        mirror.appendJournal([journalEntry(1)]);
        throw new Error('interrupted');
      }),
    );

    expect(error).toStrictEqual(new Error('interrupted'));
    expect([mirror.readFact(sheetFacts.word), mirror.searchJournal({ limit: 1 })]).toStrictEqual([
      undefined,
      [],
    ]);
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

  test('fault 57: a writer that is killed keeps every commit it has told of, and no half of one', async () => {
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
    expect(mirror.readFact(facts.leaseToken)).toBe(count);
  });
});
