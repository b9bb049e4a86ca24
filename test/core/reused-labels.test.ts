import { describe, expect, it } from 'vitest';
import type { Catalog, LeadStatus, Stage } from '../../src/core/fields/catalog.ts';
import type { Entity, RecordKey } from '../../src/core/record.ts';
import { type Cell, describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { sampleCatalog } from '../support/fields.ts';
import {
  addRecord,
  addRow,
  changeRecord,
  clearJournal,
  createWorld,
  journalOf,
  layoutOf,
  leadKey,
  recordOf,
  removeRecord,
  rowOf,
  type World,
  withCatalog,
} from '../support/world.ts';
import { settle } from '../support/world-daemon.ts';

const stagesNamed = (names: Readonly<Record<number, string>>): Catalog => {
  const stages = Object.entries(names).map(([id, name], order): Stage => ({ id: Number(id), name, order }));
  return { ...sampleCatalog, pipelines: [{ id: 1, name: 'Sales', stages }] };
};
const statusesLabelled = (leadStatuses: readonly LeadStatus[]): Catalog => ({
  ...sampleCatalog,
  leadStatuses,
});

const atFirst = stagesNamed({ 11: 'New', 12: 'Won' });
const renamedAndReused = stagesNamed({ 11: 'Contacted', 12: 'Won', 99: 'New' });
const swapped = stagesNamed({ 11: 'Won', 12: 'New' });

const deal = (id: number): RecordKey => ({ entity: 'opportunity', id: String(id) });

/** A world at rest with a lead, the deals 2 and 3 in stage 11, and the deal 4 in stage 12. */
async function worldWithDeals(catalog = atFirst): Promise<World> {
  const world = withCatalog({ ...createWorld(), catalog }, catalog);
  addRecord(world, 'lead', { title: 'Acme' });
  for (const [index, stage_id] of [11, 11, 12].entries())
    addRecord(world, 'opportunity', { lead_id: 1, stage_id, value: index });
  await settle(world);
  return world;
}

const stageCell = (world: World, key: RecordKey): Cell => rowOf(world, key).cells['stage_id'] ?? emptyCell;
const stagesShown = (world: World) => [2, 3, 4].map((id) => describeCell(stageCell(world, deal(id))));
const stagesInCrm = (world: World) => [2, 3, 4].map((id) => recordOf(world, deal(id)).fields['stage_id']);
const sentToCrm = (world: World) => journalOf(world).filter(({ side }) => side === 'crm');
const syncOf = (world: World, key: RecordKey) => describeCell(rowOf(world, key).sync);
const dropdownOf = (world: World, entity: Entity, name: string) =>
  layoutOf(world)
    .find((tab) => tab.entity === entity)
    ?.columns.find(({ field }) => field === name)?.labels;

/** Lets the daemon come to rest, and holds that it took no cell for an edit. */
async function settleWithoutEdits(world: World): Promise<void> {
  const plan = await settle(world);
  expect([plan.brakes, plan.holds, plan.conflicts, plan.refusals]).toEqual([[], [], [], []]);
  expect(sentToCrm(world)).toEqual([]);
}

async function choose(world: World, key: RecordKey, label: string): Promise<void> {
  rowOf(world, key).cells['stage_id'] = textCell(label);
  await settle(world);
}

describe('a label that another stage has now', () => {
  it('S2: moves no record whose row still shows it, and the row gets the label of its own stage', async () => {
    const world = withCatalog(await worldWithDeals(), renamedAndReused);
    await settleWithoutEdits(world);
    expect(stagesInCrm(world)).toEqual([11, 11, 12]);
    expect(stagesShown(world)).toEqual(['Sales / Contacted', 'Sales / Contacted', 'Sales / Won']);
  });

  it('S2: moves no record where two stages swapped their names', async () => {
    const world = withCatalog(await worldWithDeals(), swapped);
    await settleWithoutEdits(world);
    expect(stagesInCrm(world)).toEqual([11, 11, 12]);
    expect(stagesShown(world)).toEqual(['Sales / Won (#11)', 'Sales / Won (#11)', 'Sales / New (#12)']);
  });

  it('is offered with the id of the new stage, as the rows show it', async () => {
    const world = withCatalog(await worldWithDeals(), renamedAndReused);
    expect(dropdownOf(world, 'opportunity', 'stage_id')).toEqual([
      'Sales / Contacted',
      'Sales / Won',
      'Sales / New (#99)',
    ]);
    const id = addRecord(world, 'opportunity', { lead_id: 1, stage_id: 99 });
    await settleWithoutEdits(world);
    expect(stageCell(world, { entity: 'opportunity', id })).toEqual(textCell('Sales / New (#99)'));
  });

  it('S1: is given by a person who chooses it, also in a row that showed it for the other stage', async () => {
    const world = withCatalog(await worldWithDeals(), renamedAndReused);
    await settle(world);
    await choose(world, deal(2), 'Sales / New (#99)');
    await choose(world, deal(4), 'Sales / New (#99)');
    expect(stagesInCrm(world)).toEqual([99, 11, 99]);
    expect(stagesShown(world)).toEqual(['Sales / New (#99)', 'Sales / Contacted', 'Sales / New (#99)']);
  });

  it('S1: is given after a swap as well, before the rows were written', async () => {
    const world = withCatalog(await worldWithDeals(), swapped);
    await choose(world, deal(2), 'Sales / New (#12)');
    await choose(world, deal(4), 'Sales / Won (#11)');
    expect(stagesInCrm(world)).toEqual([12, 11, 11]);
  });

  it('means nothing certain where somebody types it without the id, and is asked about', async () => {
    const world = withCatalog(await worldWithDeals(), renamedAndReused);
    await settle(world);
    await choose(world, deal(4), 'Sales / New');
    expect(syncOf(world, deal(4))).toBe(
      'Error: “Sales / New” names several: Sales / Contacted, Sales / New (#99). Write which one.',
    );
    const row = addRow(world, 'opportunity', {
      lead_id: textCell('Acme'),
      stage_id: textCell('Sales / New'),
    });
    await settle(world);
    expect(describeCell(row.sync)).toContain('names several');
    expect(sentToCrm(world)).toEqual([]);
  });

  it('S2: moves no record whose row was paused meanwhile', async () => {
    const world = await worldWithDeals();
    rowOf(world, deal(2)).isPaused = true;
    clearJournal(world);
    const later = withCatalog(world, renamedAndReused);
    await settle(later);
    expect(stagesShown(later)).toEqual(['Sales / New', 'Sales / Contacted', 'Sales / Won']);
    delete rowOf(later, deal(2)).isPaused;
    await settleWithoutEdits(later);
    expect(stagesShown(later)).toEqual(['Sales / Contacted', 'Sales / Contacted', 'Sales / Won']);
  });

  it('S2: moves no record to a stage that got the name of a deleted one', async () => {
    const world = withCatalog(await worldWithDeals(), stagesNamed({ 12: 'Won', 99: 'New' }));
    changeRecord(world, deal(2), { stage_id: 12 });
    await settleWithoutEdits(world);
    expect(stagesInCrm(world)).toEqual([12, 11, 12]);
    expect(stagesShown(world)).toEqual(['Sales / Won', '#11', 'Sales / Won']);
    await choose(world, deal(3), 'Sales / New (#99)');
    expect(stagesInCrm(world)).toEqual([12, 99, 12]);
  });

  it('keeps no row of a record that was deleted meanwhile, as if somebody had edited it', async () => {
    const world = withCatalog(await worldWithDeals(), renamedAndReused);
    rowOf(world, deal(2)).isPaused = true;
    removeRecord(world, deal(2));
    await settle(world);
    delete rowOf(world, deal(2)).isPaused;
    await settleWithoutEdits(world);
    expect(world.sheet.opportunity.map(({ id }) => describeCell(id))).toEqual(['3', '4']);
  });

  it('S2: is no edit in rows that showed it without the id', async () => {
    const known = { ...renamedAndReused, formerLabels: { stages: [], leadStatuses: [] } };
    const world = await worldWithDeals(known);
    await choose(world, deal(2), 'Sales / New');
    expect(stagesShown(world)).toEqual(['Sales / New', 'Sales / Contacted', 'Sales / Won']);
    const stages = [{ id: 11, label: 'Sales / New' }];
    clearJournal(world);
    const later = withCatalog(
      { ...world, catalog: { ...known, formerLabels: { stages, leadStatuses: [] } } },
      renamedAndReused,
    );
    await settleWithoutEdits(later);
    expect(stagesShown(later)).toEqual(['Sales / New (#99)', 'Sales / Contacted', 'Sales / Won']);
  });

  it('stands alone again once the names are swapped back', async () => {
    const world = withCatalog(await worldWithDeals(), swapped);
    await settle(world);
    const back = withCatalog(world, atFirst);
    await settleWithoutEdits(back);
    expect(stagesShown(back)).toEqual(['Sales / New', 'Sales / New', 'Sales / Won']);
  });

  it('is remembered once, however often the catalog is read', async () => {
    const once = withCatalog(await worldWithDeals(), renamedAndReused);
    expect(withCatalog(once, renamedAndReused).catalog).toEqual(once.catalog);
  });
});

describe('a stage that is called like another one from now on', () => {
  it('S2: moves no record, and the bare name is asked about', async () => {
    const world = withCatalog(await worldWithDeals(), stagesNamed({ 11: 'New', 12: 'Won', 99: 'New' }));
    await settleWithoutEdits(world);
    expect(stagesShown(world)).toEqual(['Sales / New (#11)', 'Sales / New (#11)', 'Sales / Won']);
    await choose(world, deal(4), 'Sales / New');
    expect(syncOf(world, deal(4))).toBe(
      'Error: “Sales / New” names several: Sales / New (#11), Sales / New (#99). Write which one.',
    );
  });
});

describe('a label that another lead status has now', () => {
  const statusShown = (world: World) =>
    describeCell(rowOf(world, leadKey(1)).cells['status_name'] ?? emptyCell);

  it.each([
    ['a label', 'Fresh'],
    ['its name', 'new'],
  ])('S2: changes no lead where the row shows %s', async (_, label) => {
    const first = statusesLabelled([{ name: 'new', label }]);
    const world = withCatalog({ ...createWorld(), catalog: first }, first);
    addRecord(world, 'lead', { title: 'Acme', status_name: 'new' });
    await settle(world);
    expect(statusShown(world)).toBe(label);
    const told = statusesLabelled([
      { name: 'new', label: 'Contacted' },
      { name: 'new-2', label },
    ]);
    clearJournal(world);
    const later = withCatalog(world, told);
    await settleWithoutEdits(later);
    expect([recordOf(later, leadKey(1)).fields['status_name'], statusShown(later)]).toEqual([
      'new',
      'Contacted',
    ]);
    expect(dropdownOf(later, 'lead', 'status_name')).toEqual(['Contacted', `${label} (#new-2)`]);
    rowOf(later, leadKey(1)).cells['status_name'] = textCell(`${label} (#new-2)`);
    await settle(later);
    expect([recordOf(later, leadKey(1)).fields['status_name'], statusShown(later)]).toEqual([
      'new-2',
      `${label} (#new-2)`,
    ]);
  });
});
