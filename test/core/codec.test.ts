import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { booleanCell, type Cell, emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { decode, encode } from '../../src/core/codec.ts';
import { mergeField } from '../../src/core/decide/merge.ts';
import type { FieldDefinition } from '../../src/core/field.ts';
import type { FieldKind } from '../../src/core/field-kind.ts';
import { equalValues, type Value } from '../../src/core/value.ts';
import { sampleField, sampleNames } from '../support/fields.ts';

const lead = (name: string) => sampleField('lead', name);
const deal = (name: string) => sampleField('opportunity', name);
const task = (name: string) => sampleField('task', name);
const names = sampleNames;

/** One field of every kind. */
const fieldOfKind: Readonly<Record<FieldKind, FieldDefinition>> = {
  text: lead('about.description'),
  number: deal('value'),
  integer: deal('confidence'),
  boolean: lead('custom.is_vip'),
  date: deal('expected_close_date'),
  instant: lead('created_at'),
  select: lead('custom.tier'),
  'multi-select': lead('custom.topics'),
  user: lead('custom.owner'),
  users: lead('custom.team'),
  lead: deal('lead_id'),
  stage: deal('stage_id'),
  'lead-status': lead('status_name'),
  'task-status': task('status'),
  'task-priority': task('priority'),
};

const awkwardTexts = [
  '007',
  '+49 30 1234567',
  '=1+1',
  '-5',
  '@home',
  "'quoted",
  '12345678901234567890',
  '1e5',
  'TRUE',
  '50%',
  '2026-01-01',
  '3/4/2026',
  'Zoë',
  'Zoe\u0308',
  '👩‍👩‍👧‍👦',
  'line\nbreak',
  '  spaces  ',
  '#REF!',
  '#42',
  '\u00a0',
  '\u200b',
  'a'.repeat(50_000),
];

const day = fc
  .date({ min: new Date('1900-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const text = fc.oneof(fc.string({ minLength: 1, unit: 'grapheme' }), fc.constantFrom(...awkwardTexts));
const amount = fc.double({ noNaN: true, noDefaultInfinity: true });
const oneOf = (field: FieldDefinition) => fc.constantFrom(...(field.options ?? []));

/** Values of which is promised that their cell alone tells them. */
const plainValues: Readonly<Partial<Record<FieldKind, fc.Arbitrary<Value>>>> = {
  text,
  number: amount,
  integer: fc.integer(),
  boolean: fc.boolean(),
  date: day,
  select: oneOf(fieldOfKind.select),
  'multi-select': fc.uniqueArray(oneOf(fieldOfKind['multi-select']), { minLength: 1 }),
  user: text,
  users: fc.uniqueArray(fc.stringMatching(/^[a-z]+@[a-z]+\.org$/), { minLength: 1 }),
  lead: fc.constantFrom(1, 2, 3, 7, 42),
  stage: fc.constantFrom(11, 12, 21, 22, 31, 32),
  'lead-status': fc.constantFrom('new', 'in_talks', 'lost'),
  'task-status': fc.constantFrom(1, 2, 3, 4),
  'task-priority': fc.constantFrom(1, 2, 3),
};

/** Whatever the CRM may hold, sensible or not. */
const anyValue: fc.Arbitrary<Value> = fc.oneof(
  text,
  amount,
  fc.boolean(),
  day,
  fc.constant(null),
  fc.constant('x'.repeat(60_000)),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.array(fc.string(), { minLength: 1 }),
);

describe('a value and its cell', () => {
  const plain = Object.entries(plainValues).map(([kind, values]) => [kind as FieldKind, values] as const);
  it.each(plain)('S12: the cell of a %s alone tells the value', (kind, values) => {
    const field = fieldOfKind[kind];
    fc.assert(
      fc.property(values, (value) => {
        expect(decode(field, encode(field, value, names), names)).toEqual({ kind: 'value', value });
      }),
      { examples: kind === 'text' ? awkwardTexts.map((awkward): [Value] => [awkward]) : [] },
    );
  });

  const kinds = Object.entries(fieldOfKind);
  it.each(kinds)(
    'S12: the cell of a known %s never reads as an edit, whatever the CRM holds',
    (kind, field) => {
      const column = {
        field: field.name,
        kind: field.kind,
        header: field.header,
        direction: 'both',
        conflict: 'ask',
      } as const;
      fc.assert(
        fc.property(fc.oneof(anyValue, plainValues[field.kind] ?? anyValue), (value) => {
          const cell = encode(field, value, names);
          const view = { column, field, crm: value, agreed: value, offered: undefined, sent: [], cell };
          expect(
            mergeField(view, names, () => undefined),
            kind,
          ).toEqual({ kind: 'same', value, rewrite: false });
        }),
      );
    },
  );

  it.each(kinds)('no cell of a %s is a number that is none, whatever the CRM holds', (_kind, field) => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const cell = encode(field, value, names);
        if (cell.kind === 'number') expect(cell.number).toSatisfy(Number.isFinite);
      }),
    );
  });
});

