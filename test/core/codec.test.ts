import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { booleanCell, type Cell, emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { createNames, decode, encode, leadChoice } from '../../src/core/codec.ts';
import { mergeField } from '../../src/core/decide/merge.ts';
import type { FieldDefinition } from '../../src/core/field.ts';
import type { FieldKind } from '../../src/core/field-kind.ts';
import { equalValues, type Value } from '../../src/core/value.ts';
import { sampleCatalog, sampleField, sampleNames } from '../support/fields.ts';

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
    [{ kind: 'number', number: 46_387, shown: '12/31/2026' }, { value: '12/31/2026' }],
    [{ kind: 'number', number: 1234.5, shown: '$1,234.50' }, { value: '$1,234.50' }],
    [
      { kind: 'number', number: 1.2345678901234567e19, shown: '1.23457E+19' },
      {
        reason:
          'The sheet took About for a number and dropped digits. Format the cell as plain text and type it again.',
      },
    ],
    [booleanCell(true), { value: 'TRUE' }],
    [emptyCell, { value: null }],
    [
      { kind: 'formula', formula: '=A1' },
      { reason: 'About holds a formula. Formulas are not sent to the CRM: put its result there as a value.' },
    ],
    [
      { kind: 'formula', formula: '' },
      {
        reason:
          'About is filled by an array formula. Formulas are not sent to the CRM: take it out, or put it into a column of your own.',
      },
    ],
    [{ kind: 'error', message: '#REF!' }, { reason: 'About shows #REF!. Put a value there.' }],
  ])('as text: %j', (typed, expected) => check(fieldOfKind.text, typed, expected));

  it.each<TypedCase>([
    [numberCell(1250.5), { value: 1250.5 }],
    ['1250.5', { value: 1250.5 }],
    [' -3 ', { value: -3 }],
    ['1.250,50', { value: 1250.5 }],
    ['1,250.50', { value: 1250.5 }],
    ['1.234.567', { value: 1_234_567 }],
    ['1\u202f234,56 €', { value: 1234.56 }],
    ['CHF 1’234.50', { value: 1234.5 }],
    ['12 EUR', { value: 12 }],
    ['$12', { value: 12 }],
    ['0,5', { value: 0.5 }],
    ['0.500', { value: 0.5 }],
    ['(12)', { value: -12 }],
    ['−12', { value: -12 }],
    ['１２', { value: 12 }],
    ['19%', { value: 0.19 }],
    [{ kind: 'number', number: 0.19, shown: '19%' }, { value: 0.19 }],
    [' ', { value: null }],
    ['1.250', { reason: '“1.250” may mean 1250 or 1.25. Write it like one of these.' }],
    ['1,250', { reason: '“1,250” may mean 1250 or 1.25. Write it like one of these.' }],
    [
      '12345678901234567890',
      { reason: '“12345678901234567890” is not a number. Value takes a number like 1250.5.' },
    ],
    ['12 XYZ', { reason: '“12 XYZ” is not a number. Value takes a number like 1250.5.' }],
    ['1,23,456', { reason: '“1,23,456” is not a number. Value takes a number like 1250.5.' }],
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
    ['0.5', { value: 50 }],
    ['100%', { value: 100 }],
    [{ kind: 'number', number: 1, shown: '100%' }, { value: 100 }],
    [{ kind: 'number', number: 0.01, shown: '1%' }, { value: 1 }],
    [{ kind: 'number', number: 0, shown: '0%' }, { value: 0 }],
    [{ kind: 'number', number: 0.29, shown: '29%' }, { value: 29 }],
    [{ kind: 'number', number: 50, shown: '50.00' }, { value: 50 }],
    ...(
      [
        [{ kind: 'number', number: 50, shown: '5000%' }, '5000%'],
        [{ kind: 'number', number: 0.505, shown: '50.5%' }, '50.5%'],
        [numberCell(0.505), '0.505'],
        [numberCell(12.5), '12.5'],
        ['150%', '150%'],
      ] as const
    ).map(
      ([typed, shown]): TypedCase => [
        typed,
        { reason: `“${shown}” is not a whole number from 0 to 100. Confidence takes one like 50 or 50%.` },
      ],
    ),
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
    ['ja', { value: true }],
    ['Nein', { value: false }],
    ['x', { value: true }],
    ['non', { value: false }],
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
    ['31 December 2026', { value: '2026-12-31' }],
    ['3/4/2026', { reason: '“3/4/2026” may mean 2026-03-04 or 2026-04-03. Write it like one of these.' }],
    ['soon', { reason: '“soon” is not a date. Expected close takes a date like 2026-12-31.' }],
    [' ', { value: null }],
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
    ['Acme #1', { value: 1 }],
    ['#42 Bäcker & Söhne', { value: 42 }],
    ['\u202a#42\u202c', { value: 42 }],
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

  it('as a lead whose title is the id of another: nobody can tell', () => {
    const leads = [leadChoice(7, '42'), leadChoice(42, 'Acme'), leadChoice(43, 'Acme (#42)')];
    const some = createNames(sampleCatalog, leads, 'Europe/Berlin');
    const typed = (text: string) => decode(fieldOfKind.lead, textCell(text), some);
    expect(typed('42')).toEqual({
      kind: 'refused',
      reason: '“42” names several: 42 (#7), Acme (#42). Write which one.',
    });
    expect(typed('#42')).toEqual({ kind: 'value', value: 42 });
    expect(typed('Acme (#42)')).toEqual({ kind: 'value', value: 42 });
    expect(typed('Acme (#42) (#43)')).toEqual({ kind: 'value', value: 43 });
  });

  it('as an option that another differs from in its case only: as it is written', () => {
    const field = { ...fieldOfKind.select, options: ['Gold', 'gold', 'Silver'] };
    expect(decode(field, textCell('gold'), names)).toEqual({ kind: 'value', value: 'gold' });
    expect(decode(field, textCell('GOLD'), names)).toMatchObject({ kind: 'refused' });
  });

  it('as several options that are read in two ways: refused', () => {
    const field = { ...fieldOfKind['multi-select'], options: ['a', 'b', 'a, b', 'c'] };
    check(field, 'c, a, b', { reason: '“c, a, b” may mean several things. Write one option a line.' });
    check(field, 'c\na\nb', { value: ['c', 'a', 'b'] });
  });

  it.each<[FieldDefinition, string, Value]>([
    [fieldOfKind['task-status'], 'todo', 1],
    [fieldOfKind['task-status'], 'to do\u200b', 1],
    [fieldOfKind['task-status'], '1', 1],
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
