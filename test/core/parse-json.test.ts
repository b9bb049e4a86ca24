import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseForeignJson, parseJson } from '../../src/core/text/parse-json.ts';

test('a text of others is read as any JSON, whatever its texts hold', () => {
  const odd = fc.constantFrom('"', '\\', '\\"', '[[[[', '{{', ']', '},', 'ä', '\\u0022');
  const anyJson = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc.array(odd, { maxLength: 6 }).map((parts) => JSON.stringify([parts.join('')])),
  );
  fc.assert(
    fc.property(anyJson, (text) => {
      expect(parseForeignJson(text)).toEqual(parseJson(text));
    }),
  );
});

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

test('what nests deeper, or holds more values, than anything that is meant is not read', () => {
  expect(parseForeignJson(nested(64))).toBeDefined();
  expect(parseForeignJson(nested(65))).toBeUndefined();
  expect(parseForeignJson(`[${'0,'.repeat(3_999_998)}0]`)).toHaveLength(3_999_999);
  expect(parseForeignJson(`[${'0,'.repeat(4_000_000)}0]`)).toBeUndefined();
  expect(parseForeignJson(`["${'[,'.repeat(5_000_000)}"]`)).toHaveLength(1);
});
