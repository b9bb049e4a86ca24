import { describe, expect, it } from 'vitest';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  changeRecord,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  restart,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, push, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';
import { expectNoWrites, sheetIds } from '../support/world-view.ts';

const acme = leadKey(1);
const three = ['Acme', 'Beta', 'Gamma'];
const many = Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`);
const crmIds = (world: World) => [...world.crm.values()].map(({ key }) => key.id);

const loseRows = (world: World, count: number) => {
  for (let id = 1; id <= count; id += 1) removeRow(world, leadKey(id));
};
const loseRecords = (world: World, count: number) => {
  for (let id = 1; id <= count; id += 1) removeRecord(world, leadKey(id));
};

describe('a row that vanished', () => {
  it('S4: concludes nothing from one read', async () => {
    const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
    removeRow(world, acme);
    const plan = await cycle(world);
    expectNoWrites(plan);
    expect([plan.restlessRows, plan.holds]).toEqual([1, []]);
  });

  it('that comes back in the next read was never gone', async () => {
    const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
    const [row] = world.sheet.lead.splice(0, 1);
    await cycle(world);
    world.sheet.lead.push(row!);
    await settle(world);
    expect(crmIds(world)).toEqual(['1', '2', '3']);
  });

  it('waits for a person, and the CRM keeps its record', async () => {
    const world = await worldWithLeads(three);
    removeRow(world, acme);
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([{ entity: 'lead', id: '1', decision: 'vanished:lead-1' }]);
    expect(crmIds(world)).toEqual(['1', '2', '3']);
  });

  it.each([
    ['the person', {}, 'trash'],
    ['the configuration', { vanishedRows: 'trash' as const }, undefined],
  ])('is moved to the trash of the CRM when %s says so', async (_who, policy, choice) => {
    const world = await worldWithLeads(three, { policy });
    removeRow(world, acme);
    if (choice) world.decisions.set('vanished:lead-1', choice);
    await settle(world);
    expect([crmIds(world), sheetIds(world)]).toEqual([
      ['2', '3'],
      ['2', '3'],
    ]);
    expect([...world.agreements.keys(), ...world.decisions.keys(), ...world.outbox.keys()]).toEqual([
      'lead-2',
      'lead-3',
    ]);
    expect(journalOf(world)).toContainEqual(
      expect.objectContaining({
        kind: 'delete',
        side: 'crm',
        before: expect.objectContaining({ title: 'Acme' }),
      }),
    );
  });

  it.each([
    ['the person', {}, 'restore'],
    ['the configuration', { vanishedRows: 'restore' as const }, undefined],
  ])('comes back when %s says so', async (_who, policy, choice) => {
    const world = await worldWithLeads(three, { policy });
    removeRow(world, acme);
    if (choice) world.decisions.set('vanished:lead-1', choice);
    await settle(world);
    expect([crmIds(world), sheetIds(world)]).toEqual([
      ['1', '2', '3'],
      ['2', '3', '1'],
    ]);
    expect([...world.decisions]).toEqual([]);
  });

  it.each([
    ['the person', 'ask'],
    ['the configuration', 'trash'],
  ] as const)(
    'is asked about as long as the key may not delete its record, although %s said trash',
    async (_who, rule) => {
      const world = await worldWithLeads(three, { policy: { vanishedRows: rule } });
      removeRow(world, acme);
      if (rule === 'ask') world.decisions.set('vanished:lead-1', 'trash');
      for (const _turn of [1, 2]) await cycle(world);
      const message =
        'DELETE /leads/1 needs the scope delete:leads and was answered 403: Insufficient scope.';
      refuse(world, { error: { code: 'CRM_FORBIDDEN', message } });
      const plan = await cycle(world);
      expect(plan.holds).toMatchObject([{ id: '1', decision: 'vanished:lead-1' }]);
      expect(plan.holds[0]?.reason).toContain('delete:leads');
      expect([...world.outbox.values()]).toMatchObject([{ kind: 'delete', state: 'waiting' }]);
      world.decisions.set('vanished:lead-1', 'restore');
      await cycle(world);
      expect([sheetIds(world), [...world.outbox]]).toEqual([['2', '3', '1'], []]);
    },
  );

  it('S1: is still asked about while it is tried again whether the key may delete its record, and an answer of that moment counts', async () => {
    const world = await worldWithLeads(three, { policy: { questionsTitle: 'Conflicts' } });
    removeRow(world, acme);
    world.decisions.set('vanished:lead-1', 'trash');
    for (const _turn of [1, 2]) await cycle(world);
    const error = { code: 'CRM_FORBIDDEN', message: 'Insufficient scope.' } as const;
    refuse(world, { error });
    await cycle(world);
    const [question] = world.sheet.question;
    refuse(world, { error, state: 'sending' });
    if (question) question.cells['choose'] = textCell('Restore');
    await cycle(world);
    for (const [key, item] of world.outbox) world.outbox.set(key, { ...item, state: 'waiting' });
    await cycle(world);
    expect([sheetIds(world), [...world.outbox]]).toEqual([['2', '3', '1'], []]);
  });

  it.each([
    ['the person', 'ask'],
    ['the configuration', 'restore'],
  ] as const)(
    'comes back in its turn where many do, as %s wants: no cycle adds more rows than it may',
    async (who, rule) => {
      const titles = Array.from({ length: 5 }, (_, index) => `Lead ${index + 1}`);
      const world = await worldWithLeads(titles, { policy: { vanishedRows: rule, appendsMax: 2 } });
      loseRows(world, 4);
      for (const id of [1, 2, 3, 4])
        if (who === 'the person') world.decisions.set(`vanished:lead-${id}`, 'restore');
      const appended: number[] = [];
      for (const _cycle of [1, 2, 3, 4])
        appended.push((await cycle(world)).table.filter(({ write }) => write.kind === 'append').length);
      expect(appended).toEqual([0, 2, 2, 0]);
      expect(sheetIds(world)).toEqual(['5', '1', '2', '3', '4']);
      await settle(world);
      expect([crmIds(world).length, ...world.decisions]).toEqual([5]);
    },
  );

  it('S4: comes back when its record was edited in the CRM, because a delete never beats an edit', async () => {
    const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
    removeRow(world, acme);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await settle(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme GmbH');
    expect(rowOf(world, acme).cells['title']).toEqual(textCell('Acme GmbH'));
  });

  it('S4: is not deleted when the CRM’s record is edited after the delete was decided', async () => {
    const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
    removeRow(world, acme);
    await cycle(world);
    expect((await cycle(world)).outbox.save).toMatchObject([{ kind: 'delete', base: { title: 'Acme' } }]);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await push(world);
    await settle(world);
    expect(rowOf(world, acme).cells['title']).toEqual(textCell('Acme GmbH'));
  });

  it.each(['ask', 'restore'] as const)(
    'S4: is not deleted any more when the policy becomes “%s” before the delete was sent',
    async (vanishedRows) => {
      const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
      removeRow(world, acme);
      await cycle(world);
      await cycle(world);
      expect([...world.outbox.values()]).toMatchObject([{ kind: 'delete', state: 'waiting' }]);
      await cycle({ ...world, policy: { ...world.policy, vanishedRows } });
      await push(world);
      expect(crmIds(world)).toEqual(['1', '2', '3']);
    },
  );

  it('keeps what was decided about it over a restart', async () => {
    const world = await worldWithLeads(three);
    removeRow(world, acme);
    await settle(world);
    world.decisions.set('vanished:lead-1', 'trash');
    restart(world);
    await settle(world);
    expect(crmIds(world)).toEqual(['2', '3']);
  });

  it.each(['trash', 'restore', 'ask'] as const)(
    'S4: has not vanished when only its ID was wiped, with the policy “%s”',
    async (vanishedRows) => {
      const world = await worldWithLeads(three, { policy: { vanishedRows } });
      rowOf(world, acme).id = emptyCell;
      expect((await settle(world)).holds).toEqual([]);
      expect([crmIds(world), sheetIds(world)]).toEqual([
        ['1', '2', '3'],
        ['1', '2', '3'],
      ]);
      expect(journalOf(world).filter(({ kind }) => kind === 'delete')).toEqual([]);
    },
  );

  it('S4: has not vanished as long as a row without an ID looks like it', async () => {
    const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
    const row = rowOf(world, acme);
    row.id = emptyCell;
    row.cells['about.url'] = textCell('https://acme.example');
    await settle(world);
    expect(crmIds(world)).toEqual(['1', '2', '3']);
    row.cells['title'] = emptyCell;
    await settle(world);
    expect(crmIds(world)).toEqual(['2', '3']);
  });

  it('S4: was not missing in the read before it was written', async () => {
    const world = await worldWithLeads(three, { policy: { vanishedRows: 'trash' } });
    addRecord(world, 'lead', { title: 'Delta' });
    await pull(world);
    await cycle(world);
    removeRow(world, leadKey(4));
    expectNoWrites(await cycle(world));
  });

  it('needs no decision when its record is gone from the CRM as well', async () => {
    const world = await worldWithLeads(three);
    removeRow(world, acme);
    removeRecord(world, acme);
    expect((await settle(world)).holds).toEqual([]);
    expect([...world.agreements.keys()]).toEqual(['lead-2', 'lead-3']);
  });
});

describe('a brake', () => {
  it.each<[name: string, lose: (world: World) => void, scope: string]>([
    ['all rows are gone', (world) => loseRows(world, 20), 'brake:lead:emptied'],
    ['too many rows are gone', (world) => loseRows(world, 6), 'brake:lead:vanished'],
    ['too many records are gone', (world) => loseRecords(world, 6), 'brake:lead:gone'],
  ])('S5: %s: nothing is written to either side', async (_name, lose, scope) => {
    const world = await worldWithLeads(many, { policy: { vanishedRows: 'trash' } });
    lose(world);
    for (const row of world.sheet.lead) row.cells['about.url'] = textCell('https://edit.example');
    await pull(world);
    await pull(world);
    await pull(world);
    await cycle(world);
    const plan = await cycle(world);
    expectNoWrites(plan);
    expect(plan.brakes.map((brake) => brake.scope)).toEqual([scope]);
  });

  it('S5: takes no row while lists lack more records than may go, of which one is proven to be gone', async () => {
    const world = await worldWithLeads(many);
    loseRecords(world, 1);
    await pull(world);
    loseRecords(world, 6);
    await pull(world);
    const plan = await cycle(world);
    expectNoWrites(plan);
    expect(plan.brakes).toMatchObject([{ scope: 'brake:lead:gone', changes: { count: 6 } }]);
  });

  it('S5: counts a record that is gone also where several rows have its ID, and none is certain', async () => {
    const world = await worldWithLeads(many);
    loseRecords(world, 7);
    rowOf(world, leadKey(1)).cells['title'] = textCell('Typed by somebody');
    rowOf(world, leadKey(7)).id = textCell('1');
    for (const _time of [1, 2, 3]) await pull(world);
    await cycle(world);
    const plan = await cycle(world);
    expect(plan.table.filter(({ write }) => write.kind === 'delete')).toEqual([]);
    expect(plan.brakes).toMatchObject([{ scope: 'brake:lead:gone', changes: { count: 6 } }]);
  });

  it('lets five go in a small tab', async () => {
    const world = await worldWithLeads(many, { policy: { vanishedRows: 'trash' } });
    loseRows(world, 5);
    await settle(world);
    expect(crmIds(world)).toHaveLength(15);
  });

  it.each([
    ['trash', 0],
    ['restore', 20],
  ])('fault 42: approved with “%s” ends with %i records on both sides', async (choice, left) => {
    const world = await worldWithLeads(many);
    loseRows(world, 20);
    await settle(world);
    world.decisions.set('brake:lead:emptied', choice);
    restart(world);
    await settle(world);
    expect([crmIds(world).length, sheetIds(world).length]).toEqual([left, left]);
    expect([...world.decisions]).toEqual([]);
  });

  it('approved for records that are gone takes their rows', async () => {
    const world = await worldWithLeads(many);
    loseRecords(world, 10);
    expect((await settle(world)).brakes).toHaveLength(1);
    world.decisions.set('brake:lead:gone', 'approve');
    await settle(world);
    expect(sheetIds(world)).toHaveLength(10);
  });

  it('keeps what was decided about single records before', async () => {
    const world = await worldWithLeads(many);
    loseRows(world, 6);
    world.decisions.set('vanished:lead-1', 'trash');
    world.decisions.set('conflict:lead-2:title', 'crm');
    await settle(world);
    expect([...world.decisions.keys()]).toEqual(['vanished:lead-1', 'conflict:lead-2:title']);
  });

  it('of one tab does not stop the others', async () => {
    const world = await worldWithLeads(many);
    loseRows(world, 20);
    world.sheet.task.push({
      id: { kind: 'empty' },
      sync: { kind: 'empty' },
      cells: { title: textCell('Call') },
    });
    await settle(world);
    expect([...world.crm.values()].filter(({ key }) => key.entity === 'task')).toHaveLength(1);
  });
});
