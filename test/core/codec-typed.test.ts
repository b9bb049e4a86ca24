import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../../src/core/fields/field.ts';
import type { Value } from '../../src/core/value.ts';
import { createNames, decode, titledChoice } from '../../src/sheet/cells/codec.ts';
import { booleanCell, type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { fieldOfKind, sampleCatalog, sampleField, sampleNames } from '../support/fields.ts';

const task = (name: string) => sampleField('task', name);
const names = sampleNames;

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
    [{ kind: 'error', message: 'No match.' }, { reason: 'About shows No match. Put a value there.' }],
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
    ['12-', { value: -12 }],
    ['1250,-', { value: 1250 }],
    ['1250.-', { value: 1250 }],
    ['1.250,- €', { value: 1250 }],
    ['CHF 1’250.–', { value: 1250 }],
    ['kr 250,--', { value: 250 }],
    ['-1.250,-', { value: -1250 }],
    ['１２', { value: 12 }],
    ['١٬٢٣٤٫٥', { value: 1234.5 }],
    ['१२३', { value: 123 }],
    ['5²', { reason: '“5²” is not a number. Value takes a number like 1250.5.' }],
    ['%19', { value: 0.19 }],
    ['-%19', { value: -0.19 }],
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
    [{ kind: 'number', number: 1, shown: '%100' }, { value: 100 }],
    [{ kind: 'number', number: 1, shown: '% 100' }, { value: 100 }],
    [{ kind: 'number', number: 1, shown: '١٠٠٪\u061c' }, { value: 100 }],
    [{ kind: 'number', number: 1, shown: '100\u200e%\u200e' }, { value: 100 }],
    ['%50', { value: 50 }],
    ['٥٠٪', { value: 50 }],
    [{ kind: 'number', number: 0.01, shown: '1%' }, { value: 1 }],
    [{ kind: 'number', number: 0, shown: '0%' }, { value: 0 }],
    [{ kind: 'number', number: 0.29, shown: '29%' }, { value: 29 }],
    [{ kind: 'number', number: 50, shown: '50.00' }, { value: 50 }],
    ['100％', { value: 100 }],
    ['\u200e1 %\u200f', { value: 1 }],
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
    ['half', { reason: '“half” is not a number. Confidence takes a whole number.' }],
  ])('as a percentage: %j', (typed, expected) => check(fieldOfKind.integer, typed, expected));

  it.each([
    [fieldOfKind.number, { kind: 'number', number: 46_152, shown: '10.05.2026' }],
    [fieldOfKind.number, { kind: 'number', number: 46_024, shown: '1/2/2026' }],
    [fieldOfKind.integer, { kind: 'number', number: 46_024, shown: '1/2' }],
    [task('parent_task_id'), { kind: 'number', number: 0.0625, shown: '1:30' }],
    [fieldOfKind.number, { kind: 'number', number: (1250 * 60 + 50) / 1440, shown: '1250.50.00' }],
    [fieldOfKind.number, { kind: 'number', number: 75_000 + 50 / 1440, shown: '1800000.50.00' }],
    [fieldOfKind.integer, { kind: 'number', number: 10 / 24 + 5 / 1440, shown: '10.05.00' }],
  ] as const)('for a number, which the sheet took for a date or a time: %#', (field, cell) =>
    check(field, cell, {
      reason: `The sheet took ${field.header} for a date or a time: it shows “${cell.shown}”. Type the number again with the decimal sign of this spreadsheet, like 10.5 or 10,5, and then format the cell as a number.`,
    }),
  );

  it('a number that is no day of this time is one, also in a cell with the format of days', () => {
    const cell = { kind: 'number', number: 1_000_030, shown: '4637-12-26' } as const;
    check(fieldOfKind.number, cell, { value: 1_000_030 });
  });

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
    [numberCell(3_000), { value: '1908-03-18' }],
    [numberCell(31.12), { reason: '“31.12” is not a date. Expected close takes a date like 2026-12-31.' }],
    ['31.12.2026', { value: '2026-12-31' }],
    ['31 December 2026', { value: '2026-12-31' }],
    ['3/4/2026', { reason: '“3/4/2026” may mean 2026-03-04 or 2026-04-03. Write it like one of these.' }],
    ['soon', { reason: '“soon” is not a date. Expected close takes a date like 2026-12-31.' }],
    [' ', { value: null }],
    [numberCell(-1), { value: '1899-12-29' }],
    [numberCell(-4_594), { value: '1887-06-02' }],
    [{ kind: 'number', number: -4_593.5625, shown: '1887-06-02 10:30:00' }, { value: '1887-06-02' }],
    [{ kind: 'number', number: 1_890.4375, shown: '1905-03-04 10:30:00' }, { value: '1905-03-04' }],
    [
      { kind: 'number', number: -4_595, shown: '-4595' },
      { reason: '“-4595” is not a date. Expected close takes a date like 2026-12-31.' },
    ],
    [{ kind: 'number', number: 84 + (10 * 60 + 12) / 1440, shown: '2026.12.31' }, { value: '2026-12-31' }],
    [
      { kind: 'number', number: 52 + (2 * 60 + 50) / 1440, shown: '1250.50.00' },
      { reason: '“1250.50.00” is not a date. Expected close takes a date like 2026-12-31.' },
    ],
    ['٣١.١٢.٢٠٢٦', { value: '2026-12-31' }],
    ['1º de abril de 2026', { value: '2026-04-01' }],
    ...(['2026', '2.026', '2,026.00', '٢٠٢٦', '٢٬٠٢٦'] as const).map(
      (shown): TypedCase => [
        { kind: 'number', number: 2026, shown },
        { reason: `“${shown}” is not a date. Expected close takes a date like 2026-12-31.` },
      ],
    ),
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
    ['Acme #42', { reason: 'No lead is called “Acme #42”. Did you mean Acme (#1)?' }],
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
  ])('fault 25: as a stage: %j', (typed, expected) => check(fieldOfKind.stage, typed, expected));

  it('as a stage of a CRM that has none', () => {
    const reason = '“New” is not known: the CRM has nothing to choose from for Stage.';
    const none = createNames({ ...sampleCatalog, pipelines: [] }, [], 'Europe/Berlin');
    expect(decode(fieldOfKind.stage, textCell('New'), none)).toEqual({ kind: 'refused', reason });
  });

  it('as a lead whose title is the id of another: nobody can tell', () => {
    const leads = [titledChoice(7, '42'), titledChoice(42, 'Acme'), titledChoice(43, 'Acme (#42)')];
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
