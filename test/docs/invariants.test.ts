import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const readText = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The invariants of the architecture page, with the test files that it names for each. */
const rows = [...readText('src/README.md').matchAll(/^\| ([SW]\d+) \|.*\| ([^|]+) \|$/gm)].map(
  ([, name = '', files = '']) => ({
    name,
    files: [...files.matchAll(/`(\w+\/[\w-]+)`/g)].map(([, file]) => `test/${file}.test.ts`),
  }),
);

/** Whether a title in a test file begins with the invariant, alone or with others. */
const isNamedIn = (name: string, file: string) =>
  new RegExp(`['"\`]([SW]\\d+ )*${name}( [SW]\\d+)*: `).test(readText(file));

test('the architecture page lists the invariants S1 to S16 and W1 to W15, each with its tests', () => {
  const ofSheet = Array.from({ length: 16 }, (_, index) => `S${index + 1}`);
  const ofWarehouse = Array.from({ length: 15 }, (_, index) => `W${index + 1}`);
  expect(rows.map(({ name }) => name)).toEqual([...ofSheet, ...ofWarehouse]);
  expect(rows.filter(({ files }) => files.length === 0)).toEqual([]);
});

describe.each(rows)('$name is named by the title of a test', ({ files, name }) => {
  test.each(files)('in %s', (file) => {
    expect(isNamedIn(name, file)).toBe(true);
  });
});
