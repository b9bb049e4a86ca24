import { describe, expect, test } from 'vitest';
import type { Mirror } from '../../src/core/mirror.ts';
import { entities } from '../../src/core/record.ts';
import type { StoredRecord } from '../../src/core/state.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { mirrorFile } from '../../src/sqlite/open.ts';
import { failure, lead, openMirrorDirectory, storedRecord } from '../support/mirror-directory.ts';

const { close, directory, open, reopen } = openMirrorDirectory();

const key = lead('42');

/** A record that was asked for at a time, and heard of 10 ms later. */
const seen = (at: number, title: string, change: Partial<StoredRecord> = {}): StoredRecord =>
  storedRecord(key, { fields: { title }, observedAt: at, heardAt: at + 10, ...change });

const gone = (at: number, title: string): StoredRecord => seen(at, title, { presence: 'gone' });

/** A mirror that a warehouse follows, which has written all that was due. */
function openFollowed(...records: readonly StoredRecord[]) {
  const { mirror } = open();
  mirror.setFollowers(['warehouse']);
  for (const record of records) mirror.saveRecord(record);
  const { feed } = mirror.of('warehouse');
  writeAll(mirror, 'first');
  return { mirror, feed };
}

function writeAll(mirror: Mirror, run: string) {
  const { feed } = mirror.of('warehouse');
  feed.beginRun({
    run,
    keys: feed.takeDue(Number.MAX_SAFE_INTEGER, 1_000, entities).map((due) => due.key),
    at: 1,
  });
  feed.endRun(feed.lastRun() + 1);
}

