import { beforeEach, describe, expect, it } from 'vitest';
import { type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  addRow,
  createWorld,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, push, settle } from '../support/world-daemon.ts';

const taskCount = 12;

/** Two leads; the first has an opportunity and many tasks, one of them a subtask of another. */
interface Stage {
  readonly world: World;
  readonly lead: RecordKey;
  readonly opportunity: RecordKey;
  readonly tasks: readonly RecordKey[];
}

async function setStage(): Promise<Stage> {
  const world = createWorld();
  const lead = leadKey(addRecord(world, 'lead', { title: 'Acme' }));
  addRecord(world, 'lead', { title: 'Beta' });
  const lead_id = Number(lead.id);
  const opportunity = {
    entity: 'opportunity',
    id: addRecord(world, 'opportunity', { lead_id, stage_id: 12 }),
  } as const;
  const tasks = Array.from({ length: taskCount }, (_, index) => {
    const id = addRecord(world, 'task', { title: `Task ${index}`, lead_id });
    return { entity: 'task', id } as const;
  });
  await settle(world);
  return { world, lead, opportunity, tasks };
}

/** What the CRM does when a lead is trashed. */
function takeAlong({ world, opportunity, tasks }: Stage): void {
  for (const key of [opportunity, ...tasks]) removeRecord(world, key);
}

const rowIds = ({ sheet }: World) =>
  [sheet.lead, sheet.opportunity, sheet.task].map((rows) => rows.map(({ id }) => describeCell(id)));

describe('a lead that is trashed', () => {
  let stage: Stage;
  let world: World;
  beforeEach(async () => {
    stage = await setStage();
    world = stage.world;
  });

  it('says what goes with it before a person agrees', async () => {
    removeRow(world, stage.lead);
    expect((await settle(world)).holds).toMatchObject([
      {
        id: '1',
        reason:
          'Its row is gone from the sheet. Trash moves the record to the trash of the CRM and 1 opportunity and 12 tasks with it, Restore brings the row back.',
      },
    ]);
  });

  it('says so also where a brake asks about many of them at once', async () => {
    const { brakes } = world.policy;
    const strict = { ...world, policy: { ...world.policy, brakes: { ...brakes, deletesMin: 0 } } };
    removeRow(strict, stage.lead);
    expect((await settle(strict)).brakes).toMatchObject([
      {
        scope: 'brake:lead:vanished',
        reason:
          '1 of 2 rows are gone from the sheet; 0 may go at once. Trash would take along what belongs to them: opportunities and tasks.',
      },
    ]);
    removeRow(strict, leadKey(2));
    expect((await settle(strict)).brakes).toMatchObject([
      {
        scope: 'brake:lead:emptied',
        reason:
          'All 2 rows are gone from the sheet. Trash would take along what belongs to them: opportunities and tasks.',
      },
    ]);
  });

  it('S4: takes the rows of what went with it along, and trips no brake for them', async () => {
    removeRecord(world, stage.lead);
    takeAlong(stage);
    expect((await settle(world)).brakes).toEqual([]);
    expect(rowIds(world)).toEqual([['2'], [], []]);
  });

  it('S5: keeps those rows while too many leads are gone themselves', async () => {
    const strict = {
      ...world,
      policy: { ...world.policy, brakes: { ...world.policy.brakes, deletesMin: 0 } },
    };
    removeRecord(strict, stage.lead);
    takeAlong(stage);
    const plan = await settle(strict);
    expect(plan.brakes.map(({ scope }) => scope)).toEqual([
      'brake:lead:gone',
      'brake:opportunity:gone',
      'brake:task:gone',
    ]);
    expect(plan.table).toEqual([]);
  });

  it('keeps a row that was edited meanwhile, and does not offer to make it anew without its lead', async () => {
    const [task] = stage.tasks;
    removeRecord(world, stage.lead);
    takeAlong(stage);
    rowOf(world, task!).cells['title'] = textCell('Edited');
    const { holds } = await settle(world);
    expect(holds).toMatchObject([{ entity: 'task', reason: expect.stringContaining('Restore it there') }]);
    expect(holds[0]?.reason).not.toContain('create it again');
  });

  it('leaves nothing to ask about rows that were deleted with its own', async () => {
    for (const key of [stage.lead, stage.opportunity, ...stage.tasks]) removeRow(world, key);
    await settle(world);
    world.decisions.set('vanished:lead-1', 'trash');
    await cycle(world);
    expect(await cycle(world)).toMatchObject({ brakes: [], holds: [] });
    await push(world);
    takeAlong(stage);
    expect(await cycle(world)).toMatchObject({ brakes: [], holds: [] });
    expect(await settle(world)).toMatchObject({ brakes: [], holds: [] });
    expect(rowIds(world)).toEqual([['2'], [], []]);
  });

  it('has no say over what the CRM kept without it', async () => {
    removeRow(world, stage.lead);
    removeRow(world, stage.opportunity);
    await settle(world);
    world.decisions.set('vanished:lead-1', 'trash');
    await settle(world);
    await pull(world);
    expect((await cycle(world)).holds).toMatchObject([
      { entity: 'opportunity', decision: 'vanished:opportunity-3' },
    ]);
  });
});

