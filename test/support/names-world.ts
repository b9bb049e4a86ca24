import { expect } from 'vitest';
import type { Catalog, CustomField } from '../../src/core/fields/catalog.ts';
import { type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { equalValues, type Fields } from '../../src/core/value.ts';
import { type Cell, describeCell, textCell } from '../../src/sheet/port/cell.ts';
import { sampleCatalog } from './fields.ts';
import {
  addRecord,
  clearJournal,
  createWorld,
  journalOf,
  leadKey,
  recordOf,
  restart,
  rowOf,
  type World,
  withCatalog,
} from './world.ts';
import { settle } from './world-daemon.ts';

/** Options by their ids, which a renamed option keeps. */
type Options = Readonly<Record<number, string>>;

export const fieldOf = (
  key: 'tier' | 'topics',
  options: Options,
  kind?: CustomField['kind'],
): CustomField => ({
  key,
  name: key,
  kind: kind ?? (key === 'tier' ? 'select' : 'multi-select'),
  options: Object.values(options),
  optionIds: Object.keys(options).map(Number),
});

export const catalogOf = (...customFields: readonly CustomField[]): Catalog => ({
  ...sampleCatalog,
  customFields,
});
export const topicsOf = (options: Options) => catalogOf(fieldOf('topics', options));

export async function worldWith(
  told: Catalog,
  fields: Fields,
  entity: RecordKey['entity'] = 'lead',
): Promise<World> {
  const world = withCatalog({ ...createWorld(), catalog: told }, told);
  addRecord(world, 'lead', { title: 'Acme', ...(entity === 'lead' ? fields : {}) });
  if (entity !== 'lead') addRecord(world, entity, { title: 'Call', ...fields });
  await settle(world);
  clearJournal(world);
  return world;
}

function begunAnew(world: World): World {
  restart(world);
  return world;
}

/** When the CRM changes how things are called, seen from the daemon. */
export const moments = {
  'while it runs': (world: World, told: Catalog) => withCatalog(world, told),
  'while it is down': (world: World, told: Catalog) => begunAnew(withCatalog(world, told)),
  'before the first look of a version that keeps what cells showed': (world: World, told: Catalog) => {
    for (const [key, { shown: _shown, ...agreement }] of world.agreements)
      world.agreements.set(key, agreement);
    return begunAnew(withCatalog(world, told));
  },
} as const;
type Moment = keyof typeof moments;
export const momentNames = Object.keys(moments) as Moment[];

export const sentToCrm = (world: World) => journalOf(world).filter(({ side }) => side === 'crm');
const personsCauses = /in the sheet|chosen|sheet wins/;

/** Holds that no edit was seen, nothing waits, and every row shows what the CRM has. */
export async function settleUntouched(world: World): Promise<void> {
  const inCrm = structuredClone([...world.crm.values()]);
  const plan = await settle(world);
  expect([plan.brakes, plan.holds, plan.conflicts, plan.refusals]).toEqual([[], [], [], []]);
  expect([...world.crm.values()]).toEqual(inCrm);
  expect(sentToCrm(world)).toEqual([]);
  expect(journalOf(world).filter(({ cause }) => personsCauses.test(cause))).toEqual([]);
  for (const { key, fields } of world.crm.values()) {
    const { fields: agreed = {}, offered = {} } = world.agreements.get(recordKeyText(key)) ?? {};
    expect(offered).toEqual({});
    for (const [name, value] of Object.entries(agreed)) {
      const [one, other] = [value, fields[name] ?? null];
      expect(equalValues(one, other), `${recordKeyText(key)} ${name}: ${one} is not ${other}`).toBe(true);
    }
  }
}

export const shownIn = (world: World, name: string, key: RecordKey = leadKey(1)) =>
  describeCell(rowOf(world, key).cells[name] ?? textCell(''));
export async function type(
  world: World,
  name: string,
  cell: Cell,
  key: RecordKey = leadKey(1),
): Promise<void> {
  rowOf(world, key).cells[name] = cell;
  await settle(world);
}
export const topicsIn = (world: World) => recordOf(world, leadKey(1)).fields['custom.topics'];

export const webAndSeo = { 1: 'Web design', 2: 'SEO', 3: 'Print, packaging' };
export const both = ['Web design', 'SEO'];
export const tiers = { 1: 'Gold', 2: 'Silver' };
export const tier = (options: Options, kind?: CustomField['kind']) =>
  catalogOf(fieldOf('tier', options, kind));

export const statuses = (labels: Readonly<Record<string, string>>): Catalog => ({
  ...sampleCatalog,
  leadStatuses: Object.entries(labels).map(([name, label]) => ({ name, label })),
});

export const pipelines = (stages: Readonly<Record<number, string>>): Catalog => {
  const named = Object.entries(stages).map(([id, text], order) => {
    const [pipeline = '', name = ''] = text.split(' / ');
    return { id: Number(id), pipeline, name, order };
  });
  const groups = [...Map.groupBy(named, ({ pipeline }) => pipeline)];
  return { ...sampleCatalog, pipelines: groups.map(([name, own], id) => ({ id, name, stages: own })) };
};
