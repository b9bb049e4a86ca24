import { expect, test } from 'vitest';
import { mergeFields, parseFieldMask, selectFields } from '../../src/sandbox/sheets/wire/field-mask.ts';

const sheet = {
  title: 'Leads',
  grid: { rows: 4, columns: 2 },
  cells: [{ note: 'x', value: 1 }, { value: 2 }],
};

test.each([
  ['title', { title: 'Leads' }],
  ['grid.rows,grid/columns', { grid: { rows: 4, columns: 2 } }],
  ['grid(rows),title', { title: 'Leads', grid: { rows: 4 } }],
  ['grid,grid.rows', { grid: { rows: 4, columns: 2 } }],
  ['grid.rows,grid', { grid: { rows: 4, columns: 2 } }],
  ['*/rows', { title: 'Leads', grid: { rows: 4 }, cells: [{}, {}] }],
  ['cells(note)', { cells: [{ note: 'x' }, {}] }],
  ['', sheet],
])('the mask %o keeps only what it names', (mask, kept) => {
  expect(selectFields(sheet, parseFieldMask(mask))).toEqual(kept);
});

test.each(['a(b', 'a)', 'a,,b', '.a', 'a b'])('the mask %o is refused', (mask) => {
  expect(() => parseFieldMask(mask)).toThrow('Request contains an invalid argument.');
});

test('a merge writes what the mask names, clears what it names but is not sent, and keeps the rest', () => {
  const target = { bold: true, size: 10, format: { type: 'DATE', pattern: 'd' } };
  const sent = { size: 12, format: { type: 'TEXT' } };
  expect(mergeFields(target, sent, parseFieldMask('bold,format.type'))).toEqual({
    size: 10,
    format: { type: 'TEXT', pattern: 'd' },
  });
  expect(mergeFields(target, {}, parseFieldMask('format(type,pattern)'))).toEqual({ bold: true, size: 10 });
  expect(mergeFields(target, sent, parseFieldMask('*'))).toEqual(sent);
});
