import { describe, expect, it } from 'vitest';
import { isClaimToken } from '../../src/core/record.ts';
import { isQuiet } from '../../src/sheet/decide/plan.ts';
import { booleanCell, describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRow, createWorld, leadKey, removeRow, rowOf } from '../support/world.ts';
import { claim, creates, setItem } from '../support/world-creates.ts';
import { cycle, pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

const acme = leadKey(1);

describe('S3: a claim that got beside the values of another record', () => {
  it('is not followed while that has no row, and nothing is sent', () => {
    const world = worldWithLeads(['Acme', 'Beta']);
    const row = addRow(world, 'lead', { title: textCell('Gamma') });
    const item = claim(world, row);
    const first = rowOf(world, acme);
    removeRow(world, item.key);
    first.id = row.id;
    const plan = settle(world);
    expect(plan.holds).toMatchObject([
      { id: item.key.id, reason: expect.stringContaining('looks like record 1') },
    ]);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
    expect(creates(world)).toEqual([]);
  });
});

describe('a new row', () => {
  it('is claimed once it rests, created after the claim was seen, and gets its ID', () => {
    const world = createWorld();
    pull(world);
    const row = addRow(world, 'lead', { title: textCell('Acme'), status_name: textCell('in talks') });
    expect(cycle(world)).toMatchObject({ table: [], restlessRows: 1 });

    cycle(world);
    expect(isClaimToken(describeCell(row.id))).toBe(true);
    expect([creates(world), syncOf(row)]).toEqual([[], 'Pending: to be created in the CRM']);

    cycle(world);
    expect(creates(world)).toMatchObject([
      {
        state: 'waiting',
        key: { id: describeCell(row.id) },
        fields: { title: 'Acme', status_name: 'in_talks' },
      },
    ]);

    push(world);
    cycle(world);
    settle(world);
    expect([row.id.kind, syncOf(row)]).toEqual(['number', expect.stringMatching(/^Synced /)]);
    expect(row.cells['status_name']).toEqual(textCell('In talks'));
    expect(titles(world)).toEqual(['Acme']);
  });

  it('S3: makes one record, however often is decided', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    settle(world);
    settle(world);
    expect([titles(world), world.sheet.lead]).toEqual([['Acme'], [row]]);
  });

  it('is not compared with every create that waits, because thousands of rows may be pasted twice in a row', () => {
    const [world, rows] = [worldWithLeads(['Acme']), 40];
    const paste = (title: string) => {
      for (let row = 0; row < rows; row += 1) addRow(world, 'lead', { title: textCell(`${title} ${row}`) });
    };
    paste('First');
    for (const _cycle of [1, 2, 3]) cycle(world);
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
    cycle(world);
    expect(cycle(world).table).toHaveLength(rows);
    expect(looks).toBeLessThan(rows * 20);
  });

  it('waits for its required cells', () => {
    const world = worldWithLeads(['Acme']);
    const row = addRow(world, 'opportunity', { value: numberCell(5) });
    settle(world);
    expect(syncOf(row)).toBe('New row: fill Lead and Stage to send it.');
    row.cells['lead_id'] = textCell('acme');
    row.cells['stage_id'] = textCell('Won');
    settle(world);
    expect([...world.crm.values()].at(-1)).toMatchObject({
      key: { entity: 'opportunity' },
      fields: { lead_id: 1, stage_id: 12 },
    });
  });

  it.each([' ', '\u00a0', '\u200b\n'])(
    'in whose title somebody only hit the space bar makes no record: %j',
    (space) => {
      const world = worldWithLeads(['Acme']);
      const row = addRow(world, 'lead', { title: textCell(space) });
      expect(isQuiet(settle(world))).toBe(true);
      expect([syncOf(row), titles(world)]).toEqual(['New row: fill Title to send it.', ['Acme']]);
      row.cells['title'] = textCell('Beta');
      settle(world);
      expect(titles(world)).toEqual(['Acme', 'Beta']);
    },
  );

  it('with a value that can not be sent says so, and is created once it is corrected', () => {
    const world = worldWithLeads(['Twin', 'Twin']);
    const row = addRow(world, 'opportunity', { lead_id: textCell('Twin'), stage_id: textCell('Won') });
    const plan = settle(world);
    expect(plan.refusals).toMatchObject([{ entity: 'opportunity', position: 1 }]);
    expect(syncOf(row)).toBe('Error: “Twin” names several: Twin (#1), Twin (#2). Write which one.');
    row.cells['lead_id'] = textCell('#2');
    settle(world);
    expect([...world.crm.values()].at(-1)?.fields).toMatchObject({ lead_id: 2 });
  });

  it('of unticked checkboxes alone is no row', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { 'custom.is_vip': booleanCell(false) });
    expect(isQuiet(settle(world))).toBe(true);
    expect(row.id).toEqual(emptyCell);
  });

  it.each([
    [false, null],
    [true, true],
  ])('with a checkbox that a table has put there: ticked, %s, it says %s', (isTicked, said) => {
    const world = worldWithLeads([]);
    world.boxedFields.add('custom.is_vip');
    addRow(world, 'lead', { title: textCell('Acme'), 'custom.is_vip': booleanCell(isTicked) });
    expect(isQuiet(settle(world))).toBe(true);
    expect([...world.crm.values()].map(({ fields }) => fields['custom.is_vip'])).toEqual([said]);
  });

  it('that was emptied again loses what its Sync cell said', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { 'about.url': textCell('https://acme.example') });
    settle(world);
    expect(syncOf(row)).toBe('New row: fill Title to send it.');
    row.cells['about.url'] = emptyCell;
    settle(world);
    expect(row.sync).toEqual(emptyCell);
  });

  it('that is deleted before it was sent is forgotten', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    claim(world, row);
    world.sheet.lead.length = 0;
    settle(world);
    expect([creates(world), titles(world)]).toEqual([[], []]);
  });

  it('that is edited before it was sent is created as it is now', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    claim(world, row);
    row.cells['title'] = textCell('Acme GmbH');
    cycle(world);
    cycle(world);
    settle(world);
    expect(titles(world)).toEqual(['Acme GmbH']);
  });

  it('that is edited before it was sent is not sent as it was before, while somebody still types', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    claim(world, row);
    row.cells['title'] = textCell('Beta');
    cycle(world);
    push(world);
    expect(titles(world)).toEqual([]);
    settle(world);
    expect(titles(world)).toEqual(['Beta']);
  });

  it('that is edited while it is created keeps the edit, which follows', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    claim(world, row);
    row.cells['title'] = textCell('Acme GmbH');
    push(world);
    settle(world);
    expect([titles(world), row.cells['title']]).toEqual([['Acme GmbH'], textCell('Acme GmbH')]);
  });

  it('that the CRM refused says why until it changes', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    setItem(world, item, {
      state: 'refused',
      error: { code: 'CRM_REFUSED', message: 'The title is taken.' },
    });
    settle(world);
    expect([syncOf(row), titles(world)]).toEqual(['Error: The title is taken.', []]);
    row.cells['title'] = textCell('Acme GmbH');
    settle(world);
    expect(titles(world)).toEqual(['Acme GmbH']);
  });

  it('that the key may not create says which scope that needs while it waits, and goes once it may', () => {
    const world = createWorld();
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    const message = 'POST /leads needs the scope write:leads and was answered 403: Forbidden.';
    const error = { code: 'CRM_FORBIDDEN', message } as const;
    setItem(world, item, { attempts: 1, dueAt: world.now + 3_600_000, error });
    cycle(world);
    cycle(world);
    expect(syncOf(row)).toBe(`Pending: ${message} It is tried again.`);
    expect(isQuiet(cycle(world))).toBe(true);
    setItem(world, item, { error: { code: 'CRM_UNKNOWN_OUTCOME', message: 'No clear answer.' } });
    cycle(world);
    expect(syncOf(row)).toBe('Pending: to be created in the CRM');
    settle(world);
    expect(titles(world)).toEqual(['Acme']);
  });

  it('whose row is deleted after its record was made leaves the record to a person', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    claim(world, row);
    push(world);
    world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
    const plan = settle(world);
    expect(plan.holds).toMatchObject([
      { entity: 'lead', decision: expect.stringMatching(/^vanished:lead-\d+$/) },
    ]);
    expect(titles(world)).toEqual(['Beta', 'Acme']);
  });
});

describe('a new row whose needed column is not taken from the sheet', () => {
  it.each(['toTable', 'off'] as const)('is not sent, and says which setting to change: %s', (direction) => {
    const world = createWorld({ columns: { title: { direction } } });
    const row = addRow(world, 'lead', {
      title: textCell('Acme'),
      'about.url': textCell('https://acme.example'),
    });
    const plan = settle(world);
    const reason =
      'A new record needs Title, which the configuration does not take from the sheet: set the direction of its column to both, or add the record in the CRM.';
    expect(syncOf(row)).toBe(`Error: ${reason}`);
    expect(plan.refusals).toMatchObject([{ entity: 'lead', reason }]);
    expect([creates(world), titles(world)]).toEqual([[], []]);
  });
});
