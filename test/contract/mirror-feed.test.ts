import { copyFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Feed } from '../../src/core/feed.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { type Entity, entities, type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { migrate, migrations } from '../../src/sqlite/migrations.ts';
import { mirrorFile, openMirror } from '../../src/sqlite/open.ts';
import { failure, lead, openMirrorDirectory, storedRecord } from '../support/mirror-directory.ts';

const { directory, opened, open, close, reopen } = openMirrorDirectory();

/** The schema from which on sides follow the records. */
const feedSchema = 16;

const ofEntity = (entity: Entity, id: string): RecordKey => ({ entity, id });
const ids = (items: readonly { readonly key: RecordKey }[]) => items.map(({ key: { id } }) => id);
const titled = (id: string, title: string) => storedRecord(lead(id), { fields: { title } });
const feedOf = (mirror: Mirror): Feed => mirror.of('warehouse').feed;
const dueIds = (feed: Feed, now = 0): string[] => ids(feed.takeDue(now, 99, entities));

const dueCount = (feed: Feed): number =>
  Object.values(feed.countDue()).reduce((sum, count) => sum + count, 0);

/** A mirror that a warehouse follows, to which these leads are due. */
function openFollowed(...leads: readonly string[]) {
  const { mirror } = open();
  mirror.setFollowers(['warehouse']);
  for (const id of leads) mirror.saveRecord(titled(id, 'A'));
  return { mirror, feed: feedOf(mirror) };
}

function write(feed: Feed, run: string, keys: readonly RecordKey[], at = 1): void {
  feed.beginRun({ run, keys, at });
  feed.endRun(feed.lastRun() + 1);
}

describe('the sides that follow', () => {
  test('have all records due that are there when they begin to, and nothing before that', () => {
    const { mirror } = open();
    mirror.saveRecord(titled('1', 'A'));
    mirror.saveRecord({ ...titled('2', 'A'), presence: 'gone' });
    mirror.saveRecord(titled('3', 'A'));
    const feed = feedOf(mirror);
    feed.noteDue([lead('1')]);
    feed.noteAllDue();
    feed.putOff([lead('1')], 1, 'no');
    expect([dueCount(feed), dueIds(feed), feed.nextDueAt(), feed.readStuck(9).count]).toEqual([
      0,
      [],
      undefined,
      0,
    ]);
    expect(() => feed.beginRun({ run: 'a', keys: [], at: 1 })).toThrow('follows nothing');

    expect(mirror.setFollowers(['warehouse', 'warehouse'])).toEqual(['warehouse']);
    expect([dueCount(feed), dueIds(feed), feed.nextDueAt()]).toEqual([2, ['1', '3'], 0]);
    expect(mirror.setFollowers(['warehouse'])).toEqual([]);
    const later = feedOf(reopen().mirror);
    expect([dueCount(later), dueIds(later)]).toEqual([2, ['1', '3']]);
  });

  test('have each change due, a new record, another value, and a presence, also after a restart', () => {
    const { feed } = openFollowed('1', '2', '3');
    write(feed, 'all', ['1', '2', '3'].map(lead));
    const { mirror: later } = reopen();
    later.saveRecord(titled('2', 'B'));
    later.saveRecord({ ...titled('1', 'A'), presence: 'gone' });
    later.saveRecord(titled('3', 'A'));
    later.saveRecord(titled('4', 'A'));
    expect(dueIds(feedOf(later))).toEqual(['2', '1', '4']);
    expect(dueIds(feedOf(reopen().mirror))).toEqual(['2', '1', '4']);
  });

  test('each have their own, and one that is no longer named has nothing, while the others keep theirs', () => {
    const { feed, mirror } = openFollowed('1');
    expect(mirror.setFollowers(['lake', 'warehouse'])).toEqual(['lake']);
    const lake = mirror.of('lake').feed;
    write(feed, 'a', [lead('1')]);
    mirror.saveRecord(titled('1', 'B'));
    write(feed, 'b', [lead('1')]);
    feed.beginRun({ run: 'c', keys: [lead('1')], at: 1 });
    expect([dueCount(feed), dueCount(lake), feed.lastRun(), lake.lastRun()]).toEqual([0, 1, 2, 0]);
    expect([feed.readVersions(lead('1')).length, lake.readVersions(lead('1')).length]).toEqual([0, 1]);

    mirror.saveRecord(titled('1', 'C'));
    mirror.setFollowers(['lake']);
    expect([dueCount(feed), dueIds(feed), feed.readVersions(lead('1'))]).toEqual([0, [], []]);
    expect([feed.lastRun(), feed.pendingRun(), feed.keysAfter(0)]).toEqual([0, undefined, []]);
    expect([dueIds(lake), lake.readVersions(lead('1')).length]).toEqual([['1'], 2]);
    expect(mirror.setFollowers(['lake', 'warehouse'])).toEqual(['warehouse']);
    expect(dueIds(feed)).toEqual(['1']);
  });

  test('have nothing of kinds that they do not follow, and all of them that is there once they do', () => {
    const { feed, mirror } = openFollowed('1', '2');
    mirror.saveRecord(titled('1', 'B'));
    const task = (id: string, title: string) =>
      mirror.saveRecord(storedRecord(ofEntity('task', id), { fields: { title } }));
    expect(mirror.setFollowers(['warehouse'], ['task'])).toEqual([]);
    expect([feed.countDue(), feed.readVersions(lead('1')), feed.nextDueAt()]).toEqual([{}, [], undefined]);
    for (const title of ['B', 'C']) mirror.saveRecord(titled('2', title));
    for (const title of ['A', 'B']) task('1', title);
    feed.noteAllDue();
    feed.noteDue([lead('1')]);
    feed.putOff([lead('1')], 9, 'no');
    expect([feed.countDue(), feed.readVersions(lead('2'))]).toEqual([{ task: 1 }, []]);
    expect(feed.readVersions(ofEntity('task', '1'))).toHaveLength(1);
    expect(reopen().mirror.setFollowers(['warehouse'], ['lead', 'task'])).toEqual(['warehouse']);
    expect(feedOf(reopen().mirror).countDue()).toEqual({ lead: 2, task: 1 });
  });

  test('are among the sides of which something is kept', () => {
    const { mirror } = openFollowed();
    expect(mirror.allSides()).toEqual([mirror.of('warehouse')]);
  });

  test('are as they were where the transaction that sets them fails', () => {
    const { feed, mirror } = openFollowed('1');
    failure(() =>
      mirror.transaction(() => {
        mirror.setFollowers(['lake']);
        mirror.saveRecord(titled('2', 'A'));
        throw new Error('interrupted');
      }),
    );
    mirror.saveRecord(titled('2', 'A'));
    expect([dueIds(feed), dueCount(mirror.of('lake').feed)]).toEqual([['1', '2'], 0]);
  });
});

