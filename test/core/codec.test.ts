import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../../src/core/fields/field.ts';
import type { FieldKind } from '../../src/core/fields/field-kind.ts';
import { equalValues, type Value } from '../../src/core/value.ts';
import { decode, encode } from '../../src/sheet/cells/codec.ts';
import { mergeField } from '../../src/sheet/decide/rows/merge.ts';
import { booleanCell, type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { fieldOfKind, sampleNames } from '../support/fields.ts';

const names = sampleNames;

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
  '\ttab first',
  '\rreturn first',
  'line\r\nbreak',
  'half of a character: \ud83d',
  'שלום \u200fworld',
  'https://example.org/?q=1&r=%20#x',
  '1-2',
  '1.234,56 €',
  '#N/A',
  'Loading...',
  'WAHR',
  'a'.repeat(500),
  'a'.repeat(50_000),
];

const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
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
        const read = decode(field, encode(field, value, names), names);
        expect(read.kind === 'value' && equalValues(read.value, value), JSON.stringify(read)).toBe(true);
      }),
      { examples: kind === 'text' ? awkwardTexts.map((awkward): [Value] => [awkward]) : [] },
    );
  });

  it('S12: lists of options tell the value, whatever the options are called', () => {
    const option = fc.oneof(
      fc.stringMatching(/^[abA,; ]{1,6}$/).filter((name) => name.trim() !== ''),
      fc.constantFrom('a', 'b', 'a, b', 'b, a', 'a; b', 'A', 'a ', 'x, a, b'),
    );
    const lists = fc
      .uniqueArray(option, { minLength: 1, maxLength: 6 })
      .chain((options) => fc.tuple(fc.constant(options), fc.subarray(options, { minLength: 1 })));
    fc.assert(
      fc.property(lists, ([options, value]) => {
        const field = { ...fieldOfKind['multi-select'], options };
        const read = decode(field, encode(field, value, names), names);
        // What can not be told from its cell is refused; it never reads as another list.
        if (read.kind === 'value') expect(equalValues(read.value, value), JSON.stringify(read)).toBe(true);
        else expect(options.join(), read.reason).toMatch(/[,; ]|(.).*\1/i);
      }),
      { numRuns: 2_000, seed: 7 },
    );
  });

  const anyCell: fc.Arbitrary<Cell> = fc.oneof(
    text.map(textCell),
    amount.map(numberCell),
    fc.integer({ min: -10, max: 60_000 }).map(numberCell),
    fc
      .tuple(amount, fc.constantFrom('50%', '100%', '$5.00', '2026-12-31', '1E+20'))
      .map(([number, shown]): Cell => ({ kind: 'number', number, shown })),
    fc.boolean().map(booleanCell),
    fc.constant(emptyCell),
    fc
      .constantFrom('50%', 'yes', 'Todo', '#42', 'Web; print', '3 Dec 2026', '1.234,56 €', 'New lead')
      .map(textCell),
  );

  const kinds = Object.entries(fieldOfKind);
  it.each(kinds)(
    'S12: what a cell of a %s means has one usual form, and that form means the same',
    (_kind, field) => {
      fc.assert(
        fc.property(anyCell, (cell) => {
          const typed = decode(field, cell, names);
          if (typed.kind === 'refused') return;
          const usual = encode(field, typed.value, names);
          const again = decode(field, usual, names);
          expect(again.kind === 'value' && equalValues(again.value, typed.value)).toBe(true);
          expect(again.kind === 'value' && encode(field, again.value, names)).toEqual(usual);
        }),
        { numRuns: 300 },
      );
    },
  );

  it.each(kinds)(
    'S12: the cell of a known %s never reads as an edit, whatever the CRM holds',
    (kind, field) => {
      const { header, name } = field;
      const column = { field: name, kind: field.kind, header, conflict: 'ask' } as const;
      const besides = fc.record({
        direction: fc.constantFrom('both' as const, 'toTable' as const),
        hasType: fc.boolean(),
        isBoxed: fc.boolean(),
        shown: fc.constantFrom(undefined, [['another', 'value'] as const]),
      });
      fc.assert(
        fc.property(fc.oneof(anyValue, plainValues[field.kind] ?? anyValue), besides, (value, known) => {
          const { direction, ...others } = known;
          const cell = encode(field, value, names);
          const both = { crm: value, agreed: value, offered: undefined, sent: [] };
          const view = { column: { ...column, direction }, field, cell, ...both, ...others };
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
      reason: 'About is longer than a cell can hold. Undo the change here, and edit it in the CRM.',
    });
  });

  it('text typed in two of Unicode’s ways is one value', () => {
    expect(equalValues('Zoë', 'Zoe\u0308')).toBe(true);
  });

  it('text with the line breaks of another system is one value, and stands in the cell with those of a sheet', () => {
    expect(equalValues('a\r\nb\rc', 'a\nb\nc')).toBe(true);
    expect(encode(fieldOfKind.text, 'a\r\nb\rc', names)).toEqual(textCell('a\nb\nc'));
  });

  it('half a character, which no request can carry, is replaced', () => {
    expect(encode(fieldOfKind.text, 'a\ud83d', names)).toEqual(textCell('a\ufffd'));
    const cut = encode(fieldOfKind.text, '🦊'.repeat(30_000), names);
    expect(cut.kind === 'text' && cut.text.isWellFormed()).toBe(true);
  });

  it('options that read as another list on one line stand on lines of their own', () => {
    const field = { ...fieldOfKind['multi-select'], options: ['a', 'b', 'a, b', 'c'] };
    expect(encode(field, ['a', 'b'], names)).toEqual(textCell('a\nb'));
    expect(encode(field, ['a, b'], names)).toEqual(textCell('a, b'));
    expect(encode(field, ['a', 'c'], names)).toEqual(textCell('a, c'));
  });
});
