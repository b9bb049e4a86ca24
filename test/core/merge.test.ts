import { describe, expect, it } from 'vitest';
import { type Cell, emptyCell, numberCell, spilledCell, textCell } from '../../src/core/cell.ts';
import { type Choice, type FieldOutcome, type FieldView, mergeField } from '../../src/core/decide/merge.ts';
import type { FieldDefinition } from '../../src/core/field.ts';
import type { Column, ConflictPolicy } from '../../src/core/layout.ts';
import type { Value } from '../../src/core/value.ts';
import { sampleField, sampleNames } from '../support/fields.ts';

/*
 * Every case of the merge. A line says what is agreed, what the CRM has and what is on its way to the table; a column says what
 * stands in the cell: the values a, b, c, nothing (∅), a formula (ƒ) or an error (#). A dash means "not known". Outcomes:
 *   =b  both have b           >b  the table gets b       <b  the CRM gets b
 *   ?   a conflict            !   refused, the cell stays as it is      ·  nothing is done
 */
const bothWays = `
  agreed crm offered | a   b   c   ∅   ƒ   #
  -      -   -       | !   !   !   ·   !   !
  -      a   -       | =a  ?   ?   >a  !   !
  -      b   -       | ?   =b  ?   >b  !   !
  -      ∅   -       | <a  <b  <c  =∅  !   !
  a      -   -       | ·   !   !   !   !   !
  a      a   -       | =a  <b  <c  <∅  !   !
  a      b   -       | >b  =b  ?   ?   !   !
  a      ∅   -       | >∅  ?   ?   =∅  !   !
  ∅      -   -       | !   !   !   ·   !   !
  ∅      a   -       | =a  ?   ?   >a  !   !
  ∅      b   -       | ?   =b  ?   >b  !   !
  ∅      ∅   -       | <a  <b  <c  =∅  !   !
  -      a   b       | =a  >a  ?   >a  !   !
  -      b   b       | ?   =b  ?   >b  !   !
  -      c   b       | ?   >c  =c  >c  !   !
  -      ∅   b       | <a  >∅  <c  =∅  !   !
  a      a   b       | =a  >a  <c  <∅  !   !
  a      b   b       | >b  =b  ?   ?   !   !
  a      c   b       | >c  >c  =c  ?   !   !
  a      ∅   b       | >∅  >∅  ?   =∅  !   !
  ∅      a   b       | =a  >a  ?   >a  !   !
  ∅      b   b       | ?   =b  ?   >b  !   !
  ∅      c   b       | ?   >c  =c  >c  !   !
  ∅      ∅   b       | <a  >∅  <c  =∅  !   !
  a      a   ∅       | =a  <b  <c  >a  !   !
  a      b   ∅       | >b  =b  ?   >b  !   !
  a      ∅   ∅       | >∅  ?   ?   =∅  !   !
`;

/** A column that only shows: whatever stands in it gives way to the CRM's value, except a formula. */
const toTable = `
  agreed crm offered | a   b   c   ∅   ƒ   #
  -      -   -       | ·   ·   ·   ·   ·   ·
  -      a   -       | =a  >a  >a  >a  !   >a
  -      ∅   -       | >∅  >∅  >∅  =∅  !   >∅
  a      -   -       | ·   ·   ·   ·   ·   ·
  a      a   -       | =a  >a  >a  >a  !   >a
  a      b   -       | >b  =b  >b  >b  !   >b
  a      ∅   -       | >∅  >∅  >∅  =∅  !   >∅
  a      b   b       | >b  =b  >b  >b  !   >b
  a      c   b       | >c  >c  =c  >c  !   >c
`;

interface Case {
  readonly agreed: string;
  readonly crm: string;
  readonly offered: string;
  readonly cell: string;
  readonly outcome: string;
}

