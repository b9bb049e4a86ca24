import { describe, expect, it } from 'vitest';
import type { OutboxItem } from '../../src/core/state.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRecord, addRow, copyRow, leadKey, rowOf, type World } from '../support/world.ts';
import { claim, creates, leaveToPerson, setItem } from '../support/world-creates.ts';
import { cycle, pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

/** As if the CRM had answered the create without the record; answers the key of that. */
function forgetAnswer(world: World, { id }: OutboxItem['key']) {
  const made = leadKey(Number(world.outbox.get(`lead-${id}`)?.recordId));
  const agreement = world.agreements.get(`lead-${made.id}`);
  if (!agreement) throw new Error('Nothing is agreed.');
  world.agreements.set(`lead-${made.id}`, { ...agreement, fields: {} });
  return made;
}

describe('a create whose outcome nobody knows', () => {
  it('S3: keeps newcomers from becoming rows of their own', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    setItem(world, item, { state: 'unknown', sentAt: world.clock.now });
    addRecord(world, 'lead', { title: 'Acme' });
    addRecord(world, 'lead', { title: 'Gamma' });
    await settle(world);
    expect(world.sheet.lead).toHaveLength(2);
    expect(syncOf(row)).toMatch(/^Pending: the CRM did not say whether it created the record/);
  });

  it.each([
    ['meanwhile', emptyCell],
    ['to an older claim that landed late', textCell('new-1-0')],
  ])(
    'S3: is not sent once more for a row that lost its token %s, and the row gets its ID',
    async (_why, id) => {
      const world = await worldWithLeads(['Beta']);
      const row = addRow(world, 'lead', { title: textCell('Acme') });
      const item = await claim(world, row);
      setItem(world, item, { state: 'sending', sentAt: world.clock.now });
      row.id = id;
      await settle(world);
      expect([syncOf(row), creates(world)]).toMatchObject([
        'Pending: being created in the CRM',
        [{ key: item.key }],
      ]);
      setItem(world, item, { state: 'waiting' });
      await push(world);
      await settle(world);
      expect(syncOf(row)).toMatch(/^Synced /);
      expect(titles(world)).toEqual(['Beta', 'Acme']);
    },
  );

  it('S3: is not sent once more for a row that was moved back without its token, and the row gets its ID', async () => {
    const world = await worldWithLeads(['Beta']);
    const moved = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, moved);
    setItem(world, item, { state: 'unknown', sentAt: world.clock.now });
    moved.cells['title'] = emptyCell;
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await settle(world);
    expect(creates(world)).toMatchObject([{ key: item.key }]);
    setItem(world, item, { state: 'waiting' });
    await push(world);
    await settle(world);
    expect([titles(world), syncOf(row), moved.id]).toEqual([
      ['Beta', 'Acme'],
      expect.stringMatching(/^Synced /),
      emptyCell,
    ]);
  });

  it('lets records that were there before it become rows', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    addRecord(world, 'lead', { title: 'Gamma' });
    await pull(world);
    setItem(world, item, { state: 'unknown', sentAt: world.clock.now + 1 });
    await settle(world);
    expect(world.sheet.lead).toHaveLength(3);
  });

  it('once a person must look, keeps back only the newcomers that look like it', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    leaveToPerson(world, item);
    addRecord(world, 'lead', { title: 'ACME' });
    addRecord(world, 'lead', { title: 'Gamma' });
    const { holds } = await settle(world);
    expect(holds).toContainEqual({
      entity: 'lead',
      id: '2',
      reason: expect.stringContaining(`the row with ${item.key.id} in its ID cell`),
    });
    expect(world.sheet.lead.map(({ cells }) => describeCell(cells['title'] ?? emptyCell))).toEqual([
      'Beta',
      'Acme',
      'Gamma',
    ]);
    expect(syncOf(row)).toBe('Held: Lead 9 may be it.');
  });

  it('S3: is not made once more for a row that lost its token before it could say so, and the row tells it then', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    row.id = emptyCell;
    leaveToPerson(world, item);
    await settle(world);
    expect([describeCell(row.id), syncOf(row)]).toEqual([item.key.id, 'Held: Lead 9 may be it.']);
    expect([titles(world), creates(world)]).toMatchObject([['Beta'], [{ key: item.key }]]);
  });

  it('S1: keeps back nothing any more once a person has answered by clearing the ID', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    leaveToPerson(world, item);
    addRecord(world, 'lead', { title: 'ACME' });
    await settle(world);
    row.id = emptyCell;
    await settle(world);
    addRecord(world, 'lead', { title: 'Acme' });
    await settle(world);
    expect([titles(world), world.sheet.lead.length]).toEqual([['Beta', 'ACME', 'Acme', 'Acme'], 4]);
  });

  it('leaves nothing in a row that was emptied, or that never was more than its token', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await claim(world, row);
    row.cells['title'] = emptyCell;
    await cycle(world);
    await cycle(world);
    expect([row.id, row.sync, creates(world)]).toEqual([emptyCell, emptyCell, []]);
    expect([titles(world), isQuiet(await settle(world))]).toEqual([['Beta'], true]);
  });

  it('whose row is deleted before it shows the ID asks what is to become of the record', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const { key } = await claim(world, row);
    await push(world);
    const made = forgetAnswer(world, key);
    world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
    expect((await cycle(world)).holds).toEqual([]);
    expect((await cycle(world)).holds).toMatchObject([{ id: made.id, decision: `vanished:lead-${made.id}` }]);
    world.decisions.set(`vanished:lead-${made.id}`, 'restore');
    await settle(world);
    expect(describeCell(rowOf(world, made).cells['title'] ?? emptyCell)).toBe('Acme');
  });

  it('S15: whose row is gone gets one again, once a mirror without its agreement was put back', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await claim(world, row);
    await push(world);
    world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
    world.agreements.delete('lead-2');
    await settle(world);
    expect(world.sheet.lead.map(({ cells }) => describeCell(cells['title'] ?? emptyCell))).toEqual([
      'Beta',
      'Acme',
    ]);
    expect(titles(world)).toEqual(['Beta', 'Acme']);
  });

  it('S4: gives its ID to a row that lost its token, also while the CRM has told nothing of the record', async () => {
    const world = await worldWithLeads(['Beta'], { policy: { vanishedRows: 'trash' } });
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const { key } = await claim(world, row);
    await push(world);
    const made = forgetAnswer(world, key);
    row.id = emptyCell;
    await settle(world);
    expect([titles(world), world.sheet.lead.length]).toEqual([['Beta', 'Acme'], 2]);
    expect([describeCell(row.id), syncOf(row)]).toEqual([made.id, expect.stringMatching(/^Synced /)]);
  });

  it('whose answer tells nothing but the ID gives that to its row, which says no more until the record is read', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'task', { title: textCell('Call'), lead_id: textCell('Acme') });
    for (const _cycle of [1, 2, 3]) await cycle(world);
    await push(world);
    const [name, record] = [...world.records].at(-1) ?? [];
    const agreement = world.agreements.get(name ?? '');
    if (!name || !record || !agreement) throw new Error('Nothing was created.');
    world.records.set(name, { ...record, fields: {} });
    world.agreements.set(name, { ...agreement, fields: {} });
    expect((await cycle(world)).refusals).toEqual([]);
    expect([describeCell(row.id), syncOf(row)]).toEqual([record.key.id, 'Pending: being created in the CRM']);
    await settle(world);
    expect(syncOf(row)).toMatch(/^Synced /);
  });

  it('is forgotten a month after it was over, and not while a row shows its token', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    const copy = copyRow(world, item.key);
    await settle(world);
    world.clock.now += 31 * 24 * 60 * 60 * 1000;
    await settle(world);
    expect(creates(world)).toMatchObject([{ key: item.key, state: 'done' }]);
    world.sheet.lead.splice(world.sheet.lead.indexOf(copy), 1);
    await settle(world);
    expect([creates(world), titles(world)]).toEqual([[], ['Beta', 'Acme']]);
  });
});
