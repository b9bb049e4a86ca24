import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createLeaseBoard } from '../../src/bullmq/lease-board.ts';
import type { LeaseBoard } from '../../src/sync/lease.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { findOverlaps, readTerms } from '../support/link-terms.ts';
import { type LinkName, linkNames, linksRunBy, openLinksStage } from '../support/links-stage.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { commandRedis, type RedisServer, startRedis, stopRedis } from '../support/redis.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 300_000 };

/** A new lead in the first row under those that are there. */
const newLead = (row: number, text: string) =>
  ({ kind: 'edit', sheet: 'Leads', row, column: 'Title', text }) as const;

const runsAll =
  (...daemons: DaemonProcess[]) =>
  async () => {
    const run = (await Promise.all(daemons.map(linksRunBy))).flat().toSorted();
    return run.join() === linkNames.join();
  };

const conditionsShape = z.object({
  conditions: z.array(z.looseObject({ link: z.string(), name: z.string() })),
});

const statusShape = z.object({ tabs: z.array(z.object({ recordsInTable: z.number() })) });

/** How many leads a daemon knows to be in the sheet of a link. */
async function readLeadsInTable({ url }: DaemonProcess, name: LinkName): Promise<number | undefined> {
  const answer = await fetch(`${url}/links/${name}/api/status`);
  return statusShape.parse(await answer.json()).tabs[0]?.recordsInTable;
}

