import { describe, expect, test } from 'vitest';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { listProgress } from '../../src/sync/progress.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { resync } from '../../src/sync/resync.ts';
import { readStatus } from '../../src/sync/status.ts';
import { undo } from '../../src/sync/undo.ts';
import { watchIdle } from '../support/idle-watch.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { serve } from '../support/served.ts';
import { findRow } from '../support/two-sides.ts';

/** A stage on which nothing is written by itself, filled by a first plan. */
async function openManualStage() {
  const stage = await openLeadsStage('ask', { isManual: true });
  expect(await stage.engine.apply((await stage.engine.plan()).run)).toEqual([]);
  await stage.settle();
  return stage;
}

const rename = (stage: LeadsStage, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });

test('with manual writes nothing is written on either side until a plan is applied, and then exactly that', async () => {
  const stage = await openLeadsStage('ask', { isManual: true });
  const before = await stage.titles();
  expect([before.sheet.size, before.crm.size]).toEqual([0, 5]);
  const plan = await stage.engine.plan();
  expect(plan.table.filter(({ write }) => write.kind === 'append')).toHaveLength(5);
  expect(await stage.engine.apply(plan.run)).toEqual([]);
  expect((await stage.titles()).sheet).toEqual(before.crm);
});

test('a plan of which nothing was begun, because the sheet did not answer, is kept and can be applied', async () => {
  const stage = await openLeadsStage('ask', { isManual: true });
  let isThere = true;
  const { link } = stage;
  const look: Table['look'] = (...asked) => {
    if (!isThere) throw newSheetError('SHEET_UNREACHABLE', 'Google did not answer.');
    return link.table.look(...asked);
  };
  const engine = stage.createEngine({ ...link, isManual: true, table: { ...link.table, look } });
  await engine.apply((await engine.plan()).run);
  await stage.editCrm(`/leads/${await stage.firstLead()}`, { title: 'Renamed' });
  await engine.pullAll(() => {});
  const { run } = await engine.plan();
  isThere = false;
  await expect(engine.apply(run)).rejects.toThrow(/^Google did not answer\.$/);
  isThere = true;
  expect(await engine.apply(run)).toEqual([]);
  expect([...(await stage.titles()).sheet.values()]).toContain('Renamed');
});

test('with manual writes nobody is told that the sides come together while a plan waits to be applied', async () => {
  const stage = await openLeadsStage('ask', { isManual: true });
  const { engine } = stage;
  const watch = watchIdle(engine);
  const look = async () => {
    watch.readStanding();
    await stage.settle();
    return watch.readStanding().state;
  };
  expect(await look()).toBe('planned');
  // As many as a progress is told of.
  const status = readStatus(engine, undefined);
  const entities = status.entities.map((each) => ({ ...each, recordsWanted: each.recordsWanted + 100 }));
  expect(listProgress({ ...status, entities }, watch.samples)).toEqual([]);
  await engine.apply((await engine.plan()).run);
  expect(await look()).toBe('inStep');
  await rename(stage, 'Renamed');
  expect(await look()).toBe('planned');
  await stage.disagree('Of the sheet', 'Of the CRM');
  expect(await look()).toBe('planned');
  expect(engine.lastPlan?.conflicts).toHaveLength(1);
  await engine.apply((await engine.plan()).run);
  expect(await look()).toBe('asking');
});

