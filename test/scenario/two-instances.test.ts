import { describe, expect, test } from 'vitest';
import type { WakeUp, WorkQueue } from '../../src/core/ports.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { healthOf } from '../support/health.ts';
import { namedInstance } from '../support/instances.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { realClock } from '../support/real-clock.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';

const limits = { graceMs: 60_000, editAgeMs: 900_000, sweepAgeMs: 1_800_000 };

/** A daemon on the stage, with a time of its own. */
interface Daemon {
  readonly engine: SheetEngine;
  readonly link: SheetLink;
  /** Lets so much of its own time pass. */
  pass(ms: number): void;
  /** One look at the sheet. Returns what kept it from its work, or `works`. */
  look(): Promise<string>;
}

/** A clock whose time a test can let pass, and that shows another time of day. */
function createPassingClock(aheadMs = 0) {
  let passedMs = 0;
  const clock = {
    ...realClock,
    now: () => realClock.now() + aheadMs + passedMs,
    monotonicMs: () => realClock.monotonicMs() + passedMs,
  };
  const pass = (ms: number) => {
    passedMs += ms;
  };
  return { clock, pass };
}

const lookWith = (engine: SheetEngine) => () =>
  engine.cycle().then(
    () => 'works',
    (error: { readonly code?: string }) => error.code ?? String(error),
  );

/** The first daemon, which has filled the sheet. */
async function openFirst(changes: Partial<SheetLink> = {}): Promise<Daemon & { readonly stage: LeadsStage }> {
  const { clock, pass } = createPassingClock();
  const stage = await openLeadsStage('crm', { own: namedInstance('first'), clock, ...changes });
  const { engine, link } = stage;
  return { stage, engine, link, pass, look: lookWith(engine) };
}

interface Later {
  readonly name?: string;
  readonly aheadMs?: number;
  readonly changes?: Partial<SheetLink>;
}

/** Another daemon on the same spreadsheet, with a mirror of its own. */
async function openLater(
  stage: LeadsStage,
  { name = 'later', aheadMs, changes }: Later = {},
): Promise<Daemon> {
  const { clock, pass } = createPassingClock(aheadMs);
  const engine = stage.createEngine({
    own: namedInstance(name),
    mirror: openMirrorInMemory().mirror,
    queue: createInProcessQueue({ concurrency: 1, clock, log: stage.log }),
    table: stage.openTable(),
    clock,
    ...changes,
  });
  await engine.pullAll(() => {});
  return { engine, link: engine.link, pass, look: lookWith(engine) };
}

/** Without what was not read yet: no loop runs here. */
const conditionsOf = (engine: SheetEngine) =>
  healthOf(engine, limits)
    .read()
    .filter(({ name }) => name !== 'NOT_READ_YET');

/** Both look again and again for so long. Returns what the later one came to at the end. */
async function passTogether(daemons: readonly Daemon[], ms: number): Promise<string[]> {
  const stepMs = 30_000;
  let seen: string[] = [];
  for (let passed = 0; passed < ms; passed += stepMs) {
    for (const { pass } of daemons) pass(stepMs);
    seen = [];
    for (const { look } of daemons) seen.push(await look());
  }
  return seen;
}

const type = (stage: LeadsStage, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });

