import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import type { Environment } from '../../src/app/config.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { startRedis, stopRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 180_000 };

/** Seconds stand for the minutes of the defaults. */
const health = { graceMs: 1_500, editAgeMs: 4_000, sweepAgeMs: 5_000 };

const alertShape = z.strictObject({
  text: z.string(),
  event: z.enum(['began', 'ended']),
  link: z.string(),
  condition: z.strictObject({
    name: z.string(),
    since: z.iso.datetime(),
    words: z.string(),
    makes: z.string(),
  }),
  endedAt: z.iso.datetime().optional(),
});

/** Somebody who takes alerts, and is away when told to be. */
async function openReceiver() {
  const told: string[] = [];
  const refused: string[] = [];
  const receiver = { url: '', told, refused, isAway: false };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { condition, event } = alertShape.parse(JSON.parse(Buffer.concat(chunks).toString()));
    (receiver.isAway ? refused : told).push(`${condition.name} ${event}`);
    response.writeHead(receiver.isAway ? 503 : 200).end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  receiver.url = `http://127.0.0.1:${address.port}/a-token`;
  return receiver;
}

type Receiver = Awaited<ReturnType<typeof openReceiver>>;

async function startDaemon(
  { environment }: ProcessStage,
  receiver: Receiver,
  changes: Environment = {},
): Promise<DaemonProcess> {
  const file = environment['CRM_SYNC_CONFIG'] ?? '';
  await writeFile(file, stringify({ ...parse(await readFile(file, 'utf8')), health }));
  const daemon = spawnDaemon({ ...environment, ALERT_WEBHOOK_URL: receiver.url, ...changes });
  onTestFinished(async () => void (await daemon.kill()));
  return daemon;
}

const answerShape = z.strictObject({
  status: z.string(),
  conditions: z.array(
    z.strictObject({
      name: z.string(),
      since: z.iso.datetime(),
      words: z.string().min(10),
      makes: z.string(),
    }),
  ),
});

async function ask({ url }: DaemonProcess, path: string) {
  const answer = await fetch(url + path);
  return { code: answer.status, ...answerShape.parse(await answer.json()) };
}

const metric = async ({ url }: DaemonProcess, line: string) =>
  (await (await fetch(`${url}/metrics`)).text()).split('\n').includes(`crm_sheet_sync_${line}`);

/** Expects the condition in all four places while the trouble lasts, and its end in all of them after it. */
async function expectTold(
  daemon: DaemonProcess,
  receiver: Receiver,
  name: string,
  trouble: {
    begin(): Promise<unknown>;
    end(): Promise<unknown>;
    readonly healthz?: number;
    readonly readyz?: number;
  },
): Promise<void> {
  const { healthz = 200, readyz = 503 } = trouble;
  receiver.told.length = 0;
  const begunAt = Date.now();
  await trouble.begin();
  const isShown = async (path: string, code: number) => {
    const answer = await ask(daemon, path);
    const condition = answer.conditions.find((each) => each.name === name);
    return answer.code === code && condition;
  };
  const condition = await until(`/readyz tells ${name}`, () => isShown('/readyz', readyz), {
    describe: async () => JSON.stringify(await ask(daemon, '/readyz')),
  });
  expect(Date.parse(condition.since)).toBeGreaterThan(begunAt - 60_000);
  expect(await isShown('/healthz', healthz)).toMatchObject({ name });
  expect(await metric(daemon, `condition{condition="${name}"} 1`)).toBe(true);
  expect(await metric(daemon, `ready ${Number(readyz === 200)}`)).toBe(true);
  await until(`${name} is told`, async () => receiver.told.includes(`${name} began`));
  await trouble.end();
  await until(
    'all is well',
    async () =>
      (await ask(daemon, '/readyz')).conditions.length === 0 && daemon.answers('/healthz').then(() => true),
    { limitMs: 90_000, describe: async () => JSON.stringify(await ask(daemon, '/readyz')) },
  );
  expect(await metric(daemon, `condition{condition="${name}"} 1`)).toBe(false);
  expect(await metric(daemon, 'ready 1')).toBe(true);
  await until(`the end of ${name} is told`, async () => receiver.told.includes(`${name} ended`));
  expect(receiver.told.filter((each) => each.startsWith(name))).toEqual([`${name} began`, `${name} ended`]);
}

