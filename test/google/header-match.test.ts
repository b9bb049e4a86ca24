import { describe, expect, test } from 'vitest';
import { bindColumns } from '../../src/google/columns.ts';
import { headerHash } from '../../src/google/metadata.ts';
import { booleanCell, type Cell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Column, TabLayout } from '../../src/sheet/port/layout.ts';

const column = (field: string, header: string, more: Partial<Column> = {}): Column => ({
  field,
  header,
  kind: 'text',
  direction: 'both',
  conflict: 'crm',
  ...more,
});

const layoutOf = (columns: readonly Column[], pauseHeader?: string): TabLayout => ({
  entity: 'lead',
  title: 'Leads',
  columns: [column('title', 'Title'), ...columns],
  ...(pauseHeader === undefined ? {} : { pauseHeader }),
});

/** A column with the field of its tag and what that was called when the column was tagged; of people where it has none. */
type Drawn = readonly [header: string, tag?: string, called?: string];

/** The ID and the title stand first. */
function gridOf(drawn: readonly Drawn[], ...rows: Cell[][]) {
  const all: Drawn[] = [['ID', 'ID'], ['Title', 'title', 'Title'], ...drawn];
  return {
    rows: [all.map(([header]) => textCell(header)), ...rows],
    tags: all.flatMap(([, field, called], index) => {
      const header = called === undefined ? {} : { header: headerHash(called) };
      return field === undefined ? [] : [{ field, index, metadataId: index, ...header }];
    }),
  };
}

function bind(grid: ReturnType<typeof gridOf>, layout: TabLayout) {
  const binding = bindColumns(grid, layout);
  if (binding.state !== 'bound') return binding.reason;
  const { fields, namesakes = new Map(), pause } = binding.columns;
  const { title: _title, ...places } = Object.fromEntries(
    [...fields].map(([name, { index }]) => [name, index]),
  );
  return { ...places, ...(pause === undefined ? {} : { pause }), namesakes: Object.fromEntries(namesakes) };
}

const rowWith = (...cells: Cell[]): Cell[] => [textCell('1'), textCell('Acme'), ...cells];

describe('a field that the CRM calls otherwise now', () => {
  test('keeps its column when a new field has its old name, also where no cell is filled', () => {
    const layout = layoutOf([
      column('budget', 'Budget (old)'),
      column('budget_2', 'Budget', { isNew: true }),
    ]);
    const expected = { budget: 2, namesakes: { budget_2: 2 } };
    expect(bind(gridOf([['Budget', 'budget', 'Budget']]), layout)).toEqual(expected);
    expect(bind(gridOf([['Budget', 'budget']]), layout)).toEqual(expected);
  });

  test('keeps its column when two fields of one name change places', () => {
    const layout = layoutOf([column('notes_2', 'Notes'), column('notes', 'Notes (notes)')]);
    const grid = gridOf([
      ['Notes', 'notes', 'Notes'],
      ['Notes (notes_2)', 'notes_2', 'Notes (notes_2)'],
    ]);
    expect(bind(grid, layout)).toEqual({ notes: 2, notes_2: 3, namesakes: {} });
  });

  test('keeps its column when it is called like one of people, or like two of them', () => {
    const layout = layoutOf([column('budget', 'Region')]);
    const budget: Drawn = ['Budget', 'budget', 'Budget'];
    expect(bind(gridOf([budget, ['Region']]), layout)).toEqual({ budget: 2, namesakes: {} });
    expect(bind(gridOf([budget, ['Region'], ['Region']]), layout)).toEqual({ budget: 2, namesakes: {} });
  });

  test('is no reason to stay under a header that the configuration moved it from', () => {
    const layout = layoutOf([column('budget', 'Region', { fieldHeader: 'Budget' })]);
    expect(bind(gridOf([['Budget', 'budget', 'Budget'], ['Region']]), layout)).toMatchObject({ budget: 3 });
  });

  test('is doubled where people call its column like one of their own', () => {
    const grid = gridOf([['Region', 'budget', 'Budget'], ['Region']]);
    expect(bind(grid, layoutOf([column('budget', 'Region')]))).toContain('are both called “Region”');
  });
});

