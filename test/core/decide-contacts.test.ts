import { describe, expect, it } from 'vitest';
import { entities, type RecordKey } from '../../src/core/record.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  addRow,
  changeRecord,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  rowOf,
  type World,
  type WorldOptions,
} from '../support/world.ts';
import { settle, worldWithLeads } from '../support/world-daemon.ts';

const ada = { full_name: 'Ada', email: 'ada@example.com' };

/** A world at rest with the leads Acme (1) and Beta (2), and contacts enabled. */
async function openWorld(policy: WorldOptions['policy'] = {}): Promise<World> {
  return await worldWithLeads(['Acme', 'Beta'], { entities, policy });
}

/** The same with the contact Ada of Acme. */
async function openWorldWithAda(
  policy: WorldOptions['policy'] = {},
): Promise<{ world: World; key: RecordKey }> {
  const world = await openWorld(policy);
  const id = addRecord(world, 'contact', { ...ada, lead_id: 1 });
  await settle(world);
  return { world, key: { entity: 'contact', id } };
}

const contactsIn = (world: World) => [...world.crm.values()].filter(({ key }) => key.entity === 'contact');
const textsOf = (world: World, key: RecordKey) =>
  Object.fromEntries(
    Object.entries(rowOf(world, key).cells).map(([name, cell]) => [name, describeCell(cell)]),
  );

describe('a contact', () => {
  it('stands in its tab with an ID that names its lead', async () => {
    const { world, key } = await openWorldWithAda();
    expect(key.id).toBe('1.uuid-3');
    expect(textsOf(world, key)).toEqual({ ...ada, lead_id: 'Acme (#1)' });
  });

  it('has no tab where contacts are not enabled', async () => {
    const world = await worldWithLeads(['Acme']);
    addRecord(world, 'contact', { ...ada, lead_id: 1 });
    await settle(world);
    expect(world.sheet.contact).toEqual([]);
  });

  it('takes edits from both sides', async () => {
    const { world, key } = await openWorldWithAda();
    rowOf(world, key).cells['phone_number'] = textCell('+49 30 1');
    changeRecord(world, key, { email: 'lovelace@example.com' });
    await settle(world);
    expect(recordOf(world, key).fields).toMatchObject({
      email: 'lovelace@example.com',
      phone_number: '+49 30 1',
    });
    expect(textsOf(world, key)).toMatchObject({ email: 'lovelace@example.com', phone_number: '+49 30 1' });
  });

  it('can not lose its name, but its address', async () => {
    const { world, key } = await openWorldWithAda();
    rowOf(world, key).cells['email'] = emptyCell;
    await settle(world);
    rowOf(world, key).cells['full_name'] = emptyCell;
    const plan = await settle(world);
    expect(plan.refusals).toMatchObject([
      { entity: 'contact', reason: 'Name can not be empty. Put “Ada” back, or type another value.' },
    ]);
    expect(recordOf(world, key).fields).toMatchObject({ full_name: 'Ada', email: null });
  });

  it('keeps its lead: another one is refused beside the row until the first is back', async () => {
    const { world, key } = await openWorldWithAda();
    rowOf(world, key).cells['lead_id'] = textCell('Beta (#2)');
    await settle(world);
    expect(describeCell(rowOf(world, key).sync)).toBe(
      'Error: Lead is fixed once the record exists. Put “Acme (#1)” back, or add a row of its own.',
    );
    expect(recordOf(world, key).fields).toMatchObject({ lead_id: 1 });
    rowOf(world, key).cells['lead_id'] = textCell('Acme (#1)');
    await settle(world);
    expect(describeCell(rowOf(world, key).sync)).toMatch(/^Synced/);
  });

  it('shows the new title of its lead', async () => {
    const { world, key } = await openWorldWithAda();
    changeRecord(world, leadKey(1), { title: 'Acme GmbH' });
    await settle(world);
    expect(textsOf(world, key)).toMatchObject({ lead_id: 'Acme GmbH (#1)' });
  });
});

describe('a new row of the contacts', () => {
  it('waits for its lead and its name', async () => {
    const world = await openWorld();
    const row = addRow(world, 'contact', { email: textCell('ada@example.com') });
    await settle(world);
    expect(describeCell(row.sync)).toBe('New row: fill Lead and Name to send it.');
    expect(contactsIn(world)).toEqual([]);
  });

  it('is created below the lead it names by title', async () => {
    const world = await openWorld();
    const row = addRow(world, 'contact', { lead_id: textCell('beta'), full_name: textCell('Ada') });
    await settle(world);
    expect(contactsIn(world)).toMatchObject([{ fields: { lead_id: 2, full_name: 'Ada' } }]);
    expect(describeCell(row.id)).toBe(contactsIn(world)[0]?.key.id);
  });

  it('is a contact of its own, also while the row of another of the same lead is missing', async () => {
    const { world, key } = await openWorldWithAda();
    removeRow(world, key);
    addRow(world, 'contact', { lead_id: textCell('Acme'), full_name: textCell('Grace') });
    await settle(world);
    expect(contactsIn(world).map(({ fields }) => fields['full_name'])).toEqual(['Ada', 'Grace']);
  });

  it('that may be the contact whose ID was wiped is held', async () => {
    const { world, key } = await openWorldWithAda();
    Object.assign(rowOf(world, key), { id: emptyCell });
    world.sheet.contact[0]!.cells['full_name'] = textCell('Ada Lovelace');
    await settle(world);
    expect(describeCell(world.sheet.contact[0]!.sync)).toContain(`This looks like record ${key.id}`);
    expect(contactsIn(world)).toHaveLength(1);
  });
});

describe('a contact whose row vanished', () => {
  it.each(['ask', 'trash'] as const)('waits for a person where the rule is %s', async (vanishedRows) => {
    const { world, key } = await openWorldWithAda({ vanishedRows });
    removeRow(world, key);
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([
      {
        reason: expect.stringContaining('deletes the contact for good'),
        decision: `vanished:contact-${key.id}`,
      },
    ]);
    expect(contactsIn(world)).toHaveLength(1);
  });

  it('is deleted once a person said so', async () => {
    const { world, key } = await openWorldWithAda();
    removeRow(world, key);
    await settle(world);
    world.decisions.set(`vanished:contact-${key.id}`, 'trash');
    await settle(world);
    expect(contactsIn(world)).toEqual([]);
  });

  it('comes back where the rule is restore', async () => {
    const { world, key } = await openWorldWithAda({ vanishedRows: 'restore' });
    removeRow(world, key);
    await settle(world);
    expect(textsOf(world, key)).toMatchObject(ada);
  });

  it('S5: says that trash is for good when all vanish at once', async () => {
    const { world, key } = await openWorldWithAda();
    const other = { entity: 'contact', id: addRecord(world, 'contact', { full_name: 'Grace', lead_id: 2 }) };
    await settle(world);
    for (const gone of [key, other as RecordKey]) removeRow(world, gone);
    const { brakes } = await settle(world);
    expect(brakes).toMatchObject([{ scope: 'brake:contact:emptied' }]);
    expect(brakes[0]?.reason).toContain('deleted for good');
  });
});

it('a contact that is gone from the CRM loses its row, with its lead or without', async () => {
  const { world, key } = await openWorldWithAda();
  removeRecord(world, key);
  removeRecord(world, leadKey(1));
  await settle(world);
  expect(world.sheet.contact).toEqual([]);
});
