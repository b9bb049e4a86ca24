import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { controlToken, openStage } from '../support/process-stage.ts';
import { until } from '../support/until.ts';

const counts = { leads: 2, opportunities: 0, tasks: 0 };

/** What a terminal would obey, or show in another order: line breaks, an escape, its form of one byte, and marks of direction. */
const forged = 'Nice\r\n2026-01-01 00:00  all is well\u001b[31m\u009b2J\u202eevil\u2066\u0007';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

test('what the CRM says can neither forge lines of a command nor steer a terminal', async () => {
  const { addToCrm, environment, runCommand, startDaemon } = await openStage({ counts });
  await addToCrm('/leads', { title: forged });
  const daemon = await startDaemon();
  await daemon.answers('/readyz');
  const read = async (...words: string[]) => {
    const { stderr, stdout } = await runCommand(...words);
    return `${stdout}\n${stderr}`;
  };
  const isThere = async () => (await read('history', '--limit', '500')).includes('Nice');
  await until('the history has it', isThere);
  for (const words of [
    ['history'],
    ['status'],
    ['plan'],
    ['undo', '--record', 'Nice', '--dry-run'],
    ['history', '--commands'],
  ]) {
    const text = await read(...words);
    expect(text.match(obeyed)?.[0] ?? '', words.join(' ')).toBe('');
    expect(text.split('\n').filter((line) => line.startsWith('2026-01-01 00:00'))).toEqual([]);
  }
  const wrong = await runCommand('answer', forged, 'approve');
  expect(`${wrong.stdout}${wrong.stderr}`.match(obeyed)?.[0] ?? '').toBe('');
  expect(environment['CONTROL_TOKEN']).toBe(controlToken);
});

test.each(['__proto__', 'constructor', '../../etc/passwd', "'; DROP TABLE record; --", '%00', '\u202e'])(
  'a name that some program would obey is one that no record has: %s',
  async (name) => {
    const { startDaemon } = await openStage({ counts });
    const daemon = await startDaemon();
    await daemon.answers('/readyz');
    const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
    const ask = async (path: string, body?: object) => {
      const order = body ? { method: 'POST', body: JSON.stringify(body) } : {};
      const answer = await fetch(daemon.url + path, { headers, ...order });
      return { status: answer.status, text: await answer.text() };
    };
    const encoded = encodeURIComponent(name);
    expect((await ask(`/api/history?record=${encoded}`)).status).toBe(404);
    expect((await ask(`/api/history?field=${encoded}`)).status).toBe(200);
    expect((await ask(`/api/history?run=${encoded}`)).text).toBe('{"entries":[]}');
    expect((await ask('/api/answer', { question: name, answer: 'approve' })).status).toBe(404);
    expect((await ask('/api/apply', { id: name })).status).toBe(404);
    expect((await ask('/api/undo', { record: name })).status).toBe(404);
    expect((await ask(`/page/${encoded}`)).status).toBe(404);
    expect((await ask('/api/status')).status).toBe(200);
  },
);

test('a page has no script and no style of its own in it, and forbids both', async () => {
  const { startDaemon } = await openStage({ counts });
  const daemon = await startDaemon();
  const answer = await fetch(daemon.url);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
  expect(policy).not.toContain('unsafe');
  const folder = new URL('../../src/http/page/', import.meta.url);
  const files = readdirSync(folder).filter((name) => /\.(html|js)$/.test(name));
  expect(files.length).toBeGreaterThan(5);
  const inline =
    /<script(?![^>]*\bsrc=)|<style|<[^>]*\s(on\w+|style)=|javascript:|(inner|outer)HTML\s*=[^=]|insertAdjacentHTML|\beval\(/i;
  for (const name of files)
    expect([name, readFileSync(new URL(name, folder), 'utf8').match(inline)?.[0]]).toEqual([name, undefined]);
});