test('columns whose contents people exchanged by cutting and pasting are known by their headers', () => {
  const layout = layoutOf([column('city', 'City'), column('phone', 'Phone')]);
  const grid = gridOf([
    ['Phone', 'city', 'City'],
    ['City', 'phone', 'Phone'],
  ]);
  expect(bind(grid, layout)).toEqual({ city: 3, phone: 2, namesakes: {} });
});

describe('a column without a tag that is called like a field', () => {
  const region = (more: Partial<Column> = {}) => layoutOf([column('region', 'Region', more)]);

  test('is people’s where it is filled and nothing was ever agreed of the field', () => {
    expect(bind(gridOf([['Region']], rowWith(textCell('mine'))), region({ isNew: true }))).toEqual({
      namesakes: { region: 2 },
    });
  });

  test.each([
    [
      'is empty',
      gridOf([['Region']], rowWith(emptyCell), rowWith(booleanCell(false))),
      region({ isNew: true }),
    ],
    ['had a column before', gridOf([['Region']], rowWith(textCell('north'))), region()],
  ])('is the field’s where it %s', (_, grid, layout) => {
    expect(bind(grid, layout)).toEqual({ region: 2, namesakes: {} });
  });

  test('is the field’s in a tab that was never laid out', () => {
    const grid = { ...gridOf([['Region']], rowWith(textCell('north'))), tags: [] };
    expect(bind(grid, region({ isNew: true }))).toEqual({ region: 2, namesakes: {} });
  });
});

describe('a column that people gave another header', () => {
  const layout = layoutOf([column('city', 'City')], 'Pause');
  const renamed = gridOf([
    ['Town', 'city', 'City'],
    ['Leave', '#pause'],
  ]);

  test.each([
    ['City', '“Town” in column C of “Leads” is the column of “City”, and column E is called “City” too.'],
    ['Pause', '“Leave” in column D of “Leads” is the column of “Pause”, and column E is called “Pause” too.'],
  ])('stops the tab where people call one of their own %s then: it was taken for the other', (own, words) => {
    const headers = [...(renamed.rows[0] ?? []), textCell(own)];
    expect(bind({ ...renamed, rows: [headers] }, layout)).toContain(words);
  });

  test('stops the tab where it is that of the IDs, and people have IDs of their own', () => {
    const grid = gridOf([['ID']]);
    const headers = [textCell('Nr'), ...(grid.rows[0]?.slice(1) ?? [])];
    expect(bind({ ...grid, rows: [headers] }, layoutOf([]))).toBe(
      '“Nr” in column A of “Leads” is the column of “ID”, and column C is called “ID” too. ' +
        'Give column C another header or, if that one is meant, empty the header of column A.',
    );
  });

  test('stops the tab where another one of ours got the name that it had', () => {
    const grid = gridOf([
      ['City (old)', 'city', 'City'],
      ['City', 'phone', 'Phone'],
    ]);
    expect(bind(grid, layoutOf([column('city', 'City'), column('phone', 'Phone')]))).toContain(
      '“City (old)” in column C of “Leads” is the column of “City”, and column D is called “City” too.',
    );
  });

  test('is left to people where they moved its contents, and another one of ours or nothing stands above it', () => {
    const phone = column('phone', 'Phone');
    const moved = (header: string) => gridOf([[header, 'city', 'City'], ['City']]);
    expect(bind(moved('Phone'), layoutOf([column('city', 'City'), phone]))).toMatchObject({
      city: 3,
      phone: 2,
    });
    expect(bind(moved(''), layoutOf([column('city', 'City')]))).toMatchObject({ city: 3 });
  });
});

test('the column that pauses rows is none that carries a field', () => {
  const layout = layoutOf([column('on_hold', 'On hold (on_hold)', { fieldHeader: 'On hold' })], 'On hold');
  expect(bind(gridOf([['On hold', 'on_hold', 'On hold']]), layout)).toEqual({
    on_hold: 2,
    namesakes: { '#pause': 2 },
  });
});
