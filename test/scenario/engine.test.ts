import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { waitingStep } from '../../src/core/outbox.ts';
import { refusedScope } from '../../src/core/waiting/scopes.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { resync } from '../../src/sync/resync.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';

const counts = { leads: 6, opportunities: 2, tasks: 2 };

/** A stage whose tabs are laid out. */
async function openLaidOut(): Promise<LinkStage> {
  const stage = await openLinkStage(counts);
  await stage.layOut();
  return stage;
}

const isFilled = async (stage: LinkStage) => (await stage.readSheet())['Leads']?.length === counts.leads;

const editFirstTitle = (stage: LinkStage, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });

/** A running engine, and the record of which the CRM has refused an edit. */
async function openRefused() {
  const stage = await openLaidOut();
  const engine = stage.createEngine();
  await engine.start();
  await until('the sheet is filled', () => isFilled(stage));
  stage.setCrmFaults({ faults: [{ kind: 'status', method: 'PUT', status: 400, times: 1 }] });
  await editFirstTitle(stage, 'Refused');
  const findRefused = () => stage.link.mirror.readOutbox().find(({ state }) => state === 'refused');
  await until('the update is refused', async () => findRefused() !== undefined);
  const { key } = findRefused()!;
  return { engine, key, stage };
}

/** The mirror on a disk that is full as long as `isFull` says so: it can be read and not written. */
function onDisk(mirror: Mirror, isFull: () => boolean): Mirror {
  const written =
    <Given extends unknown[], Answer>(write: (...given: Given) => Answer) =>
    (...given: Given): Answer => {
      if (isFull()) throw new SyncError('STATE_FULL', 'The mirror can not grow.');
      return write(...given);
    };
  return {
    ...mirror,
    transaction: (work) => written(() => mirror.transaction(work))(),
    saveOutboxItem: written(mirror.saveOutboxItem),
    dropOutboxItem: written(mirror.dropOutboxItem),
    saveRecord: written(mirror.saveRecord),
  };
}

describe('an engine', () => {
  test('goes on by itself with an update whose answer met a full disk', async () => {
    const stage = await openLaidOut();
    let isFreed = false;
    const isFull = () => !isFreed && stage.model.requests().some(({ method }) => method === 'PUT');
    const engine = stage.createEngine({ mirror: onDisk(stage.link.mirror, isFull) });
    await engine.start();
    await until('the sheet is filled', () => isFilled(stage));
    await editFirstTitle(stage, 'Typed');
    await until('the full disk is told', async () =>
      engine.problems.list().some(({ code }) => code === 'STATE_FULL'),
    );
    expect(stage.link.mirror.readOutbox()).toMatchObject([{ kind: 'update', state: 'sending' }]);
    isFreed = true;
    await until('nothing is on its way', async () => stage.link.mirror.readOutbox().length === 0);
    await until('all is well', async () => engine.problems.list().length === 0);
  });

  test('goes on reading the CRM once a mirror that could not be read can be read again', async () => {
    const stage = await openLaidOut();
    const engine = stage.createEngine();
    const { mirror } = stage.link;
    const unreadable = vi.spyOn(mirror, 'readFact').mockImplementation(() => {
      throw new SyncError('STATE_BROKEN', 'The mirror is not readable.');
    });
    await engine.start();
    await until('it is told', async () => engine.problems.list().some(({ code }) => code === 'STATE_BROKEN'));
    unreadable.mockRestore();
    await until('the sheet is filled', () => isFilled(stage));
    await until('all is well', async () => engine.problems.list().length === 0);
  });

  test('lays out again what the CRM told while the tabs were laid out', async () => {
    const stage = await openLinkStage(counts);
    const { table } = stage.link;
    await table.layOut(currentLayout(stage.link), 'create');
    const laidOut: Layout[] = [];
    const engine = stage.createEngine({
      table: {
        ...table,
        async layOut(layout, mode) {
          laidOut.push(layout);
          if (laidOut.length === 1) await engine.pullAll(() => {});
          return table.layOut(layout, mode);
        },
      },
    });
    await engine.cycle();
    await engine.cycle();
    expect(laidOut.at(-1)).toMatchObject(currentLayout(stage.link));
  });

  test('leaves a sheet that fails alone for as long as it waits, whatever happens in the CRM', async () => {
    const stage = await openLinkStage(counts);
    const clock = createManualClock();
    let reads = 0;
    const engine = stage.createEngine({
      clock,
      backoff: { firstMs: 60_000, maxMs: 60_000 },
      random: () => 1,
      table: {
        ...stage.link.table,
        layOut: async () => ({ held: [], offered: [] }),
        async read() {
          reads += 1;
          throw newSheetError('SHEET_LIMITED', 'Too many reads.');
        },
      },
    });
    await engine.start();
    for (const _second of Array.from({ length: 59 })) {
      await clock.advance(1_000);
      engine.kick();
    }
    expect(reads).toBe(1);
    await clock.advance(1_000);
    expect(reads).toBe(2);
    const stopped = engine.stop(5_000);
    await clock.advance(5_000);
    await stopped;
  });

  test('looks less and less often for a create while the CRM does not list its records', async () => {
    const stage = await openLinkStage(counts);
    const { clock, mirror } = stage.link;
    const key = { entity: 'task', id: 'new-1' } as const;
    mirror.saveOutboxItem({ ...unknownCreate, key, dueAt: clock.now() });
    stage.setCrmFaults({
      faults: [{ kind: 'status', method: 'GET', path: '/tasks', status: 500, times: 10 }],
    });
    await pushRecord(stage.link, key);
    expect(mirror.findOutboxItem(key)).toMatchObject({ state: 'unknown', attempts: 2, looks: 0 });
    expect(mirror.findOutboxItem(key)?.dueAt).toBeGreaterThan(clock.now());
  });

  test('leaves the requests to the sweep that a create waits for once that was looked for often enough', async () => {
    const stage = await openLinkStage({ leads: 1, opportunities: 0, tasks: 0 });
    const { clock, mirror } = stage.link;
    const key = { entity: 'task', id: 'new-1' } as const;
    mirror.saveOutboxItem({ ...unknownCreate, key, dueAt: clock.now() });
    const push = async () => {
      const item = mirror.findOutboxItem(key);
      if (item) mirror.saveOutboxItem({ ...item, dueAt: 0 });
      await pushRecord(stage.link, key);
    };
    for (const _look of Array.from({ length: 6 })) await push();
    expect(stage.model.requests().filter(({ path }) => path.startsWith('/tasks'))).toHaveLength(2);
    expect(mirror.findOutboxItem(key)).toMatchObject({ state: 'unknown' });
    await stage.createEngine().pullAll(() => {});
    await push();
    expect(mirror.findOutboxItem(key)).toMatchObject({ state: 'waiting', looks: 0 });
  });
});

