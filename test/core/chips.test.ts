import { describe, expect, it } from 'vitest';
import { type Cell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRow, changeRecord, leadKey, recordOf, rowOf, type World } from '../support/world.ts';
import { settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

/* A person put a smart chip into a cell: what it stands for can not be read, and a text written over it takes it away. */

const acme = leadKey(1);
const chip: Cell = { kind: 'chip', shown: 'ada@example.com' };
const says = (header: string) =>
  `Error: ${header} holds a smart chip. Chips are not sent to the CRM: put its text there instead.`;

const columns = [
  ['title', 'Title'],
  ['about.url', 'Website'],
  ['about.description', 'About'],
  ['custom.owner', 'Owner'],
  ['custom.team', 'Team'],
  ['custom.tier', 'Tier'],
  ['custom.topics', 'Topics'],
  ['status_name', 'Status'],
  ['custom.founded', 'Founded'],
  ['custom.size', 'Size'],
] as const;

/** The settings give a column of the leads this direction. */
function setDirection(world: World, field: string, direction: 'both' | 'toTable'): void {
  const { lead } = world.policy.tabs;
  const tabs = { ...world.policy.tabs, lead: { ...lead, columns: { [field]: { direction } } } };
  Object.assign(world, { policy: { ...world.policy, tabs } });
}

describe('a smart chip', () => {
  it.each(columns)('is neither sent nor written over, and the row says so: %s', async (field, header) => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const before = { ...recordOf(world, acme).fields };
    rowOf(world, acme).cells[field] = chip;
    await settle(world);
    expect(recordOf(world, acme).fields).toEqual(before);
    expect([rowOf(world, acme).cells[field], syncOf(rowOf(world, acme))]).toEqual([chip, says(header)]);
  });

  it.each(['both', 'toTable'] as const)(
    'stays where the CRM changes the field, and the other fields follow, in a column of direction %s',
    async (direction) => {
      const world = await worldWithLeads(['Acme', 'Beta']);
      setDirection(world, 'about.description', direction);
      await settle(world);
      rowOf(world, acme).cells['about.description'] = chip;
      changeRecord(world, acme, { 'about.description': 'New', 'about.url': 'https://acme.example' });
      await settle(world);
      const { cells } = rowOf(world, acme);
      expect([cells['about.description'], cells['about.url']]).toEqual([
        chip,
        textCell('https://acme.example'),
      ]);
      expect(syncOf(rowOf(world, acme))).toBe(says('About'));
    },
  );

  it('makes no record of a new row until a text is in its place', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: chip });
    await settle(world);
    expect([titles(world), row.id.kind, syncOf(row)]).toEqual([['Acme'], 'empty', says('Title')]);
    row.cells['title'] = textCell('Beta');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it.each([
    ['a text is put in its place', textCell('ada'), 'ada'],
    ['it is taken out', emptyCell, null],
  ])('holds its field until %s', async (_, cell, value) => {
    const world = await worldWithLeads(['Acme']);
    rowOf(world, acme).cells['about.description'] = chip;
    await settle(world);
    rowOf(world, acme).cells['about.description'] = cell;
    await settle(world);
    expect(recordOf(world, acme).fields['about.description'] ?? null).toBe(value);
    expect(syncOf(rowOf(world, acme))).toMatch(/^Synced/);
  });
});
