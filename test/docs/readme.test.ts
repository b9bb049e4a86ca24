import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorsTable } from '../../src/app/errors-table.ts';
import { listSettings, settingsTable } from '../../src/app/settings-table.ts';
import { buildProgram } from '../../src/cli/program.ts';

const file = new URL('../../README.md', import.meta.url);

/** What stands between the marks of a generated part. */
const partPattern = (name: string) => new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);

/** Compares a generated part of README.md; `UPDATE_README=1` writes it anew first. */
function checkPart(name: string, wanted: string): void {
  if (process.env['UPDATE_README']) {
    const updated = readFileSync(file, 'utf8').replace(
      partPattern(name),
      `$1\n${wanted.replaceAll('$', '$$$$')}\n\n$3`,
    );
    writeFileSync(file, updated);
  }
  const [, , found] = partPattern(name).exec(readFileSync(file, 'utf8')) ?? [];
  expect(found?.trim()).toBe(wanted);
}

test('README lists every setting as the schema has it', () => {
  checkPart('settings', settingsTable());
});

test('every setting says what it means', () => {
  const silent = listSettings().filter(({ description }) => description === '');
  expect(silent.map(({ path }) => path)).toEqual([]);
});

test('README lists every error of the closed table', () => {
  checkPart('errors', errorsTable());
});

test('README names every command', async () => {
  const text = readFileSync(file, 'utf8');
  const { commands } = await buildProgram({ environment: {}, finish: () => undefined });
  const names = commands.map((command) => command.name());
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !new RegExp(`^\\| \`${name}[ \`]`, 'm').test(text))).toEqual([]);
});
