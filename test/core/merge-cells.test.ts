import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../../src/core/fields/field.ts';
import type { FieldKind } from '../../src/core/fields/field-kind.ts';
import type { ConflictPolicy } from '../../src/core/merge.ts';
import type { Value } from '../../src/core/value.ts';
import { type FieldView, mergeField } from '../../src/sheet/decide/rows/merge.ts';
import {
  booleanCell,
  type Cell,
  emptyCell,
  numberCell,
  spilledCell,
  textCell,
} from '../../src/sheet/port/cell.ts';
import type { Column } from '../../src/sheet/port/layout.ts';
import { fieldOfKind, sampleColumn, sampleField, sampleNames } from '../support/fields.ts';

describe('a value that is fine in other words', () => {
  const same = (value: Value, rewrite: boolean) => ({ kind: 'same', value, rewrite });
  it.each<[name: string, value: Value, cell: Cell, outcome: object]>([
    ['value', 5, textCell('5'), same(5, true)],
    ['value', 5, numberCell(5), same(5, false)],
    ['confidence', 50, textCell('50%'), same(50, true)],
    ['confidence', 50, numberCell(0.5), same(50, true)],
    ['stage_id', 12, textCell('won'), same(12, true)],
    ['stage_id', 12, textCell('#12'), same(12, true)],
    ['expected_close_date', '2026-12-31', textCell('31.12.2026'), same('2026-12-31', true)],
    ['note', 'Zoë', textCell('Zoe\u0308'), same('Zoë', true)],
    ['stage_id', 99, textCell('#99'), same(99, false)],
    ['value', 0, { kind: 'number', number: 0, shown: '30.12.1899' }, same(0, true)],
    ['value', 1250, { kind: 'number', number: 1250, shown: '03.06.1903' }, same(1250, true)],
    ['confidence', 1, { kind: 'number', number: 1, shown: '31.12.1899' }, same(1, true)],
    [
      'expected_close_date',
      '2026-12-31',
      { kind: 'number', number: 46_387, shown: '46387' },
      same('2026-12-31', true),
    ],
  ])('%s %j shown as %j', (name, value, cell, outcome) => {
    const field = sampleField('opportunity', name);
    const column = sampleColumn(field, 'both', 'ask');
    const view = { column, field, crm: value, agreed: value, offered: undefined, sent: [], cell };
    expect(mergeField(view, sampleNames, () => undefined)).toEqual(outcome);
  });
});

describe('an edit the CRM would refuse', () => {
  const refusedEmpty = (crm: string) => ({
    kind: 'refused',
    reason: `Title can not be empty. Put “${crm}” back, or type another value.`,
    isNeeded: true,
  });

  it.each<[policy: ConflictPolicy, agreed: Value, crm: Value, outcome: object]>([
    ['ask', 'Acme', 'Acme', refusedEmpty('Acme')],
    ['table', 'Acme', 'Acme GmbH', refusedEmpty('Acme GmbH')],
    ['crm', 'Acme', 'Acme GmbH', { kind: 'toTable', value: 'Acme GmbH', before: null, lost: null }],
    ['ask', 'Acme', 'Acme GmbH', { kind: 'conflict', crm: 'Acme GmbH', table: null, agreed: 'Acme' }],
  ])('an emptied title where %s wins, agreed %s, CRM %s', (policy, agreed, crm, outcome) => {
    const field = sampleField('lead', 'title');
    const view = {
      column: sampleColumn(field, 'both', policy),
      field,
      crm,
      agreed,
      offered: undefined,
      sent: [],
      cell: emptyCell,
    };
    expect(mergeField(view, sampleNames, () => undefined)).toEqual(outcome);
  });

  it('a title of nothing but a space is as good as none', () => {
    const field = sampleField('lead', 'title');
    const [crm, cell] = ['Acme', textCell(' ')];
    const view = {
      column: sampleColumn(field, 'both', 'ask'),
      field,
      crm,
      agreed: crm,
      offered: undefined,
      cell,
    };
    expect(mergeField(view, sampleNames, () => undefined)).toEqual(refusedEmpty(crm));
  });

  it('names the day that stood in an emptied date, which its serial number would tell nobody', () => {
    const field = sampleField('opportunity', 'expected_close_date');
    const [crm, offered] = ['2026-12-31', undefined];
    const view = {
      column: sampleColumn(field, 'both', 'ask'),
      field,
      crm,
      agreed: crm,
      offered,
      cell: emptyCell,
    };
    expect(mergeField(view, sampleNames, () => undefined)).toEqual({
      kind: 'refused',
      reason: 'Expected close can not be empty. Put “2026-12-31” back, or type another value.',
    });
  });
});