function readCases(matrix: string): Case[] {
  const [head = '', ...lines] = matrix.trim().split('\n');
  const cells = head.split('|')[1]?.trim().split(/\s+/) ?? [];
  return lines.flatMap((line) => {
    const [known = '', outcomes = ''] = line.split('|');
    const [agreed = '', crm = '', offered = ''] = known.trim().split(/\s+/);
    return outcomes
      .trim()
      .split(/\s+/)
      .map((outcome, index) => ({ agreed, crm, offered, cell: cells[index] ?? '', outcome }));
  });
}

const readValue = (letter: string): Value | undefined =>
  letter === '-' ? undefined : letter === '∅' ? null : letter;
const showValue = (value: Value): string => (value === null ? '∅' : String(value));

const oddCells: Readonly<Record<string, Cell>> = {
  '∅': emptyCell,
  ƒ: { kind: 'formula', formula: '=A1' },
  '#': { kind: 'error', message: '#REF!' },
};

function columnOf(field: FieldDefinition, direction: Column['direction'], conflict: ConflictPolicy): Column {
  return { field: field.name, kind: field.kind, header: field.header, direction, conflict };
}

function merge(
  { agreed, crm, offered, cell }: Case,
  direction: Column['direction'],
  conflict: ConflictPolicy,
  chosen?: Choice,
): FieldOutcome {
  const field = sampleField('lead', 'about.description');
  const view = {
    column: columnOf(field, direction, conflict),
    field,
    crm: readValue(crm),
    agreed: readValue(agreed),
    offered: readValue(offered),
    sent: [],
    cell: oddCells[cell] ?? textCell(cell),
  };
  return mergeField(view, sampleNames, () => chosen);
}

/** An outcome in the words of the matrix; a value that lost stands in brackets. */
function describeOutcome(outcome: FieldOutcome): string {
  const lost = 'lost' in outcome && outcome.lost !== undefined ? `(${showValue(outcome.lost)})` : '';
  switch (outcome.kind) {
    case 'same':
      return `=${showValue(outcome.value)}${outcome.rewrite ? ' rewritten' : ''}`;
    case 'toTable':
      return `>${showValue(outcome.value)}${lost}`;
    case 'toCrm':
      return `<${showValue(outcome.value)}${lost}`;
    case 'conflict':
      return '?';
    case 'typed':
      return `^${showValue(outcome.value)}(${showValue(outcome.before)})`;
    case 'refused':
      return '!';
    case 'unknown':
      return '·';
  }
}

/**
 * Checks a case under every policy and every choice of a person: only conflicts may depend on them, and those about a field that was
 * never agreed on a person alone.
 */
function check(example: Case, direction: Column['direction']) {
  const { agreed, outcome, crm, cell } = example;
  const isConflict = outcome === '?';
  const settled = { crm: `>${crm}(${cell})`, table: `<${cell}(${crm})` } as const;
  for (const policy of ['ask', 'crm', 'table'] as const) {
    for (const chosen of [undefined, 'crm', 'table'] as const) {
      const winner = chosen ?? (agreed === '-' ? 'ask' : policy);
      const expected = isConflict && winner !== 'ask' ? settled[winner] : outcome;
      expect(describeOutcome(merge(example, direction, policy, chosen)), `${policy}, chosen ${chosen}`).toBe(
        expected,
      );
    }
  }
}

const title = ({ agreed, crm, offered, cell, outcome }: Case) =>
  `agreed ${agreed}, CRM ${crm}, offered ${offered}, cell ${cell}: ${outcome}`;

describe('the merge of a column that goes both ways', () => {
  it.each(readCases(bothWays).map((example) => [title(example), example] as const))('%s', (_title, example) =>
    check(example, 'both'),
  );
});

describe('the merge of a column that only shows', () => {
  it.each(readCases(toTable).map((example) => [title(example), example] as const))('%s', (_title, example) =>
    check(example, 'toTable'),
  );
});

