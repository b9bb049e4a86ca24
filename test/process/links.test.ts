import { describe, expect, onTestFinished, test } from 'vitest';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { type LinkName, linkNames, linksRunBy, openLinksStage } from '../support/links-stage.ts';
import { startRedis, stopRedis } from '../support/redis.ts';
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

describe('several links', limit, () => {
  test('run in one process without Redis, each with its own mirror, and share the address of the machine', async () => {
    const stage = await openLinksStage();
    const daemon = await stage.startDaemon();
    for (const name of linkNames) await stage.agreed(name);
    for (const name of linkNames) await stage.editSheet(name, newLead(21, `Typed in ${name}`));
    for (const name of linkNames) await stage.agreed(name, `Typed in ${name}`);
    await daemon.answers('/readyz');
    stage.expectBudgetsKept();
  });

  test('move within a minute when their process is killed, and nothing is done twice', async () => {
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
    await until('the other process runs all of them', runsAll(second), { limitMs: 60_000 });
    for (const name of linkNames) await stage.editSheet(name, newLead(23, `After in ${name}`));
    for (const name of linkNames)
      await stage.agreed(name, `Before in ${name}`, `Between in ${name}`, `After in ${name}`);
    for (const name of linkNames) expect(typedTitles(stage.titlesInCrm(name), name)).toHaveLength(3);
    stage.expectBudgetsKept();
  });

  const typedTitles = (titles: readonly string[], name: LinkName) =>
    titles.filter((title) => title.endsWith(` in ${name}`));
});