describe('of two daemons with separate state on one spreadsheet', () => {
  test('the later one writes nothing to the sheet or to the CRM for as long as the first one runs', async () => {
    const first = await openFirst();
    const { stage } = first;
    const later = await openLater(stage);
    const isWrite = ({ method }: { readonly method: string }) => method !== 'GET';
    const crmBefore = stage.model.requests().filter(isWrite).length;
    await type(stage, 'Typed while two run');
    // Ten minutes, in which the first one alone works.
    expect(await passTogether([first, later], 600_000)).toEqual(['works', 'SHEET_KEPT']);
    await stage.settle();
    expect(stage.model.requests().filter(isWrite)).toHaveLength(crmBefore + 1);
    expect(later.link.mirror.readOutbox()).toEqual([]);
    expect(later.engine.tally).toMatchObject({ cycles: 0, tableSteps: 0, crmWrites: 0 });
    await expect(later.engine.apply((await later.engine.plan()).run)).rejects.toMatchObject({
      code: 'SHEET_KEPT',
    });
  });

  test('each says who the other one is, and the later one is not ready', async () => {
    const first = await openFirst();
    const later = await openLater(first.stage);
    await passTogether([first, later], 150_000);
    later.engine.problems.begin('sheet', await later.engine.cycle().catch((error: unknown) => error));
    const [kept] = conditionsOf(later.engine).filter(({ name }) => name === 'SHEET_KEPT');
    expect(kept).toMatchObject({ makes: 'notReady' });
    expect(kept?.words).toContain(
      'Another daemon (host host-first, process 1, since 2026-01-01T00:00:00.000Z) keeps this sheet.',
    );
    const [awaited] = conditionsOf(first.engine);
    expect(awaited).toMatchObject({ name: 'SHEET_AWAITED', makes: 'degraded' });
    expect(awaited?.words).toContain('Another daemon (host host-later, process 1, ');
    await later.engine.stop(1_000);
    await first.look();
    expect(conditionsOf(first.engine)).toEqual([]);
  });

  test('the later one begins in the same moment in which the first one is stopped', async () => {
    const first = await openFirst();
    const later = await openLater(first.stage);
    expect(await later.look()).toBe('SHEET_KEPT');
    await first.engine.stop(1_000);
    expect(await later.look()).toBe('works');
  });

  test.each([
    ['whose clock is five hours ahead', 5 * 3_600_000],
    ['whose clock is five hours behind', -5 * 3_600_000],
  ])(
    'one %s takes the place of one that was killed, after 150 seconds and not before',
    async (_, aheadMs) => {
      const first = await openFirst();
      await passTogether([first], 120_000);
      const later = await openLater(first.stage, { aheadMs });
      expect(await later.look()).toBe('SHEET_KEPT');
      expect(await passTogether([later], 120_000)).toEqual(['SHEET_KEPT']);
      expect(await passTogether([later], 30_000)).toEqual(['works']);
      expect(await first.look()).toBe('SHEET_KEPT');
    },
  );

  test('the later one does not wait where it is proved that the first one is over', async () => {
    const first = await openFirst();
    const later = await openLater(first.stage, {
      changes: { own: namedInstance('later', ({ id }) => id === 'first') },
    });
    expect(await later.look()).toBe('works');
  });

  test('one of them works where both begin in the same moment, and the other one rests', async () => {
    const first = await openFirst();
    const { stage } = first;
    await first.engine.stop(1_000);
    const both = Promise.withResolvers<void>();
    let readers = 0;
    const together = (): Partial<SheetLink> => {
      const table = stage.openTable();
      const read: Table['read'] = async (layout) => {
        const observed = await table.read(layout);
        readers += 1;
        if (readers === 2) both.resolve();
        await both.promise;
        return observed;
      };
      return { table: { ...table, read } };
    };
    const daemons = [
      await openLater(stage, { name: 'one', changes: together() }),
      await openLater(stage, { name: 'other', changes: together() }),
    ];
    const seen = await Promise.all(daemons.map(({ look }) => look()));
    expect(seen.toSorted()).toEqual(['SHEET_KEPT', 'works']);
    expect(await passTogether(daemons, 300_000)).toEqual(seen);
  });

  test('one that was cut off for so long that the other has taken its place sends nothing any more', async () => {
    let wakeUp: WakeUp = async () => {};
    const queue: WorkQueue = {
      kind: 'inprocess',
      // It never comes to run, so that no loop does.
      start: (wake) => {
        wakeUp = wake;
        return new Promise(() => {});
      },
      add: async () => {},
      isReachable: async () => true,
      close: async () => {},
    };
    const first = await openFirst({ queue });
    const { engine, link, stage } = first;
    void engine.start();
    await type(stage, 'Typed before it was cut off');
    for (const _look of [1, 2]) await first.look();
    const [item] = link.mirror.readOutbox();
    expect(item?.state).toBe('waiting');
    const later = await openLater(stage);
    await passTogether([later], 180_000);
    first.pass(180_000);
    await wakeUp(item?.key ?? { entity: 'lead', id: '' });
    expect(stage.model.requests().filter(({ method }) => method === 'PUT')).toEqual([]);
    expect(await first.look()).toBe('SHEET_KEPT');
    await wakeUp(item?.key ?? { entity: 'lead', id: '' });
    expect(stage.model.requests().filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  test('neither writes more often than once a minute for saying that it lives', async () => {
    const first = await openFirst();
    const later = await openLater(first.stage);
    const writes = () => first.stage.sheetWrites();
    await passTogether([first, later], 120_000);
    const before = await writes();
    await passTogether([first, later], 600_000);
    expect((await writes()) - before).toBeLessThanOrEqual(2 * 10);
  });
});
