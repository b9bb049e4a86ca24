import { describe, expect, it } from 'vitest';
import { type Catalog, type CustomField, keepFormerLabels } from '../../src/core/catalog.ts';
import { type Cell, describeCell, emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { buildLayout } from '../../src/core/policy.ts';
import { type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { equalValues, type Fields, type Value } from '../../src/core/value.ts';
import { emptyMemory } from '../../src/sync/rest.ts';
import { sampleCatalog } from '../support/fields.ts';
import {
  addRecord,
  changeRecord,
  createWorld,
  leadKey,
  recordOf,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, push, settle } from '../support/world-daemon.ts';

/** Options by their ids, which a renamed option keeps. */
type Options = Readonly<Record<number, string>>;

const fieldOf = (key: 'tier' | 'topics', options: Options, kind?: CustomField['kind']): CustomField => ({
  key,
  name: key,
  kind: kind ?? (key === 'tier' ? 'select' : 'multi-select'),
  options: Object.values(options),
  optionIds: Object.keys(options).map(Number),
});

const catalogOf = (...customFields: readonly CustomField[]): Catalog => ({ ...sampleCatalog, customFields });
const topicsOf = (options: Options) => catalogOf(fieldOf('topics', options));

/** The same world once the daemon has read this catalog. */
const withCatalog = (world: World, told: Catalog): World => {
  const catalog = keepFormerLabels(told, world.catalog);
  return { ...world, catalog, layout: buildLayout(world.policy, catalog) };
};

function worldWith(told: Catalog, fields: Fields, entity: RecordKey['entity'] = 'lead'): World {
  const world = withCatalog({ ...createWorld(), catalog: told }, told);
  addRecord(world, 'lead', { title: 'Acme', ...(entity === 'lead' ? fields : {}) });
  if (entity !== 'lead') addRecord(world, entity, { title: 'Call', ...fields });
  settle(world);
  world.journal.splice(0);
  return world;
}

/** When the CRM changes how things are called, seen from the daemon. */
const moments = {
  'while it runs': (world: World, told: Catalog) => withCatalog(world, told),
  'while it is down': (world: World, told: Catalog) => ({ ...withCatalog(world, told), memory: emptyMemory }),
  'before the first look of a version that keeps what cells showed': (world: World, told: Catalog) => {
    for (const [key, { shown: _shown, ...agreement }] of world.agreements)
      world.agreements.set(key, agreement);
    return { ...withCatalog(world, told), memory: emptyMemory };
  },
} as const;
type Moment = keyof typeof moments;
const momentNames = Object.keys(moments) as Moment[];

const sentToCrm = ({ journal }: World) => journal.filter(({ side }) => side === 'crm');
const personsCauses = /in the sheet|chosen|sheet wins/;

/** Holds that no edit was seen, nothing waits, and every row shows what the CRM has. */
function settleUntouched(world: World): void {
  const inCrm = structuredClone([...world.crm.values()]);
  const plan = settle(world);
  expect([plan.brakes, plan.holds, plan.conflicts, plan.refusals]).toEqual([[], [], [], []]);
  expect([...world.crm.values()]).toEqual(inCrm);
  expect(sentToCrm(world)).toEqual([]);
  expect(world.journal.filter(({ cause }) => personsCauses.test(cause))).toEqual([]);
  for (const { key, fields } of world.crm.values()) {
    const { fields: agreed = {}, offered = {} } = world.agreements.get(recordKeyText(key)) ?? {};
    expect(offered).toEqual({});
    for (const [name, value] of Object.entries(agreed)) {
      const [one, other] = [value, fields[name] ?? null];
      expect(equalValues(one, other), `${recordKeyText(key)} ${name}: ${one} is not ${other}`).toBe(true);
    }
  }
}

const shownIn = (world: World, name: string, key: RecordKey = leadKey(1)) =>
  describeCell(rowOf(world, key).cells[name] ?? textCell(''));
function type(world: World, name: string, cell: Cell, key: RecordKey = leadKey(1)): void {
  rowOf(world, key).cells[name] = cell;
  settle(world);
}
const topicsIn = (world: World) => recordOf(world, leadKey(1)).fields['custom.topics'];

interface Change {
  readonly what: string;
  readonly before: Catalog;
  readonly after: Catalog;
  readonly field: string;
  readonly value: Value;
  /** What the CRM makes of the value with the change; the same where it is left out. */
  readonly becomes?: Value;
}

const webAndSeo = { 1: 'Web design', 2: 'SEO', 3: 'Print, packaging' };
const both = ['Web design', 'SEO'];
const tiers = { 1: 'Gold', 2: 'Silver' };
const tier = (options: Options, kind?: CustomField['kind']) => catalogOf(fieldOf('tier', options, kind));

const optionChanges: readonly Change[] = [
  {
    what: 'an option is added that is called like two others with a comma between',
    before: topicsOf({ 1: 'Print', 2: 'Packaging' }),
    after: topicsOf({ 1: 'Print', 2: 'Packaging', 3: 'Print, packaging' }),
    field: 'custom.topics',
    value: ['Print', 'Packaging'],
  },
  {
    what: 'an option is renamed and records keep its old name',
    before: topicsOf(webAndSeo),
    after: topicsOf({ ...webAndSeo, 2: 'Search' }),
    field: 'custom.topics',
    value: both,
  },
  {
    what: 'an option is renamed, in the records as well',
    before: topicsOf(webAndSeo),
    after: topicsOf({ ...webAndSeo, 2: 'Search' }),
    field: 'custom.topics',
    value: both,
    becomes: ['Web design', 'Search'],
  },
  {
    what: 'an option is deleted and records keep it',
    before: topicsOf(webAndSeo),
    after: topicsOf({ 1: 'Web design', 3: 'Print, packaging' }),
    field: 'custom.topics',
    value: both,
  },
  {
    what: 'an option is deleted, in the records as well',
    before: topicsOf(webAndSeo),
    after: topicsOf({ 1: 'Web design', 3: 'Print, packaging' }),
    field: 'custom.topics',
    value: both,
    becomes: ['Web design'],
  },
  {
    what: 'two options of a list swap their names',
    before: topicsOf({ 1: 'Web', 2: 'Print', 3: 'A, b' }),
    after: topicsOf({ 1: 'Print', 2: 'Web', 3: 'A, b' }),
    field: 'custom.topics',
    value: ['Web'],
    becomes: ['Print'],
  },
  {
    what: 'the options change their order',
    before: topicsOf({ 1: 'Web', 2: 'Print' }),
    after: topicsOf({ 2: 'Print', 1: 'Web' }),
    field: 'custom.topics',
    value: ['Web', 'Print'],
    becomes: ['Print', 'Web'],
  },
  {
    what: 'an option changes its case',
    before: topicsOf(webAndSeo),
    after: topicsOf({ ...webAndSeo, 2: 'Seo' }),
    field: 'custom.topics',
    value: both,
    becomes: ['Web design', 'Seo'],
  },
  {
    what: 'an option gets a comma',
    before: topicsOf({ 1: 'Web', 2: 'Print' }),
    after: topicsOf({ 1: 'Web, print', 2: 'Print' }),
    field: 'custom.topics',
    value: ['Web', 'Print'],
    becomes: ['Web, print', 'Print'],
  },
  {
    what: 'all options of a list go',
    before: topicsOf(webAndSeo),
    after: topicsOf({}),
    field: 'custom.topics',
    value: both,
  },
  {
    what: 'the option of a choice is renamed',
    before: tier(tiers),
    after: tier({ ...tiers, 1: 'Platinum' }),
    field: 'custom.tier',
    value: 'Gold',
    becomes: 'Platinum',
  },
  {
    what: 'the option of a choice is deleted and the record keeps it',
    before: tier(tiers),
    after: tier({ 2: 'Silver' }),
    field: 'custom.tier',
    value: 'Gold',
  },
  {
    what: 'the options of a choice swap their names',
    before: tier(tiers),
    after: tier({ 1: 'Silver', 2: 'Gold' }),
    field: 'custom.tier',
    value: 'Gold',
    becomes: 'Silver',
  },
  {
    what: 'a choice becomes a list',
    before: tier({ 1: 'Gold, new', 2: 'Gold', 3: 'New' }),
    after: tier({ 1: 'Gold, new', 2: 'Gold', 3: 'New' }, 'multi-select'),
    field: 'custom.tier',
    value: 'Gold, new',
    becomes: ['Gold, new'],
  },
  {
    what: 'a list becomes a text',
    before: topicsOf({ 1: 'Web', 2: 'Web, print', 3: 'Print' }),
    after: catalogOf(fieldOf('topics', {}, 'text')),
    field: 'custom.topics',
    value: ['Web', 'Print'],
    becomes: 'Web and print',
  },
  {
    what: 'a list becomes a choice',
    before: topicsOf({ 1: 'Web', 2: 'Web, print', 3: 'Print' }),
    after: catalogOf(fieldOf('topics', { 1: 'Web' }, 'select')),
    field: 'custom.topics',
    value: ['Web', 'Print'],
    becomes: 'Web',
  },
  {
    what: 'people become a list of options',
    before: catalogOf(fieldOf('topics', {}, 'users')),
    after: topicsOf({ 1: 'ann', 2: 'bob', 3: 'ann, bob' }),
    field: 'custom.topics',
    value: ['ann', 'bob'],
  },
];

const statuses = (labels: Readonly<Record<string, string>>): Catalog => ({
  ...sampleCatalog,
  leadStatuses: Object.entries(labels).map(([name, label]) => ({ name, label })),
});

const pipelines = (stages: Readonly<Record<number, string>>): Catalog => {
  const named = Object.entries(stages).map(([id, text], order) => {
    const [pipeline = '', name = ''] = text.split(' / ');
    return { id: Number(id), pipeline, name, order };
  });
  const groups = [...Map.groupBy(named, ({ pipeline }) => pipeline)];
  return { ...sampleCatalog, pipelines: groups.map(([name, own], id) => ({ id, name, stages: own })) };
};

const nameChanges: readonly Change[] = [
  {
    what: 'a status gets another label',
    before: statuses({ new: 'New', talk: 'Talking' }),
    after: statuses({ new: 'New', talk: 'In talks' }),
    field: 'status_name',
    value: 'talk',
  },
  {
    what: 'two statuses swap their labels',
    before: statuses({ new: 'New', talk: 'Talking' }),
    after: statuses({ new: 'Talking', talk: 'New' }),
    field: 'status_name',
    value: 'talk',
  },
  {
    what: 'a status is deleted and another one gets its label',
    before: statuses({ new: 'New', talk: 'Talking' }),
    after: statuses({ new: 'New', other: 'Talking' }),
    field: 'status_name',
    value: 'talk',
  },
  {
    what: 'the label of a status changes its case',
    before: statuses({ new: 'New', talk: 'Talking' }),
    after: statuses({ new: 'New', talk: 'TALKING' }),
    field: 'status_name',
    value: 'talk',
  },
  {
    what: 'a stage moves to another pipeline',
    before: pipelines({ 1: 'Sales / New', 2: 'Sales / Won', 3: 'Deals / Lost' }),
    after: pipelines({ 1: 'Sales / New', 2: 'Deals / Won', 3: 'Deals / Lost' }),
    field: 'stage_id',
    value: 2,
  },
  {
    what: 'a stage is swapped with one of another pipeline',
    before: pipelines({ 1: 'Sales / Won', 2: 'Deals / Won' }),
    after: pipelines({ 1: 'Deals / Won', 2: 'Sales / Won' }),
    field: 'stage_id',
    value: 2,
  },
  {
    what: 'a stage is deleted',
    before: pipelines({ 1: 'Sales / Won', 2: 'Deals / Won' }),
    after: pipelines({ 1: 'Sales / Won' }),
    field: 'stage_id',
    value: 2,
  },
];

describe('an untouched cell', () => {
  for (const moment of momentNames) {
    describe(`is no edit ${moment}`, () => {
      it.each([...optionChanges, ...nameChanges])(
        'where $what',
        ({ after, becomes, before, field, value }) => {
          const isOfLead = field !== 'stage_id';
          const world = worldWith(
            before,
            { [field]: value, ...(isOfLead ? {} : { lead_id: 1 }) },
            isOfLead ? 'lead' : 'opportunity',
          );
          const key: RecordKey = isOfLead ? leadKey(1) : { entity: 'opportunity', id: '2' };
          const later = moments[moment](world, after);
          // The catalog is read before the records that go with it.
          cycle(later);
          expect(sentToCrm(later)).toEqual([]);
          if (becomes !== undefined) changeRecord(later, key, { [field]: becomes });
          settleUntouched(later);
        },
      );
    });
  }
});

/** The CRM called SEO “Search” since the row was written. */
const renamedSeo = () =>
  withCatalog(
    worldWith(topicsOf(webAndSeo), { 'custom.topics': both }),
    topicsOf({ ...webAndSeo, 2: 'Search' }),
  );

describe('what a person types into a cell whose names have changed', () => {
  it('is understood by the old name of an option, alone and in a list', () => {
    const world = renamedSeo();
    changeRecord(world, leadKey(1), { 'custom.topics': ['Web design'] });
    settle(world);
    type(world, 'custom.topics', textCell('Web design, SEO'));
    expect(topicsIn(world)).toEqual(['Web design', 'Search']);
    expect(shownIn(world, 'custom.topics')).toBe('Web design, Search');
    type(world, 'custom.topics', textCell('seo'));
    expect(topicsIn(world)).toEqual(['Search']);
  });

  it('is understood by the old name of the option of a choice', () => {
    const world = withCatalog(
      worldWith(tier(tiers), { 'custom.tier': 'Silver' }),
      tier({ ...tiers, 1: 'Platinum' }),
    );
    type(world, 'custom.tier', textCell('Gold'));
    expect(recordOf(world, leadKey(1)).fields['custom.tier']).toBe('Platinum');
    expect(shownIn(world, 'custom.tier')).toBe('Platinum');
  });

  it('is asked about where two options were called so', () => {
    const first = worldWith(tier({ 1: 'Gold', 2: 'Silver' }), { 'custom.tier': 'Silver' });
    const second = withCatalog(first, tier({ 1: 'Platinum', 2: 'Silver', 3: 'Gold' }));
    const world = withCatalog(second, tier({ 1: 'Platinum', 2: 'Silver', 3: 'Copper' }));
    type(world, 'custom.tier', textCell('Gold'));
    expect(describeCell(rowOf(world, leadKey(1)).sync)).toContain('“Gold” names several: Platinum, Copper.');
    expect(sentToCrm(world)).toEqual([]);
  });

  it('means the option that is called so now, where another one was called so before', () => {
    const world = withCatalog(
      worldWith(tier(tiers), { 'custom.tier': 'Gold' }),
      tier({ 1: 'Platinum', 2: 'Silver', 3: 'Gold' }),
    );
    changeRecord(world, leadKey(1), { 'custom.tier': 'Platinum' });
    settleUntouched(world);
    expect(shownIn(world, 'custom.tier')).toBe('Platinum');
    type(world, 'custom.tier', textCell('Gold'));
    expect(recordOf(world, leadKey(1)).fields['custom.tier']).toBe('Gold');
  });

  it('is not understood by the name of an option that was deleted', () => {
    const world = withCatalog(
      worldWith(topicsOf(webAndSeo), { 'custom.topics': ['Web design'] }),
      topicsOf({ 1: 'Web design', 3: 'Print, packaging' }),
    );
    type(world, 'custom.topics', textCell('Web design, SEO'));
    expect(describeCell(rowOf(world, leadKey(1)).sync)).toContain('“SEO” is not known.');
  });

  it('S1: is an edit before the row follows the new names, and after', () => {
    for (const isFollowing of [false, true]) {
      const world = renamedSeo();
      if (isFollowing) settle(world);
      type(world, 'custom.topics', textCell('Web design'));
      expect(topicsIn(world)).toEqual(['Web design']);
      type(world, 'custom.topics', textCell('Search'));
      expect(topicsIn(world)).toEqual(['Search']);
    }
  });

  it('S1: is an edit also where it is the name of one option, and the cell showed the names of two', () => {
    const world = withCatalog(
      worldWith(topicsOf({ 1: 'Print', 2: 'Packaging' }), { 'custom.topics': ['Print', 'Packaging'] }),
      topicsOf({ 1: 'Print', 2: 'Packaging', 3: 'Print, packaging' }),
    );
    settleUntouched(world);
    expect(shownIn(world, 'custom.topics')).toBe('Print\nPackaging');
    type(world, 'custom.topics', textCell('Print, packaging'));
    expect(topicsIn(world)).toEqual(['Print, packaging']);
  });

  it('is asked about where it is the old name of the stage that the row shows, and the name of another one by now', () => {
    const fields = { stage_id: 1, lead_id: 1 };
    const world = withCatalog(
      worldWith(pipelines({ 1: 'Sales / New', 2: 'Sales / Won' }), fields, 'opportunity'),
      pipelines({ 1: 'Sales / Open', 2: 'Sales / Won', 3: 'Sales / New' }),
    );
    settleUntouched(world);
    const deal: RecordKey = { entity: 'opportunity', id: '2' };
    expect(shownIn(world, 'stage_id', deal)).toBe('Sales / Open');
    type(world, 'stage_id', textCell('Sales / New'), deal);
    expect(describeCell(rowOf(world, deal).sync)).toContain('“Sales / New” names several');
    expect(recordOf(world, deal).fields['stage_id']).toBe(1);
  });
});

describe('a name that a person typed', () => {
  const deal: RecordKey = { entity: 'opportunity', id: '3' };

  /** The lead of a deal was typed, and sent; the row shows it as it was typed. */
  function worldWithTypedLead(typed: Cell): World {
    const world = createWorld();
    addRecord(world, 'lead', { title: 'Acme' });
    addRecord(world, 'lead', { title: 'Beta' });
    addRecord(world, 'opportunity', { lead_id: 1, stage_id: 11 });
    settle(world);
    rowOf(world, deal).cells['lead_id'] = typed;
    cycle(world);
    cycle(world);
    push(world);
    expect(recordOf(world, deal).fields['lead_id']).toBe(2);
    expect(rowOf(world, deal).cells['lead_id']).toEqual(typed);
    world.journal.splice(0);
    return world;
  }

  it.each([
    ['another lead gets the same title', 1, 'Beta'],
    ['the lead gets another title', 2, 'Gamma'],
  ])('goes on meaning the same lead where %s before the row is written', (_what, id, title) => {
    for (const memory of [undefined, emptyMemory]) {
      const world = worldWithTypedLead(textCell('beta'));
      if (memory) world.memory = memory;
      changeRecord(world, leadKey(id), { title });
      settleUntouched(world);
      expect(recordOf(world, deal).fields['lead_id']).toBe(2);
      expect(shownIn(world, 'lead_id', deal)).toBe(id === 2 ? 'Gamma (#2)' : 'Beta (#2)');
    }
  });

  it.each([['2.00'], ['200%'], ['1900-01-01']])(
    'as a number goes on meaning the same in a column that shows it as %s',
    (shown) => {
      const world = worldWithTypedLead(numberCell(2));
      rowOf(world, deal).cells['lead_id'] = { kind: 'number', number: 2, shown };
      settleUntouched(world);
      expect(recordOf(world, deal).fields['lead_id']).toBe(2);
    },
  );
});

describe('a parent task that a person typed', () => {
  const call: RecordKey = { entity: 'task', id: '1' };
  const letter: RecordKey = { entity: 'task', id: '2' };
  const child: RecordKey = { entity: 'task', id: '3' };

  it.each([
    ['another task gets the same title', letter, 'Call'],
    ['it gets another title', call, 'Visit'],
  ])('by its title goes on meaning the same where %s before the row is written', (_what, renamed, title) => {
    const world = createWorld();
    for (const text of ['Call', 'Letter', 'Notes']) addRecord(world, 'task', { title: text });
    settle(world);
    rowOf(world, child).cells['parent_task_id'] = textCell('call');
    cycle(world);
    cycle(world);
    push(world);
    expect(recordOf(world, child).fields['parent_task_id']).toBe(1);
    world.journal.splice(0);
    world.memory = emptyMemory;
    changeRecord(world, renamed, { title });
    settleUntouched(world);
    expect(recordOf(world, child).fields['parent_task_id']).toBe(1);
    expect(rowOf(world, child).cells['parent_task_id']).toEqual(numberCell(1));
  });
});

describe('a row whose names have changed', () => {
  it('is known by what it shows once its ID was wiped', () => {
    const world = worldWith(topicsOf(webAndSeo), { 'custom.topics': both });
    const later = { ...withCatalog(world, topicsOf({ 1: 'Web design', 3: 'Print, packaging' })) };
    rowOf(later, leadKey(1)).id = emptyCell;
    settle(later);
    expect([later.crm.size, later.sheet.lead.length]).toEqual([1, 1]);
    settleUntouched(later);
  });
});
