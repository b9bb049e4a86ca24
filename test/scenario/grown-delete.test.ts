import { expect, test } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import { isOutgrown } from '../../src/sync/pushing/grown.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { pushHeldUp } from '../support/held-deletes.ts';
import { openLeadsStage } from '../support/leads-stage.ts';
import {
  addTask,
  asked,
  deleteWithTask,
  hasLead,
  makeTask,
  openMovedTask,
  otherThan,
} from '../support/leads-with-tasks.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { lead, storedRecord } from '../support/mirror-directory.ts';
import { until } from '../support/until.ts';

test.each(['a person', 'the configuration'])(
  'S1: a delete that %s decided is asked about anew where a colleague has added a task to its lead before it was sent',
  async (who) => {
    const rule = who === 'a person' ? 'ask' : 'trash';
    const stage = await openLeadsStage('crm', {}, rule);
    const { engine, link } = stage;
    const id = await stage.firstLead();
    const key = { entity: 'lead', id } as const;
    await engine.cycle();
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
    const answer = () =>
      link.mirror.saveDecision({ scope: `vanished:lead-${id}`, choice: 'trash', at: link.clock.now() });
    if (rule === 'ask') answer();
    for (const _turn of [1, 2]) await engine.cycle();
    expect(link.mirror.findOutboxItem(key)).toMatchObject({ kind: 'delete', state: 'waiting' });
    await addTask(stage, id);
    expect(await pushRecord(link, key)).toBe('noted');
    expect(await hasLead(stage, id)).toBe(true);
    expect(await asked(engine, id)).toEqual([expect.stringContaining('and 1 task with it')]);
    expect(link.mirror.findOutboxItem(key)).toBeUndefined();
    answer();
    for (const _turn of [1, 2]) await engine.cycle();
    expect(await pushRecord(link, key)).toBe('written');
    expect(await hasLead(stage, id)).toBe(false);
  },
);

test.each(['while the daemon was off', 'in the same moment'])(
  'S1: a delete that the configuration decided is asked about where a colleague has added a task to its lead %s: whoever deleted the row saw nothing of it',
  async (when) => {
    const stage = await openLeadsStage('crm', {}, 'trash');
    const { link } = stage;
    const id = await stage.firstLead();
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
    const engine = when === 'in the same moment' ? stage.engine : stage.createEngine(link);
    await addTask({ ...stage, engine }, id);
    for (const _turn of [1, 2]) await engine.cycle();
    expect(await pushRecord(link, { entity: 'lead', id })).toBe('noted');
    expect(await asked(engine, id)).toEqual([expect.stringContaining('and 1 task with it')]);
    expect(await hasLead(stage, id)).toBe(true);
  },
);

test('S1: a delete waits after a start until the lists are read that may hold what goes with it', async () => {
  const stage = await openLeadsStage('crm', {}, 'trash');
  const { link } = stage;
  const id = await stage.firstLead();
  const key = { entity: 'lead', id } as const;
  await makeTask(stage, id);
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  const unread = { kind: 'status', status: 503, path: '/tasks', method: 'GET', times: 1_000 } as const;
  stage.setCrmFaults({ faults: [unread] });
  const engine = stage.createEngine(link);
  await engine.start();
  await until('the delete is decided', async () => engine.tally.cycles >= 4);
  expect(await hasLead(stage, id)).toBe(true);
  expect(link.mirror.findOutboxItem(key)).toMatchObject({ kind: 'delete', state: 'waiting' });
  stage.setCrmFaults({ clear: true });
  const isAsked = () => engine.lastPlan?.holds.some(({ reason }) => reason.includes('and 1 task with it'));
  await until('it is asked about', async () => isAsked());
  expect(await hasLead(stage, id)).toBe(true);
});

test('a delete does not wait for a list that the key may not read', async () => {
  const stage = await openLeadsStage('crm', {}, 'trash');
  const id = await stage.firstLead();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  const closed = { kind: 'status', status: 403, path: '/tasks', method: 'GET', times: 1_000 } as const;
  stage.setCrmFaults({ faults: [closed] });
  await stage.createEngine(stage.link).start();
  await until('the lead is in the trash', async () => !(await hasLead(stage, id)));
});

