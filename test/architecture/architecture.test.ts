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
