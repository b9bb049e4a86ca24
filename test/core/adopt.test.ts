import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../src/core/state.ts';
import { matchRows } from '../../src/sheet/adopt.ts';
import { createNames } from '../../src/sheet/cells/codec.ts';
import { type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedRow } from '../../src/sheet/port/table.ts';
import { sampleCatalog, sampleField } from '../support/fields.ts';

const key = sampleField('lead', 'title');
const names = createNames(sampleCatalog, [], 'UTC');

const rowAt = (position: number, title: string, id: Cell = emptyCell): ObservedRow => ({
  position,
  id,
  sync: emptyCell,
  cells: { title: textCell(title) },
});

const recordOf = (id: number, title: string): StoredRecord => ({
  key: { entity: 'lead', id: String(id) },
  fields: { title },
  observedAt: 0,
  firstSeenAt: 0,
  lastSeenAt: 0,
  missedSweeps: 0,
  presence: 'present',
});

const match = (rows: readonly ObservedRow[], records: readonly StoredRecord[]) => {
  const { identified, matches, unclear } = matchRows({ rows, records, key, names });
  return {
    identified,
    matches: matches.map(({ row, id }) => [row.position, id]),
    unclear: unclear.map(({ row, reason }) => [row.position, reason]),
  };
};

const records = [recordOf(1, 'Acme'), recordOf(2, 'Bolt'), recordOf(3, 'Cup'), recordOf(4, 'Cup')];

describe('matching the rows of a filled tab', () => {
  it('goes by the ID where the key column agrees, also with what several records have', () => {
    const rows = [rowAt(1, ' ACME ', numberCell(1)), rowAt(2, 'Bolt'), rowAt(3, 'Cup', numberCell(4))];
    expect(match(rows, records)).toEqual({ identified: 2, matches: [[2, '2']], unclear: [] });
  });

  it('leaves rows that brought numbers of their own as IDs to a person, beside those that agree', () => {
    const rows = ['Cup', '', 'Cup'].map((title, index) => rowAt(index + 1, title, numberCell(index + 1)));
    expect(match(rows, records)).toEqual({
      identified: 1,
      matches: [],
      unclear: [
        [1, 'Its ID is that of record 1, whose Title is “Acme”.'],
        [2, 'Its ID is that of record 2, whose Title is “Bolt”.'],
      ],
    });
  });

  it('goes by the key column else, in any case and with stray spaces', () => {
    expect(match([rowAt(1, ' ACME '), rowAt(2, 'bolt')], records).matches).toEqual([
      [1, '1'],
      [2, '2'],
    ]);
  });

  it.each<[string, ObservedRow[], RegExp]>([
    ['nobody in the CRM has its value', [rowAt(5, 'Dune')], /^No record of the CRM has Title “Dune”\.$/],
    ['several records have it', [rowAt(5, 'Cup')], /^Several records .* “Cup”: 3, 4\.$/],
    [
      'another row has it too',
      [rowAt(5, 'Acme'), rowAt(6, 'acme')],
      /also stands in row 7, and only record 1 /,
    ],
    [
      'the record has a row by its ID',
      [rowAt(5, 'Acme'), rowAt(2, 'Renamed', numberCell(1)), rowAt(6, 'Acme')],
      /row 7, 3, and only record 1/,
    ],
    [
      'its ID is none of the CRM',
      [rowAt(5, 'Acme', textCell('A-1'))],
      /^No record of the CRM has the ID “A-1”\.$/,
    ],
    [
      'it has no value to go by',
      [{ ...rowAt(5, ''), cells: { title: emptyCell, note: textCell('x') } }],
      /is empty/,
    ],
  ])('leaves a row to a person where %s', (_, rows, reason) => {
    const { matches, unclear } = match(rows, records);
    expect([matches, unclear[0]]).toEqual([[], [5, expect.stringMatching(reason)]]);
  });

  it('names a few of the others where a column tells nothing apart, as in a long tab that is matched by its status', () => {
    const many = Array.from({ length: 3_000 }, (_, index) => index + 1);
    const rows = many.map((position) => rowAt(position, 'New'));
    const { unclear } = match(
      rows,
      many.map((id) => recordOf(id, 'New')),
    );
    expect(unclear[0]?.[1]).toBe('Several records of the CRM have Title “New”: 1, 2, 3, 4, 5 and 2995 more.');
    const [[, reason] = []] = match(rows, [recordOf(1, 'New')]).unclear;
    expect(reason).toBe(
      'Title “New” also stands in row 3, 4, 5, 6, 7 and 2994 more, and only record 1 has it.',
    );
    expect(unclear).toHaveLength(many.length);
  });

  it('does not see blank rows', () => {
    expect(match([rowAt(1, '')], records)).toEqual({ identified: 0, matches: [], unclear: [] });
  });
});