test('what goes wrong and is mended again is seen in health, metrics and alerts', limit, async () => {
  const redis = await startRedis();
  onTestFinished(() => stopRedis(redis));
  const stage = await openStage({ redisUrl: redis.url });
  const receiver = await openReceiver();
  const daemon = await startDaemon(stage, receiver);
  await stage.agreed();
  await daemon.answers('/readyz');
  const crmIsWell = async () => stage.setCrmFaults({ clear: true });

  await expectTold(daemon, receiver, 'CRM_UNREACHABLE', {
    begin: async () => stage.setCrmFaults({ faults: [{ kind: 'dropBefore', times: 100_000 }] }),
    end: crmIsWell,
  });
  await expectTold(daemon, receiver, 'QUEUE_UNREACHABLE', {
    begin: () => stopRedis(redis),
    async end() {
      const successor = await startRedis(redis.port);
      onTestFinished(() => stopRedis(successor));
    },
  });
  await expectTold(daemon, receiver, 'EDIT_LATE', {
    async begin() {
      stage.setCrmFaults({ faults: [{ kind: 'status', status: 503, method: 'PUT', times: 100_000 }] });
      await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Unsent' });
    },
    end: crmIsWell,
  });
  const crmLag = /^crm_sheet_sync_lag_seconds_count\{to="crm"\} [1-9]/m;
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  expect(metrics).toMatch(crmLag);
  expect(metrics).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  await expectTold(daemon, receiver, 'BRAKE', {
    begin: () => stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 30 }),
    end: () => restoreRows(stage, daemon),
    readyz: 200,
  });
});

const waitingShape = z.object({ waiting: z.array(z.object({ scope: z.string() })) });

async function restoreRows(stage: ProcessStage, { url }: DaemonProcess): Promise<void> {
  const { waiting } = waitingShape.parse(await (await fetch(`${url}/api/status`)).json());
  for (const { scope } of waiting) {
    expect(await stage.runCommand('answer', scope, 'restore')).toMatchObject({ code: 0 });
  }
}

test('a key that the CRM refuses turns all of it red until the right one is in its file', limit, async () => {
  const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
  const receiver = await openReceiver();
  const { CRM_API_KEY: key, ...environment } = stage.environment;
  const file = join(environment['STATE_DIR'] ?? '', '..', 'key');
  await writeFile(file, `svc_live_${'0'.repeat(64)}`);
  const daemon = await startDaemon({ ...stage, environment }, receiver, { CRM_API_KEY_FILE: file });
  await until(
    'the daemon listens',
    async () => (await fetch(`${daemon.url}/healthz`).catch(() => undefined)) !== undefined,
  );
  await expectTold(daemon, receiver, 'CRM_UNAUTHORIZED', {
    begin: async () => undefined,
    end: () => writeFile(file, key ?? ''),
    healthz: 503,
  });
});

test(
  'a receiver of alerts that was away learns the newest state of each condition, and delays nothing',
  limit,
  async () => {
    const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
    const receiver = await openReceiver();
    const daemon = await startDaemon(stage, receiver);
    await daemon.answers('/readyz');
    receiver.isAway = true;
    await stage.setSheetFaults({ refusals: { '*': 'permissionDenied' } });
    await until('it is to be told', async () => receiver.refused.includes('SHEET_FORBIDDEN began'));
    await stage.setSheetFaults({});
    await daemon.answers('/readyz');
    stage.setCrmFaults({ faults: [{ kind: 'dropBefore', times: 100_000 }] });
    await until('the CRM is away', async () =>
      (await ask(daemon, '/readyz')).conditions.some(({ name }) => name === 'CRM_UNREACHABLE'),
    );
    receiver.isAway = false;
    const news = ['CRM_UNREACHABLE began', 'SHEET_FORBIDDEN ended'];
    // A receiver that was away for long is tried again after a minute at most.
    const isTold = async () => news.every((each) => receiver.told.includes(each));
    await until('both are told', isTold, { limitMs: 90_000 });
    expect(receiver.told).not.toContain('SHEET_FORBIDDEN began');
    const { code, stdout } = await daemon.terminate();
    expect(code).toBe(0);
    expect(stdout).toContain('alert.unsent');
    expect(stdout).not.toContain('a-token');
  },
);
