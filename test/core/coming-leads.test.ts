import { describe, expect, it } from 'vitest';
import { describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRecord, addRow, recordOf, rowOf, type World } from '../support/world.ts';
import { cycle, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf } from '../support/world-view.ts';

const leadsOfTasks = (world: World) =>
  [...world.crm.values()]
    .filter(({ key }) => key.entity === 'task')
    .map(({ fields }) => [fields['title'], fields['lead_id']]);

const addLead = (world: World, title: string) => addRow(world, 'lead', { title: textCell(title) });
const addTask = (world: World, title: string, lead: string) =>
  addRow(world, 'task', { title: textCell(title), lead_id: textCell(lead) });

describe('a row that names a lead by the title of a new row', () => {
  it('S2: goes to no older lead of that title, and asks which is meant', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    addLead(world, ' ACME');
    const task = addTask(world, 'Call', 'Acme');
    await cycle(world);
    await cycle(world);
    expect(syncOf(task)).toBe(
      'Error: “Acme” names several: Acme (#1), and a new row that has no ID of the CRM yet. Write which one, or wait for that ID.',
    );
    await settle(world);
    expect(leadsOfTasks(world)).toEqual([]);
    const made = [...world.crm.values()].find(({ fields }) => fields['title'] === ' ACME')?.key.id;
    task.cells['lead_id'] = textCell(`#${made}`);
    await settle(world);
    expect(leadsOfTasks(world)).toEqual([['Call', Number(made)]]);
  });

  it.each([
    ['an ID of another system', 90_017],
    ['the ID of the row that it was copied from', 2],
  ])('S2: goes to no older lead of that title either where that row has %s', async (_which, id) => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const lead = addLead(world, 'Acme');
    lead.id = numberCell(id);
    const task = addTask(world, 'Call', 'Acme');
    await settle(world);
    expect(syncOf(task)).toMatch(/^Error: “Acme” names several: Acme \(#1\), and a new row/);
    expect(leadsOfTasks(world)).toEqual([]);
    lead.id = emptyCell;
    await settle(world);
    expect(syncOf(task)).toBe(
      `Error: “Acme” names several: Acme (#1), Acme (#${describeCell(lead.id)}). Write which one.`,
    );
  });

  it('S2: is not moved to an older lead of that title', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const id = addRecord(world, 'task', { title: 'Call', lead_id: 2 });
    await settle(world);
    addLead(world, 'Acme');
    const key = { entity: 'task', id } as const;
    rowOf(world, key).cells['lead_id'] = textCell('Acme');
    await settle(world);
    expect(recordOf(world, key).fields['lead_id']).toBe(2);
    rowOf(world, key).cells['lead_id'] = textCell('Acme (#1)');
    await settle(world);
    expect(recordOf(world, key).fields['lead_id']).toBe(1);
  });

  it('says that it waits for the lead, and goes on by itself once that has its ID', async () => {
    const world = await worldWithLeads(['Acme']);
    addLead(world, 'Nova');
    const task = addTask(world, 'Call', 'nova');
    await cycle(world);
    await cycle(world);
    expect(syncOf(task)).toBe(
      'Error: The lead “nova” is a new row that has no ID of the CRM yet. This goes on once it has one.',
    );
    await settle(world);
    const [[, lead] = []] = leadsOfTasks(world);
    expect(describeCell(task.cells['lead_id']!)).toBe(`Nova (#${lead})`);
  });
});