describe('how a value stands in a cell', () => {
  it.each<[FieldDefinition, Value, Cell]>([
    [fieldOfKind.text, '=1+1', textCell('=1+1')],
    [fieldOfKind.text, '007', textCell('007')],
    [fieldOfKind.text, '', emptyCell],
    [fieldOfKind.text, null, emptyCell],
    [fieldOfKind.number, 0, numberCell(0)],
    [fieldOfKind.boolean, false, booleanCell(false)],
    [fieldOfKind.date, '2026-12-31', numberCell(46_387)],
    [fieldOfKind.date, 'soon', textCell('soon')],
    [fieldOfKind.instant, '2026-03-29T01:00:00Z', numberCell(46_110.125)],
    [fieldOfKind.instant, 'soon', textCell('soon')],
    [fieldOfKind.stage, 11, textCell('Sales / New')],
    [fieldOfKind.stage, 31, textCell('Twins / Same (#31)')],
    [fieldOfKind.stage, 99, textCell('#99')],
    [fieldOfKind.lead, 3, textCell('Twin (#3)')],
    [fieldOfKind.lead, 99, textCell('#99')],
    [fieldOfKind['lead-status'], 'in_talks', textCell('In talks')],
    [fieldOfKind['lead-status'], 'lost', textCell('lost')],
    [fieldOfKind['lead-status'], 'dropped', textCell('dropped')],
    [fieldOfKind['task-status'], 2, textCell('In progress')],
    [fieldOfKind['task-priority'], 3, textCell('High')],
    [fieldOfKind['multi-select'], ['Web', 'Food, drinks'], textCell('Web, Food, drinks')],
    [fieldOfKind.users, ['a@b.org', 'c@d.org'], textCell('a@b.org, c@d.org')],
  ])('$kind %j is %j', (field, value, cell) => {
    expect(encode(field, value, names)).toEqual(cell);
  });

  it('text that no cell can hold is cut with a mark, and the cut is never taken for an edit', () => {
    const cell = encode(fieldOfKind.text, 'x'.repeat(50_001), names);
    expect(cell).toMatchObject({
      kind: 'text',
      text: expect.stringMatching(/^x+… \(cut: too long for a cell\)$/),
    });
    expect(cell.kind === 'text' && cell.text.length).toBe(50_000);
    expect(decode(fieldOfKind.text, cell, names)).toEqual({
      kind: 'refused',
      reason: 'About is longer than a cell can hold. Edit it in the CRM.',
    });
  });

  it('text typed in two of Unicode’s ways is one value', () => {
    expect(equalValues('Zoë', 'Zoe\u0308')).toBe(true);
  });
});

