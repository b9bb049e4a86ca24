import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHider } from '../../src/core/text/hide-secret.ts';

const key = `svc_live_${'0a1b2c3d'.repeat(8)}`;
const hide = createHider(key, '(the key)');

const writings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in capitals': (text) => text.toUpperCase(),
  'in percent signs': (text) => [...text].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join(''),
  'in part in percent signs': (text) => text.replaceAll('_', '%5F'),
  'in escapes of JSON': (text) =>
    [...text].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  'in entities': (text) => [...text].map((sign) => `&#${sign.charCodeAt(0)};`).join(''),
  'in hexadecimal entities': (text) =>
    [...text].map((sign) => `&#x${sign.charCodeAt(0).toString(16)};`).join(''),
  'in hexadecimal digits': (text) => Buffer.from(text).toString('hex'),
  'in Base64': (text) => Buffer.from(text).toString('base64'),
  'in Base64 for addresses': (text) => Buffer.from(text).toString('base64url'),
};

test.each(Object.entries(writings))('a secret is hidden that comes back %s', (_, write) => {
  const hidden = hide(`No: ${write(key)}, sorry.`);
  expect(hidden).toContain('(the key)');
  expect(hidden.replace('(the key)', '').length).toBeLessThan(20);
});

test('a secret is hidden behind and before anything else in one code', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 });
  fc.assert(
    fc.property(text, text, (before, behind) => {
      const coded = Buffer.from(`${before}${key}${behind}`).toString('base64');
      expect(hide(coded)).toContain('(the key)');
    }),
  );
});

test.each([
  ['JSON', (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
  ['HTML', (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')],
  ['a form', (text: string) => String(new URLSearchParams({ p: text })).slice(2)],
])('a password is hidden whose signs are written as in %s', (_, write) => {
  const password = 'pa/ss & "wo\\rd" <1>';
  expect(createHider(password, '(it)')(`not ${write(password)}!`)).toBe('not (it)!');
});

test('what is no secret stays as it is, whatever signs the secret has', () => {
  const text = 'A page of *stars* (and [brackets]).';
  expect(hide(text)).toBe(text);
  expect(createHider('', '(it)')(text)).toBe(text);
  expect(createHider('s.e*c(r)e+t', '(it)')('the s.e*c(r)e+t, not sXeecret')).toBe('the (it), not sXeecret');
});
