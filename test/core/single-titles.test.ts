import { assert, constantFrom, integer, property, record as recordOf, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyAgreement, type KnownRecord } from '../../src/core/state.ts';
import { lazyTitles, singleTitles, titledChoiceOf } from '../../src/sheet/cells/lead-names.ts';

const titles = constantFrom('Acme', 'acme ', 'Beta', '2', '#2', 'Acme (#2)', 'Beta (#1) (#2)', '');
const texts = constantFrom(
  'Acme',
  'Beta',
  'Acme (#1)',
  'Acme (#2)',
  'acme  (#2)',
  'Beta (#1) (#2)',
  'Acme (#2) (#1)',
  '#2',
  '2',
  '2 (#3)',
  ' (#3)',
  'Beta #1',
  'Coda (#9)',
);
const leads = uniqueArray(
  recordOf({
    id: integer({ min: 1, max: 4 }),
    title: titles,
    agreed: titles,
    before: titles,
    presence: constantFrom('present' as const, 'gone' as const),
  }),
  { selector: ({ id }) => id },
);

/** The leads by their names: all indexed, and one by one. */
function namesOf(
  records: readonly KnownRecord[],
  agreedTitles: readonly string[],
  coming: readonly string[],
) {
  const agreements = records.map(({ key }, place) => ({
    ...emptyAgreement(key, 1),
    fields: { title: agreedTitles[place] ?? '' },
  }));
  const all = lazyTitles('lead', { records, agreements }, coming);
  const single = singleTitles(lazyTitles('lead', { records, agreements }, coming), (id) => {
    const place = records.findIndex(({ key }) => key.id === id);
    const [record, agreement] = [records[place], agreements[place]];
    return record && titledChoiceOf(record, agreement);
  });
  return { all, single };
}

describe('names that are looked up one by one', () => {
  it('mean what they mean among all names', () => {
    assert(
      property(leads, texts, titles, (given, text, coming) => {
        const records = given.map(
          ({ before, id, presence, title }): KnownRecord => ({
            key: { entity: 'lead', id: String(id) },
            fields: { title },
            firstSeenAt: 1,
            lastSeenAt: 2,
            missedSweeps: 0,
            presence,
            written: { at: 1, before: { title: before } },
          }),
        );
        const agreed = given.map((each) => each.agreed);
        const { all, single } = namesOf(records, agreed, [coming]);
        expect(single.find(text)).toEqual(all.find(text));
        for (const id of [1, 2, '3', 9]) {
          expect(single.label(id)).toBe(all.label(id));
          expect(single.mayShow(id, text)).toBe(all.mayShow(id, text));
        }
      }),
    );
  });
});