const unknownCreate = {
  kind: 'create',
  state: 'unknown',
  fields: { title: 'Call back' },
  base: {},
  notice: '',
  run: 'run-1',
  createdAt: 0,
  sentAt: 0,
  attempts: 1,
  looks: 0,
} as const;

describe('rows that move while they are written', () => {
  test('S2: are put right before anything is decided, even if the sheet fails meanwhile', async () => {
    const stage = await openLaidOut();
    const { table } = stage.link;
    let faults: FaultsInput | undefined;
    const engine = stage.createEngine({
      table: {
        ...table,
        async write(...write) {
          if (faults) await stage.setSheetFaults(faults);
          faults = undefined;
          return table.write(...write);
        },
      },
    });
    await engine.pullAll(() => {});
    await engine.cycle();
    const before = await stage.readCrm();
    const [first] = before.leads;
    await stage.editCrm(`/leads/${first?.id}`, { title: 'Changed in the CRM' });
    await engine.pullAll(() => {});
    faults = {
      beforeNextWrite: [{ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true }],
      failures: [unavailable],
    };
    await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
    for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
    const shown = (await stage.readSheet())['Leads'] ?? [];
    const titles = new Map((await stage.readCrm()).leads.map(({ id, title }) => [id, title]));
    expect(new Map(shown.map(({ ID, Title }) => [ID, Title]))).toEqual(titles);
    expect(stage.link.mirror.readOutbox()).toEqual([]);
  });

  test('S2: get back the formula that was in the row that the write met', async () => {
    const stage = await openLaidOut();
    const engine = stage.createEngine();
    await engine.pullAll(() => {});
    await engine.cycle();
    const { opportunities } = await stage.readCrm();
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Opportunities',
      row: opportunities.length,
      column: 'Value',
      text: '=1+1',
    });
    await engine.cycle();
    await engine.cycle();
    await stage.editCrm(`/opportunities/${opportunities[0]?.id}`, { value: 4711 });
    await engine.pullAll(() => {});
    await stage.setSheetFaults({
      beforeNextWrite: [{ kind: 'sort', sheet: 'Opportunities', column: 'ID', descending: true }],
    });
    for (const _cycle of Array.from({ length: 4 })) await engine.cycle();
    const shown = (await stage.readSheet())['Opportunities'] ?? [];
    expect(shown.find(({ ID }) => ID === opportunities.at(-1)?.id)?.['Value']).toBe(2);
    expect(stage.link.mirror.readOutbox()).toEqual([]);
  });

  const unavailable = { kind: 'unavailable', when: 'before', on: 'read' } as const;
});