test('a delete does not wait for a list that nobody can read, and of which nothing was ever known', async () => {
  const stage = await openLinkStage({ leads: 5, opportunities: 0, tasks: 0 });
  const { link } = stage;
  const unknown = { kind: 'status', status: 404, path: '/tasks', method: 'GET', times: 10_000 } as const;
  stage.setCrmFaults({ faults: [unknown] });
  await stage.layOut();
  const engine = stage.createEngine({ ...link, policy: { ...link.policy, vanishedRows: 'trash' } });
  await engine.start();
  const rows = async () => (await stage.readSheet())['Leads'] ?? [];
  await until('the tab is filled', async () => (await rows()).length === 5);
  const [first] = await rows();
  const key = { entity: 'lead', id: String(first?.['ID']) } as const;
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  await until('it is deleted', async () => link.mirror.findRecord(key)?.presence === 'gone');
});

test('S1: a delete is asked about where a colleague adds a task while it waits for its turn', async () => {
  const stage = await openLeadsStage('crm', {}, 'trash');
  const { engine, link } = stage;
  const id = await stage.firstLead();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  for (const _turn of [1, 2]) await engine.cycle();
  const { letGo } = pushHeldUp(link, { entity: 'lead', id });
  await addTask(stage, id);
  expect(await letGo()).toBe('noted');
  for (const _turn of [1, 2]) await engine.cycle();
  expect(await hasLead(stage, id)).toBe(true);
  expect(engine.lastPlan?.questions).toHaveLength(1);
});

test.each(['right before it was sent', 'and its row has shown that since'])(
  'S1: a delete is asked about anew where a colleague has moved a task to its lead since, %s',
  async (when) => {
    const stage = await openLeadsStage('crm', {}, 'trash');
    const { engine, link } = stage;
    const id = await stage.firstLead();
    const key = { entity: 'lead', id } as const;
    const other = otherThan(link, id);
    await addTask(stage, other);
    await stage.settle();
    const [task] = link.mirror.readRecords('task');
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
    for (const _turn of [1, 2]) await engine.cycle();
    expect(link.mirror.findOutboxItem(key)).toMatchObject({ kind: 'delete', state: 'waiting' });
    await stage.editCrm(`/tasks/${task?.key.id}`, { lead_id: Number(id) });
    await engine.pullAll(() => {});
    if (when !== 'right before it was sent') for (const _turn of [1, 2]) await engine.cycle();
    expect(await pushRecord(link, key)).toBe('noted');
    expect(await hasLead(stage, id)).toBe(true);
    expect(await asked(engine, id)).toEqual([expect.stringContaining('and 1 task with it')]);
  },
);

test('a delete that a person decided goes with a moved task whose row stands still: they are not asked again and again', async () => {
  const { agreement, engine, id, key, link } = await deleteWithTask('ask');
  expect(await asked(engine, id)).toEqual([expect.stringContaining('and 1 task with it')]);
  link.mirror.saveDecision({ scope: `vanished:lead-${id}`, choice: 'trash', at: link.clock.now() });
  for (const _turn of [1, 2]) await engine.cycle();
  if (agreement) link.mirror.saveAgreement({ ...agreement, fields: { ...agreement.fields, lead_id: 1 } });
  expect(await pushRecord(link, key)).toBe('written');
});

test('S1: a delete goes with the tasks of its lead where those were only edited since', async () => {
  const stage = await deleteWithTask('trash');
  const { engine, id, key, link, task } = stage;
  for (const _turn of [1, 2]) await engine.cycle();
  await stage.editCrm(`/tasks/${task.id}`, { title: 'Called back' });
  await engine.pullAll(() => {});
  for (const _turn of [1, 2]) await engine.cycle();
  expect(await pushRecord(link, key)).toBe('written');
  expect(await hasLead(stage, id)).toBe(false);
});

test('S1: a delete is asked about where a colleague has added a task while it waited for another one that the sheet moves away', async () => {
  const stage = await openMovedTask('trash');
  const { engine, id, key, link, task } = stage;
  await addTask(stage, id);
  for (const _turn of [1, 2, 3, 4]) await engine.cycle();
  expect(await pushRecord(link, task)).toBe('written');
  const movedAt = link.clock.now();
  for (const _turn of [1, 2, 3]) await engine.cycle();
  // It is late only if it waits for long from now on.
  expect(link.mirror.findOutboxItem(key)?.createdAt).toBeGreaterThanOrEqual(movedAt);
  expect(await pushRecord(link, key)).toBe('noted');
  expect(await asked(engine, id)).toEqual([expect.stringContaining('and 1 task with it')]);
  expect(await hasLead(stage, id)).toBe(true);
});