describe('what is due', () => {
  test('is taken leads first, then opportunities, tasks and contacts, the longest waiting first, as many as are asked for', () => {
    const { feed, mirror } = openFollowed();
    const order = ['contact-x', 'task-2', 'task-1', 'opportunity-1', 'lead-9', 'lead-1'];
    const keys = order.map((text) => {
      const [entity, id = ''] = text.split('-');
      return ofEntity(entity as Entity, id);
    });
    for (const key of keys) mirror.saveRecord(storedRecord(key));
    // What changes again goes on waiting.
    mirror.saveRecord(titled('9', 'B'));
    const texts = (limit: number) =>
      feed.takeDue(0, limit, entities).map(({ key: { entity, id } }) => `${entity}-${id}`);
    const sorted = ['lead-9', 'lead-1', 'opportunity-1', 'task-2', 'task-1', 'contact-x'];
    for (const limit of [0, 1, 2, 4, 6, 99]) expect(texts(limit)).toEqual(sorted.slice(0, limit));
    expect(feed.takeDue(0, 1, entities)).toStrictEqual([
      { key: lead('9'), dueAt: 0, attempts: 0, reason: '' },
    ]);
    expect(feed.takeDue(0, 2, ['contact', 'task']).map(({ key: { id } }) => id)).toEqual(['2', '1']);
    expect(feed.countDue()).toEqual({ lead: 2, opportunity: 1, task: 2, contact: 1 });
  });

  test('is taken before what was put off, of any kind', () => {
    const { feed, mirror } = openFollowed('1', '2', '3');
    mirror.saveRecord(storedRecord(ofEntity('task', '1')));
    feed.putOff([lead('1')], 5, 'no');
    feed.putOff([lead('2')], 3, 'no');
    const order = ['lead-3', 'task-1', 'lead-2', 'lead-1'];
    for (const limit of [1, 2, 3, 4, 9])
      expect(feed.takeDue(5, limit, entities).map(({ key }) => recordKeyText(key))).toEqual(
        order.slice(0, limit),
      );
    expect(dueIds(feed, 4)).toEqual(['3', '1', '2']);
  });

  test('counts those of its records that are gone, as they come and go', () => {
    const { feed, mirror } = openFollowed('1', '2', '3');
    expect([feed.countGone(), feed.isDue(lead('1')), feed.isDue(lead('9'))]).toEqual([{}, true, false]);
    const gone = (id: string) => mirror.saveRecord({ ...titled(id, 'A'), presence: 'gone' });
    for (const id of ['1', '2']) gone(id);
    mirror.dropRecord(lead('3'));
    feed.noteDue([lead('1'), lead('unknown'), ofEntity('task', '1')]);
    expect(feed.countGone()).toEqual({ lead: 4, task: 1 });
    mirror.saveRecord(titled('1', 'B'));
    feed.putOff([lead('2'), lead('other')], 9, 'no');
    expect([feed.countGone(), feed.countDue()]).toEqual([
      { lead: 4, task: 1 },
      { lead: 5, task: 1 },
    ]);
    write(feed, 'a', [lead('2'), lead('3')]);
    expect(feedOf(reopen().mirror).countGone()).toEqual({ lead: 2, task: 1 });
  });

  test('is fresh where it is there, of the kind, due at once, and none of its versions is over', () => {
    const { feed, mirror } = openFollowed('1', '2', '3', '4', '5', '6', '7');
    mirror.saveRecord(storedRecord(ofEntity('task', '1')));
    mirror.saveRecord({ ...titled('2', 'A'), presence: 'gone' });
    mirror.saveRecord(titled('3', 'B'));
    feed.putOff([lead('4')], 9, 'no');
    write(feed, 'a', [lead('5'), lead('6')]);
    expect([9, 1, 0].map((limit) => ids(feed.takeFresh('lead', limit)))).toEqual([['1', '7'], ['1'], []]);
    expect(feed.takeFresh('lead', 1)).toStrictEqual(feed.takeDue(0, 1, ['lead']));
  });

  test('is put off with a reason, and is due at once when something is heard of it', () => {
    const { feed } = openFollowed('1', '2', '3');
    feed.putOff([lead('1'), lead('2')], 500, 'refused');
    feed.putOff([lead('2')], 400, 'refused again');
    expect([dueIds(feed, 399), dueIds(feed, 400), dueIds(feed, 500)]).toEqual([
      ['3'],
      ['3', '2'],
      ['3', '2', '1'],
    ]);
    const stuck = [
      { key: lead('1'), dueAt: 500, attempts: 1, reason: 'refused' },
      { key: lead('2'), dueAt: 400, attempts: 2, reason: 'refused again' },
    ];
    expect(feed.readStuck(9)).toStrictEqual({ count: 2, shown: stuck });
    expect(feed.readStuck(1)).toStrictEqual({ count: 2, shown: stuck.slice(0, 1) });
    write(feed, 'a', [lead('3')]);
    expect([feed.nextDueAt(), dueCount(feed)]).toEqual([400, 2]);
    const later = reopen().mirror;
    expect(feedOf(later).readStuck(9)).toStrictEqual({ count: 2, shown: stuck });

    later.saveRecord(titled('1', 'B'));
    expect([dueIds(feedOf(later)), feedOf(later).readStuck(9).count]).toEqual([['1'], 1]);
    feedOf(later).noteDue([lead('2'), lead('4')]);
    expect([dueIds(feedOf(later)), feedOf(later).readStuck(9).count]).toEqual([['1', '2', '4'], 0]);
  });

  test('is everything that is there where all is asked for: what is gone was written as gone', () => {
    const { feed, mirror } = openFollowed('1', '2', '3');
    mirror.saveRecord({ ...titled('2', 'A'), presence: 'gone' });
    write(feed, 'a', ['1', '2', '3'].map(lead));
    feed.noteAllDue();
    feed.noteAllDue();
    expect([dueIds(feed), dueCount(feed), feed.countGone()]).toEqual([['1', '3'], 2, {}]);
  });
});