describe('a cell that is no plain value', () => {
  const seen = (
    field: FieldDefinition,
    cell: Cell,
    known: Partial<FieldView>,
    direction: Column['direction'],
  ) =>
    mergeField(
      {
        column: sampleColumn(field, direction, 'crm'),
        field,
        crm: undefined,
        agreed: undefined,
        offered: undefined,
        cell,
        ...known,
      },
      sampleNames,
      () => undefined,
    );
  const title = sampleField('lead', 'title');
  const confidence = sampleField('opportunity', 'confidence');
  const percent = (number: number): Cell => ({ kind: 'number', number, shown: `${number * 100}%` });

  it.each<Cell>([
    { kind: 'error', message: 'Loading...', formula: '=IMPORTXML("x", "y")' },
    { kind: 'error', message: 'Did not find a value', formula: '=VLOOKUP(1, A:B, 2, FALSE)' },
    { kind: 'error', message: 'Array result was not expanded', formula: '' },
    spilledCell,
  ])('is kept with its formula, and the change of the CRM waits: %j', (cell) => {
    for (const direction of ['both', 'toTable'] as const) {
      expect(seen(title, cell, { crm: 'New', agreed: 'Old' }, direction)).toMatchObject({ kind: 'refused' });
    }
    const after = seen(title, emptyCell, { crm: 'New' }, 'both');
    expect(after).toMatchObject({ kind: 'toTable', value: 'New' });
  });

  it('is an edit where a person types 100% over 1', () => {
    const outcome = seen(confidence, percent(1), { crm: 1, agreed: 1 }, 'both');
    expect(outcome).toMatchObject({ kind: 'toCrm', value: 100 });
  });

  describe('in a column whose type decides how it looks', () => {
    const value = sampleField('opportunity', 'value');
    const day = sampleField('opportunity', 'expected_close_date');
    const asNumber = (number: number): Cell => ({ kind: 'number', number, shown: String(number) });
    it.each<[FieldDefinition, Value, Cell]>([
      [confidence, 50, percent(50)],
      [confidence, 50, percent(0.5)],
      [confidence, 1, percent(1)],
      [value, 1250, { kind: 'number', number: 1250, shown: '03.06.1903' }],
      [day, '2026-12-31', asNumber(46_387)],
    ])('is left as it looks where it holds what is agreed, %j', ({ name }, crm, cell) => {
      const field = sampleField('opportunity', name);
      const outcome = seen(field, cell, { crm, agreed: crm, hasType: true }, 'both');
      expect(outcome).toEqual({ kind: 'same', value: crm, rewrite: false });
    });

    it('is no edit where its checkbox says nothing yet, which a table makes a FALSE', () => {
      const vip = sampleField('lead', 'custom.is_vip');
      const unticked = (known: Partial<FieldView>) =>
        seen(vip, booleanCell(false), { isBoxed: true, ...known }, 'both');
      const same = { kind: 'same', value: null, rewrite: false };
      expect(unticked({ crm: null, agreed: null })).toEqual(same);
      expect(unticked({ crm: null })).toEqual(same);
      expect(unticked({})).toEqual({ kind: 'unknown' });
      expect(unticked({ crm: true, agreed: null })).toMatchObject({ kind: 'toTable', value: true });
      expect(unticked({ crm: true, agreed: true })).toMatchObject({ kind: 'toCrm', value: false });
      expect(unticked({ crm: null, agreed: null, isBoxed: false })).toMatchObject({ kind: 'toCrm' });
    });

    it('is left as it looks where it only shows', () => {
      const outcome = seen(confidence, percent(1), { crm: 1, agreed: 1, hasType: true }, 'toTable');
      expect(outcome).toEqual({ kind: 'same', value: 1, rewrite: false });
    });

    it('is an edit where it says something else', () => {
      const edited = (cell: Cell) => seen(confidence, cell, { crm: 50, agreed: 50, hasType: true }, 'both');
      expect(edited(percent(1))).toMatchObject({ kind: 'toCrm', value: 100 });
      expect(edited(percent(0.25))).toMatchObject({ kind: 'toCrm', value: 25 });
      expect(edited(emptyCell)).toMatchObject({ kind: 'refused' });
    });
  });

  it('is no edit where our own number or one that was there got the format of percents; it is shown plainly again', () => {
    const same = { kind: 'same', rewrite: true };
    expect(seen(confidence, percent(1), { crm: 1, agreed: 50, offered: 1 }, 'both')).toMatchObject({
      ...same,
      value: 1,
    });
    expect(seen(confidence, percent(50), { crm: 50, agreed: 50 }, 'both')).toMatchObject({
      ...same,
      value: 50,
    });
  });
});

