import { describe, expect, it } from 'vitest';
import { type Cell, describeCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  addRow,
  createWorld,
  recordOf,
  removeRecord,
  rowOf,
  type World,
} from '../support/world.ts';
import { settle } from '../support/world-daemon.ts';
import { syncOf } from '../support/world-view.ts';

const taskKey = (id: string) => ({ entity: 'task', id }) as const;
const leadKey = (id: string) => ({ entity: 'lead', id }) as const;

/** A world at rest with tasks of these titles, and their ids. */
async function worldWithTasks(
  ...titles: readonly string[]
): Promise<{ world: World; ids: readonly string[] }> {
  const world = createWorld();
  const ids = titles.map((title) => addRecord(world, 'task', { title, status: 1, priority: 1 }));
  await settle(world);
  return { world, ids };
}

/** Types the parent of a task; returns what the CRM has for it then, and what its row says. */
async function typeParent(world: World, id: string, cell: Cell) {
  rowOf(world, taskKey(id)).cells['parent_task_id'] = cell;
  await settle(world);
  return [recordOf(world, taskKey(id)).fields['parent_task_id'], syncOf(rowOf(world, taskKey(id)))];
}

describe('a parent task', () => {
  it.each([
    ['its title', () => textCell('  call BACK ')],
    ['its id with the sign of a number', (id: string) => textCell(`#${id}`)],
    ['its title and its id', (id: string) => textCell(`Call back (#${id})`)],
    ['its id as a text', (id: string) => textCell(id)],
    ['its id', (id: string) => numberCell(Number(id))],
  ])('is understood by %s, and its cell shows both', async (_what, cell) => {
    const { ids, world } = await worldWithTasks('Call back', 'Write minutes');
    const [parent = '', child = ''] = ids;
    const [known, says] = await typeParent(world, child, cell(parent));
    expect([known, says]).toEqual([Number(parent), expect.stringMatching(/^Synced /)]);
    expect(rowOf(world, taskKey(child)).cells['parent_task_id']).toEqual(textCell(`Call back (#${parent})`));
  });

  it('is the one with a bare number as its id, also where another task is called like that number', async () => {
    const { ids, world } = await worldWithTasks('Call back', 'Order 12', 'Write minutes');
    const [parent = '', other = '', child = ''] = ids;
    recordOf(world, taskKey(other)).fields = { ...recordOf(world, taskKey(other)).fields, title: parent };
    await settle(world);
    expect((await typeParent(world, child, numberCell(Number(parent))))[0]).toBe(Number(parent));
  });

  it('that several tasks are called like is refused with those that may be meant', async () => {
    const { ids, world } = await worldWithTasks('Call back', 'Call back', 'Write minutes');
    const [one, other, child = ''] = ids;
    expect(await typeParent(world, child, textCell('Call back'))).toEqual([
      null,
      `Error: “Call back” names several: Call back (#${one}), Call back (#${other}). Write which one.`,
    ]);
  });

  it('that no task is called like is refused, and a formula is told from a title', async () => {
    const { ids, world } = await worldWithTasks('Call back', 'Write minutes');
    const [, child = ''] = ids;
    expect((await typeParent(world, child, textCell('Call again')))[1]).toBe(
      'Error: No task is called “Call again”. Write its title or its id, like #42.',
    );
    expect((await typeParent(world, child, textCell('=A7')))[1]).toMatch(
      /^Error: Parent task holds a formula\./,
    );
  });

  it('that is called nearly so is suggested', async () => {
    const { ids, world } = await worldWithTasks('Call back', 'Write minutes');
    const [, child = ''] = ids;
    expect((await typeParent(world, child, textCell('Cal back')))[1]).toBe(
      `Error: No task is called “Cal back”. Did you mean Call back (#${ids[0]})?`,
    );
  });

  it('that nobody knows here is for the CRM to judge by its id', async () => {
    const { ids, world } = await worldWithTasks('Call back');
    const [child = ''] = ids;
    expect((await typeParent(world, child, textCell('#5001')))[0]).toBe(5001);
    expect(rowOf(world, taskKey(child)).cells['parent_task_id']).toEqual(textCell('#5001'));
  });

  it('whose cell shows its bare id, as earlier versions wrote it, is no edit', async () => {
    const { ids, world } = await worldWithTasks('Call back', 'Write minutes');
    const [parent = '', child = ''] = ids;
    await typeParent(world, child, textCell('Call back'));
    for (const [key, { shown: _shown, ...rest }] of world.agreements) world.agreements.set(key, rest);
    rowOf(world, taskKey(child)).cells['parent_task_id'] = numberCell(Number(parent));
    expect((await settle(world)).outbox.save).toEqual([]);
    expect(rowOf(world, taskKey(child)).cells['parent_task_id']).toEqual(textCell(`Call back (#${parent})`));
  });

  it('that is a new row itself is waited for, also where an older task is called the same', async () => {
    const { ids, world } = await worldWithTasks('Call back', 'Write minutes');
    const [older, child = ''] = ids;
    addRow(world, 'task', { title: textCell('Call back'), status: textCell('No such status') });
    expect((await typeParent(world, child, textCell('Call back')))[1]).toMatch(
      new RegExp(`names several: Call back \\(#${older}\\), and a new row that has no ID of the CRM yet`),
    );
  });

  it('whose title changes sends nothing for the rows that name it: they show the new one', async () => {
    const { ids, world } = await worldWithTasks('Call back', 'Write minutes');
    const [parent = '', child = ''] = ids;
    await typeParent(world, child, textCell('Call back'));
    recordOf(world, taskKey(parent)).fields = {
      ...recordOf(world, taskKey(parent)).fields,
      title: 'Call again',
    };
    expect((await settle(world)).outbox.save).toEqual([]);
    expect(recordOf(world, taskKey(child)).fields['parent_task_id']).toBe(Number(parent));
    expect(rowOf(world, taskKey(child)).cells['parent_task_id']).toEqual(textCell(`Call again (#${parent})`));
  });
});

