import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSuggester } from '../../src/core/text/suggest.ts';

const suggesterOf = (...names: readonly string[]) =>
  createSuggester(() => names.map((name, index) => ({ name, label: `${name} (#${index + 1})` })));

describe('what is suggested for a text that names nothing', () => {
  const suggest = suggesterOf(
    'Old Green Lane',
    'Green Lane GmbH',
    'Green Lanes',
    'Green Lane (Zoë Weiß)',
    'Bluebird',
    'Evergreen',
    'Yoga Loft AG',
  );

  it.each([
    ['green  LANE', ['Green Lanes (#3)', 'Green Lane GmbH (#2)', 'Green Lane (Zoë Weiß) (#4)']],
    ['Lane', ['Green Lanes (#3)', 'Old Green Lane (#1)', 'Green Lane GmbH (#2)']],
    ['Zoe Weiß', ['Green Lane (Zoë Weiß) (#4)']],
    ['Blubird', ['Bluebird (#5)']],
    ['Yoga Lotf AG', ['Yoga Loft AG (#7)']],
    ['Yoga Loft AG (#99)', ['Yoga Loft AG (#7)']],
    ['Redbird', []],
    ['#99', []],
    ['…', []],
  ])('%s: what begins so first, then what has it within, then what is spelled nearly so', (text, labels) => {
    expect(suggest(text)).toEqual(labels);
  });

  it('is the same for names in any order, and three at most', () => {
    const name = fc.stringMatching(/^[ab]{1,3}( [ab]{1,3})?$/);
    const some = fc.uniqueArray(name, { maxLength: 12 });
    fc.assert(
      fc.property(some, name, fc.infiniteStream(fc.nat(11)), (names, text, places) => {
        const named = names.map((each) => ({ name: each, label: each }));
        const shuffled = named
          .map((each) => ({ each, place: places.next().value }))
          .toSorted((one, other) => one.place - other.place)
          .map(({ each }) => each);
        const suggested = createSuggester(() => named)(text);
        expect(createSuggester(() => shuffled)(text)).toEqual(suggested);
        expect(suggested.length).toBeLessThanOrEqual(3);
      }),
    );
  });

  it('is found among very many that are called nearly the same', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `Company ${index} GmbH`);
    expect(suggesterOf(...many)('Compony 15000 GmbH')).toContain('Company 15000 GmbH (#15001)');
  });
});
