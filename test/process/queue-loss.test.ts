import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { openStage } from '../support/process-stage.ts';
import { commandRedis, flushRedis, type RedisServer, startRedis, stopRedis } from '../support/redis.ts';
import { openSilentLine, type SilentLine } from '../support/silent-line.ts';
import { readCrm, readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const statusShape = z.object({
  queue: z.object({ kind: z.string() }),
  tabs: z.array(z.object({ pending: z.number() })),
  problems: z.array(z.object({ source: z.string() })),
});

const readStatus = async ({ url }: DaemonProcess) =>
  statusShape.parse(await (await fetch(`${url}/api/status`)).json());

const edits = 30;
/** Most of the edits wait while the CRM answers this slowly. */
const latencyMs = 250;

describe('edits that wait for the CRM', { timeout: 150_000 }, () => {
  /** Types titles into the sheet, lets `lose` harm Redis while they wait, and expects every one of them in the CRM, once. */
  async function expectEditsSurvive(
    lose: (redis: RedisServer, daemon: DaemonProcess) => Promise<void>,
    reach = async ({ url }: RedisServer) => url,
  ): Promise<void> {
    const redis = await startRedis();
    onTestFinished(() => stopRedis(redis));
    const stage = await openStage({ redisUrl: await reach(redis) });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    expect((await readStatus(daemon)).queue.kind).toBe('bullmq');
    const before = await readCrm(stage.addresses.crmUrl);
    const { Leads = [] } = await readSheet(stage.addresses);
    const typed = new Map(Leads.slice(0, edits).map(({ ID }, index) => [Number(ID), `Kept ${index}`]));
    stage.setCrmFaults({ latencyMs });
    const rows = [...typed.values()].map((title) => [title]);
    await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows });
    await until('most edits wait', async () => {
      const { tabs } = await readStatus(daemon);
      return (tabs[0]?.pending ?? 0) > edits / 2;
    });
    await lose(redis, daemon);
    stage.setCrmFaults({ clear: true });
    await stage.agreed();
    await stage.expectAtRest();
    const leads = before.leads.map((lead) => ({ ...lead, title: typed.get(lead.id) ?? lead.title }));
    expect(await readCrm(stage.addresses.crmUrl)).toEqual({ ...before, leads });
    const updates = stage.crmRequests().filter(({ method }) => method === 'PUT');
    expect(updates).toHaveLength(edits);
    stage.expectBudgetKept();
  }

  test('fault 64: arrive once when Redis forgets everything', () =>
    expectEditsSurvive((redis) => flushRedis(redis)));

  test('fault 65: arrive once when Redis dies and comes back empty', () =>
    expectEditsSurvive(async (redis, daemon) => {
      await stopRedis(redis);
      await until('the loss is noticed', async () => {
        const { problems } = await readStatus(daemon);
        return problems.some(({ source }) => source === 'queue');
      });
      const successor = await startRedis(redis.port);
      onTestFinished(() => stopRedis(successor));
    }));

  test('fault 65: arrive once when the connection to Redis falls silent without being closed', async () => {
    let line: SilentLine | undefined;
    await expectEditsSurvive(
      async () => line?.fallSilent(),
      async ({ port }) => {
        line = await openSilentLine(port);
        return `redis://127.0.0.1:${line.port}`;
      },
    );
  });

  test.each<[string, string[]]>([
    ['fault 64: has no memory left and forgets nothing', ['CONFIG', 'SET', 'maxmemory', '1']],
    ['fault 64: has become a replica that can only be read', ['REPLICAOF', '127.0.0.1', '1']],
  ])('arrive once while Redis %s', (_, words) =>
    expectEditsSurvive(async (redis, daemon) => {
      await commandRedis(redis, ...words);
      await until('the daemon says so', async () => {
        const { problems } = await readStatus(daemon);
        return problems.some(({ source }) => source === 'queue');
      });
    }),
  );

  test('fault 68: do not keep a stop waiting when Redis is gone and a create is under way', async () => {
    const redis = await startRedis();
    onTestFinished(() => stopRedis(redis));
    const stage = await openStage({
      redisUrl: redis.url,
      counts: { leads: 10, opportunities: 0, tasks: 0 },
    });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    stage.setCrmFaults({ faults: [{ kind: 'slow', method: 'POST', path: '/leads', delayMs: 1_500 }] });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 11, column: 'Title', text: 'Made once' });
    await stage.crmFaultsMet();
    await stopRedis(redis);
    expect(await daemon.terminate()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('daemon.stopped'),
    });
    await stage.startDaemon();
    await stage.agreed();
    expect(stage.crmRequests().filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('fault 66: arrive once when the daemon stands still for longer than the locks of its jobs last', () =>
    expectEditsSurvive(async (redis, daemon) => {
      daemon.process.kill('SIGSTOP');
      const locks = () => commandRedis(redis, 'KEYS', '*:lock');
      await until('the locks have run out', async () => (await locks()).startsWith('*0'));
      daemon.process.kill('SIGCONT');
    }));
});
