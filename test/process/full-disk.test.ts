import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { sheetFacts } from '../../src/sheet/facts.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { openStage } from '../support/process-stage.ts';
import { findDiskProblem, openSmallDisk } from '../support/small-disk.ts';
import { readCrm } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

/** Why a full disk can not be tried on this machine; `undefined` when it can. */
const problem = findDiskProblem();
if (problem !== undefined)
  console.log(`A full disk is not tested, because no file system can be mounted: ${problem}`);

const counts = { leads: 12, opportunities: 0, tasks: 0 };
const latestShape = z.object({ latest: z.array(z.object({ kind: z.string(), cause: z.string() })) });

const readLatest = async ({ url }: DaemonProcess) =>
  latestShape.parse(await (await fetch(`${url}/api/status`)).json()).latest;

const lineShape = z.object({ event: z.string() });
const readEvent = (line: string): string => lineShape.parse(JSON.parse(line)).event;

const saysSo = ({ url }: DaemonProcess) =>
  until('the daemon says that the disk is full', async () => {
    const answers = await Promise.all([fetch(`${url}/healthz`), fetch(`${url}/readyz`)]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    return (
      answers[1]?.status === 503 && texts.every((text) => text.includes('The disk of STATE_DIR is full.'))
    );
  });

describe.skipIf(problem !== undefined)('a full disk', { timeout: 120_000 }, () => {
  async function openOnSmallDisk() {
    const disk = openSmallDisk(24);
    onTestFinished(() => disk.remove());
    const stage = await openStage({ counts, stateDirectory: disk.directory });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    return { disk, stage, daemon };
  }

  test('fault 58: stops the daemon before its next request, which says so and goes on by itself when there is room', async () => {
    const { disk, stage, daemon } = await openOnSmallDisk();
    disk.fill();
    const [lead] = (await readCrm(stage.addresses.crmUrl)).leads;
    await stage.editCrm(`/leads/${lead?.id}`, { title: 'Changed on a full disk' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 3, column: 'Title', text: 'Typed meanwhile' });
    await saysSo(daemon);
    const requests = stage.crmArrivals();
    const { code, stdout } = await stage.runCommand('resync', '--json');
    expect(code).not.toBe(0);
    expect(stdout).toContain('lacks 8 MiB');
    expect(stage.crmArrivals()).toBe(requests);
    disk.free();
    await stage.agreed();
    await daemon.answers('/healthz');
    await stage.expectAtRest();
    stage.expectBudgetKept();
  });

  test('fault 58: does not keep the answer to a create from being written down', async () => {
    const { disk, stage, daemon } = await openOnSmallDisk();
    stage.setCrmFaults({ faults: [{ kind: 'slow', method: 'POST', path: '/leads', delayMs: 1_500 }] });
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Leads',
      row: counts.leads + 1,
      column: 'Title',
      text: 'New',
    });
    await stage.crmFaultsMet();
    disk.fill();
    await until('the create is known to be done', async () => {
      const [created] = (await readLatest(daemon)).filter(({ kind }) => kind === 'create');
      return created?.cause === 'created in the sheet';
    });
    disk.free();
    await stage.agreed();
    await stage.expectAtRest();
    expect(stage.crmRequests().filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('fault 58: does not keep a daemon from starting and saying so', async () => {
    const { disk, stage, daemon } = await openOnSmallDisk();
    await daemon.terminate();
    disk.fill();
    const again = spawnDaemon(stage.environment);
    onTestFinished(async () => void (await again.kill()));
    await until('it listens', async () => (await fetch(again.url).catch(() => undefined)) !== undefined);
    await saysSo(again);
    disk.free();
    await stage.agreed();
    await stage.expectAtRest();
  });

  test('that holds only the log keeps the daemon from nothing, and the log goes on when there is room', async () => {
    const disk = openSmallDisk(1);
    onTestFinished(() => disk.remove());
    const stage = await openStage({ counts });
    const file = join(disk.directory, 'daemon.log');
    const output = openSync(file, 'a');
    onTestFinished(() => closeSync(output));
    disk.fill();
    const startWithLog = async () => {
      const daemon = spawnDaemon(stage.environment, output);
      onTestFinished(async () => void (await daemon.kill()));
      await daemon.answers('/healthz');
      return daemon;
    };
    const unheard = await startWithLog();
    await stage.agreed();
    expect(await unheard.terminate()).toMatchObject({ code: 0, stderr: '' });
    const daemon = await startWithLog();
    disk.free();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 3, column: 'Title', text: 'Typed' });
    await stage.agreed();
    expect(await daemon.terminate()).toMatchObject({ code: 0, stderr: '' });
    const events = readFileSync(file, 'utf8').trim().split('\n').map(readEvent);
    expect(events).toEqual(expect.arrayContaining(['daemon.started', 'record.pushed', 'daemon.stopped']));
  });

  test('takes none of the room for answers for a backup, so that the daemon can go on', () => {
    const disk = openSmallDisk(33);
    onTestFinished(() => disk.remove());
    const directory = join(disk.directory, "an operator's state");
    const { backUp, mirror } = openMirror({ directory, reserveBytes: 8 * 1024 * 1024 });
    onTestFinished(() => mirror.close());
    mirror.expectRoom();
    mirror.saveFact(sheetFacts.word, 'x'.repeat(9 * 1024 * 1024));
    expect(() => backUp(0)).toThrow(expect.objectContaining({ code: 'STATE_FULL' }));
    expect(readdirSync(join(directory, 'backups'))).toEqual([]);
    mirror.expectRoom();
    mirror.saveFact(sheetFacts.word, '');
    expect(backUp(0)).toContain('mirror-1970');
  });
});
