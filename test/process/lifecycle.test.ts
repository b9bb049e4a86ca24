import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { spawnCommand } from '../support/daemon-process.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { silentPort } from '../support/redis.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 300_000 };

const repository = fileURLToPath(new URL('../..', import.meta.url));

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}

describe('a stop', limit, () => {
  test('ends what is on its way, exits with 0, and leaves the rest to the next start', async () => {
    const stage = await openStage({ counts: { leads: 30, opportunities: 5, tasks: 5 } });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    stage.setCrmFaults({ faults: [{ kind: 'slow', method: 'PUT', delayMs: 1_000, times: 4 }] });
    const titles = Array.from({ length: 20 }, (_, index) => [`Stopped ${index}`]);
    await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows: titles });
    await stage.crmFaultsMet();
    expect(updatesIn(stage)).toBe(0);
    const { code, stdout } = await daemon.terminate();
    expect(code).toBe(0);
    expect(stdout).toContain('daemon.stopped');
    expect(updatesIn(stage)).toBeGreaterThanOrEqual(4);
    expect(updatesIn(stage)).toBeLessThan(titles.length);
    await stage.startDaemon();
    await stage.agreed();
    await stage.expectAtRest();
    // What was on its way has ended before the stop: nothing had to be sent again.
    expect(updatesIn(stage)).toBe(titles.length);
  });

  test('reaches the daemon that was started by npm, whose own end would leave it behind', async () => {
    const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
    const npm = spawn('npm', ['start'], {
      cwd: repository,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...stage.environment },
      stdio: 'ignore',
      // A group of its own, so that nothing of it outlives the test.
      detached: true,
    });
    const ended = once(npm, 'close');
    onTestFinished(() => void endGroup(npm));
    const url = `http://127.0.0.1:${stage.environment['HTTP_PORT']}/readyz`;
    await until('the daemon is ready', async () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    npm.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await expect(fetch(url)).rejects.toThrow();
    const again = await stage.startDaemon();
    expect((await again.terminate()).code).toBe(0);
  });

  /** A daemon with an update on its way that takes so long. */
  async function startUnderWay(delayMs: number) {
    const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    stage.setCrmFaults({ faults: [{ kind: 'slow', method: 'PUT', delayMs }] });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
    await stage.crmFaultsMet();
    return daemon;
  }

  test('is a clean one where two signals come at once, as npm passes on what reached all', async () => {
    const daemon = await startUnderWay(2_000);
    daemon.process.kill('SIGINT');
    expect(await daemon.terminate()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('daemon.stopped'),
    });
  });

  test('needs no Redis: without one it takes no longer than with it', { timeout: 45_000 }, async () => {
    const stage = await openStage({
      counts: { leads: 3, opportunities: 0, tasks: 0 },
      redisUrl: `redis://127.0.0.1:${silentPort}`,
      stopGraceMs: 3_600_000,
    });
    const daemon = await stage.startDaemon();
    await stage.agreed();

    expect(await daemon.terminate()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('daemon.stopped'),
    });
  });

  test('keeps nobody waiting who goes on asking for it', async () => {
    const daemon = await startUnderWay(10_000);
    await until('it has ended', async () => !daemon.process.kill('SIGINT'), { everyMs: 100 });
    const { code, stdout } = await daemon.ended;
    expect(code).toBe(130);
    expect(stdout).not.toContain('daemon.stopped');
  });

  const updatesIn = (stage: ProcessStage) =>
    stage.crmRequests().filter(({ method }) => method === 'PUT').length;
});

describe('a start', limit, () => {
  test('faults 55 and 59: is refused while another daemon uses the state directory, which goes on', async () => {
    const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
    const daemon = await stage.startDaemon();
    const { code, stderr } = await stage.runCommand('start');
    expect(code).toBe(1);
    expect(stderr).toContain('is in use');
    expect(stderr).toContain('Another daemon uses this state directory.');
    await daemon.answers('/readyz');
  });

  test.each([
    ['a port that is taken', '127.0.0.1', 'EADDRINUSE'],
    ['a host that is not of this machine', '192.0.2.1', 'EADDRNOTAVAIL'],
  ])('at %s is refused in words that name the settings', async (_, host, reason) => {
    const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
    const daemon = await stage.startDaemon();
    const { port } = new URL(daemon.url);
    const other = {
      ...stage.environment,
      STATE_DIR: `${stage.environment['STATE_DIR']}-other`,
      HTTP_HOST: host,
      HTTP_PORT: port,
    };
    const { code, stderr } = await spawnCommand(['start'], other).ended;
    expect({ code, stderr: stderr.trim() }).toEqual({
      code: 2,
      stderr: `The daemon can not listen at ${host} (HTTP_HOST), port ${port} (HTTP_PORT): ${reason}. Correct the setting that is named and start again.`,
    });
    await daemon.answers('/readyz');
  });

  test.each([
    ['another spreadsheet', 'GOOGLE_SPREADSHEET_ID', 'another-spreadsheet', 'sheet.spreadsheetId'],
    ['another CRM', 'CRM_BASE_URL', 'http://127.0.0.1:9/api/v1/external', 'crm.baseUrl'],
  ])(
    'fault 75: with the state directory of %s is refused, asks nobody, and spoils nothing',
    async (_, name, value, setting) => {
      const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
      const daemon = await stage.startDaemon();
      await stage.agreed();
      await daemon.terminate();
      const before = [stage.crmArrivals(), await stage.sheetWrites()];
      const other = await spawnCommand(['start'], { ...stage.environment, [name]: value }).ended;
      expect(other.code).toBe(2);
      expect(other.stderr).toContain(`The state directory belongs to ${setting} `);
      expect([stage.crmArrivals(), await stage.sheetWrites()]).toEqual(before);
      await stage.startDaemon();
      await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Goes on' });
      const { shown } = await stage.agreed();
      expect(shown['Leads']?.map(({ Title }) => Title)).toContain('Goes on');
    },
  );

  test('with wrong settings names every one of them and no secret, and exits with 2', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, 'settings.yaml');
    await writeFile(
      file,
      stringify({
        crm: { budget: { requests: 0 }, sweepMs: 'soon' },
        sheet: { tabs: { leads: { conflict: 'nobody' } }, pollms: 5 },
      }),
    );
    const secret = 'svc_live_too_short';
    const environment = {
      CRM_SYNC_CONFIG: file,
      CRM_API_KEY: secret,
      HTTP_PORT: 'eighty',
      LOG_LEVEL: 'loud',
    };
    const { code, stderr } = await spawnCommand(['start'], environment).ended;
    expect(code).toBe(2);
    const named = [
      'crm.baseUrl (CRM_BASE_URL)',
      'crm.apiKey (CRM_API_KEY)',
      'crm.budget.requests',
      'crm.sweepMs',
      'sheet.spreadsheetId (GOOGLE_SPREADSHEET_ID)',
      'sheet.tabs.leads.conflict',
      'pollms',
      'http.port (HTTP_PORT)',
      'log.level (LOG_LEVEL)',
    ];
    expect(named.filter((name) => !stderr.includes(name))).toEqual([]);
    expect(stderr).not.toContain(secret);
  });
});
