import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importRules } from './import-rules.ts';
import { describeFinding } from './rule.ts';
import { readSources } from './source.ts';
import { writingRules } from './writing-rules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readSources(root, ['src', 'test']);

describe('the house', () => {
  it.each([...importRules, ...writingRules].map((rule) => [rule.name, rule] as const))(
    '%s',
    (_name, rule) => {
      expect(rule.find(sources).map(describeFinding)).toEqual([]);
    },
  );
});

describe('the decision of the sheet', () => {
  const folder = 'src/sheet/decide/';
  const own = sources.filter(({ path }) => path.startsWith(folder));

  it('has no more than 4,000 lines, without blank ones and comments', () => {
    const isCode = (line: string) => line.trim() !== '' && !/^(?:\/\/|\/?\*)/.test(line.trim());
    const lines = own.flatMap(({ text }) => text.split('\n').filter(isCode));
    expect(lines.length).toBeLessThanOrEqual(4_000);
  });

  it('has no chain of imports with more than ten files', () => {
    const files = new Map(own.map((source) => [source.path, source]));
    const known = new Map<string, readonly string[]>();
    const longestFrom = (path: string): readonly string[] => {
      const before = known.get(path);
      if (before) return before;
      const next = (files.get(path)?.imports ?? []).flatMap(({ file }) =>
        file !== undefined && files.has(file) ? [longestFrom(file)] : [],
      );
      const [longest = []] = next.toSorted((one, other) => other.length - one.length);
      known.set(path, [path, ...longest]);
      return [path, ...longest];
    };
    const chains = [...files.keys()].map(longestFrom);
    expect(chains.filter((chain) => chain.length > 10)).toEqual([]);
  });
});