describe('several links', limit, () => {
  test('run in one process without Redis, each with its own mirror, and share the address of the machine', async () => {
    const stage = await openLinksStage();
    const daemon = await stage.startDaemon();
    for (const name of linkNames) await stage.agreed(name);
    for (const name of linkNames) await stage.editSheet(name, newLead(21, `Typed in ${name}`));
    for (const name of linkNames) await stage.agreed(name, `Typed in ${name}`);
    await daemon.answers('/readyz');
    const asked = await stage.runCommand('status');
    expect(asked).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There are east, north, south.'),
    });
    const told = await stage.runCommand('status', '--json', '--link', 'north');
    expect(JSON.parse(told.stdout)).toMatchObject({ link: 'north', problems: [] });
    stage.expectBudgetsKept();
  });

  test('run on when one of them can not be opened, of which health and alerts tell with its name', async () => {
    const stage = await openLinksStage();
    const file = `${stage.environment['STATE_DIR']}/links/south/mirror.db`;
    const whole = await readFile(file);
    await writeFile(file, 'This is no mirror.');
    const receiver = await startScriptedServer((response) => response.end());
    onTestFinished(() => receiver.close());
    const daemon = await stage.startDaemon({ ALERT_WEBHOOK_URL: receiver.baseUrl });
    for (const name of ['east', 'north'] as const) await stage.agreed(name);
    const ready = await fetch(`${daemon.url}/readyz`);
    expect(ready.status).toBe(503);
    const { conditions } = conditionsShape.parse(await ready.json());
    expect(conditions).toContainEqual(expect.objectContaining({ link: 'south', name: 'STATE_BROKEN' }));
    await writeFile(file, whole);
    await daemon.answers('/readyz');
    await stage.agreed('south');
    const texts = await until('the receiver knows both', async () => {
      const told = receiver.requests.map(({ body }) => String(JSON.parse(body).text));
      const ofSouth = told.filter((text) => text.startsWith('crm-sheet-sync south: STATE_BROKEN'));
      return ofSouth.length >= 2 && ofSouth;
    });
    expect(texts).toEqual([
      expect.stringMatching(/^crm-sheet-sync south: STATE_BROKEN since/),
      expect.stringMatching(/^crm-sheet-sync south: STATE_BROKEN is over/),
    ]);
  });

  test('S3 S11: a killed process is replaced within a minute, nothing is done twice, and the budgets hold', async () => {
    const redis = await startRedis();
    onTestFinished(() => stopRedis(redis));
    const stage = await openLinksStage(redis.url);
    const first = await stage.startDaemon();
    const second = await stage.startDaemon();
    await until('all links run, none twice, and both processes run some', async () => {
      const [ofFirst, ofSecond] = [await linksRunBy(first), await linksRunBy(second)];
      return ofFirst.length > 0 && ofSecond.length > 0 && (await runsAll(first, second)());
    });
    for (const name of linkNames) await stage.agreed(name);
    for (const name of linkNames) await stage.editSheet(name, newLead(21, `Before in ${name}`));
    for (const name of linkNames) await stage.agreed(name, `Before in ${name}`);

    for (const name of linkNames) await stage.editSheet(name, newLead(22, `Between in ${name}`));
    await until('a create is under way', async () =>
      stage.model.requests().some(({ method }) => method === 'POST'),
    );
    await first.kill();
    const killedAt = Date.now();
    await until('the other process runs all of them', runsAll(second), { limitMs: 60_000 });
    for (const name of linkNames) await stage.editSheet(name, newLead(23, `After in ${name}`));
    for (const name of linkNames)
      await stage.agreed(name, `Before in ${name}`, `Between in ${name}`, `After in ${name}`);
    for (const name of linkNames) expect(typedTitles(stage.titlesInCrm(name), name)).toHaveLength(3);
    stage.expectBudgetsKept();
    const terms = [...readTerms(first.said(), killedAt), ...readTerms(second.said(), Date.now())];
    expect(new Set(terms.map(({ link }) => link))).toEqual(new Set(linkNames));
    expect(findOverlaps(terms)).toEqual([]);
  });

  test('are written no more by a process that stood still while somebody else took them, and left', async () => {
    const redis = await startRedis();
    onTestFinished(() => stopRedis(redis));
    const stage = await openLinksStage(redis.url);
    const daemon = await stage.startDaemon();
    await until('the process runs all links', runsAll(daemon));
    for (const name of linkNames) await stage.agreed(name);
    await until('the process knows that all rows are written', async () => {
      const records = await Promise.all(linkNames.map((name) => readLeadsInTable(daemon, name)));
      return records.every((count) => count === 20);
    });
    const others = await openOtherBoard(redis);
    daemon.process.kill('SIGSTOP');
    const look = () => others.look('http://others.example');
    await until('its leases have run out', async () => (await look()).holders.size === 0);
    for (const name of linkNames) await stage.editSheet(name, newLead(21, `Typed in ${name}`));
    const before = await stage.countWrites();
    const leases = await Promise.all(linkNames.map((_, index) => others.take(`link ${index}`)));

    // While Redis does not answer, only the process itself can know that it may write no more.
    redis.process.kill('SIGSTOP');
    daemon.process.kill('SIGCONT');
    const said = (event: string) =>
      daemon
        .said()
        .split('\n')
        .filter((line) => line.includes(event));
    await until('writes were refused', async () => said('LEASE_ENDED').length > 0);
    redis.process.kill('SIGCONT');
    await look();
    await until(
      'the process has left all links',
      async () => said('"link.left"').length === linkNames.length,
    );
    expect(await stage.countWrites()).toEqual(before);

    for (const lease of leases) if (lease) await others.release(lease);
    for (const name of linkNames) await stage.agreed(name, `Typed in ${name}`);
    for (const name of linkNames) expect(typedTitles(stage.titlesInCrm(name), name)).toHaveLength(1);
    stage.expectBudgetsKept();
  });

  /** A process that takes links and does nothing with them. */
  async function openOtherBoard(redis: RedisServer): Promise<LeaseBoard> {
    const keys = await commandRedis(redis, 'KEYS', '*:lease');
    const ids = [...keys.matchAll(/link:(\w+):lease/g)].map(
      ([, id = ''], index) => [`link ${index}`, id] as const,
    );
    const board = createLeaseBoard({
      redisUrl: redis.url,
      links: new Map(ids),
      group: 'others',
      process: 'others',
      clock: realClock,
      log: createRecordingLog(),
    });
    onTestFinished(() => board.close().catch(() => undefined));
    return board;
  }

  const typedTitles = (titles: readonly string[], name: LinkName) =>
    titles.filter((title) => title.endsWith(` in ${name}`));
});
