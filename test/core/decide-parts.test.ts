import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../src/core/backoff.ts';
import { findFault } from '../../src/core/fields/validate.ts';
import {
  claimToken,
  entities,
  isClaimToken,
  parseRecordKey,
  type RecordKey,
  recordKeyText,
} from '../../src/core/record.ts';
import type { Value } from '../../src/core/value.ts';
import { findBrakes } from '../../src/core/waiting/brakes.ts';
import { type RowState, showValue, syncText } from '../../src/sheet/cells/sync-text.ts';
import { bindRows } from '../../src/sheet/decide/identity/bind.ts';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedRow } from '../../src/sheet/port/table.ts';
import { sampleField } from '../support/fields.ts';
import { defaultBrakes } from '../support/policy.ts';

describe('a value before it is sent', () => {
  it.each<[entity: 'lead' | 'opportunity' | 'task', name: string, value: Value, fault: string | undefined]>([
    ['lead', 'title', 'Acme', undefined],
    ['lead', 'title', null, 'Title can not be empty.'],
    ['lead', 'title', '', 'Title can not be empty.'],
    ['lead', 'title', 'x'.repeat(200), undefined],
    ['lead', 'title', 'x'.repeat(201), 'Title is 201 characters long; the CRM takes at most 200.'],
    ['lead', 'title', '🚀'.repeat(200), undefined],
    ['lead', 'about.description', null, undefined],
    [
      'lead',
      'about.description',
      'x'.repeat(501),
      'About is 501 characters long; the CRM takes at most 500.',
    ],
    ['lead', 'title', 'Synced soon', undefined],
    ...['Synced 2026-11-21 10:00', 'Pending: to be created in the CRM', 'new-0123456789ab-0123456789ab'].map(
      (value): ['lead', string, Value, string] => [
        'lead',
        'title',
        value,
        'Title shows what belongs into the Sync or the ID column. Undo that, or type the right value.',
      ],
    ),
    ['opportunity', 'value', null, 'Value can not be empty.'],
    ['opportunity', 'value', 0, undefined],
    ['opportunity', 'value', -0.01, 'Value can not be less than 0.'],
    ['opportunity', 'confidence', 100, undefined],
    ['opportunity', 'confidence', 101, 'Confidence can not be more than 100.'],
    ['task', 'due_date', null, undefined],
    ['task', 'status', null, 'Status can not be empty.'],
    ['task', 'parent_task_id', 0, 'Parent task can not be less than 1.'],
  ])('%s %s %j: %s', (entity, name, value, fault) => {
    expect(findFault(sampleField(entity, name), value)).toBe(fault);
  });
});

describe('brakes', () => {
  it.each<[agreed: number, vanishedRows: number, goneRecords: number, tripped: string[]]>([
    [0, 0, 0, []],
    [1, 1, 0, []],
    [2, 2, 0, ['emptied']],
    [10, 5, 0, []],
    [10, 6, 0, ['vanished']],
    [10, 10, 0, ['emptied']],
    [100, 10, 0, []],
    [100, 11, 0, ['vanished']],
    [100, 0, 10, []],
    [100, 0, 11, ['gone']],
    [100, 11, 11, ['vanished', 'gone']],
    [100, 100, 11, ['emptied', 'gone']],
  ])('%i agreed, %i rows vanished, %i records gone: %j', (agreed, vanishedRows, goneRecords, tripped) => {
    const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));
    const losses = { vanishedRows: ids(vanishedRows), goneRecords: ids(goneRecords) };
    const brakes = findBrakes(
      { entity: 'lead', agreed, rule: 'ask', company: () => '', ...losses },
      defaultBrakes,
    );
    expect(brakes.map(({ scope }) => scope)).toEqual(tripped.map((word) => `brake:lead:${word}`));
  });
});

describe('rows by their ID cell', () => {
  const row = (position: number, id: number | string | undefined, title: string): ObservedRow => ({
    position,
    id: id === undefined ? emptyCell : typeof id === 'number' ? numberCell(id) : textCell(id),
    sync: emptyCell,
    cells: { title: textCell(title) },
  });
  const lookup = {
    isKnown: (id: string) => ['1', '2'].includes(id),
    findOriginal: (id: string, rows: readonly ObservedRow[]) =>
      rows.find(({ cells }) => JSON.stringify(cells).includes(`original ${id}`)),
    isForeign: () => false,
  };
  const bind = (...rows: ObservedRow[]) => {
    const binding = bindRows(rows, lookup);
    const positions = (bound: readonly { row: ObservedRow }[]) => bound.map((each) => each.row.position);
    return {
      records: positions(binding.records),
      claimed: positions(binding.claimed),
      unbound: binding.unbound.map(({ position }) => position),
      copies: positions(binding.copies),
      strangers: positions(binding.strangers),
    };
  };
  const none = { records: [], claimed: [], unbound: [], copies: [], strangers: [] };

  it.each<[name: string, rows: ObservedRow[], binding: Partial<Record<keyof typeof none, number[]>>]>([
    ['one row per record', [row(1, 2, 'a'), row(2, 1, 'b')], { records: [1, 2] }],
    ['an ID typed as text is the same ID', [row(1, '1', 'a')], { records: [1] }],
    ['a row without an ID', [row(1, undefined, 'a')], { unbound: [1] }],
    ['a claim token', [row(1, 'new-x', 'a')], { claimed: [1] }],
    ['an ID nobody knows', [row(1, 99, 'a'), row(2, 'me', 'b')], { strangers: [1, 2] }],
    ['a copy below its original', [row(1, 1, 'original 1'), row(2, 1, 'x')], { records: [1], copies: [2] }],
    ['a copy above its original', [row(1, 1, 'x'), row(2, 1, 'original 1')], { records: [2], copies: [1] }],
    ['two equal rows: the topmost stays', [row(1, 1, 'x'), row(2, 1, 'x')], { records: [1], copies: [2] }],
    ['a copied claim', [row(1, 'new-x', 'a'), row(2, 'new-x', 'a')], { claimed: [1], copies: [2] }],
    [
      'text and number are one ID',
      [row(1, 1, 'x'), row(2, '1', 'original 1')],
      { records: [2], copies: [1] },
    ],
  ])('%s', (_name, rows, binding) => {
    expect(bind(...rows)).toEqual({ ...none, ...binding });
  });
});

