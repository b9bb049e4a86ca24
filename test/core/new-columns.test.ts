import { expect, test } from 'vitest';
import type { CustomField } from '../../src/core/fields/catalog.ts';
import { emptyAgreement } from '../../src/core/state.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import { recordTabs } from '../../src/sheet/port/layout.ts';
import { tableLayout } from '../../src/sheet/tab-columns.ts';
import { sampleCatalog } from '../support/fields.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { policyWith } from '../support/policy.ts';

const brandNew: CustomField = { key: 'brand_new', name: 'Brand new', kind: 'text', options: [] };

/** A mirror that agreed on the title of leads, before the CRM had a field more. */
function openAgreed(leads: number) {
  const { mirror } = openMirrorInMemory();
  mirror.saveCatalog(sampleCatalog);
  const link = { mirror, policy: policyWith({}), entities: ['lead'] as const };
  const columns = recordTabs(currentLayout(link)).flatMap((tab) => tab.columns.map(({ field }) => field));
  let looks = 0;
  // Once they were read, the mirror keeps what is saved as it is.
  mirror.readAgreements();
  mirror.transaction(() => {
    for (let number = 1; number <= leads; number += 1)
      mirror.saveAgreement({
        ...emptyAgreement({ entity: 'lead', id: String(number) }, 1),
        get fields() {
          looks += 1;
          return { title: `Lead ${number}` };
        },
      });
  });
  const namesNew = () => {
    looks = 0;
    const found = recordTabs(tableLayout(link)).flatMap((tab) => tab.columns.filter(({ isNew }) => isNew));
    return { names: found.map(({ field }) => field), looks };
  };
  mirror.saveCatalog({ ...sampleCatalog, customFields: [...sampleCatalog.customFields, brandNew] });
  return { mirror, columns, namesNew };
}

test('a field that has no column so far is new, without a look at each agreement', () => {
  const { columns, mirror, namesNew } = openAgreed(50);
  mirror.saveFact(sheetFacts.metFields('lead'), columns);
  const { looks, names } = namesNew();
  expect(names).toEqual(['custom.brand_new']);
  expect(looks).toBeLessThan(3);
});

test('a mirror in which no column was noted so far is searched once for what it agreed', () => {
  const { columns, mirror, namesNew } = openAgreed(50);
  expect(namesNew().names).not.toContain('title');
  expect(mirror.readFact(sheetFacts.metFields('lead'))).toEqual(['title']);
  const { looks, names } = namesNew();
  expect(names).toHaveLength(columns.length);
  expect(looks).toBeLessThan(3);
});

test('no field is new to a mirror that has agreed on nothing', () => {
  const { columns, mirror, namesNew } = openAgreed(0);
  expect(namesNew().names).toEqual([]);
  mirror.saveFact(sheetFacts.metFields('lead'), columns);
  expect(namesNew().names).toEqual([]);
});
