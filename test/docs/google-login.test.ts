import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loginWords } from '../../src/cli/guide/questions.ts';

const said = loginWords.join('\n');
const manual = readFileSync(new URL('../../src/manual/operating.md', import.meta.url), 'utf8');
const [, chapter = ''] = /\n## Log in to Google\n([\s\S]*?)\n## /.exec(manual) ?? [];

test('the addresses that init prints for the login to Google are those of the manual', () => {
  const addresses = said.match(/https:\/\/\S+/g) ?? [];
  expect(addresses).toHaveLength(3);
  expect(addresses.filter((address) => !chapter.includes(`(${address})`))).toEqual([]);
});

test('init and the manual say what to do where keys are forbidden before they speak of a key file', () => {
  for (const [text, keyFile] of [
    [said, 'Add key'],
    [chapter, '### With a key file'],
  ] as const) {
    const forbidden = text.indexOf('iam.disableServiceAccountKeyCreation');
    expect(forbidden).toBeGreaterThan(0);
    expect(forbidden).toBeLessThan(text.indexOf(keyFile));
  }
});

test('each line that init prints about the login fits a terminal', () => {
  expect(loginWords.filter((line) => line.length > 120)).toEqual([]);
});
