import { describe, expect, test } from 'vitest';
import type { Entity } from '../../src/core/record.ts';
import { type Agreement, emptyAgreement } from '../../src/core/state.ts';
import { forgetFreshColumns, holdMissingColumns } from '../../src/sheet/decide/rows/columns.ts';
import { ValueCounts } from '../../src/sheet/index/value-counts.ts';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { TabLayout } from '../../src/sheet/port/layout.ts';
import { showHeaders } from '../../src/sheet/port/shown-layout.ts';
import type { ReadTab } from '../../src/sheet/port/table.ts';

const both = { kind: 'text', direction: 'both', conflict: 'crm' } as const;

const layout: TabLayout<Entity> = {
  entity: 'lead',
  title: 'Leads',
  columns: [
    { field: 'title', header: 'Title', ...both },
    { field: 'about.url', header: 'Website', ...both },
  ],
};

const agreed = (id: string): [string, Agreement] => [
  id,
  {
    ...emptyAgreement({ entity: 'lead', id }, 0),
    fields: { title: `Title ${id}`, 'about.url': `${id}.example` },
  },
];

const row = (id: number, url: string) => ({
  position: id,
  id: numberCell(id),
  sync: emptyCell,
  cells: { title: textCell(`Title ${id}`), 'about.url': textCell(url) },
});

const tab = {
  state: 'read',
  rows: [row(1, ''), row(2, 'typed.example')],
  fields: new Set(['title', 'about.url']),
  hasSync: true,
} as const;

describe('a column that is missing', () => {
  const without = { ...tab, fields: new Set(['title']), headers: { title: 'Title' } };
  const holdsOf = (read: ReadTab, ...entries: readonly [string, Agreement][]) => {
    const agreements = new Map(entries);
    const counts = new ValueCounts(() => agreements.values());
    const countAgreed: ValueCounts['count'] = (name, value) => counts.count(name, value);
    return holdMissingColumns({ agreements, countAgreed, layout, tab: read });
  };

  test('is held with what to do where it was there before', () => {
    const [hold, ...others] = holdsOf(without, agreed('1'));
    expect(hold?.reason).toContain('“Website” of “Leads” is gone; the CRM keeps its values');
    expect(others).toEqual([]);
  });

  test('is offered where it never was', () => {
    const [hold] = holdsOf(without);
    expect(hold?.reason).toContain('Nothing is added unasked: run init --add-columns');
    expect(hold?.isOffer).toBe(true);
  });

  test('is named with the column that is called like it, and is no mere offer where it was there before', () => {
    const namesakes = { 'about.url': 'F' };
    const [hold] = holdsOf({ ...without, namesakes });
    expect(hold?.reason).toContain('Column F is called so, but carries something else and is left alone');
    expect(hold?.isOffer).toBe(true);
    const [lost] = holdsOf({ ...without, namesakes }, agreed('1'));
    expect(lost).toEqual({ entity: 'lead', reason: hold?.reason });
  });

  test('is not missing when an array formula fills it', () => {
    const filled = { ...without, headers: { title: 'Title', 'about.url': 'Website' } };
    expect(holdsOf(filled)).toEqual([]);
  });
});

describe('a column that is new', () => {
  test('says nothing with its empty cells, and what a person typed there stays an edit', () => {
    const agreements = new Map([agreed('1'), agreed('2'), agreed('3')]);
    const kept = forgetFreshColumns({ ...tab, fresh: new Set(['about.url']) }, agreements);
    expect([...kept].map(([id, { fields }]) => [id, Object.keys(fields)])).toEqual([
      ['1', ['title']],
      ['2', ['title', 'about.url']],
      ['3', ['title']],
    ]);
    expect(kept.get('2')).toBe(agreements.get('2'));
  });

  test('leaves everything as it is where none is', () => {
    const agreements = new Map([agreed('1')]);
    expect(forgetFreshColumns(tab, agreements)).toBe(agreements);
  });
});

test('messages name the column that pauses rows by the header that people read above it', () => {
  const paused = { ...layout, pauseHeader: 'Pause' };
  expect(showHeaders(paused, { ...tab, headers: { '#pause': 'On hold' } }).pauseHeader).toBe('On hold');
  expect(showHeaders(paused, tab).pauseHeader).toBe('Pause');
});

test('messages use the header that stands above a column', () => {
  const shown = showHeaders(layout, { ...tab, headers: { 'about.url': 'Homepage' } });
  expect(shown.columns.map(({ header }) => header)).toEqual(['Title', 'Homepage']);
});