describe('with manual writes', () => {
  test('an edit waits, is sent once its plan is applied, and stands in the history under the id of the plan', async () => {
    const stage = await openManualStage();
    const id = await stage.firstLead();
    const old = (await stage.titles()).crm.get(id);
    await rename(stage, 'Renamed');
    await stage.settle();
    expect((await stage.titles()).crm.get(id)).toBe(old);
    const plan = await stage.engine.plan();
    expect(await stage.engine.apply(plan.run)).toEqual([]);
    await stage.settle();
    expect((await stage.titles()).crm.get(id)).toBe('Renamed');
    expect((await findRow(stage.addresses, 'lead', { ID: id }))?.['Sync']).toMatch(/^Synced/);
    await undo(stage.link, { run: plan.run });
    await stage.settle();
    expect((await stage.titles()).crm.get(id)).toBe(old);
  });

  test('a new row is created, gets its ID and says so after one plan', async () => {
    const stage = await openManualStage();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'New' });
    await stage.settle();
    const plan = await stage.engine.plan();
    expect(plan.table).toMatchObject([{ creates: { title: 'New' } }]);
    expect(await stage.engine.apply(plan.run)).toEqual([]);
    await stage.settle();
    const { crm, sheet } = await stage.titles();
    expect(crm.size).toBe(6);
    expect(sheet).toEqual(crm);
  });

  test('a record that was created goes again with the plan that created it', async () => {
    const stage = await openManualStage();
    const before = await stage.titles();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Not meant' });
    await stage.settle();
    const { run } = await stage.engine.plan();
    await stage.engine.apply(run);
    await stage.settle();
    expect((await stage.titles()).crm.size).toBe(6);
    expect(await undo(stage.link, { run })).toMatchObject({ steps: [{ kind: 'delete' }], refusals: [] });
    await stage.settle();
    expect((await stage.titles()).crm).toEqual(before.crm);
  });

  test('a new row gets its ID after one plan, also where the daemon was started anew in between', async () => {
    const stage = await openManualStage();
    const { engine, link } = stage;
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'New' });
    await stage.settle();
    await engine.apply((await engine.plan()).run);
    await engine.cycle();
    const [create] = link.mirror.readOutbox();
    expect(create).toMatchObject({ kind: 'create', state: 'waiting' });
    await pushRecord(link, create!.key, () => false);
    const again = stage.createEngine(link);
    await again.cycle();
    const { crm, sheet } = await stage.titles();
    expect(sheet).toEqual(crm);
    expect(again.lastPlan?.table).toHaveLength(1);
  });

  test('an edit that was sent after a restart says so in its row without another plan', async () => {
    const stage = await openManualStage();
    const { engine, link } = stage;
    const id = await stage.firstLead();
    await rename(stage, 'Renamed');
    await stage.settle();
    await engine.apply((await engine.plan()).run);
    expect((await findRow(stage.addresses, 'lead', { ID: id }))?.['Sync']).toMatch(/^Pending/);
    const again = stage.createEngine(link);
    await again.cycle();
    await pushRecord(link, { entity: 'lead', id }, () => false);
    await again.cycle();
    expect((await findRow(stage.addresses, 'lead', { ID: id }))?.['Sync']).toMatch(/^Synced/);
  });

  test('what the CRM refused is sent once more by the first plan that is applied after the answer “retry”', async () => {
    const stage = await openManualStage();
    const { engine, link } = stage;
    const id = await stage.firstLead();
    const key = { entity: 'lead', id } as const;
    await rename(stage, 'Renamed');
    await stage.settle();
    stage.setCrmFaults({ faults: [{ kind: 'status', method: 'PUT', status: 400, times: 1 }] });
    await engine.apply((await engine.plan()).run);
    await pushRecord(link, key, () => false);
    expect(link.mirror.findOutboxItem(key)).toMatchObject({ state: 'refused' });
    const answer = { scope: `refused:lead-${id}`, choice: 'retry', at: link.clock.now() };
    link.mirror.saveDecision(answer);
    await engine.cycle();
    expect(link.mirror.findOutboxItem(key)).toMatchObject({ state: 'refused' });
    expect(link.mirror.readDecisions()).toEqual([answer]);
    expect(await engine.apply((await engine.plan()).run)).toEqual([]);
    expect(link.mirror.readDecisions()).toEqual([]);
    await stage.settle();
    expect((await stage.titles()).crm.get(id)).toBe('Renamed');
  });

  test('a resync tells what waits for a plan', async () => {
    const stage = await openManualStage();
    const id = await stage.firstLead();
    await stage.editCrm(`/leads/${id}`, { title: 'Of the CRM' });
    const nothing = { state: 'done', tableSteps: 0, crmWrites: 0, waiting: 0 };
    expect(await resync(stage.engine, () => {})).toMatchObject({ ...nothing, unapplied: 1 });
    await stage.engine.apply((await stage.engine.plan()).run);
    await stage.settle();
    expect(await resync(stage.engine, () => {})).toMatchObject({ ...nothing, unapplied: 0 });
  });

  test('a row that moved while an applied plan was written is mended at once', async () => {
    const stage = await openManualStage();
    const id = await stage.firstLead();
    await stage.editCrm(`/leads/${id}`, { title: 'Of the CRM' });
    await stage.settle();
    const { run } = await stage.engine.plan();
    await stage.setSheetFaults({
      beforeNextWrite: [{ kind: 'sort', sheet: 'Leads', column: 'Title' }],
    });
    await stage.engine.apply(run);
    await stage.settle();
    const { crm, sheet } = await stage.titles();
    expect(new Map([...sheet].toSorted())).toEqual(new Map([...crm].toSorted()));
  });
});

