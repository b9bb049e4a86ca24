import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LinkRunner } from '../../src/app/links-daemon.ts';
import { type Settings, settingsSchema } from '../../src/app/settings.ts';
import { SyncError } from '../../src/core/errors.ts';
import type { Front } from '../../src/http/front.ts';
import { openSharedBudget } from '../../src/sqlite/shared-budget.ts';
import type { LeaseBoard } from '../../src/sync/lease.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 60_000 };

/** A front that serves nothing. */
const front: Front = {
  url: 'http://127.0.0.1:1',
  open: async () => undefined,
  shut: async () => undefined,
  close: async () => undefined,
};

/** Where this process and another one live, of which the other runs nothing. */
const boardOfTwo: LeaseBoard = {
  process: 'this',
  look: async () => ({ holders: new Map(), processes: ['this', 'other'] }),
  take: async (link) => ({
    link,
    token: Date.now(),
    openedUnder: undefined,
    isLost: false,
    sureMs: () => 30_000,
  }),
  noteOpened: async () => undefined,
  release: async () => undefined,
  close: async () => undefined,
};

/** Runs links of these names, which reach nobody, until the test ends. */
async function runLinks(names: readonly string[], board: LeaseBoard, webhookUrl?: string) {
  const directory = await mkdtemp(join(tmpdir(), 'link-runner-'));
  const nobody = 'http://127.0.0.1:1';
  const links = names.map((name): Settings => {
    const settings = settingsSchema.parse({
      crm: { baseUrl: nobody, apiKey: `svc_live_${'a'.repeat(64)}` },
      sheet: { spreadsheetId: name, apiRootUrl: nobody },
      state: { directory: join(directory, 'links', name) },
      health: { graceMs: 1 },
      alerts: { webhookUrl },
    });
    return { ...settings, link: { name, commonDirectory: directory } };
  }) as [Settings, ...Settings[]];
  const sharedBudget = openSharedBudget(directory);
  const log = createRecordingLog();
  const runner = new LinkRunner({ links, log, rereadKeysOf: () => () => [], sharedBudget, board });
  return {
    directory,
    log,
    runner,
    run() {
      const ended = runner.run(front);
      onTestFinished(async () => {
        runner.stop();
        await ended;
        sharedBudget.close();
        await rm(directory, { recursive: true });
      });
    },
  };
}

const runsHere = (runner: LinkRunner) =>
  runner.list().flatMap(({ name, side }) => (side === undefined ? [] : [name]));

test('a link with a damaged mirror keeps two processes from none of the others', limit, async () => {
  const { directory, run, runner } = await runLinks(['damaged', 'whole'], boardOfTwo);
  await mkdir(join(directory, 'links', 'damaged'), { recursive: true });
  await writeFile(join(directory, 'links', 'damaged', 'mirror.db'), 'This is no mirror.');
  run();
  await until('the whole link runs', async () => runsHere(runner).includes('whole'));
  expect(runsHere(runner)).toEqual(['whole']);
});

test('a link whose stop could not be noted is run again once nobody else has it', limit, async () => {
  const held = new Set<string>();
  const takes: string[] = [];
  const board: LeaseBoard = {
    ...boardOfTwo,
    // The other process runs nothing until one is free, and is gone by then.
    look: async () => ({
      holders: new Map([...held].map((link) => [link, { process: 'this', url: front.url }])),
      processes: takes.length < 3 && held.size === 2 ? ['this', 'other'] : ['this'],
    }),
    async take(link) {
      takes.push(link);
      held.add(link);
      return boardOfTwo.take(link);
    },
    release: async ({ link }) => void held.delete(link),
  };
  const { run, runner } = await runLinks(['north', 'south'], board);
  run();
  const given = await until('both run', async () =>
    runsHere(runner).length === 2 ? runner.list().at(-1)?.side?.engine : undefined,
  );
  vi.spyOn(given.link.mirror, 'dropFact').mockImplementation(() => {
    throw new SyncError('STATE_FULL', 'The disk is full.');
  });
  await until('one is stopped', async () => given.isStopping);
  await until('it runs again', async () => {
    const side = runner.list().at(-1)?.side;
    return side !== undefined && !side.engine.isStopping;
  });
});

test(
  'a link that could not start, which a full disk took no note of, is run once there is room',
  limit,
  async () => {
    const fail = () => {
      throw new SyncError('STATE_FULL', 'The disk is full.');
    };
    vi.spyOn(front, 'open').mockImplementationOnce(async (_name, { engine }) => {
      vi.spyOn(engine.link.mirror, 'dropFact').mockImplementation(fail);
      fail();
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const { run, runner } = await runLinks(['north'], boardOfTwo);
    run();
    await until('it runs', async () => runsHere(runner).length === 1, { limitMs: 15_000 });
  },
);

test('that a link can not be run is still told after somebody else was faster to try it', limit, async () => {
  let tries = 0;
  const take: LeaseBoard['take'] = async (link) => {
    tries += 1;
    return tries === 1 ? boardOfTwo.take(link) : undefined;
  };
  const { directory, run, runner } = await runLinks(['damaged'], { ...boardOfTwo, take });
  await mkdir(join(directory, 'links', 'damaged'), { recursive: true });
  await writeFile(join(directory, 'links', 'damaged', 'mirror.db'), 'This is no mirror.');
  run();
  await until('it was tried again', async () => tries === 3);
  expect(runner.list()).toMatchObject([{ conditions: [{ name: 'STATE_BROKEN' }] }]);
});

test(
  'what keeps a link from being run is logged once however often it is tried, and so is what does next',
  limit,
  async () => {
    let tries = 0;
    const take: LeaseBoard['take'] = async (link) => {
      tries += 1;
      if (tries > 3) return boardOfTwo.take(link);
      throw new TypeError('Nobody foresaw this.');
    };
    const { directory, log, run } = await runLinks(['north'], { ...boardOfTwo, take });
    await mkdir(join(directory, 'links', 'north'), { recursive: true });
    await writeFile(join(directory, 'links', 'north', 'mirror.db'), 'This is no mirror.');
    run();
    await until('it was tried again and again', async () => tries === 6);
    expect(log.lines.map(({ event, fields }) => [event, fields['code']])).toEqual([
      ['link.failed', undefined],
      ['link.not_run', 'STATE_BROKEN'],
    ]);
  },
);

test(
  'that links wait for a Redis which was never there is told to the receiver of alerts',
  limit,
  async () => {
    const receiver = await startScriptedServer((response) => response.end());
    onTestFinished(() => receiver.close());
    const look = () => Promise.reject(new SyncError('QUEUE_UNREACHABLE', 'Redis does not answer.'));
    const { run } = await runLinks(['north'], { ...boardOfTwo, look }, receiver.baseUrl);
    run();
    const told = await until('it is told', async () => {
      const texts = receiver.requests.map(({ body }) => String(JSON.parse(body).text));
      return texts.length > 0 && texts;
    });
    expect(told[0]).toMatch(/^crm-sheet-sync north: QUEUE_UNREACHABLE since/);
  },
);