test('S1: a delete that a brake stopped is asked about where a colleague has added a task since, also where the daemon was started anew before somebody approves', async () => {
  const stage = await openLeadsStage('crm', {}, 'trash');
  const { engine, link } = stage;
  const id = await stage.firstLead();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 5 });
  for (const _turn of [1, 2, 3]) await engine.cycle();
  await addTask(stage, id);
  await engine.cycle();
  const next = stage.createEngine(link);
  await next.pullAll(() => {});
  for (const _turn of [1, 2, 3]) await next.cycle();
  const [brake] = next.lastPlan?.brakes ?? [];
  link.mirror.saveDecision({ scope: brake?.scope ?? '', choice: 'approve', at: link.clock.now() });
  for (const _turn of [1, 2, 3]) await next.cycle();
  await pushRecord(link, { entity: 'lead', id });
  expect(await asked(next, id)).toEqual([expect.stringContaining('and 1 task with it')]);
  expect(await hasLead(stage, id)).toBe(true);
});

test.each([
  ['for its row', 1],
  ['for all rows at once', 5],
])(
  'S1: a delete that a person decided %s is asked about where a colleague has added a task before the answer was read, as where the daemon was stopped right after it',
  async (_, count) => {
    const stage = await openLeadsStage();
    const { engine, link } = stage;
    const id = await stage.firstLead();
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count });
    for (const _turn of [1, 2, 3]) await engine.cycle();
    const [question] = engine.lastPlan?.questions ?? [];
    link.mirror.saveDecision({ scope: question?.scope ?? '', choice: 'trash', at: link.clock.now() });
    const next = stage.createEngine(link);
    await addTask({ ...stage, engine: next }, id);
    for (const _turn of [1, 2, 3]) await next.cycle();
    expect(await pushRecord(link, { entity: 'lead', id })).toBe('noted');
    expect(await asked(next, id)).toEqual([expect.stringContaining('and 1 task with it')]);
    expect(await hasLead(stage, id)).toBe(true);
  },
);

test('an undo that would take along what a colleague has added since is not done, and the history says why', async () => {
  const stage = await openLeadsStage();
  const { engine, link } = stage;
  const id = await stage.firstLead();
  const key = { entity: 'lead', id } as const;
  const base = link.mirror.findRecord(key)?.fields ?? {};
  const step = waitingStep({ now: link.clock.now(), run: 'undo' }, key, { kind: 'delete', fields: {}, base });
  link.mirror.saveOutboxItem({ ...step, isUndo: true });
  await addTask(stage, id);
  expect(await pushRecord(link, key)).toBe('noted');
  expect(await hasLead(stage, id)).toBe(true);
  expect(await asked(engine, id)).toEqual([]);
  expect(link.mirror.readDecisions()).toEqual([]);
  expect(link.mirror.findOutboxItem(key)).toBeUndefined();
  expect(link.mirror.searchJournal({ key, run: 'undo', limit: 10 })).toMatchObject([
    {
      kind: 'delete',
      side: 'crm',
      cause: 'not taken back: Something that was added in the CRM since would go with it.',
    },
  ]);
});

test('S1: a delete has grown also where the clock was set back by a restart after a colleague had added something', () => {
  const first = openMirrorInMemory();
  const now = Date.UTC(2026, 0, 5, 9);
  const ahead = now + 3_600_000;
  const step = { kind: 'delete', fields: {}, base: {} } as const;
  const item = waitingStep({ now: ahead, run: 'one' }, lead('1'), step);
  first.mirror.saveOutboxItem(item);
  first.mirror.saveRecord(storedRecord(lead('1')));
  const task = { entity: 'task', id: '2' } as const;
  first.mirror.saveRecord(
    storedRecord(task, { fields: { lead_id: 1 }, firstSeenAt: ahead + 1, observedAt: ahead + 1 }),
  );
  expect(isOutgrown(first.mirror, item)).toBe(true);
  const { mirror } = first.reopen(now);
  expect(isOutgrown(mirror, mirror.findOutboxItem(lead('1'))!)).toBe(true);
  mirror.close();
});
