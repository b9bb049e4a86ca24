import { describe, expect, test } from 'vitest';
import { anchorsOf, manualPages, ownProse, readme, userDocuments } from './markdown.ts';

test('README has at most 150 lines', () => {
  expect(readme.text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test('README leads to every page of the manual', () => {
  const unread = manualPages.filter(({ path }) => !readme.text.includes(`](${path})`));
  expect(unread.map(({ path }) => path)).toEqual([]);
});

describe.each(manualPages)('$path', (page) => {
  test('has a table of contents with every heading', () => {
    const [contents = ''] = page.text.split(/^## /m);
    const headings = anchorsOf(page, 2);
    expect(headings.length).toBeGreaterThan(2);
    expect(headings.filter((anchor) => !contents.includes(`](#${anchor})`))).toEqual([]);
  });

  test('has no two headings with one address', () => {
    const headings = anchorsOf(page);
    expect(headings.filter((anchor, index) => headings.indexOf(anchor) !== index)).toEqual([]);
  });
});

/** Words that readers have to decode, with what to write instead. */
const banned: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\bwhoever\b/i, 'everyone who, the person who'],
  [/\bcan not\b/i, 'cannot'],
  [/\bno more\b(?! than)/i, 'no longer'],
  [/\b(stands?|stood)\b/i, 'is, has, contains'],
  [/\b(tells?|told)\b/i, 'says, reports'],
  [/\b(somebody|nobody)\b/i, 'a person, the operator, the editor'],
  [/\b(deeds|mishaps)\b/i, 'edits, accidents'],
];

test.each(userDocuments)('$path is in plain English', (document) => {
  const found = ownProse(document)
    .split('\n')
    .flatMap((line) =>
      banned.flatMap(([words, instead]) => {
        const [word] = words.exec(line) ?? [];
        return word === undefined ? [] : [`“${word}” (${instead}): ${line.slice(0, 120)}`];
      }),
    );
  expect(found).toEqual([]);
});
