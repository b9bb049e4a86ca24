import { describe, expect, it } from 'vitest';
import { booleanCell, describeCell, emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { isQuiet } from '../../src/core/decide/plan.ts';
import { isClaimToken } from '../../src/core/record.ts';
import type { OutboxItem } from '../../src/core/state.ts';
import {
  addRecord,
  addRow,
  copyRow,
  createWorld,
  leadKey,
  removeRow,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { cycle, pull, push, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const syncOf = (row: SheetRow) => describeCell(row.sync);
const creates = (world: World) => [...world.outbox.values()].filter(({ kind }) => kind === 'create');
const titles = (world: World) => [...world.crm.values()].map(({ fields }) => fields['title']);

/** Lets a new row be claimed and its create be put into the outbox, without sending it. */
function claim(world: World, row: SheetRow): OutboxItem {
  pull(world);
  cycle(world);
  cycle(world);
  cycle(world);
  const item = world.outbox.get(`lead-${describeCell(row.id)}`);
  if (!item) throw new Error('The row was not claimed.');
  return item;
}

const setItem = (world: World, item: OutboxItem, more: Partial<OutboxItem>) =>
  world.outbox.set(`lead-${item.key.id}`, { ...item, ...more });

/** As if the CRM had answered the create without the record; answers the key of that. */
function forgetAnswer(world: World, { id }: OutboxItem['key']) {
  const made = leadKey(Number(world.outbox.get(`lead-${id}`)?.recordId));
  const agreement = world.agreements.get(`lead-${made.id}`);
  if (!agreement) throw new Error('Nothing is agreed.');
  world.agreements.set(`lead-${made.id}`, { ...agreement, fields: {} });
  return made;
}

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

describe('a create whose outcome nobody knows', () => {
  it('S3: keeps newcomers from becoming rows of their own', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    setItem(world, item, { state: 'unknown', sentAt: world.now });
    addRecord(world, 'lead', { title: 'Acme' });
    addRecord(world, 'lead', { title: 'Gamma' });
    settle(world);
    expect(world.sheet.lead).toHaveLength(2);
    expect(syncOf(row)).toMatch(/^Pending: the CRM did not say whether it created the record/);
  });

  it.each([
    ['meanwhile', emptyCell],
    ['to an older claim that landed late', textCell('new-00000000abcd-000000000000')],
  ])('S3: is not sent once more for a row that lost its token %s, and the row gets its ID', (_why, id) => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    setItem(world, item, { state: 'sending', sentAt: world.now });
    row.id = id;
    settle(world);
    expect([syncOf(row), creates(world)]).toMatchObject([
      'Pending: being created in the CRM',
      [{ key: item.key }],
    ]);
    setItem(world, item, { state: 'waiting' });
    push(world);
    settle(world);
    expect(syncOf(row)).toMatch(/^Synced /);
    expect(titles(world)).toEqual(['Beta', 'Acme']);
  });

  it('S3: is not sent once more for a row that was moved back without its token, and the row gets its ID', () => {
    const world = worldWithLeads(['Beta']);
    const moved = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, moved);
    setItem(world, item, { state: 'unknown', sentAt: world.now });
    moved.cells['title'] = emptyCell;
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    settle(world);
    expect(creates(world)).toMatchObject([{ key: item.key }]);
    setItem(world, item, { state: 'waiting' });
    push(world);
    settle(world);
    expect([titles(world), syncOf(row), moved.id]).toEqual([
      ['Beta', 'Acme'],
      expect.stringMatching(/^Synced /),
      emptyCell,
    ]);
  });

  it('lets records that were there before it become rows', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    addRecord(world, 'lead', { title: 'Gamma' });
    pull(world);
    setItem(world, item, { state: 'unknown', sentAt: world.now + 1 });
    settle(world);
    expect(world.sheet.lead).toHaveLength(3);
  });

  it('once a person must look, keeps back only the newcomers that look like it', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    const error = { code: 'CRM_UNKNOWN_OUTCOME', message: 'Lead 9 may be it.' } as const;
    setItem(world, item, { state: 'review', sentAt: world.now, error });
    addRecord(world, 'lead', { title: 'ACME' });
    addRecord(world, 'lead', { title: 'Gamma' });
    const { holds } = settle(world);
    expect(holds).toContainEqual({
      entity: 'lead',
      id: '3',
      reason: expect.stringContaining(`the row with ${item.key.id} in its ID cell`),
    });
    expect(world.sheet.lead.map(({ cells }) => describeCell(cells['title'] ?? emptyCell))).toEqual([
      'Beta',
      'Acme',
      'Gamma',
    ]);
    expect(syncOf(row)).toBe('Held: Lead 9 may be it.');
  });

  it('S3: is not made once more for a row that lost its token before it could say so, and the row tells it then', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    row.id = emptyCell;
    const error = { code: 'CRM_UNKNOWN_OUTCOME', message: 'Lead 9 may be it.' } as const;
    setItem(world, item, { state: 'review', sentAt: world.now, error });
    settle(world);
    expect([describeCell(row.id), syncOf(row)]).toEqual([item.key.id, 'Held: Lead 9 may be it.']);
    expect([titles(world), creates(world)]).toMatchObject([['Beta'], [{ key: item.key }]]);
  });

  it('S1: keeps back nothing any more once a person has answered by clearing the ID', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    const error = { code: 'CRM_UNKNOWN_OUTCOME', message: 'Lead 9 may be it.' } as const;
    setItem(world, item, { state: 'review', sentAt: world.now, error });
    addRecord(world, 'lead', { title: 'ACME' });
    settle(world);
    row.id = emptyCell;
    settle(world);
    addRecord(world, 'lead', { title: 'Acme' });
    settle(world);
    expect([titles(world), world.sheet.lead.length]).toEqual([['Beta', 'ACME', 'Acme', 'Acme'], 4]);
  });

  it('leaves nothing in a row that was emptied, or that never was more than its token', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    claim(world, row);
    row.cells['title'] = emptyCell;
    cycle(world);
    cycle(world);
    expect([row.id, row.sync, creates(world)]).toEqual([emptyCell, emptyCell, []]);
    expect([titles(world), isQuiet(settle(world))]).toEqual([['Beta'], true]);
  });

  it('whose row is deleted before it shows the ID asks what is to become of the record', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const { key } = claim(world, row);
    push(world);
    const made = forgetAnswer(world, key);
    world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
    expect(cycle(world).holds).toEqual([]);
    expect(cycle(world).holds).toMatchObject([{ id: made.id, decision: `vanished:lead-${made.id}` }]);
    world.decisions.set(`vanished:lead-${made.id}`, 'restore');
    settle(world);
    expect(describeCell(rowOf(world, made).cells['title'] ?? emptyCell)).toBe('Acme');
  });

  it('S15: whose row is gone gets one again, once a mirror without its agreement was put back', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    claim(world, row);
    push(world);
    world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
    world.agreements.clear();
    settle(world);
    expect(world.sheet.lead.map(({ cells }) => describeCell(cells['title'] ?? emptyCell))).toEqual([
      'Beta',
      'Acme',
    ]);
    expect(titles(world)).toEqual(['Beta', 'Acme']);
  });

  it('S4: gives its ID to a row that lost its token, also while the CRM has told nothing of the record', () => {
    const world = worldWithLeads(['Beta'], { policy: { vanishedRows: 'trash' } });
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const { key } = claim(world, row);
    push(world);
    const made = forgetAnswer(world, key);
    row.id = emptyCell;
    settle(world);
    expect([titles(world), world.sheet.lead.length]).toEqual([['Beta', 'Acme'], 2]);
    expect([describeCell(row.id), syncOf(row)]).toEqual([made.id, expect.stringMatching(/^Synced /)]);
  });

  it('is forgotten a month after it was over, and not while a row shows its token', () => {
    const world = worldWithLeads(['Beta']);
    const row = addRow(world, 'lead', { title: textCell('Acme') });
    const item = claim(world, row);
    const copy = copyRow(world, item.key);
    settle(world);
    world.now += 31 * 24 * 60 * 60 * 1000;
    settle(world);
    expect(creates(world)).toMatchObject([{ key: item.key, state: 'done' }]);
    world.sheet.lead.splice(world.sheet.lead.indexOf(copy), 1);
    settle(world);
    expect([creates(world), titles(world)]).toEqual([[], ['Beta', 'Acme']]);
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
