import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fate } from '../support/postgres-line.ts';
import { backUp, startStandby } from '../support/postgres-standby.ts';
import { until } from '../support/until.ts';
import type { WarehouseEngine } from '../support/warehouse-engine.ts';
import {
  databaseBehindLine,
  openTroubled,
  ownServer,
  restore,
  titlesOf,
} from '../support/warehouse-trouble.ts';

const wentBack = ({ log }: WarehouseEngine) =>
  log.lines.find(({ event }) => event === 'warehouse.went-back')?.fields;

const limit = { timeout: 90_000 };

describe('a warehouse whose server has trouble', limit, () => {
  test.each([
    ['between two statements of a write', /UPDATE "crm"."lead"/],
    ['while a write is committed', /^COMMIT$/],
  ])('fault 1: does all once where the server is killed %s', async (_when, statement) => {
    const server = await ownServer();
    const { database, line } = await databaseBehindLine(server);
    const { change, expectMended, reports, stage } = await openTroubled({ database });
    const [lead] = stage.model.records.leads.live();
    let kills = 0;
    line.intercept(async (sql): Promise<Fate> => {
      if (kills === 0 && statement.test(sql.trim())) {
        kills += 1;
        await server.kill();
      }
      return 'pass';
    });
    const title = await change();
    await reports('WAREHOUSE_UNREACHABLE');
    await server.restart();
    await expectMended();
    expect(kills).toBe(1);
    expect(await titlesOf(database, lead?.id ?? 0)).toEqual([lead?.title, title]);
  });

  test('fault 22: brings a database that was restored from an old copy to what the CRM has, and keeps its history whole', async () => {
    const server = await ownServer();
    const { change, expectMended, stage } = await openTroubled({ server });
    await change();
    await stage.settled();
    const copy = await backUp(server);
    for (let round = 0; round < 20; round += 1) {
      await change();
      const task = await stage.crm.take('task').catch(() => undefined);
      if (task && round < 2) await stage.crm.trash('task', task.id);
      await stage.crm.create('lead', { title: `New in round ${round}` });
      if (round % 5 === 4) await stage.settled();
    }
    await restore(server, copy);
    await expectMended();
    expect(stage.log.lines.map(({ event }) => event)).toContain('warehouse.went-back');
  });

  test('fault 23: writes again what a promoted standby lacks, and no value goes back', async () => {
    const primary = await ownServer();
    const standby = await startStandby(primary);
    onTestFinished(() => standby[Symbol.asyncDispose]());
    const { database, line } = await databaseBehindLine(primary);
    const { change, expectMended, stage } = await openTroubled({ database });
    const [lead] = stage.model.records.leads.live();
    const titles = [lead?.title];
    titles.push(await change());
    await stage.settled();
    await standby.caughtUp();
    await standby.cutOff();
    const before = stage.mirror.of('warehouse').feed.lastRun();
    for (let round = 0; round < 5; round += 1) {
      titles.push(await change());
      await stage.settled();
    }
    const lost = stage.mirror.of('warehouse').feed.lastRun() - before;
    await standby.promote();
    line.retarget(standby.server.url);
    await primary.kill();
    await until('the daemon finds out', async () => wentBack(stage) !== undefined);
    titles.push(await change());
    await expectMended();
    expect(lost).toBeGreaterThanOrEqual(5);
    expect(wentBack(stage)).toMatchObject({ lastRun: before, known: before + lost });
    // What was lost in between is not invented: the versions follow in the order in which they were.
    const kept = await titlesOf(database, lead?.id ?? 0);
    expect(kept).toEqual(titles.filter((title) => kept.includes(title)));
    expect(kept.at(-1)).toBe(titles.at(-1));
  });

  test('fault 24: writes nothing to a standby, and goes on once it reaches the primary again', async () => {
    const primary = await ownServer();
    const { database, line } = await databaseBehindLine(primary);
    const { change, expectMended, reports, stage } = await openTroubled({ database });
    const standby = await startStandby(primary);
    onTestFinished(() => standby[Symbol.asyncDispose]());
    line.retarget(standby.server.url);
    await change();
    await reports('WAREHOUSE_READ_ONLY');
    line.retarget(primary.url);
    await expectMended();
    expect(wentBack(stage)).toBeUndefined();
  });
});
