import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readColumn, splitColumns } from '../../src/google/poll/split-columns.ts';

const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.integer(),
  fc.constantFrom('"', '\\', ']', '[[['),
);
const column = fc.array(value, { maxLength: 4 });

const answerOf = (columns: readonly (readonly unknown[])[]) => {
  const dataFilters = [{ gridRange: { sheetId: 7, startColumnIndex: 2 } }];
  return Buffer.from(JSON.stringify({ valueRanges: [{ valueRange: { values: columns }, dataFilters }] }));
};

const bytesIn = (answer: Buffer) => splitColumns(answer).flatMap(({ columns }) => columns);

test('the columns of an answer come out as they went in, whatever was known before', () => {
  fc.assert(
    fc.property(fc.array(column, { maxLength: 4 }), fc.array(column, { maxLength: 4 }), (columns, before) => {
      const shorter = columns.slice(2).map((values) => values.slice(0, -1));
      const known = bytesIn(answerOf([...columns.slice(0, 2), ...shorter, ...before]));
      const [range, ...others] = splitColumns(answerOf(columns), known);
      expect([range?.sheetId, range?.startColumn, others]).toEqual([7, 2, []]);
      expect(range?.columns.map(readColumn)).toEqual(columns);
    }),
  );
});
