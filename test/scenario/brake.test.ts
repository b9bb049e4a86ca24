import { expect, test, vi } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { entities } from '../../src/core/record.ts';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import { listProgress } from '../../src/sync/progress.ts';
import { readNextContacts } from '../../src/sync/reading/contacts.ts';
import { readStatus } from '../../src/sync/status.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

/** A filled sheet with an edit that waits in the outbox; nothing runs. */
async function stageWithWaitingEdit(): Promise<LinkStage> {
  const stage = await openLinkStage({ leads: 12, opportunities: 0, tasks: 1 });
  const engine = await stage.fill();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'About', text: 'Waits' });
  await engine.cycle();
  await until('the edit waits', async () => {
    await engine.cycle();
    return stage.link.mirror.readOutbox().length === 1;
  });
  return stage;
}

const updates = ({ model }: LinkStage) => model.requests().filter(({ method }) => method === 'PUT').length;

/** Writes the titles of three rows into each other's places. */
async function tearTitles(stage: LinkStage): Promise<() => Promise<void>> {
  const titles = ((await stage.readSheet())['Leads'] ?? []).slice(3, 6).map(({ Title }) => [String(Title)]);
  const [one, two, three] = titles;
  const paste = (rows: string[][]) =>
    stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 4, column: 'Title', rows });
  await paste([two ?? [], three ?? [], one ?? []]);
  return () => paste(titles);
}

test('S5: what waits is not sent while a brake holds, nor after a restart, and goes out when its cause is gone', async () => {
  const stage = await stageWithWaitingEdit();
  const putBack = await tearTitles(stage);
  // What was typed just now rests only at the second look.
  const engine = stage.createEngine();
  await engine.start();
  await until('the brake holds', async () => engine.lastPlan?.brakes.length === 1);
  const cycles = engine.tally.cycles;
  await until('more cycles went by', async () => engine.tally.cycles > cycles + 1);
  expect([updates(stage), stage.link.mirror.readOutbox().length]).toEqual([0, 1]);
  await putBack();
  await until('the edit arrived', async () => stage.link.mirror.readOutbox().length === 0);
  expect((await stage.readCrm()).leads.some((lead) => lead.meta_data?.about?.description === 'Waits')).toBe(
    true,
  );
});

test('S5: nothing is sent after a start before a cycle has looked at the sheet', async () => {
  const stage = await stageWithWaitingEdit();
  await stage.setSheetFaults({ failures: [{ kind: 'unavailable', when: 'before', on: 'read', times: 2 }] });
  const engine = stage.createEngine();
  await engine.start();
  await until('the sheet failed', async () =>
    engine.problems.list().some(({ source }) => source === 'sheet'),
  );
  expect([engine.lastPlan, updates(stage)]).toEqual([undefined, 0]);
  await until('the edit arrived', async () => stage.link.mirror.readOutbox().length === 0);
  expect(updates(stage)).toBe(1);
});

test('a tab that somebody filled before is not told to be filled while it waits for an answer about that', async () => {
  const stage = await openLinkStage({ leads: 30, opportunities: 0, tasks: 0 });
  await stage.layOut();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'From before' });
  const engine = stage.createEngine();
  await engine.pullAll(() => {});
  const told = () => {
    const status = readStatus(engine, undefined);
    return { scopes: status.brakes.map(({ scope }) => scope), progress: listProgress(status, []) };
  };
  expect(told().progress).toMatchObject([{ work: 'filling', title: 'Leads', done: 0, total: 30 }]);
  await engine.cycle();
  expect(told()).toEqual({ scopes: ['brake:lead:first'], progress: [] });
});

test('a tab that is left alone until somebody mends it is not told to be filled meanwhile', async () => {
  const stage = await openLinkStage({ leads: 30, opportunities: 0, tasks: 0 });
  await stage.layOut();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 0, column: 3, text: 'Title' });
  const engine = stage.createEngine();
  await engine.pullAll(() => {});
  await engine.cycle();
  const status = readStatus(engine, undefined);
  expect(status.holds).toMatchObject([
    { entity: 'lead', reason: expect.stringContaining('are both called') },
  ]);
  expect(listProgress(status, [])).toEqual([]);
});

