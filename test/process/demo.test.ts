import { chmod, glob, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { findPostgres } from '../../src/sandbox/postgres/server.ts';
import { type CommandProcess, spawnCommand } from '../support/daemon-process.ts';
import { until } from '../support/until.ts';

const limitMs = 240_000;
/** A demo starts several processes, which takes a minute where the machine has much else to do. */
const patient = { limitMs: limitMs / 2 };

const hasPostgres = findPostgres() !== undefined;
if (!hasPostgres)
  console.log('The warehouse of the demo is not tested, because there is no PostgreSQL here.');

/** Waits for what the demo is to say; what it said instead, or until it ended, goes into the failure. */
async function untilSaid(demo: CommandProcess, words: RegExp): Promise<void> {
  const isSaid = () => words.test(demo.said());
  const isOver = async () => isSaid() || demo.process.exitCode !== null;
  await until(`the demo says ${words}`, isOver, { ...patient, describe: async () => demo.said() });
  if (isSaid()) return;
  // Its last words may come after its end.
  const ending = await demo.ended;
  if (!isSaid()) throw new Error(`The demo ended:\n${Object.values(ending).join('\n')}`);
}

test.skipIf(!hasPostgres)(
  'the demo says how to look into its warehouse, which ends with it',
  {
    timeout: limitMs,
  },
  async () => {
    const demo = spawnCommand(['demo', '--no-redis'], {});
    onTestFinished(() => void demo.terminate());
    await untilSaid(demo, /Ctrl-C ends the demo\./);
    const [, connectionString = ''] = /psql '(postgres:\S+)'/.exec(demo.said()) ?? [];
    const client = new Client({ connectionString });
    await client.connect();
    const cut = new Promise((resolve) => client.on('error', resolve));
    const count = async () => (await client.query('SELECT count(*) FROM crm.lead')).rows[0]?.count;
    await until('the leads are there', async () => (await count()) === '100', patient);
    const [, pageUrl = ''] = /All sides next to each other: +(\S+)/.exec(demo.said()) ?? [];
    const page = await (await fetch(pageUrl)).text();
    expect([...page.matchAll(/<iframe title="(\w+)"/g)].map(([, title]) => title)).toEqual([
      'Sheet',
      'CRM',
      'Warehouse',
    ]);
    expect(await demo.terminate()).toMatchObject({ code: 0, stderr: '' });
    await cut;
    await expect(new Client({ connectionString }).connect()).rejects.toThrow('ECONNREFUSED');
  },
);

test('where no PostgreSQL runs, the demo says why it goes without a warehouse', {
  timeout: limitMs,
}, async () => {
  const demo = spawnCommand(['demo', '--no-redis'], { PG_BIN: '/nonexistent' });
  onTestFinished(() => void demo.terminate());
  await untilSaid(demo, /Ctrl-C ends the demo\./);
  expect(demo.said()).toMatch(/^The demo goes without a warehouse: .*\/nonexistent.*\.$/m);
  const [, pageUrl = ''] = /All sides next to each other: +(\S+)/.exec(demo.said()) ?? [];
  expect(await (await fetch(pageUrl)).text()).not.toContain('Warehouse');
  expect(await demo.terminate()).toMatchObject({ code: 0, stderr: '' });
});

test('where a configuration is already, the demo has nothing to do with it', {
  timeout: limitMs,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(join(directory, 'config'));
  const links = 'links: { north: { sheet: { spreadsheetId: a } }, south: { sheet: { spreadsheetId: b } } }';
  await writeFile(join(directory, 'config/crm-sheet-sync.yaml'), links);
  const demo = spawnCommand(['demo', '--no-redis'], {}, directory);
  onTestFinished(() => void demo.terminate());
  await untilSaid(demo, /Ctrl-C ends the demo\./);
  expect(await demo.terminate()).toMatchObject({ code: 0, stderr: '' });
});

test('stopped while it is set up, the demo leaves nothing running', { timeout: limitMs }, async () => {
  const demo = spawnCommand(['demo', '--no-redis'], {});
  await untilSaid(demo, /Starting a CRM/);
  expect(await demo.terminate()).toMatchObject({ code: 0, stderr: '' });
});

test('ended by Ctrl-C, which the daemon that it starts hears too, the demo goes at once and without a word', {
  timeout: limitMs,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  // As root, PostgreSQL runs under an account that has to enter.
  await chmod(directory, 0o755);
  const demo = spawnCommand(['demo', '--no-redis'], { TMPDIR: directory }, directory, true);
  onTestFinished(() => void demo.kill());
  const isMirrorOpen = async () =>
    (await Array.fromAsync(glob('*/state/mirror.db-wal', { cwd: directory }))).length > 0;
  await until('the tabs are laid out', isMirrorOpen, patient);
  await until('that is over', async () => !(await isMirrorOpen()), patient);
  await until('the daemon begins', isMirrorOpen, patient);
  expect(await demo.interrupt()).toMatchObject({ code: 0, stderr: '' });
  expect(await Array.fromAsync(glob('*', { cwd: directory }))).toEqual([]);
});
