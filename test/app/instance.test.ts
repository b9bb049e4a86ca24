import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type InstanceOptions, openInstance } from '../../src/app/instance.ts';
import type { Instance } from '../../src/sheet/port/instance.ts';

const now = Date.UTC(2026, 0, 1);

async function makeFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'mirror.db');
  await writeFile(file, 'mirror');
  return file;
}

async function open(options: Partial<InstanceOptions> = {}) {
  const own = openInstance({ now, lockedFile: await makeFile(), ...options });
  onTestFinished(own.close);
  return own;
}

/** An instance in a process of its own, which ends when it is told to. */
async function openElsewhere(lockedFile: string) {
  const { href } = new URL('../../src/app/instance.ts', import.meta.url);
  const program = `
    import { openInstance } from ${JSON.stringify(href)};
    console.log(JSON.stringify(openInstance(${JSON.stringify({ now, lockedFile })}).instance));
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const kill = async () => {
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await Promise.all([ended, text(child.stdout)]);
  };
  return { instance: JSON.parse(said.toString()) as Instance, kill };
}

describe('an instance is proved to be over', () => {
  test('when its process was killed, and not as long as that runs', async () => {
    const own = await open();
    const other = await openElsewhere(await makeFile());
    expect(own.isOver(other.instance)).toBe(false);
    await other.kill();
    expect(own.isOver(other.instance)).toBe(true);
  });

  test('when another process has its number by now', async () => {
    const own = await open();
    const other = await openElsewhere(await makeFile());
    await other.kill();
    expect(own.isOver({ ...other.instance, pid: process.pid })).toBe(true);
  });

  test('when it was closed in this process', async () => {
    const own = await open();
    const other = await open();
    expect(own.isOver(other.instance)).toBe(false);
    other.close();
    expect(own.isOver(other.instance)).toBe(true);
  });

  test('when this one has the lock that the other one had, as after a restart of a container', async () => {
    const lockedFile = await makeFile();
    const { instance, kill } = await openElsewhere(lockedFile);
    await kill();
    const moved = `${lockedFile}-moved`;
    await rename(lockedFile, moved);
    const { process: _, ...inContainer } = instance;
    expect((await open({ lockedFile: moved })).isOver({ ...inContainer, host: 'other' })).toBe(true);
  });

  test('when this one has got its lease', async () => {
    const other = { id: 'other', host: 'elsewhere', pid: 1, since: now, locks: ['redis-1.0'] };
    expect((await open({ board: 'redis-1.0' })).isOver(other)).toBe(true);
    expect((await open({ board: 'redis-1.1' })).isOver(other)).toBe(false);
  });
});

describe('nothing is proved of an instance', () => {
  test('by a copy of its state directory', async () => {
    const lockedFile = await makeFile();
    const { instance } = await openElsewhere(lockedFile);
    const copy = `${lockedFile}-copy`;
    await copyFile(lockedFile, copy);
    expect((await open({ lockedFile: copy })).isOver(instance)).toBe(false);
  });

  test('of another machine, whatever its process is called there', async () => {
    const own = await open();
    const other = await openElsewhere(await makeFile());
    await other.kill();
    const { instance } = other;
    const place = instance.process?.replace(/^[^-]*/, '0123456789abcdef');
    expect(own.isOver({ ...instance, process: place })).toBe(false);
    const { process: _, ...nameless } = instance;
    expect(own.isOver(nameless)).toBe(false);
  });

  test('that is this one', async () => {
    const own = await open();
    expect(own.isOver(own.instance)).toBe(false);
  });
});