test('a stop waits for the write to the sheet that a command began', async () => {
  const stage = await openLaidOut();
  const { table } = stage.link;
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ended: string[] = [];
  const engine = stage.createEngine({
    isManual: true,
    table: {
      ...table,
      async write(...write) {
        begun.resolve();
        await held.promise;
        return table.write(...write).finally(() => ended.push('write'));
      },
    },
  });
  await engine.pullAll(() => {});
  const applied = engine.apply((await engine.plan()).run);
  await begun.promise;
  const stopped = engine.stop(30_000).then(() => ended.push('stop'));
  // Whatever waits for nothing else has ended by then.
  await stage.readSheet();
  held.resolve();
  await stopped;
  expect(ended).toEqual(['write', 'stop']);
  expect(await applied).toEqual([]);
});

describe('a resync', () => {
  test('says what waits for a person', async () => {
    const stage = await openLaidOut();
    const engine = stage.createEngine();
    expect(await resync(engine, () => {})).toMatchObject({ state: 'done', waiting: 0 });
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: counts.leads });
    expect(await resync(engine, () => {})).toMatchObject({
      state: 'done',
      tableSteps: 1,
      crmWrites: 0,
      waiting: 1,
    });
  });

  test('does not call both sides the same where somebody types in a row without a pause', async () => {
    const stage = await openLaidOut();
    await resync(stage.createEngine(), () => {});
    const { table } = stage.link;
    let typed = 0;
    const engine = stage.createEngine({
      table: {
        ...table,
        async read(layout) {
          typed += 1;
          await editFirstTitle(stage, `Typed ${typed}`);
          return table.read(layout);
        },
      },
    });
    expect(await resync(engine, () => {})).toMatchObject({
      state: 'done',
      tableSteps: 0,
      crmWrites: 0,
      waiting: 1,
    });
  });

  test('counts what the CRM has done, not what it refused', async () => {
    const { engine, stage } = await openRefused();
    expect(engine.tally.crmWrites).toBe(0);
    await editFirstTitle(stage, 'Accepted');
    await until('the update is done', async () => stage.link.mirror.readOutbox().length === 0);
    expect(engine.tally.crmWrites).toBe(1);
  });

  test('says what the CRM refused as long as nobody ignores it', async () => {
    const { engine, key, stage } = await openRefused();
    const { clock, mirror } = stage.link;
    expect(await resync(engine, () => {})).toMatchObject({ crmWrites: 0, waiting: 1 });
    mirror.saveDecision({ scope: refusedScope(key), choice: 'ignore', at: clock.now() });
    expect(await resync(engine, () => {})).toMatchObject({ crmWrites: 0, waiting: 0 });
  });

  test('says nothing of what the CRM refused in a tab that is switched off', async () => {
    const { createEngine, link } = await openLaidOut();
    const { clock, mirror } = link;
    const key = { entity: 'contact', id: '1.one' } as const;
    const parts = { kind: 'update', fields: { full_name: 'Ann' }, base: { full_name: 'Anne' } } as const;
    const step = waitingStep({ now: clock.now(), run: 'one' }, key, parts);
    mirror.saveOutboxItem({ ...step, state: 'refused' });
    expect(await resync(createEngine(), () => {})).toMatchObject({ state: 'done', waiting: 0 });
  });

  test('fails in words, and nothing else does, where the mirror can not be read', async () => {
    const stage = await openLaidOut();
    const engine = stage.createEngine();
    vi.spyOn(stage.link.mirror, 'readRecords').mockImplementation(() => {
      throw new SyncError('STATE_BROKEN', 'The mirror is not readable.');
    });
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await resync(engine, () => {})).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('The mirror is not readable.'),
    });
  });

  test('ends when the daemon stops', async () => {
    const stage = await openLaidOut();
    const engine = stage.createEngine();
    stage.setCrmFaults({ latencyMs: 50 });
    const running = resync(engine, () => {});
    await engine.stop(0);
    expect(await running).toMatchObject({ state: 'failed', tableSteps: 0 });
  });
});
