import { describe, expect, onTestFinished, test } from 'vitest';
import { askEverything, openAviary, paths, tells, warehousePassword } from '../support/aviary.ts';
import { type LineAnswer, openCrmLine } from '../support/crm-line.ts';
import { findFreePort } from '../support/free-port.ts';
import { startQuotingPostgres } from '../support/quoting-postgres.ts';
import { realClock } from '../support/real-clock.ts';
import { until } from '../support/until.ts';

const typed = 'Typed by SQL into Testford';

/** What the CRM answers where it refuses something and quotes the key that it was sent. */
const quoting = (key: string): LineAnswer => ({
  status: 422,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({ http_code: 422, status: 'failed', message: `No: ${key}` }),
});

async function openEdited() {
  const aviary = await openAviary({ hasDatabase: true });
  const { database, stage } = aviary;
  if (!database) throw new Error('There is no database.');
  const crm = await openCrmLine({ target: stage.environment['CRM_BASE_URL'] ?? '', now: realClock.now });
  onTestFinished(() => crm[Symbol.asyncDispose]());
  const key = stage.environment['CRM_API_KEY'] ?? '';
  const daemon = (changes = {}) => aviary.start({ CRM_BASE_URL: crm.baseUrl, ...changes });
  const run = (words: readonly string[], changes = {}) =>
    aviary.run(words, { CRM_BASE_URL: crm.baseUrl, ...changes });
  const filled = () =>
    until('all leads are there', async () => {
      const rows = await database.query('SELECT FROM crm.lead').catch(() => []);
      return rows.length === 12;
    });
  const states = async () =>
    (await database.query('SELECT state FROM crm.edit ORDER BY seq')).map(({ state }) => state);
  const came = (...wanted: readonly string[]) =>
    until(`edits are ${wanted}`, async () => (await states()).join() === wanted.join(), {
      describe: async () => JSON.stringify(await database.query('SELECT op, state, note FROM crm.edit')),
      limitMs: 20_000,
    });
  return { ...aviary, aviary, crm, database, daemon, run, filled, came, quoted: async () => quoting(key) };
}

describe('S16: no secret is anywhere', { timeout: 480_000 }, () => {
  test('A21: while rows are edited by SQL, and the CRM quotes its key where it refuses that', async () => {
    const { aviary, came, crm, daemon, database, expectNoLeak, filled, quoted, run } = await openEdited();
    const running = daemon();
    await filled();
    const [one, two, three] = await database.query('SELECT id::text FROM crm.lead ORDER BY id LIMIT 3');
    await database.query('UPDATE crm.lead SET title = $1 WHERE id = $2', [typed, one?.['id']]);
    await came('done');
    const stops = [crm.intercept(/^POST /, quoted), crm.intercept(/^PUT /, quoted)];
    await database.query('UPDATE crm.lead SET title = $1 WHERE id = $2', [typed, two?.['id']]);
    await database.query('INSERT INTO crm.lead (title) VALUES ($1)', [typed]);
    await database.query('DELETE FROM crm.lead WHERE id = $1', [three?.['id']]);
    await came('done', 'refused', 'refused', 'held');
    const notes = await database.query("SELECT note FROM crm.edit WHERE state = 'refused'");
    expect(notes.map(({ note }) => String(note))).toEqual([
      expect.stringContaining('No: '),
      expect.stringContaining('No: '),
    ]);
    await tells(aviary, running, /vanished:lead-\d+/);
    for (const words of [
      ['status', '--json'],
      ['plan', '--json'],
      ['history', '--json'],
      ['doctor', '--json'],
      ['warehouse', 'sql'],
      ['warehouse', 'audit'],
      ['backup'],
    ])
      expect(await run(words)).toMatchObject({ code: expect.toBeOneOf([0, 1, 3]) });
    await askEverything(aviary, running);
    for (const stop of stops) stop();
    await database.query('UPDATE crm.question SET answer = answers[1]');
    await database.query('UPDATE crm.lead SET title = $1 WHERE id < 0', [`${typed} II`]);
    await until(
      'the answers were taken',
      async () => (await database.query('SELECT FROM crm.question')).length === 0,
    );
    await run(['status', '--json']);
    await run(['history', '--json']);
    const { stdout } = await running.terminate();
    expect(stdout).toContain('"event":"record.pushed"');
    expect(stdout).not.toContain(typed);
    await expectNoLeak();
  });

  test('A21: while the database refuses the login and quotes it, is not there, or cuts its connections', async () => {
    const { aviary, database, databaseUrl, daemon, expectNoLeak, filled, run, secretFile, came } =
      await openEdited();
    const first = daemon();
    await filled();
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crm-sheet-sync'",
    );
    await database.query('UPDATE crm.lead SET title = $1 WHERE id = (SELECT min(id) FROM crm.lead)', [typed]);
    await came('done');
    await first.terminate();
    const troubles = [
      ['wrong', databaseUrl(`${warehousePassword}-wrong`), /WAREHOUSE_UNAUTHORIZED/],
      ['quoting', databaseUrl(undefined, await startQuotingPostgres()), /WAREHOUSE_UNAUTHORIZED/],
      ['absent', databaseUrl(undefined, await findFreePort()), /WAREHOUSE_UNREACHABLE/],
      ['other', databaseUrl().replace(/\/[^/]*$/, '/no_such_database'), /WAREHOUSE_NOT_FOUND/],
    ] as const;
    for (const [name, url, words] of troubles) {
      const changes = { WAREHOUSE_URL_FILE: await secretFile(name, url) };
      const failing = daemon(changes);
      await tells(aviary, failing, words);
      for (const path of [...paths, '/metrics']) await aviary.ask(failing, path);
      expect(await run(['doctor', '--json'], changes)).toMatchObject({ code: 1 });
      await failing.kill();
      if (name !== 'quoting') continue;
      for (const words of [['init'], ['warehouse', 'audit'], ['status', '--json']]) await run(words, changes);
    }
    for (const url of [
      `${databaseUrl()}?sslmode=require`,
      databaseUrl().replace('postgres:', 'mysql:'),
      databaseUrl().replace(warehousePassword, `${warehousePassword}%zz`),
      databaseUrl().replace(warehousePassword, `${warehousePassword}/#`),
    ]) {
      const changes = { WAREHOUSE_URL: url, WAREHOUSE_URL_FILE: '' };
      for (const words of [['doctor'], ['start']])
        expect(await run(words, changes)).toMatchObject({ code: expect.toBeOneOf([1, 2, 4]) });
    }
    await expectNoLeak();
  });
});