describe('the wait before another try', () => {
  const backoff = { firstMs: 1_000, maxMs: 60_000 };
  it.each<[attempts: number, chance: number, waitMs: number]>([
    [0, 1, 1_000],
    [1, 0, 500],
    [1, 1, 1_000],
    [2, 1, 2_000],
    [4, 0.5, 6_000],
    [7, 1, 60_000],
    [5_000, 1, 60_000],
    [5_000, 0, 30_000],
  ])('%i attempts, chance %d: %i ms', (attempts, chance, waitMs) => {
    expect(backoffMs(backoff, attempts, chance)).toBe(waitMs);
  });
});

describe('a record key as text', () => {
  it('comes back as it was', () => {
    const key = fc.record<RecordKey>(
      { entity: fc.constantFrom(...entities), id: fc.stringMatching(/^[\w\n\r-]{1,20}$/) },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(key, (each) => {
        expect(parseRecordKey(recordKeyText(each))).toEqual(each);
      }),
    );
  });

  it.each(['', 'lead', 'lead-', 'user-1', '-1', 'Lead-1'])('“%s” is none', (text) => {
    expect(parseRecordKey(text)).toBeUndefined();
  });

  it('a claim token is no id', () => {
    expect(isClaimToken(claimToken('x1'))).toBe(true);
    expect(isClaimToken('42')).toBe(false);
  });
});

describe('the Sync cell', () => {
  it.each<[RowState, text: string]>([
    [{ kind: 'error', reason: 'Title can not be empty.' }, 'Error: Title can not be empty.'],
    [
      { kind: 'conflict', header: 'Title', crm: 'Acme', isWhole: true, questionsTitle: undefined },
      'Conflict: the CRM has “Acme” for Title. Type it here to accept it, or ask the operator to resolve.',
    ],
    [
      { kind: 'conflict', header: 'Title', crm: 'Acme', isWhole: true, questionsTitle: 'Conflicts' },
      'Conflict: the CRM has “Acme” for Title. Choose in the tab “Conflicts”, or type it here to accept it.',
    ],
    [
      { kind: 'conflict', header: 'Title', crm: null, isWhole: true, questionsTitle: 'Conflicts' },
      'Conflict: the CRM has (empty) for Title. Choose in the tab “Conflicts”, or empty the cell to accept that.',
    ],
    [
      { kind: 'conflict', header: 'Title', crm: null, isWhole: true, questionsTitle: undefined },
      'Conflict: the CRM has (empty) for Title. Empty the cell to accept that, or ask the operator to resolve.',
    ],
    [
      { kind: 'conflict', header: 'Note', crm: 'One Two', isWhole: false, questionsTitle: 'Conflicts' },
      'Conflict: the CRM has “One Two” for Note. Choose in the tab “Conflicts”.',
    ],
    [
      { kind: 'conflict', header: 'Note', crm: 'x'.repeat(81), isWhole: true, questionsTitle: undefined },
      `Conflict: the CRM has “${'x'.repeat(80)}…” for Note. Ask the operator to resolve.`,
    ],
    [{ kind: 'held', reason: 'This row is a copy.' }, 'Held: This row is a copy.'],
    [{ kind: 'incomplete', missing: ['Lead', 'Stage'] }, 'New row: fill Lead and Stage to send it.'],
    [{ kind: 'pending', what: 'to be created in the CRM' }, 'Pending: to be created in the CRM'],
    [{ kind: 'synced', at: Date.UTC(2026, 10, 21, 9, 30), notice: '' }, 'Synced 2026-11-21 10:30'],
    [
      { kind: 'synced', at: Date.UTC(2026, 6, 1, 9, 30), notice: 'Title: kept' },
      'Synced 2026-07-01 11:30. Title: kept',
    ],
    [
      { kind: 'synced', at: Date.UTC(2026, 6, 1, 9, 30), notice: 'Title: kept', isFresh: true },
      'Title: kept. Synced 2026-07-01 11:30',
    ],
  ])('%j', (state, text) => {
    expect(syncText(state, 'Europe/Berlin')).toBe(text);
  });

  it.each<[Value, string]>([
    [null, '(empty)'],
    ['Acme', '“Acme”'],
    [0, '“0”'],
    [false, '“false”'],
    [['a', 'b'], '“a, b”'],
    ['x'.repeat(81), `“${'x'.repeat(80)}…”`],
  ])('shows %j as %s', (value, shown) => {
    expect(showValue(value)).toBe(shown);
  });
});