describe('a write of a side', () => {
  test('W9: is known until it is over, also after a restart, and takes with it what it carried', () => {
    const { feed, mirror } = openFollowed('1', '2');
    mirror.saveRecord(titled('1', 'B'));
    feed.beginRun({ run: 'a', keys: [lead('1')], at: 7 });
    expect(failure(() => feed.beginRun({ run: 'b', keys: [], at: 8 }))).toBeInstanceOf(Error);
    const later = feedOf(reopen().mirror);
    expect(later.pendingRun()).toStrictEqual({ run: 'a', keys: [lead('1')], at: 7 });
    expect([dueIds(later), later.readVersions(lead('1')).length]).toEqual([['1', '2'], 1]);
    later.endRun(1);
    const last = feedOf(reopen().mirror);
    expect([last.pendingRun(), last.lastRun(), dueCount(last)]).toEqual([undefined, 1, 1]);
    expect([dueIds(last), last.readVersions(lead('1'))]).toEqual([['2'], []]);
    expect(() => last.endRun(2)).toThrow('not begun');
  });

  test('leaves due what has changed meanwhile, with the version that ended meanwhile', () => {
    const { feed, mirror } = openFollowed('1', '2');
    mirror.saveRecord(titled('1', 'B'));
    feed.beginRun({ run: 'a', keys: [lead('1'), lead('2')], at: 7 });
    mirror.saveRecord(titled('1', 'C'));
    feed.endRun(1);
    expect([dueIds(feed), dueCount(feed)]).toEqual([['1'], 1]);
    expect(feed.readVersions(lead('1')).map(({ fields }) => fields)).toEqual([{ title: 'B' }]);
    // The next write carries it.
    write(feed, 'b', [lead('1')]);
    expect([dueCount(feed), feed.readVersions(lead('1'))]).toEqual([0, []]);
  });

  test('that never happened leaves all of it due', () => {
    const { feed, mirror } = openFollowed('1', '2');
    mirror.saveRecord(titled('1', 'B'));
    feed.beginRun({ run: 'a', keys: [lead('1'), lead('2')], at: 7 });
    mirror.saveRecord(titled('1', 'C'));
    feed.dropRun();
    expect([feed.pendingRun(), feed.lastRun(), dueIds(feed)]).toEqual([undefined, 0, ['1', '2']]);
    expect(feed.readVersions(lead('1')).map(({ fields }) => fields)).toEqual([
      { title: 'A' },
      { title: 'B' },
    ]);
    feed.dropRun();
    // What was noted during the one that never happened is carried by the next.
    write(feed, 'a', [lead('1'), lead('2')]);
    expect([dueCount(feed), feed.readVersions(lead('1'))]).toEqual([0, []]);
  });

  test('leaves due with its versions what it was not able to write', () => {
    const { feed, mirror } = openFollowed('1', '2', '3');
    for (const id of ['1', '2']) mirror.saveRecord(titled(id, 'B'));
    feed.putOff([lead('2')], 5, 'locked');
    feed.beginRun({ run: 'a', keys: [lead('1'), lead('2')], at: 7 });
    feed.endRun(1, [lead('2'), lead('9')]);
    expect([dueIds(feed, 5), feed.isDue(lead('9'))]).toEqual([['3', '2'], false]);
    expect(['1', '2'].map((id) => feed.readVersions(lead(id)).length)).toEqual([0, 1]);
    expect(feed.readStuck(9).shown).toMatchObject([{ attempts: 1 }]);
  });

  test('is remembered with its records by its number, until it is forgotten', () => {
    const { feed } = openFollowed();
    write(feed, 'a', [lead('1'), lead('2')], 10);
    write(feed, 'b', [lead('2'), ofEntity('contact', 'a b-c')], 20);
    write(feed, 'c', [], 30);
    const later = feedOf(reopen().mirror);
    expect([0, 1, 2, 3, 4].map((number) => later.keysAfter(number)?.map(({ id }) => id))).toEqual([
      ['1', '2', 'a b-c'],
      ['2', 'a b-c'],
      [],
      [],
      undefined,
    ]);
    later.forgetRuns(20);
    expect([0, 1].map((number) => later.keysAfter(number)?.length)).toEqual([undefined, 2]);
    // What is on its way is not forgotten, however long it takes.
    later.beginRun({ run: 'd', keys: [], at: 5 });
    later.forgetRuns(99);
    expect([later.pendingRun()?.run, later.lastRun(), later.keysAfter(2)]).toEqual(['d', 3, undefined]);
  });

  test('of more than 5,000 records is remembered without them', () => {
    const { feed } = openFollowed();
    const keys = Array.from({ length: 5_001 }, (_, index) => lead(String(index)));
    write(feed, 'a', keys.slice(1));
    expect(feed.keysAfter(0)).toHaveLength(5_000);
    feed.beginRun({ run: 'b', keys, at: 1 });
    expect(feed.pendingRun()?.keys).toHaveLength(5_001);
    feed.endRun(2);
    expect([feed.keysAfter(0), feed.keysAfter(1), feed.keysAfter(2)]).toEqual([undefined, undefined, []]);
  });

  test('takes its number from where the other end is', () => {
    const { feed } = openFollowed();
    for (const run of ['a', 'b', 'c']) write(feed, run, [lead(run)]);
    feed.setLastRun(1);
    expect([feed.lastRun(), feed.keysAfter(0), feed.keysAfter(1)]).toEqual([1, [lead('a')], []]);
    write(feed, 'd', [lead('d')]);
    expect(feed.keysAfter(0)).toEqual([lead('a'), lead('d')]);
    feed.setLastRun(70);
    expect([feed.lastRun(), feed.keysAfter(2), feed.keysAfter(70)]).toEqual([70, undefined, []]);
    write(feed, 'e', [lead('e')]);
    expect([feed.lastRun(), feed.keysAfter(70)]).toEqual([71, [lead('e')]]);
  });
});

