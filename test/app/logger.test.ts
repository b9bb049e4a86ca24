import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from '../../src/app/logger.ts';

const secret = 'svc_live_4711';

/** What a log writes into its destination. */
function record(isTerminal: boolean) {
  const chunks: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  const log = createLog('info', { isTerminal, destination });
  return { log, text: () => chunks.join('') };
}

test('a line is JSON for machines, with its event, level and fields', () => {
  const { log, text } = record(false);
  log.info('record.pushed', { record: 'lead-42', fields: ['title'] });
  log.debug('crm.request', {});
  expect(JSON.parse(text())).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    event: 'record.pushed',
    record: 'lead-42',
    fields: ['title'],
  });
});

test('in a terminal a line is made for people', () => {
  const { log, text } = record(true);
  log.warn('queue.lost', { place: '127.0.0.1:6379' });
  expect(text()).toMatch(/^\[\d\d:\d\d:\d\d\] .*WARN.*queue\.lost.*127\.0\.0\.1:6379.*\n$/);
  expect(() => JSON.parse(text())).toThrow();
});

test.each([false, true])('S16: fields made for secrets are never shown, in a terminal: %s', (isTerminal) => {
  const { log, text } = record(isTerminal);
  log.error('x', {
    apiKey: secret,
    apiKeys: [secret],
    headers: { 'x-api-key': secret, authorization: secret },
  });
  expect(text()).toContain('(a secret)');
  expect(text()).not.toContain(secret);
});

test.each([false, true])(
  'S16: an error is told without what a library hung on it, in a terminal: %s',
  (isTerminal) => {
    const { log, text } = record(isTerminal);
    const cause = new Error(secret);
    const error = Object.assign(new Error('WRONGPASS', { cause }), {
      code: 'E42',
      command: { name: 'auth', args: [secret] },
      config: { headers: { cookie: secret } },
    });
    log.error('queue.failed', { error });
    expect(text()).toContain('WRONGPASS');
    expect(text()).toContain('E42');
    expect(text()).not.toContain(secret);
  },
);

test('what came from outside is one line of the log in a terminal, and steers nothing there', () => {
  const { log, text } = record(true);
  const forger = 'Acme\n[12:00:00] WARN: forged\u009b31m\u202e\u2028Eve';
  log.warn('row.held', { title: forger });
  log.error('link.failed', { error: new Error(forger) });
  const lines = text()
    .split('\n')
    .filter((line) => line !== '');

  expect(lines.filter((line) => line.includes('forged') && !line.includes('Acme'))).toEqual([]);
  expect(text()).not.toMatch(/[\u0080-\u009f\u2028\p{Bidi_Control}]/u);
  expect(lines.some((line) => line.trimStart().startsWith('at '))).toBe(true);
});

test.each([true, false])('an address in a line of the log has no login, in a terminal: %s', (isTerminal) => {
  const { log, text } = record(isTerminal);
  const url = 'postgres://crm:correct-horse@db.example/analytics';
  log.warn('warehouse.failed', { place: url, error: new Error(`no way to ${url}`) });
  expect(text()).toContain('db.example/analytics');
  expect(text()).not.toContain('correct-horse');
});