describe('the version of a record', () => {
  test('begins when the answer arrives that shows it first, and is made by the CRM', () => {
    const { feed, mirror } = openFollowed(seen(100, 'A'));
    const version = { key, fields: { title: 'A' }, validFrom: 110, madeBy: 'crm' };
    expect(mirror.findVersion(key)).toStrictEqual(version);
    expect(feed.readVersions(key)).toEqual([]);
    expect(reopen().mirror.findVersion(key)).toStrictEqual(version);
  });

  test('W11: ends when another is seen, which began after the last look that showed the one before', () => {
    const { feed, mirror } = openFollowed(seen(100, 'A'));
    mirror.saveRecord(seen(500, 'A'));
    mirror.saveRecord(seen(900, 'B'));
    mirror.saveRecord(seen(1_300, 'C'));

    const [first, second] = [
      { key, fields: { title: 'A' }, validFrom: 110, validUntil: 910, ended: 'changed', madeBy: 'crm' },
      {
        key,
        fields: { title: 'B' },
        validAfter: 500,
        validFrom: 910,
        validUntil: 1_310,
        ended: 'changed',
        madeBy: 'crm',
      },
    ];
    const now = { key, fields: { title: 'C' }, validAfter: 900, validFrom: 1_310, madeBy: 'crm' };
    expect(feed.readVersions(key)).toStrictEqual([first, second]);
    expect(mirror.findVersion(key)).toStrictEqual(now);
    expect(feed.readVersions(lead('4'))).toEqual([]);
    const { mirror: later } = reopen();
    expect(later.of('warehouse').feed.readVersions(key)).toStrictEqual([first, second]);
    expect(later.findVersion(key)).toStrictEqual(now);
  });

  test('goes on, and nothing is due, while answers show the same', () => {
    const { feed, mirror } = openFollowed(seen(100, 'é'));
    mirror.saveRecord(seen(500, 'é'.normalize('NFD'), { missedSweeps: 1 }));
    expect([feed.countDue(), feed.readVersions(key), mirror.findVersion(key)?.validFrom]).toEqual([
      {},
      [],
      110,
    ]);
  });

  test('is trashed when the record is proven gone, and one that comes back begins after that', () => {
    const { feed, mirror } = openFollowed(seen(100, 'A'));
    mirror.saveRecord({ ...gone(100, 'A'), heardAt: 700 });
    expect(feed.readVersions(key)).toMatchObject([{ validFrom: 110, validUntil: 700, ended: 'trashed' }]);
    expect(mirror.findVersion(key)).toBeUndefined();
    expect(feed.takeDue(0, 9, entities)).toMatchObject([{ key }]);
    writeAll(mirror, 'second');
    // What is gone is not news twice.
    mirror.saveRecord({ ...gone(100, 'A'), heardAt: 800, missedSweeps: 3 });
    expect(feed.countDue()).toEqual({});

    mirror.saveRecord(seen(1_000, 'A'));
    expect(feed.readVersions(key)).toEqual([]);
    expect(feed.countDue()).toEqual({ lead: 1 });
    expect(mirror.findVersion(key)).toMatchObject({ validAfter: 700, validFrom: 1_010 });
  });

  test('is left out when another account is taken, and says nothing about a record of that account with its id', () => {
    const { feed, mirror } = openFollowed(seen(100, 'A'));
    mirror.saveRecord(seen(100, 'A', { fields: {}, presence: 'gone', heardAt: 700 }));
    expect(feed.readVersions(key)).toMatchObject([
      { fields: { title: 'A' }, validUntil: 700, ended: 'left_out' },
    ]);
    mirror.saveRecord(seen(1_000, 'Other'));
    expect(mirror.findVersion(key)).toStrictEqual({
      ...{ key, fields: { title: 'Other' }, validFrom: 1_010, madeBy: 'crm' },
    });
  });

  test('is left out when the record is dropped while it is there, and one that is gone is dropped without a word', () => {
    const { feed, mirror } = openFollowed(seen(100, 'A'), { ...seen(100, 'B'), key: lead('7') });
    mirror.saveRecord({ ...gone(100, 'B'), key: lead('7') });
    writeAll(mirror, 'second');
    mirror.dropRecord(lead('7'));
    expect([feed.countDue(), feed.readVersions(lead('7'))]).toEqual([{}, []]);
    mirror.dropRecord(key);
    expect(feed.readVersions(key)).toMatchObject([{ ended: 'left_out', validFrom: 110, validUntil: 111 }]);
    expect(feed.takeDue(0, 9, entities)).toMatchObject([{ key }]);
  });

  test('is made by the side whose write is saved with it, and by the CRM otherwise', () => {
    const { feed, mirror } = openFollowed(seen(100, 'A'));
    const written = { at: 500, before: { title: 'A' } };
    mirror.of('warehouse').saveRecord(seen(500, 'B', { written }));
    expect(mirror.findVersion(key)?.madeBy).toBe('warehouse');
    mirror.of('warehouse').saveRecord(seen(900, 'C', { written: { ...written, answered: { title: 'c' } } }));
    expect(mirror.findVersion(key)?.madeBy).toBe('crm');
    mirror.saveRecord(seen(950, 'D', { written: { ...written, at: 960 } }));
    expect(mirror.findVersion(key)?.madeBy).toBe('sheet');
    expect(feed.readVersions(key).map(({ madeBy }) => madeBy)).toEqual(['crm', 'warehouse', 'crm']);
    mirror.saveRecord({ ...seen(1_000, 'Typed'), key: lead('7') }, 'created');
    expect(mirror.findVersion(lead('7'))?.madeBy).toBe('sheet');
    mirror.saveRecord({ ...seen(1_100, 'Before'), key: lead('7') }, 'takenBack');
    expect(mirror.findVersion(lead('7'))?.madeBy).toBe('undo');
  });

  test('has a maker also where no side follows the records, until the CRM makes another one', () => {
    const { mirror } = open();
    mirror.saveRecord(seen(100, 'A'), 'created');
    mirror.saveRecord(seen(200, 'A'));
    expect(mirror.findRecord(key)?.madeBy).toBe('sheet');
    mirror.saveRecord({ ...seen(300, 'B'), madeBy: 'sheet' });
    expect(mirror.findRecord(key)).not.toHaveProperty('madeBy');
  });

  test('W11: never begins at the time of the one before it, or earlier, whatever the clock says', () => {
    const { feed, mirror } = openFollowed(seen(1_000, 'A'));
    for (const title of ['B', 'C']) mirror.saveRecord(seen(200, title));
    mirror.saveRecord(gone(200, 'C'));
    mirror.saveRecord(seen(300, 'D'));
    const bounds = feed.readVersions(key).map(({ validFrom, validUntil }) => [validFrom, validUntil]);
    expect(bounds).toEqual([
      [1_010, 1_011],
      [1_011, 1_012],
      [1_012, 1_013],
    ]);
    expect(mirror.findVersion(key)?.validFrom).toBe(1_014);
  });

  test('that was known before anything followed counts from the last look at it', () => {
    const { mirror } = open();
    mirror.saveRecord(seen(100, 'A'));
    mirror.saveRecord({ ...gone(100, 'B'), key: lead('7') });
    mirror.setFollowers(['warehouse']);
    expect(mirror.findVersion(key)).toStrictEqual({
      key,
      fields: { title: 'A' },
      validFrom: 100,
      madeBy: 'crm',
    });
    mirror.saveRecord({ ...seen(500, 'B'), key: lead('7') });
    expect(mirror.findVersion(lead('7'))).toStrictEqual({
      ...{ key: lead('7'), fields: { title: 'B' }, validFrom: 510, madeBy: 'crm' },
    });
  });

  test('counts from the last look again where nothing followed for a while', () => {
    const { mirror } = openFollowed(seen(100, 'A'), { ...seen(100, 'A'), key: lead('7') });
    mirror.saveRecord(seen(200, 'B'));
    mirror.setFollowers([]);
    mirror.saveRecord(seen(500, 'C'));
    mirror.setFollowers(['warehouse']);
    expect(mirror.findVersion(key)).toStrictEqual({
      key,
      fields: { title: 'C' },
      validFrom: 500,
      madeBy: 'crm',
    });
    expect(mirror.of('warehouse').feed.readVersions(key)).toEqual([]);
  });

  test('of a transaction that fails is noted as little as the record', () => {
    const { feed, mirror } = openFollowed(seen(100, 'A'));
    failure(() =>
      mirror.transaction(() => {
        mirror.saveRecord(seen(500, 'B'));
        mirror.saveRecord({ ...seen(500, 'New'), key: lead('7') });
        mirror.dropRecord(key);
        throw new Error('interrupted');
      }),
    );
    expect([feed.countDue(), feed.takeDue(0, 9, entities), feed.readVersions(key)]).toEqual([{}, [], []]);
    expect(mirror.readRecords()).toStrictEqual([seen(100, 'A')]);
    expect(mirror.findVersion(key)).toMatchObject({ fields: { title: 'A' }, validFrom: 110 });
    const { mirror: later } = reopen();
    expect(later.of('warehouse').feed.countDue()).toEqual({});
  });

  test('is noted with the record or not at all, also where no transaction is around', () => {
    openFollowed(seen(100, 'A'));
    close();
    const connection = connect(mirrorFile(directory));
    connection.execute(
      "CREATE TRIGGER noRoom BEFORE INSERT ON due BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    connection.close();
    const { mirror } = open();
    expect(() => mirror.saveRecord(seen(500, 'B'))).toThrow('no room');
    expect(() => mirror.dropRecord(key)).toThrow('no room');
    const { mirror: later } = reopen();
    expect(later.findVersion(key)).toMatchObject({ fields: { title: 'A' }, validFrom: 110 });
    expect(later.of('warehouse').feed.readVersions(key)).toEqual([]);
  });
});
