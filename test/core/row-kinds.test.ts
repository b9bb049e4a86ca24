import { expect, it } from 'vitest';
import { claimToken, recordKeyText } from '../../src/core/record.ts';
import { classifyTab, type RowKind } from '../../src/sheet/decide/classify.ts';
import { indexTab, indexTable } from '../../src/sheet/decide/tab-index.ts';
import { Standing } from '../../src/sheet/index/standing.ts';
import type { DecideInput } from '../../src/sheet/plans/plan.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { tabOf } from '../../src/sheet/port/layout.ts';
import { over, suspect } from '../support/damages.ts';
import {
  addRow,
  cellFor,
  copyRow,
  leadKey,
  removeRow,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { inputOf, settle, worldWithLeads } from '../support/world-daemon.ts';

const noContests: DecideInput['known']['contests'] = new Map();

/** Classifies the tab of the leads. */
async function classify(world: World, contests = noContests) {
  const given = await inputOf(world);
  const input = { ...given, known: { ...given.known, contests } };
  const tab = input.table.tabs.lead;
  const layout = tabOf(input.layout, 'lead');
  if (tab.state === 'held' || layout?.entity !== 'lead') throw new Error('The tab can not be read.');
  const standing = new Standing();
  standing.update(input);
  return classifyTab(
    indexTab(
      indexTable(input, standing),
      { ...layout, entity: 'lead' },
      tab,
      standing.groundOf('lead').agreements,
    ),
  );
}

/** The kind of a row of the sheet: rows keep their order in a read. */
async function kindOf(world: World, row: SheetRow, contests = noContests): Promise<RowKind | undefined> {
  const { rows } = await classify(world, contests);
  const first = Math.min(...rows.map((each) => each.row.position));
  return rows.find((each) => each.row.position - first === world.sheet.lead.indexOf(row))?.kind;
}

const settled = async (): Promise<World> => {
  const world = await worldWithLeads(['Acme', 'Bolt', 'Corp', 'Dune']);
  await settle(world);
  return world;
};

const acme = leadKey(1);

/** Makes one row of each kind out of a sheet at rest, and returns it. */
const makers: Readonly<Record<Exclude<RowKind, 'flapping'>, (world: World) => SheetRow>> = {
  merge: (world) => rowOf(world, acme),
  paused: (world) => Object.assign(rowOf(world, acme), { isPaused: true }),
  blank: (world) => Object.assign(addRow(world, 'lead', {}), { sync: textCell('Synced') }),
  new: (world) => addRow(world, 'lead', { title: textCell('Eden') }),
  claimed: (world) => Object.assign(addRow(world, 'lead', {}), { id: textCell(claimToken('word-9')) }),
  unknownId: (world) =>
    Object.assign(addRow(world, 'lead', { title: textCell('Eden') }), { id: textCell('99') }),
  duplicate: (world) => copyRow(world, acme),
  lostId: (world) => Object.assign(rowOf(world, acme), { id: emptyCell }),
  swappedId(world) {
    const row = rowOf(world, acme);
    Object.assign(row.cells, { title: cellFor(world, 'lead', 'title', 'Bolt') });
    rowOf(world, leadKey(2)).cells['title'] = cellFor(world, 'lead', 'title', 'Acme');
    return row;
  },
  recordGone(world) {
    const text = recordKeyText(acme);
    const record = world.records.get(text);
    if (record) world.records.set(text, { ...record, presence: 'gone' });
    return rowOf(world, acme);
  },
  damaged(world) {
    suspect(
      world,
      {
        entity: 'lead',
        kind: 'overwritten',
        id: rowOf(world, acme).id,
        cells: { title: over(textCell('Bolt'), textCell('Acme')) },
        own: {},
      },
      { state: 'pending' },
    );
    return rowOf(world, acme);
  },
};

it.each(Object.entries(makers))('a row is of the kind %s if it is like one', async (kind, make) => {
  const world = await settled();
  expect(await kindOf(world, make(world))).toBe(kind);
});

it('a row that a user paused is of the kind paused also where it lost its ID', async () => {
  const world = await settled();
  expect(await kindOf(world, Object.assign(makers.paused(world), { id: emptyCell }))).toBe('paused');
});

it('a row is of the kind flapping if the two sides of its record fight', async () => {
  const world = await settled();
  const contest = { field: 'title', crm: 'Acme', table: 'ACME', since: world.clock.now };
  const contests = new Map([[recordKeyText(acme), contest]]);
  expect(await kindOf(world, rowOf(world, acme), contests)).toBe('flapping');
});

it('every row of a tab is of exactly one kind', async () => {
  const world = await settled();
  makers.blank(world);
  makers.new(world);
  makers.duplicate(world);
  removeRow(world, leadKey(3));
  const positions = (await classify(world)).rows.map(({ row: { position } }) => position);
  expect(new Set(positions).size).toBe(positions.length);
  expect(positions.length).toBe(world.sheet.lead.length);
});
