import { describe, expect, it } from 'vitest';
import { isClaimToken } from '../../src/core/record.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { booleanCell, describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRow, createWorld, leadKey, removeRow, rowOf } from '../support/world.ts';
import { claim, creates, setItem } from '../support/world-creates.ts';
import { cycle, pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

const acme = leadKey(1);

describe('S3: a claim that got beside the values of another record', () => {
  it('is not followed while that has no row, and nothing is sent', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = addRow(world, 'lead', { title: textCell('Gamma') });
    const item = await claim(world, row);
    const first = rowOf(world, acme);
    removeRow(world, item.key);
    first.id = row.id;
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([
      { id: item.key.id, reason: expect.stringContaining('looks like record 1') },
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
    expect(creates(world)).toEqual([]);
  });
});

describe('a new row', () => {
  it('is claimed once it rests, created after the claim was seen, and gets its ID', async () => {
    const world = await worldWithLeads([]);
    await pull(world);
    const row = addRow(world, 'lead', { title: textCell('Acme'), status_name: textCell('in talks') });
    expect(await cycle(world)).toMatchObject({ table: [], restlessRows: 1 });

    await cycle(world);
    expect(isClaimToken(describeCell(row.id))).toBe(true);
    expect([creates(world), syncOf(row)]).toEqual([[], 'Pending: to be created in the CRM']);

    await cycle(world);
    expect(creates(world)).toMatchObject([
      {
        state: 'waiting',
        key: { id: describeCell(row.id) },
        fields: { title: 'Acme', status_name: 'in_talks' },
      },
    ]);

    await push(world);
    await cycle(world);
    await settle(world);
    expect([row.id.kind, syncOf(row)]).toEqual(['number', expect.stringMatching(/^Synced /)]);
    expect(row.cells['status_name']).toEqual(textCell('In talks'));
    expect(titles(world)).toEqual(['Acme']);
  });

  it('S3: makes one record, however often is decided', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await settle(world);
    await settle(world);
    expect([titles(world), world.sheet.lead]).toEqual([['Acme'], [row]]);
  });

  it('is not compared with every create that waits, because thousands of rows may be pasted twice in a row', async () => {
    const [world, rows] = [await worldWithLeads(['Acme']), 40];
    const paste = (title: string) => {
      for (let row = 0; row < rows; row += 1) addRow(world, 'lead', { title: textCell(`${title} ${row}`) });
    };
    paste('First');
    for (const _cycle of [1, 2, 3]) await cycle(world);
    expect(creates(world)).toHaveLength(rows);
    let looks = 0;
    for (const item of creates(world)) {
      const { fields } = item;
      const counted = {
        get() {
          looks += 1;
          return fields;
        },
      };
      world.outbox.set(`lead-${item.key.id}`, Object.defineProperty({ ...item }, 'fields', counted));
    }
    paste('Second');
    await cycle(world);
    expect((await cycle(world)).table).toHaveLength(rows);
    expect(looks).toBeLessThan(rows * 20);
  });

  it('fault 36: waits for its required cells', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'opportunity', { value: numberCell(5) });
    await settle(world);
    expect(syncOf(row)).toBe('New row: fill Lead and Stage to send it.');
    row.cells['lead_id'] = textCell('acme');
    row.cells['stage_id'] = textCell('Won');
    await settle(world);
    expect([...world.crm.values()].at(-1)).toMatchObject({
      key: { entity: 'opportunity' },
      fields: { lead_id: 1, stage_id: 12 },
    });
  });

  it.each([' ', '\u00a0', '\u200b\n'])(
    'in whose title somebody only hit the space bar makes no record: %j',
    async (space) => {
      const world = await worldWithLeads(['Acme']);
      const row = addRow(world, 'lead', { title: textCell(space) });
      expect(isQuiet(await settle(world))).toBe(true);
      expect([syncOf(row), titles(world)]).toEqual(['New row: fill Title to send it.', ['Acme']]);
      row.cells['title'] = textCell('Beta');
      await settle(world);
      expect(titles(world)).toEqual(['Acme', 'Beta']);
    },
  );

  it('with a value that can not be sent says so, and is created once it is corrected', async () => {
    const world = await worldWithLeads(['Twin', 'Twin']);
    const row = addRow(world, 'opportunity', { lead_id: textCell('Twin'), stage_id: textCell('Won') });
    const plan = await settle(world);
    expect(plan.refusals).toMatchObject([{ entity: 'opportunity', position: 1 }]);
    expect(syncOf(row)).toBe('Error: “Twin” names several: Twin (#1), Twin (#2). Write which one.');
    row.cells['lead_id'] = textCell('#2');
    await settle(world);
    expect([...world.crm.values()].at(-1)?.fields).toMatchObject({ lead_id: 2 });
  });

  it('of unticked checkboxes alone is no row', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { 'custom.is_vip': booleanCell(false) });
    expect(isQuiet(await settle(world))).toBe(true);
    expect(row.id).toEqual(emptyCell);
  });

  it.each([
    [false, null],
    [true, true],
  ])('with a checkbox that a table has put there: ticked, %s, it says %s', async (isTicked, said) => {
    const world = await worldWithLeads([]);
    world.boxedFields.add('custom.is_vip');
    addRow(world, 'lead', { title: textCell('Acme'), 'custom.is_vip': booleanCell(isTicked) });
    expect(isQuiet(await settle(world))).toBe(true);
    expect([...world.crm.values()].map(({ fields }) => fields['custom.is_vip'])).toEqual([said]);
  });

  it('that was emptied again loses what its Sync cell said', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { 'about.url': textCell('https://acme.example') });
    await settle(world);
    expect(syncOf(row)).toBe('New row: fill Title to send it.');
    row.cells['about.url'] = emptyCell;
    await settle(world);
    expect(row.sync).toEqual(emptyCell);
  });

  it('that is deleted before it was sent is forgotten', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await claim(world, row);
    world.sheet.lead.length = 0;
    await settle(world);
    expect([creates(world), titles(world)]).toEqual([[], []]);
  });

  it('that is edited before it was sent is created as it is now', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await claim(world, row);
    row.cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    await settle(world);
    expect(titles(world)).toEqual(['Acme GmbH']);
  });

  it('that is edited before it was sent is not sent as it was before, while somebody still types', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await claim(world, row);
    row.cells['title'] = textCell('Beta');
    await cycle(world);
    await push(world);
    expect(titles(world)).toEqual([]);
    await settle(world);
    expect(titles(world)).toEqual(['Beta']);
  });

  it('that is edited while it is created keeps the edit, which follows', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await claim(world, row);
    row.cells['title'] = textCell('Acme GmbH');
    await push(world);
    await settle(world);
    expect([titles(world), row.cells['title']]).toEqual([['Acme GmbH'], textCell('Acme GmbH')]);
  });

  it('that the CRM refused says why until it changes', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    setItem(world, item, {
      state: 'refused',
      error: { code: 'CRM_REFUSED', message: 'The title is taken.' },
    });
    await settle(world);
    expect([syncOf(row), titles(world)]).toEqual(['Error: The title is taken.', []]);
    row.cells['title'] = textCell('Acme GmbH');
    await settle(world);
    expect(titles(world)).toEqual(['Acme GmbH']);
  });

  it('that the key may not create says which scope that needs while it waits, and goes once it may', async () => {
    const world = await worldWithLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = await claim(world, row);
    const message = 'POST /leads needs the scope write:leads and was answered 403: Forbidden.';
    const error = { code: 'CRM_FORBIDDEN', message } as const;
    setItem(world, item, { attempts: 1, dueAt: world.clock.now + 3_600_000, error });
    await cycle(world);
    await cycle(world);
    expect(syncOf(row)).toBe(`Pending: ${message} It is tried again.`);
    expect(isQuiet(await cycle(world))).toBe(true);
    setItem(world, item, { error: { code: 'CRM_UNKNOWN_OUTCOME', message: 'No clear answer.' } });
    await cycle(world);
    expect(syncOf(row)).toBe('Pending: to be created in the CRM');
    await settle(world);
    expect(titles(world)).toEqual(['Acme']);
  });

  it('whose row is deleted after its record was made leaves the record to a person', async () => {
    const world = await worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    await claim(world, row);
    await push(world);
    world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([
      { entity: 'lead', decision: expect.stringMatching(/^vanished:lead-\d+$/) },
    ]);
    expect(titles(world)).toEqual(['Beta', 'Acme']);
  });
});

describe('a new row whose needed column is not taken from the sheet', () => {
  it.each(['toTable', 'off'] as const)(
    'is not sent, and says which setting to change: %s',
    async (direction) => {
      const world = createWorld({ columns: { title: { direction } } });
      const row = addRow(world, 'lead', {
        title: textCell('Acme'),
        'about.url': textCell('https://acme.example'),
      });
      const plan = await settle(world);
      const reason =
        'A new record needs Title, which the configuration does not take from the sheet: set the direction of its column to both, or add the record in the CRM.';
      expect(syncOf(row)).toBe(`Error: ${reason}`);
      expect(plan.refusals).toMatchObject([{ entity: 'lead', reason }]);
      expect([creates(world), titles(world)]).toEqual([[], []]);
    },
  );
});
