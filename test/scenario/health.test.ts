import { describe, expect, onTestFinished, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { waitingStep } from '../../src/core/outbox.ts';
import { entities } from '../../src/core/record.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import type { Condition } from '../../src/sync/conditions.ts';
import { isAlive, isReady } from '../../src/sync/health.ts';
import { readUnderWay } from '../../src/sync/pushing/under-way.ts';
import { readStatus } from '../../src/sync/status.ts';
import { healthOf } from '../support/health.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';

const limits = { graceMs: 60_000, editAgeMs: 900_000, sweepAgeMs: 1_800_000 };
const minuteMs = 60_000;

/** An engine whose loops stand still and whose time a test moves, after its first read of everything. */
async function openReady(pauseMs?: () => number) {
  const stage = await openLinkStage({ leads: 12, opportunities: 2, tasks: 2 });
  await stage.layOut();
  const clock = createManualClock(Date.now());
  const engine = stage.createEngine({ clock });
  const health = healthOf(engine, limits, pauseMs);
  const unread = health.read();
  await engine.pullAll(() => {});
  await engine.cycle();
  // Its loop is not what is asked about.
  for (const runner of engine.runners) runner.expectedBy = Number.POSITIVE_INFINITY;
  return { clock, engine, health, stage, unread };
}

const namesIn = (conditions: readonly Condition[]) => conditions.map(({ name }) => name);

describe('health', () => {
  test('is not ready before everything was read once, and then has nothing to tell', async () => {
    const { health, unread } = await openReady();
    expect(unread).toMatchObject([{ name: 'NOT_READ_YET', makes: 'notReady' }]);
    expect(unread[0]?.words).toContain(
      "the CRM's Leads, the CRM's Opportunities, the CRM's Tasks, the spread",
    );
    expect({ isAlive: isAlive(unread), isReady: isReady(unread) }).toEqual({ isAlive: true, isReady: false });
    expect(health.read()).toEqual([]);
  });

  test('leaves out trouble that passes within its time, and counts it from its beginning when it stays', async () => {
    const { clock, engine, health } = await openReady();
    const began = clock.now();
    for (const source of ['crm:lead', 'crm:task']) {
      engine.problems.begin(source, new SyncError('CRM_UNREACHABLE', 'The CRM did not answer.'));
    }
    await clock.advance(minuteMs - 1);
    expect(health.read()).toEqual([]);
    await clock.advance(1);
    expect(health.read()).toMatchObject([{ name: 'CRM_UNREACHABLE', since: began, makes: 'notReady' }]);
    expect(health.read()[0]?.words).toMatch(/^crm:lead, crm:task: The CRM did not answer\./);
    for (const source of ['crm:lead', 'crm:task']) engine.problems.end(source);
    expect(health.read()).toEqual([]);
  });

  test('tells at once what only a person can mend', async () => {
    const { engine, health } = await openReady();
    engine.problems.begin('sheet', newSheetError('SHEET_FORBIDDEN', 'Not shared.'));
    expect(health.read()).toMatchObject([{ name: 'SHEET_FORBIDDEN', makes: 'notReady' }]);
    engine.problems.begin('crm', new SyncError('CRM_UNAUTHORIZED', 'Refused.'));
    expect(isAlive(health.read())).toBe(false);
  });

  test('says nothing that an unforeseen error says', async () => {
    const { engine, health } = await openReady();
    engine.problems.begin('sheet', new TypeError('svc_live_secret is not a function'));
    expect(health.read()).toMatchObject([{ name: 'UNEXPECTED', makes: 'notReady' }]);
    expect(health.read()[0]?.words).not.toContain('svc_live');
  });

  test('tells a sweep that is late, and none for the time in which no daemon ran', async () => {
    const { clock, engine, health, stage } = await openReady();
    await clock.advance(limits.sweepAgeMs - minuteMs);
    expect(health.read()).toEqual([]);
    await clock.advance(minuteMs);
    expect(health.read()).toMatchObject([{ name: 'SWEEP_LATE', makes: 'notReady' }]);
    expect(health.read()[0]?.words).toMatch(/Leads since .*, Opportunities since .*, Tasks since .* 30 min/);
    const successor = healthOf(stage.createEngine({ clock }), limits);
    expect(namesIn(successor.read())).toEqual(['NOT_READ_YET']);
    await engine.pullAll(() => {});
    expect(health.read()).toEqual([]);
  });

  test('tells an edit that waits too long, with its record and without its value', async () => {
    const { clock, engine, health, stage } = await openReady();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
    await until('the edit is taken', async () => {
      await clock.advance(1);
      await engine.cycle();
      return stage.link.mirror.readOutbox().length > 0;
    });
    await clock.advance(limits.editAgeMs - 1);
    expect(namesIn(health.read())).toEqual([]);
    await clock.advance(1);
    expect(health.read()).toMatchObject([
      {
        name: 'EDIT_LATE',
        makes: 'notReady',
        words: expect.stringMatching(/15 min.*: 1\. .* at lead \d+\.$/),
      },
    ]);
    expect(health.read()[0]?.words).not.toContain('Typed');
  });

  test('tells nothing of edits of contacts that were switched off: they rest until contacts are on again', async () => {
    const { clock, engine, health, stage } = await openReady();
    const key = { entity: 'contact', id: '1001.1' } as const;
    const parts = { kind: 'update', fields: { full_name: 'Ada' }, base: { full_name: 'Grace' } } as const;
    stage.link.mirror.saveOutboxItem(waitingStep({ now: clock.now(), run: 'before' }, key, parts));
    await clock.advance(limits.editAgeMs);
    expect(health.read()).toEqual([]);
    expect(readStatus(engine, undefined).entities.map(({ pending }) => pending)).toEqual([0, 0, 0]);
    expect(readUnderWay({ ...stage.link, entities })).toHaveLength(1);
  });

  test('tells a long pause that the CRM asks for until it ends, and stays ready', async () => {
    let pauseMs = limits.graceMs;
    const { clock, health } = await openReady(() => pauseMs);
    expect(health.read()).toEqual([]);
    pauseMs += 1;
    const since = clock.now();
    expect(health.read()).toMatchObject([{ name: 'CRM_PAUSE', since, makes: 'degraded' }]);
    await clock.advance(1_000);
    pauseMs = 1;
    expect(health.read()).toMatchObject([{ name: 'CRM_PAUSE', since }]);
    expect(isReady(health.read())).toBe(true);
    pauseMs = 0;
    expect(health.read()).toEqual([]);
  });

  test('tells a brake and other questions, each since it was first seen', async () => {
    const { clock, engine, health, stage } = await openReady();
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 2 });
    await engine.cycle();
    await engine.cycle();
    const since = clock.now();
    expect(health.read()).toMatchObject([{ name: 'QUESTIONS', since, makes: 'degraded' }]);
    await clock.advance(minuteMs);
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 7 });
    await engine.cycle();
    await engine.cycle();
    expect(health.read()).toMatchObject([{ name: 'BRAKE', since: since + minuteMs, makes: 'degraded' }]);
    expect(isReady(health.read())).toBe(true);
  });

  test.each<[string, PersonActionInput, RegExp]>([
    ['a tab that was deleted', { kind: 'deleteTab', sheet: 'Tasks' }, /The tab “Tasks” was deleted/],
    [
      'two columns of one name',
      { kind: 'renameHeader', sheet: 'Leads', column: 'City', text: 'Title' },
      /are both called “Title”/,
    ],
    [
      'a column that was deleted',
      { kind: 'deleteColumns', sheet: 'Leads', column: 'City' },
      /The column “City” of “Leads” is gone/,
    ],
  ])('tells %s until that is undone', async (_, action, words) => {
    const { clock, engine, health, stage } = await openReady();
    await stage.editSheet(action);
    await engine.cycle();
    const since = clock.now();
    const told = { name: 'HELD', since, makes: 'degraded', words: expect.stringMatching(words) };
    expect(health.read()).toMatchObject([told]);
    await clock.advance(minuteMs);
    expect(health.read()).toMatchObject([told]);
    await stage.editSheet({ kind: 'undo' });
    await engine.cycle();
    expect(health.read()).toEqual([]);
  });

  test('does not tell a column that nobody has to have, nor a row that says itself why it is held', async () => {
    const { clock, engine, health, stage } = await openReady();
    const { mirror } = stage.link;
    const catalog = mirror.readCatalog() ?? emptyCatalog;
    const offered = { key: 'shoe', name: 'Shoe size', kind: 'number', options: [] } as const;
    mirror.saveCatalog({ ...catalog, customFields: [...catalog.customFields, offered] });
    await stage.editSheet(
      { kind: 'edit', sheet: 'Leads', row: 13, column: 'ID', text: '4711' },
      { kind: 'edit', sheet: 'Leads', row: 13, column: 'Title', text: 'Of nobody' },
    );
    for (const _cycle of [1, 2, 3]) {
      await clock.advance(minuteMs);
      await engine.cycle();
    }
    expect(engine.lastPlan?.holds.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('no column for the CRM'),
      expect.stringContaining('4711'),
    ]);
    expect(namesIn(health.read())).toEqual([]);
  });

  test('fault 73: tells timers that are late all the time, until one comes in time, and no single gap', async () => {
    const { engine, stage } = await openReady();
    const time = createManualClock();
    let lateMs = 251;
    const sleep: typeof time.sleep = (ms, signal) => time.sleep(ms + lateMs, signal);
    const health = healthOf(stage.createEngine({ ...engine.link, clock: { ...time, sleep } }), limits);
    const isTold = () => namesIn(health.read()).includes('TIMERS_LATE');
    const looking = health.run();
    await time.advance(14 * 1_251);
    expect(isTold()).toBe(false);
    await time.advance(1_251);
    expect(health.read()).toContainEqual(expect.objectContaining({ name: 'TIMERS_LATE', makes: 'degraded' }));
    lateMs = 0;
    await time.advance(2_251);
    expect(isTold()).toBe(false);
    lateMs = 8 * 60 * minuteMs;
    await time.advance(2 * lateMs);
    expect(isTold()).toBe(false);
    health.stop();
    await time.advance(2 * lateMs);
    await looking;
  });

  test('is alive through a pause that the sheet asks for', async () => {
    const pausedMs = 10 * minuteMs;
    const read = async () => {
      throw newSheetError('SHEET_LIMITED', 'Too many requests.', { retryAfterMs: pausedMs });
    };
    const { clock, health } = await startWith(read);
    await clock.advance(pausedMs - 1);
    expect(health.read()).toMatchObject([
      { name: 'SHEET_LIMITED', makes: 'degraded' },
      { name: 'NOT_READ_YET' },
    ]);
  });

  test('is not alive when a cycle never ends', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { clock, health } = await startWith(() => promise);
    onTestFinished(() => reject(new Error('The test is over.')));
    const since = clock.now();
    await clock.advance(4 * minuteMs);
    expect(isAlive(health.read())).toBe(true);
    await clock.advance(minuteMs);
    expect(health.read()[0]).toMatchObject({ name: 'STUCK', since, makes: 'notAlive' });
    expect(isAlive(health.read())).toBe(false);
  });
});

/** Starts an engine that reads the sheet like this and does hardly anything else. */
async function startWith(read: Table['read']) {
  const stage = await openLinkStage({ leads: 0, opportunities: 0, tasks: 0 });
  const clock = createManualClock();
  const { link } = stage;
  const seldom = 60 * minuteMs;
  const times = { ...link.times, sweepMs: seldom, catalogMs: seldom, refillMs: seldom };
  const engine = stage.createEngine({ clock, times, table: { ...link.table, read } });
  await engine.start();
  return { clock, health: healthOf(engine, limits) };
}
