import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/fields/catalog.ts';
import type { RecordKey } from '../../src/core/record.ts';
import type { Value } from '../../src/core/value.ts';
import {
  both,
  catalogOf,
  fieldOf,
  momentNames,
  moments,
  pipelines,
  sentToCrm,
  settleUntouched,
  statuses,
  tier,
  tiers,
  topicsOf,
  webAndSeo,
  worldWith,
} from '../support/names-world.ts';
import { changeRecord, leadKey } from '../support/world.ts';
import { cycle } from '../support/world-daemon.ts';

interface Change {
  readonly what: string;
  readonly before: Catalog;
  readonly after: Catalog;
  readonly field: string;
  readonly value: Value;
  /** What the CRM makes of the value with the change; the same where it is left out. */
  readonly becomes?: Value;
}

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
        async ({ after, becomes, before, field, value }) => {
          const isOfLead = field !== 'stage_id';
          const world = await worldWith(
            before,
            { [field]: value, ...(isOfLead ? {} : { lead_id: 1 }) },
            isOfLead ? 'lead' : 'opportunity',
          );
          const key: RecordKey = isOfLead ? leadKey(1) : { entity: 'opportunity', id: '2' };
          const later = moments[moment](world, after);
          // The catalog is read before the records that go with it.
          await cycle(later);
          expect(sentToCrm(later)).toEqual([]);
          if (becomes !== undefined) changeRecord(later, key, { [field]: becomes });
          await settleUntouched(later);
        },
      );
    });
  }
});
