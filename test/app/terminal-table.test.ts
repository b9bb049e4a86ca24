import { expect, test } from 'vitest';
import { renderTable, wrapWords } from '../../src/cli/terminal-table.ts';

test('a table wraps its last column, and no line is longer than the terminal is wide', () => {
  const rows = [
    ['code', 'by', 'what to do'],
    ['CRM_LIMITED', 'time', 'The CRM limits requests. The daemon waits by itself, and goes on.'],
  ];
  expect(renderTable(rows, 50)).toEqual([
    'code         by    what to do',
    'CRM_LIMITED  time  The CRM limits requests. The',
    '                   daemon waits by itself, and',
    '                   goes on.',
  ]);
});

test('a word that is wider than a line is not cut', () => {
  expect(wrapWords('see https://example.com/a/long/address then', 10)).toEqual([
    'see',
    'https://example.com/a/long/address',
    'then',
  ]);
});