describe('what an outcome carries', () => {
  const example = { agreed: 'a', crm: 'b', offered: '-', cell: 'c', outcome: '' };

  it('an edit towards the CRM names the value it was decided on', () => {
    expect(merge({ ...example, crm: 'a' }, 'both', 'ask')).toEqual({
      kind: 'toCrm',
      value: 'c',
      base: 'a',
      lost: undefined,
    });
  });

  it('a write to the table names the value it replaces', () => {
    expect(merge({ ...example, cell: 'a' }, 'both', 'ask')).toEqual({
      kind: 'toTable',
      value: 'b',
      before: 'a',
      lost: undefined,
    });
  });

  it('a conflict names all three values', () => {
    expect(merge(example, 'both', 'ask')).toEqual({ kind: 'conflict', crm: 'b', table: 'c', agreed: 'a' });
  });

  it('a conflict about a field that was never agreed was empty before', () => {
    expect(merge({ ...example, agreed: '-' }, 'both', 'ask')).toMatchObject({
      kind: 'conflict',
      agreed: null,
    });
  });
});

describe('a conflict that a person settled with a value of their own', () => {
  const field = sampleField('lead', 'about.description');
  const typed = { value: 'v', crm: 'b', table: 'c' };
  it.each<[agreed: string, crm: string, cell: string, asked: number, outcome: object]>([
    ['a', 'b', 'c', 1, { kind: 'typed', value: 'v', before: 'c' }],
    ['a', 'b', 'v', 1, { kind: 'toCrm', value: 'v', base: 'b', lost: 'b' }],
    ['v', 'b', 'v', 1, { kind: 'toCrm', value: 'v', base: 'b', lost: 'b' }],
    ['a', 'v', 'v', 0, { kind: 'same', value: 'v', rewrite: false }],
    ['a', 'd', 'c', 1, { kind: 'conflict', crm: 'd', table: 'c', agreed: 'a' }],
    ['a', 'b', 'd', 1, { kind: 'conflict', crm: 'b', table: 'd', agreed: 'a' }],
    ['a', 'b', 'a', 0, { kind: 'toTable', value: 'b', before: 'a', lost: undefined }],
  ])('agreed %s, CRM %s, cell %s', (agreed, crm, cell, asked, outcome) => {
    let asks = 0;
    const column = columnOf(field, 'both', 'ask');
    const view = { column, field, crm, agreed, offered: undefined, sent: [], cell: textCell(cell), typed };
    const count = () => {
      asks += 1;
      return undefined;
    };
    expect(mergeField(view, sampleNames, count)).toEqual(outcome);
    expect(asks).toBe(asked);
  });

  it('stays that value when a write without a reply turns out to have landed', () => {
    const column = columnOf(field, 'both', 'ask');
    const cell = textCell('v');
    const view = { column, field, crm: 'b', agreed: 'a', offered: undefined, sent: [cell], cell, typed };
    expect(mergeField(view, sampleNames, () => undefined)).toMatchObject({ kind: 'toCrm', value: 'v' });
  });
});

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
    const column = columnOf(field, 'both', 'ask');
    const view = { column, field, crm: value, agreed: value, offered: undefined, sent: [], cell };
    expect(mergeField(view, sampleNames, () => undefined)).toEqual(outcome);
  });
});

describe('an edit the CRM would refuse', () => {
  const refusedEmpty = (crm: string) => ({
    kind: 'refused',
    reason: `Title can not be empty. Put “${crm}” back, or type another value.`,
  });

  it.each<[policy: ConflictPolicy, agreed: Value, crm: Value, outcome: object]>([
    ['ask', 'Acme', 'Acme', refusedEmpty('Acme')],
    ['table', 'Acme', 'Acme GmbH', refusedEmpty('Acme GmbH')],
    ['crm', 'Acme', 'Acme GmbH', { kind: 'toTable', value: 'Acme GmbH', before: null, lost: null }],
    ['ask', 'Acme', 'Acme GmbH', { kind: 'conflict', crm: 'Acme GmbH', table: null, agreed: 'Acme' }],
  ])('an emptied title where %s wins, agreed %s, CRM %s', (policy, agreed, crm, outcome) => {
    const field = sampleField('lead', 'title');
    const view = {
      column: columnOf(field, 'both', policy),
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
      column: columnOf(field, 'both', 'ask'),
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
      column: columnOf(field, 'both', 'ask'),
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
        column: columnOf(field, direction, 'crm'),
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