describe('a plan', () => {
  test('is not applied once something moved, and the difference is told by record and field', async () => {
    const stage = await openManualStage();
    const id = await stage.firstLead();
    const old = (await stage.titles()).crm.get(id);
    await rename(stage, 'Renamed');
    await stage.settle();
    const { run } = await stage.engine.plan();
    await rename(stage, 'Renamed again');
    await stage.settle();
    expect(await stage.engine.apply(run)).toEqual([
      {
        place: `lead-${id} title in the CRM`,
        planned: `"${old}" → "Renamed"`,
        now: `"${old}" → "Renamed again"`,
      },
    ]);
    await stage.settle();
    expect((await stage.titles()).crm.get(id)).toBe(old);
    await rename(stage, 'Renamed');
    await stage.settle();
    expect(await stage.engine.apply(run)).toEqual([]);
  });

  test('is applied once, and of a plan that is not kept nobody knows', async () => {
    const stage = await openManualStage();
    await rename(stage, 'Renamed');
    await stage.settle();
    const { run } = await stage.engine.plan();
    expect(await stage.engine.apply(run)).toEqual([]);
    expect(await stage.engine.apply(run)).toBeUndefined();
  });

  test('that the sheet did not take is told to be begun, because the CRM gets its part', async () => {
    const stage = await openManualStage();
    const id = await stage.firstLead();
    const other = [...(await stage.titles()).crm.keys()].find((each) => each !== id);
    await rename(stage, 'Renamed');
    await stage.editCrm(`/leads/${other}`, { title: 'Of the CRM' });
    await stage.settle();
    const { run } = await stage.engine.plan();
    await stage.setSheetFaults({ failures: [{ kind: 'unavailable', when: 'before', times: 9 }] });
    await expect(stage.engine.apply(run)).rejects.toMatchObject({
      code: 'SHEET_UNREACHABLE',
      message: expect.stringMatching(
        `^Plan ${run} was begun, .* undo --run ${run} .*\\. Could not write to the spreadsheet`,
      ),
    });
    await stage.setSheetFaults({});
    await stage.settle();
    expect((await stage.titles()).crm.get(id)).toBe('Renamed');
  });

  test('that could not be compared, because the sheet was not read, waits as it was', async () => {
    const stage = await openManualStage();
    await rename(stage, 'Renamed');
    await stage.settle();
    const { run } = await stage.engine.plan();
    await stage.setSheetFaults({ failures: [{ kind: 'unavailable', when: 'before', on: 'read', times: 9 }] });
    await expect(stage.engine.apply(run)).rejects.toMatchObject({
      message: expect.not.stringContaining('begun'),
    });
    await stage.setSheetFaults({});
    expect(await stage.engine.apply(run)).toEqual([]);
  });

  test('that was done by itself meanwhile is told to be', async () => {
    const stage = await openLeadsStage();
    const id = await stage.firstLead();
    await stage.editCrm(`/leads/${id}`, { title: 'Of the CRM' });
    await stage.engine.pullAll(() => {});
    const { run } = await stage.engine.plan();
    await stage.settle();
    expect(await stage.engine.apply(run)).toMatchObject([{ place: `lead-${id} title in the sheet` }]);
  });

  test('tells over HTTP what is not known yet, and nothing of it once it is', async () => {
    const stage = await openManualStage();
    const engine = stage.createEngine(stage.link);
    const { post } = await serve(engine);
    expect(await post('/api/plan', {})).toMatchObject({ body: { conditions: [{ name: 'NOT_READ_YET' }] } });
    await engine.cycle();
    expect(await post('/api/plan', {})).toMatchObject({ body: { conditions: [] } });
  });

  test('is asked for and applied over HTTP, where wrong bodies are refused with one sentence', async () => {
    const stage = await openManualStage();
    const { post } = await serve(stage.engine);
    await rename(stage, 'Renamed');
    await stage.settle();
    const { id } = (await post('/api/plan', {})).body as { readonly id: string };
    expect(await post('/api/apply', { id })).toEqual({
      status: 200,
      body: { id, isApplied: true, differences: [] },
    });
    expect(await post('/api/apply', { id })).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining(`There is no plan ${id}`) },
    });
    for (const path of ['/api/apply', '/api/plan', '/api/resync', '/api/backup', '/api/answer', '/api/undo'])
      expect(await post(path, { nonsense: true })).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^The request is not what this takes: [^\n]+\.$/) },
      });
  });
});