describe('S1: where somebody moves the tasks of a lead to another one and deletes its row, the rule trash', () => {
  /** The task's row names another lead, and the row of its own is gone. */
  async function moveAndDelete(lead: string) {
    const { world, lead: key, tasks } = await setStage();
    const [task] = tasks;
    rowOf(world, task!).cells['lead_id'] = textCell(lead);
    removeRow(world, key);
    return {
      key,
      task: task!,
      world: { ...world, policy: { ...world.policy, vanishedRows: 'trash' as const } },
    };
  }
  const sent = ({ outbox }: World) => [...outbox.values()].map(({ kind, key }) => `${kind} ${key.entity}`);

  it('waits until they are moved', async () => {
    const { key, task, world } = await moveAndDelete('#2');
    await cycle(world);
    const plan = await cycle(world);
    expect([plan.holds, sent(world)]).toEqual([[], ['update task']]);
    await push(world);
    expect(recordOf(world, task).fields['lead_id']).toBe(2);
    for (const _turn of [1, 2]) await cycle(world);
    expect(sent(world)).toEqual(['delete lead']);
    await push(world);
    expect(world.crm.has(recordKeyText(key))).toBe(false);
  });

  it('asks where the other one is not there yet', async () => {
    const { task, world } = await moveAndDelete('A lead to come');
    addRow(world, 'lead', { title: textCell('A lead to come') });
    for (const _turn of [1, 2]) await cycle(world);
    expect((await cycle(world)).holds).toMatchObject([{ decision: 'vanished:lead-1' }]);
    expect(sent(world)).not.toContain('delete lead');
    await settle(world);
    expect(recordOf(world, task).fields['lead_id']).toBe(world.given.count);
    expect(world.crm.has('lead-1')).toBe(false);
  });

  it.each([
    ['can not be sent', { lead_id: emptyCell }, {}],
    ['is not sent because the row is paused', { lead_id: textCell('#2') }, { isPaused: true }],
  ])('asks where what somebody typed there %s', async (_why, cells, pause) => {
    const { world, lead, opportunity } = await setStage();
    const withRule = { ...world, policy: { ...world.policy, vanishedRows: 'trash' as const } };
    const row = rowOf(withRule, opportunity);
    Object.assign(row.cells, cells);
    Object.assign(row, pause);
    removeRow(withRule, lead);
    for (const _turn of [1, 2, 3]) await cycle(withRule);
    const asked = (await cycle(withRule)).holds.flatMap(({ decision }) => decision ?? []);
    expect([asked, sent(withRule)]).toEqual([['vanished:lead-1'], []]);
  });

  it('asks where the row of a task was wiped but for its ID, so that nothing of it is sent', async () => {
    const { key, task, world } = await moveAndDelete('');
    const { cells } = rowOf(world, task);
    for (const name of Object.keys(cells)) cells[name] = emptyCell;
    for (const _turn of [1, 2, 3]) await cycle(world);
    const asked = (await cycle(world)).holds.flatMap(({ decision }) => decision ?? []);
    expect([asked, sent(world)]).toEqual([['vanished:lead-1'], []]);
    world.decisions.set('vanished:lead-1', 'trash');
    await settle(world);
    expect(world.crm.has(recordKeyText(key))).toBe(false);
  });

  it('takes a delete back that waits already', async () => {
    const { key, task, world } = await moveAndDelete('#1');
    for (const _turn of [1, 2]) await cycle(world);
    expect(sent(world)).toEqual(['delete lead']);
    rowOf(world, task).cells['lead_id'] = textCell('#2');
    await cycle(world);
    expect(sent(world)).toEqual([]);
    await settle(world);
    expect(recordOf(world, task).fields['lead_id']).toBe(2);
    expect(world.crm.has(recordKeyText(key))).toBe(false);
  });
});

it('a task says that its subtasks go with it', async () => {
  const world = createWorld();
  const parent = addRecord(world, 'task', { title: 'Whole' });
  addRecord(world, 'task', { title: 'Part', parent_task_id: Number(parent) });
  await settle(world);
  expect(rowOf(world, { entity: 'task', id: parent }).id).toEqual(numberCell(1));
  removeRow(world, { entity: 'task', id: parent });
  expect((await settle(world)).holds).toMatchObject([
    { reason: expect.stringContaining('and 1 task with it') },
  ]);
});

it('what a lost row means may differ from tab to tab', async () => {
  const { world, opportunity, tasks } = await setStage();
  const { policy } = world;
  const { lead, opportunity: ofOpportunities, task } = policy.tabs;
  const tabs = {
    ...policy.tabs,
    lead: { ...lead, vanishedRows: 'ask' as const },
    opportunity: { ...ofOpportunities, vanishedRows: 'trash' as const },
    task: { ...task },
  };
  const mixed = { ...world, policy: { ...policy, vanishedRows: 'restore' as const, tabs } };
  const [someTask] = tasks;
  for (const key of [leadKey(2), opportunity, someTask!]) removeRow(mixed, key);
  expect((await settle(mixed)).holds).toMatchObject([{ decision: 'vanished:lead-2' }]);
  expect(mixed.crm.has('opportunity-3')).toBe(false);
  expect(rowOf(mixed, someTask!).cells['title']).toEqual(textCell('Task 0'));
});
