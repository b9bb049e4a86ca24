import { describe, expect, it } from 'vitest';
import { type Catalog, emptyCatalog, keepFormerLabels } from '../../src/core/catalog.ts';
import { textCell } from '../../src/core/cell.ts';
import { createNames, decode, encode } from '../../src/core/codec.ts';
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
