import { describe, expect, it } from 'vitest';
import { type Catalog, emptyCatalog, keepFormerLabels } from '../../src/core/fields/catalog.ts';
import { findField } from '../../src/core/fields/field.ts';
import { createNames, decode, encode } from '../../src/sheet/cells/codec.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import { sampleField } from '../support/fields.ts';

const status = sampleField('lead', 'status_name');
const stage = sampleField('opportunity', 'stage_id');

const catalogOf = (label: string, pipeline: string): Catalog => ({
  ...emptyCatalog,
  leadStatuses: [{ name: 'in-talks', label }],
  pipelines: [{ id: 1, name: pipeline, stages: [{ id: 11, name: 'Won', order: 1 }] }],
});

const namesAfter = (...catalogs: readonly Catalog[]) =>
  createNames(
    catalogs.reduce((before, now) => keepFormerLabels(now, before)),
    [],
    'UTC',
  );

describe('a label that the CRM gave up', () => {
  const names = namesAfter(catalogOf('Talking', 'Sales'), catalogOf('In talks', 'Deals'));

  it('goes on meaning the same', () => {
    expect(decode(status, textCell('Talking'), names)).toEqual({ kind: 'value', value: 'in-talks' });
    expect(decode(stage, textCell('Sales / Won'), names)).toEqual({ kind: 'value', value: 11 });
  });

  it('is not shown any more', () => {
    expect(encode(status, 'in-talks', names)).toEqual(textCell('In talks'));
    expect(encode(stage, 11, names)).toEqual(textCell('Deals / Won'));
  });

  it('is kept over further renamings', () => {
    const later = namesAfter(
      catalogOf('A', 'P'),
      catalogOf('B', 'Q'),
      catalogOf('C', 'R'),
      catalogOf('C', 'R'),
    );
    for (const label of ['A', 'B', 'C']) {
      expect(decode(status, textCell(label), later)).toEqual({ kind: 'value', value: 'in-talks' });
    }
    expect(decode(stage, textCell('P / Won'), later)).toEqual({ kind: 'value', value: 11 });
  });

  it('names several once something else bears it', () => {
    const [before, now] = [catalogOf('Talking', 'Sales'), catalogOf('In talks', 'Deals')];
    const taken = { ...now, leadStatuses: [...now.leadStatuses, { name: 'fresh', label: 'Talking' }] };
    const after = namesAfter(before, taken);
    expect(decode(status, textCell('Talking'), after)).toEqual({
      kind: 'refused',
      reason: '“Talking” names several: In talks, Talking (#fresh). Write which one.',
    });
    expect(encode(status, 'fresh', after)).toEqual(textCell('Talking (#fresh)'));
    expect(decode(status, textCell('Talking (#fresh)'), after)).toEqual({ kind: 'value', value: 'fresh' });
  });

  it('that is the name of the status as well is understood as ever', () => {
    const names = namesAfter(catalogOf('In-Talks', 'Sales'), catalogOf('Talking', 'Sales'));
    expect(decode(status, textCell('In-Talks'), names)).toEqual({ kind: 'value', value: 'in-talks' });
  });

  it('that is the old one again is no second thing', () => {
    const back = namesAfter(
      catalogOf('A', 'P'),
      catalogOf('B', 'P'),
      catalogOf('A', 'P'),
      catalogOf('B', 'P'),
    );
    expect(decode(status, textCell('A'), back)).toEqual({ kind: 'value', value: 'in-talks' });
  });
});

describe('an option that the CRM gave another name', () => {
  const offering = (
    key: string,
    kind: 'select' | 'multi-select',
    options: Readonly<Record<number, string>>,
  ) => ({
    ...emptyCatalog,
    customFields: [
      { key, name: key, kind, options: Object.values(options), optionIds: Object.keys(options).map(Number) },
    ],
  });
  const read = (text: string, ...catalogs: readonly Catalog[]) => {
    const catalog = catalogs.reduce((before, now) => keepFormerLabels(now, before));
    const field = findField('lead', `custom.${catalog.customFields[0]?.key}`, catalog);
    return field && decode(field, textCell(text), createNames(catalog, [], 'UTC'));
  };

  it('is understood by its old names, alone and in a list', () => {
    const tiers = [{ 1: 'A' }, { 1: 'B' }, { 1: 'C' }].map((options) => offering('tier', 'select', options));
    for (const text of ['A', 'b', 'C']) expect(read(text, ...tiers)).toEqual({ kind: 'value', value: 'C' });
    const topics = [
      { 1: 'Web', 2: 'SEO' },
      { 1: 'Web', 2: 'Search' },
    ].map((options) => offering('topics', 'multi-select', options));
    expect(read('seo; Web', ...topics)).toEqual({ kind: 'value', value: ['Search', 'Web'] });
  });

  it('gives its old name to another option: that means the other one from then on', () => {
    const [before, now] = [
      offering('tier', 'select', { 1: 'A' }),
      offering('tier', 'select', { 1: 'B', 2: 'A' }),
    ];
    expect(read('A', before, now)).toEqual({ kind: 'value', value: 'A' });
  });

  it('is not meant by a list that reads well without its old name', () => {
    const before = offering('topics', 'multi-select', { 1: 'Print', 2: 'Packaging', 3: 'Print, packaging' });
    const now = offering('topics', 'multi-select', { 1: 'Print', 2: 'Packaging', 3: 'Boxes' });
    expect(read('Print, packaging', before, now)).toEqual({ kind: 'value', value: ['Print', 'Packaging'] });
  });

  it('is not known by its old name once it is gone', () => {
    const before = offering('tier', 'select', { 1: 'A', 2: 'B' });
    const outcome = read('A', before, offering('tier', 'select', { 2: 'B' }));
    expect(outcome).toEqual({ kind: 'refused', reason: '“A” is not known. tier takes B.' });
  });
});