/** What `cell` means in a field: a value, or the reason it is refused with. */
function check(field: FieldDefinition, cell: Cell | string, expected: { value: Value } | { reason: string }) {
  const typed = typeof cell === 'string' ? textCell(cell) : cell;
  const outcome = 'value' in expected ? { kind: 'value', ...expected } : { kind: 'refused', ...expected };
  expect(decode(field, typed, names)).toEqual(outcome);
}

type TypedCase = [typed: Cell | string, expected: { value: Value } | { reason: string }];

describe('what a person types', () => {
  it.each<TypedCase>([
    ['Acme', { value: 'Acme' }],
    [numberCell(7), { value: '7' }],
    [booleanCell(true), { value: 'TRUE' }],
    [emptyCell, { value: null }],
    [
      { kind: 'formula', formula: '=A1' },
      { reason: 'About holds a formula. Formulas are not sent to the CRM: put its result there as a value.' },
    ],
    [{ kind: 'error', message: '#REF!' }, { reason: 'About shows #REF!. Put a value there.' }],
  ])('as text: %j', (typed, expected) => check(fieldOfKind.text, typed, expected));

  it.each<TypedCase>([
    [numberCell(1250.5), { value: 1250.5 }],
    ['1250.5', { value: 1250.5 }],
    [' -3 ', { value: -3 }],
    ['1.250,50', { reason: '“1.250,50” is not a number. Value takes a number like 1250.5.' }],
    ['12 EUR', { reason: '“12 EUR” is not a number. Value takes a number like 1250.5.' }],
    ['1e5', { reason: '“1e5” is not a number. Value takes a number like 1250.5.' }],
    [booleanCell(true), { reason: '“TRUE” is not a number. Value takes a number like 1250.5.' }],
  ])('as a number: %j', (typed, expected) => check(fieldOfKind.number, typed, expected));

  it.each<TypedCase>([
    [numberCell(50), { value: 50 }],
    [numberCell(0), { value: 0 }],
    [numberCell(1), { value: 1 }],
    ['50%', { value: 50 }],
    ['50 %', { value: 50 }],
    [numberCell(0.5), { value: 50 }],
    [numberCell(0.07), { value: 7 }],
    [numberCell(0.29), { value: 29 }],
    [numberCell(0.505), { reason: '“0.505” is not a whole number. Confidence takes a whole number.' }],
    [numberCell(12.5), { reason: '“12.5” is not a whole number. Confidence takes a whole number.' }],
    ['half', { reason: '“half” is not a number. Confidence takes a number like 1250.5.' }],
  ])('as a percentage: %j', (typed, expected) => check(fieldOfKind.integer, typed, expected));

  it('half a task is no whole number', () => {
    check(task('parent_task_id'), numberCell(0.5), {
      reason: '“0.5” is not a whole number. Parent task takes a whole number.',
    });
  });

  it.each<TypedCase>([
    [booleanCell(false), { value: false }],
    [' Yes ', { value: true }],
    ['NO', { value: false }],
    ['true', { value: true }],
    [numberCell(1), { value: true }],
    [numberCell(0), { value: false }],
    [emptyCell, { value: null }],
    ['perhaps', { reason: '“perhaps” is neither yes nor no. VIP takes TRUE or FALSE, yes or no.' }],
    [numberCell(2), { reason: '“2” is neither yes nor no. VIP takes TRUE or FALSE, yes or no.' }],
  ])('as yes or no: %j', (typed, expected) => check(fieldOfKind.boolean, typed, expected));

  it.each<TypedCase>([
    [numberCell(46_387), { value: '2026-12-31' }],
    [numberCell(46_387.75), { value: '2026-12-31' }],
    ['31.12.2026', { value: '2026-12-31' }],
    ['3/4/2026', { reason: '“3/4/2026” is not a date. Expected close takes a date like 2026-12-31.' }],
    [numberCell(-1), { reason: '“-1” is not a date. Expected close takes a date like 2026-12-31.' }],
  ])('as a date: %j', (typed, expected) => check(fieldOfKind.date, typed, expected));

  it('the CRM sets an instant, people do not', () => {
    check(fieldOfKind.instant, numberCell(46_000), {
      reason: 'Created is set by the CRM and can not be edited here.',
    });
  });

  it.each<TypedCase>([
    ['Acme', { value: 1 }],
    ['  acme ', { value: 1 }],
    ['Acme (#1)', { value: 1 }],
    ['An older title (#1)', { value: 1 }],
    ['#42', { value: 42 }],
    [numberCell(42), { value: 42 }],
    ['Ba\u0308cker & So\u0308hne', { value: 42 }],
    ['2019', { value: 7 }],
    ['Twin', { reason: '“Twin” names several: Twin (#2), Twin (#3). Write which one.' }],
    ['Twin (#3)', { value: 3 }],
    ['Acme (42)', { reason: 'No lead is called “Acme (42)”. Write its title or its id, like #42.' }],
    ['#999', { reason: 'No lead is called “#999”. Write its title or its id, like #42.' }],
    ['Nobody', { reason: 'No lead is called “Nobody”. Write its title or its id, like #42.' }],
    ['Acme #42', { reason: 'No lead is called “Acme #42”. Write its title or its id, like #42.' }],
  ])('as a lead: %j', (typed, expected) => check(fieldOfKind.lead, typed, expected));

  it.each<TypedCase>([
    ['Sales / New', { value: 11 }],
    ['partners /  new', { value: 21 }],
    ['Won', { value: 12 }],
    ['signed', { value: 22 }],
    ['New', { reason: '“New” names several: Sales / New, Partners / New. Write which one.' }],
    ['Same', { reason: '“Same” names several: Twins / Same (#31), Twins / same (#32). Write which one.' }],
    ['Twins / same (#32)', { value: 32 }],
    [
      'Lost',
      {
        reason:
          '“Lost” is not known. Stage takes Sales / New, Sales / Won, Partners / New, Partners / Signed, Twins / Same (#31), Twins / same (#32).',
      },
    ],
  ])('as a stage: %j', (typed, expected) => check(fieldOfKind.stage, typed, expected));

  it.each<[FieldDefinition, string, Value]>([
    [fieldOfKind['task-status'], 'todo', 1],
    [fieldOfKind['task-status'], 'To do', 1],
    [fieldOfKind['task-status'], 'DONE', 3],
    [fieldOfKind['task-status'], 'in review', 4],
    [fieldOfKind['task-status'], '2', 2],
    [fieldOfKind['task-priority'], 'high', 3],
    [fieldOfKind['lead-status'], 'in talks', 'in_talks'],
    [fieldOfKind['lead-status'], 'in_talks', 'in_talks'],
    [fieldOfKind.select, 'bronze, BASIC', 'Bronze, basic'],
  ])('as a choice of $header: “%s”', (field, typed, value) => check(field, typed, { value }));

  it.each<TypedCase>([
    ['Web', { value: ['Web'] }],
    ['web; print', { value: ['Web', 'Print'] }],
    ['Web\nPrint', { value: ['Web', 'Print'] }],
    ['Food, drinks', { value: ['Food, drinks'] }],
    ['Print,food,drinks , Web', { value: ['Print', 'Food, drinks', 'Web'] }],
    ['Cars, bikes, boats, Web', { value: ['Cars, bikes, boats', 'Web'] }],
    ['Web, Web', { value: ['Web'] }],
    [
      'Web, Radio',
      { reason: '“Radio” is not known. Topics takes Web, Print, Food, drinks, Cars, bikes, boats.' },
    ],
  ])('as several choices: %j', (typed, expected) => check(fieldOfKind['multi-select'], typed, expected));

  it.each<TypedCase>([
    ['a@b.org, c@d.org', { value: ['a@b.org', 'c@d.org'] }],
    [' a@b.org ;; ', { value: ['a@b.org'] }],
  ])('as several people: %j', (typed, expected) => check(fieldOfKind.users, typed, expected));
});
