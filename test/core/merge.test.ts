import { describe, expect, it } from 'vitest';
import type { ChosenSide, ConflictPolicy } from '../../src/core/merge.ts';
import type { Value } from '../../src/core/value.ts';
import { type FieldOutcome, mergeField } from '../../src/sheet/decide/rows/merge.ts';
import { type Cell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Column } from '../../src/sheet/port/layout.ts';
import { sampleColumn, sampleField, sampleNames } from '../support/fields.ts';

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

function merge(
  { agreed, crm, offered, cell }: Case,
  direction: Column['direction'],
  conflict: ConflictPolicy,
  chosen?: ChosenSide,
): FieldOutcome {
  const field = sampleField('lead', 'about.description');
  const view = {
    column: sampleColumn(field, direction, conflict),
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
    const column = sampleColumn(field, 'both', 'ask');
    const view = { column, field, crm, agreed, offered: undefined, sent: [], cell: textCell(cell), typed };
    const count = () => {
      asks += 1;
      return undefined;
    };
    expect(mergeField(view, sampleNames, count)).toEqual(outcome);
    expect(asks).toBe(asked);
  });

  it('stays that value when a write without a reply turns out to have landed', () => {
    const column = sampleColumn(field, 'both', 'ask');
    const cell = textCell('v');
    const view = { column, field, crm: 'b', agreed: 'a', offered: undefined, sent: [cell], cell, typed };
    expect(mergeField(view, sampleNames, () => undefined)).toMatchObject({ kind: 'toCrm', value: 'v' });
  });
});