/** A CRM with so many leads, and a tab in which somebody wrote some down before. */
async function stageWithList(leads: number): Promise<LinkStage> {
  const stage = await openLinkStage({ leads, opportunities: 0, tasks: 0 });
  await stage.layOut();
  const rows = ['Acme', 'Bolt', 'Cup'].map((title) => [title]);
  await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows });
  return stage;
}

test('S5: rows from before are no new records because the CRM listed nothing once', async () => {
  const stage = await stageWithList(5);
  stage.setCrmFaults({ faults: [{ kind: 'emptyList', path: '/leads' }] });
  const engine = stage.createEngine();
  await engine.pullAll(() => {});
  for (const _cycle of [1, 2, 3]) await engine.cycle();
  expect(engine.lastPlan?.brakes.map(({ scope }) => scope)).toEqual(['brake:lead:reading']);
  await engine.pullAll(() => {});
  for (const _cycle of [1, 2, 3]) await engine.cycle();
  expect(engine.lastPlan?.brakes.map(({ scope }) => scope)).toEqual(['brake:lead:first']);
  expect(stage.link.mirror.readOutbox()).toEqual([]);
});

test('S5: contacts from before are no new records because the CRM listed no lead once', async () => {
  const stage = await openLinkStage({ leads: 2, opportunities: 0, tasks: 0 });
  const link = { ...stage.link, entities };
  await stage.layOut(link);
  const [lead] = (await stage.readCrm()).leads;
  await stage.editSheet(
    { kind: 'paste', sheet: 'Contacts', row: 1, column: 'Name', rows: [['Ada']] },
    { kind: 'paste', sheet: 'Contacts', row: 1, column: 'Lead', rows: [[`#${lead?.['id']}`]] },
  );
  stage.setCrmFaults({ faults: [{ kind: 'emptyList', path: '/leads' }] });
  const engine = stage.createEngine(link);
  for (const _reading of [1, 2]) {
    await engine.pullAll(() => {});
    await readNextContacts(link, 'any');
    for (const _cycle of [1, 2, 3]) await engine.cycle();
  }
  expect(engine.lastPlan?.brakes.map(({ scope }) => scope)).toEqual(['brake:contact:first']);
  expect(link.mirror.readOutbox()).toEqual([]);
});

test('rows from before become records by themselves in a CRM that goes on listing nothing', async () => {
  const stage = await stageWithList(0);
  await stage.createEngine().start();
  await until('all are created', async () => (await stage.readCrm()).leads.length === 3);
});

test('S5: what waits is not sent over a brake either while the sheet takes no write of anything else', async () => {
  const stage = await stageWithWaitingEdit();
  const away = vi
    .spyOn(stage.link.crm, 'updateRecord')
    .mockRejectedValue(new SyncError('CRM_UNREACHABLE', 'The CRM is away.'));
  const engine = stage.createEngine({ backoff: { firstMs: 50, maxMs: 50 } });
  await engine.start();
  await until('the edit was tried', async () => away.mock.calls.length > 0);
  const refused = vi
    .spyOn(stage.link.table, 'write')
    .mockRejectedValue(newSheetError('SHEET_UNREACHABLE', 'The sheet takes nothing.')).mock.calls;
  const [task] = stage.model.records.tasks.live();
  await stage.editCrm(`/tasks/${task?.id}`, { title: 'Changed in the CRM' });
  await until('the sheet refused the task', async () => refused.length > 0);
  await tearTitles(stage);
  const torn = refused.length;
  await until('it was read since, and refused more', async () => refused.length > torn + 1);
  away.mockRestore();
  await until('it refused more', async () => refused.length > torn + 4);
  expect([updates(stage), stage.link.mirror.readOutbox().length]).toEqual([0, 1]);
});