describe('a day below a field that the CRM has made another kind', () => {
  const day: Cell = { kind: 'number', number: 46_387, shown: '31.12.2026' };
  const seen = (kind: FieldKind, cell: Cell, crm: Value) => {
    const field = fieldOfKind[kind];
    const agreed = '2026-12-31';
    const column = sampleColumn(field, 'both', 'table');
    return mergeField({ column, field, crm, agreed, offered: undefined, cell }, sampleNames, () => undefined);
  };

  it.each<FieldKind>(['text', 'number', 'boolean', 'select', 'multi-select', 'user'])(
    'S2: is no edit of a field of the kind %s',
    (kind) => {
      const same = { kind: 'same', value: '2026-12-31', rewrite: true };
      expect(seen(kind, day, '2026-12-31')).toEqual(same);
      expect(seen(kind, day, null)).toMatchObject({ kind: 'toTable', value: null, lost: undefined });
    },
  );

  it('is an edit where somebody types another one', () => {
    const next: Cell = { kind: 'number', number: 46_388, shown: '01.01.2027' };
    expect(seen('text', next, '2026-12-31')).toMatchObject({ kind: 'toCrm', value: '01.01.2027' });
  });
});

it('S2: options on lines of their own are no edit of a field that the CRM has made one of texts', () => {
  const field = fieldOfKind.text;
  const agreed = ['Web', 'Food, drinks'];
  const column = sampleColumn(field, 'both', 'table');
  const view = { column, field, crm: null, agreed, offered: undefined, cell: textCell('Web\nFood, drinks') };
  const outcome = mergeField(view, sampleNames, () => undefined);
  expect(outcome).toMatchObject({ kind: 'toTable', value: null, lost: undefined });
});

describe('a number that is left of a field that the CRM has made one of texts', () => {
  const outcomeOf = (direction: 'both' | 'toTable', cell: Cell, agreed: Value) => {
    const field = fieldOfKind.text;
    const column = sampleColumn(field, direction, 'crm');
    const view = { column, field, crm: agreed, agreed, offered: undefined, cell };
    return mergeField(view, sampleNames, () => undefined);
  };

  it.each([
    [1250.5, '1,250.50'],
    [0.1, '0,1'],
    [0.5, '50%'],
    [1, '100%'],
  ])(
    'is no edit and is not written anew, whatever its format makes of it: %d shown as %s',
    (number, shown) => {
      const same = { kind: 'same', value: number, rewrite: false };
      const cell: Cell = { kind: 'number', number, shown };
      expect(outcomeOf('both', cell, number)).toEqual(same);
      expect(outcomeOf('toTable', cell, number)).toEqual(same);
    },
  );

  it('is an edit where somebody types another one', () => {
    const cell: Cell = { kind: 'number', number: 1300, shown: '1,300.00' };
    expect(outcomeOf('both', cell, 1250.5)).toMatchObject({ kind: 'toCrm', value: '1,300.00' });
  });
});