describe('a lead', () => {
  it('that nothing is called like gets suggestions, of leads that are there alone', async () => {
    const world = createWorld();
    const titles = ['Green Lane GmbH', 'Green Lane Ltd', 'Green Lane (Zoë Weiß)', 'Green Lane & Sons'];
    const ids = titles.map((title) => addRecord(world, 'lead', { title }));
    const task = addRecord(world, 'task', { title: 'Call' });
    await settle(world);
    removeRecord(world, leadKey(ids[1] ?? ''));
    await settle(world);
    rowOf(world, taskKey(task)).cells['lead_id'] = textCell('green lane');
    await settle(world);
    expect(syncOf(rowOf(world, taskKey(task)))).toBe(
      'Error: No lead is called “green lane”. Did you mean Green Lane GmbH (#1), Green Lane & Sons (#4) or Green Lane (Zoë Weiß) (#3)?',
    );
  });
});

describe('a name in a column that takes ids of users', () => {
  const worldWithOwners = async (...owners: readonly (string | null)[]) => {
    const world = createWorld();
    const ids = owners.map((owner, index) =>
      addRecord(world, 'lead', { title: `Lead ${index}`, 'custom.owner': owner, 'custom.team': null }),
    );
    await settle(world);
    return { world, id: ids[0] ?? '' };
  };
  const type = async (world: World, id: string, field: string, text: string) => {
    rowOf(world, leadKey(id)).cells[field] = textCell(text);
    await settle(world);
    return [recordOf(world, leadKey(id)).fields[field], syncOf(rowOf(world, leadKey(id)))];
  };

  it('is refused with the ids that are known, before it is sent', async () => {
    const { id, world } = await worldWithOwners('9001', '9003', null);
    const known = 'takes ids, as the CRM has them. Ids that are known here: 9001, 9003.';
    expect(await type(world, id, 'custom.owner', 'Ewa Zielińska')).toEqual([
      '9001',
      `Error: “Ewa Zielińska” is not the id of a user. Owner ${known}`,
    ]);
    expect(await type(world, id, 'custom.owner', 'Ewa')).toEqual([
      '9001',
      `Error: “Ewa” is not the id of a user. Owner ${known}`,
    ]);
    const both = `Error: “Ewa” is not the id of a user. Owner ${known} “Ola” is not the id of a user. Team ${known}`;
    expect(await type(world, id, 'custom.team', '9003, Ola')).toEqual([null, both]);
  });

  it('is refused in a new row as well', async () => {
    const { world } = await worldWithOwners('9001');
    const row = addRow(world, 'lead', { title: textCell('Nova'), 'custom.owner': textCell('Ewa Zielińska') });
    await settle(world);
    expect([row.id.kind, syncOf(row)]).toEqual(['empty', expect.stringContaining('Owner takes ids')]);
  });

  it.each([
    ['9002', '9001'],
    ['u-77', '9001'],
    ['ewa.z@acme.example', 'ola@acme.example'],
    ['ewa', null],
  ])('but what may be an id is sent: %s, where %s is known', async (text, owner) => {
    const { id, world } = await worldWithOwners(owner);
    expect((await type(world, id, 'custom.owner', text))[0]).toBe(text);
  });

  it('stays where the CRM itself has one', async () => {
    const { id, world } = await worldWithOwners('Ewa Zielińska');
    expect(describeCell(rowOf(world, leadKey(id)).cells['custom.owner']!)).toBe('Ewa Zielińska');
    expect((await type(world, id, 'about.url', 'https://acme.example'))[1]).toMatch(/^Synced /);
  });
});