describe('the feed of a mirror from another time', () => {
  test('has everything due in a copy that is there, once, and its side counts as new', () => {
    const { feed, mirror } = openFollowed('1', '2');
    mirror.saveRecord({ ...titled('2', 'A'), presence: 'gone' });
    write(feed, 'a', [lead('1'), lead('2')]);
    const copy = opened[0]!.backUp(1_790_000_000_000);
    write(feed, 'b', []);
    close();
    copyFileSync(copy, mirrorFile(directory));

    const { mirror: restored } = open();
    expect([feedOf(restored).lastRun(), dueCount(feedOf(restored))]).toEqual([1, 0]);
    expect(restored.setFollowers(['warehouse'])).toEqual(['warehouse']);
    expect([dueIds(feedOf(restored)), feedOf(restored).lastRun()]).toEqual([['1'], 1]);
    expect(restored.setFollowers(['warehouse'])).toEqual([]);
  });

  test('waits a minute at most where the clock was set back, and its versions keep their order', () => {
    const { feed, mirror } = openFollowed('1', '2');
    const now = 1_790_000_000_500;
    const ahead = now + 3_600_000;
    const times = { observedAt: ahead, heardAt: ahead, lastSeenAt: ahead };
    mirror.saveRecord({ ...titled('1', 'B'), ...times });
    feed.putOff([lead('1')], ahead, 'refused');
    feed.putOff([lead('2')], now + 1_000, 'refused');
    close();
    const later = openMirror({ directory, now });
    opened.push(later);
    expect(later.timesCorrected).toBe(1);
    expect(later.mirror.findRecord(lead('1'))).toMatchObject({ observedAt: now, heardAt: now });
    const { shown } = feedOf(later.mirror).readStuck(9);
    expect(shown.map(({ dueAt }) => dueAt)).toEqual([now + 60_000, now + 1_000]);
    later.mirror.saveRecord({ ...titled('1', 'C'), observedAt: now + 5, heardAt: now + 6 });
    const [, last] = feedOf(later.mirror).readVersions(lead('1'));
    expect(last).toMatchObject({ validFrom: ahead, validUntil: ahead + 1 });
    expect(later.mirror.findVersion(lead('1'))).toMatchObject({ validFrom: ahead + 1, validAfter: now });
  });

  test('is empty in a file of a version that knew none, until a side follows', () => {
    const earlier = connect(mirrorFile(directory));
    migrate(earlier, migrations.slice(0, feedSchema - 1));
    earlier.execute(`INSERT INTO record (key, entity, fields, observedAt, firstSeenAt, lastSeenAt, missedSweeps, presence)
      VALUES ('lead-1', 'lead', '{"title":"A"}', 5, 4, 6, 0, 'present'), ('lead-2', 'lead', '{"title":"B"}', 5, 4, 6, 2, 'gone')`);
    earlier.close();
    const { mirror } = open();
    const record = { key: lead('1'), fields: { title: 'A' }, presence: 'present' };
    expect(mirror.findRecord(lead('1'))).toStrictEqual({
      ...{ ...record, observedAt: 5, firstSeenAt: 4, lastSeenAt: 6, missedSweeps: 0 },
    });
    expect([dueCount(feedOf(mirror)), mirror.allSides()]).toEqual([0, []]);
    mirror.setFollowers(['warehouse']);
    expect(dueIds(feedOf(mirror))).toEqual(['1']);
    expect(mirror.findVersion(lead('1'))).toMatchObject({ validFrom: 5, madeBy: 'crm' });
  });
});
