import { describe, expect, onTestFinished, test } from 'vitest';
import type { Warehouse } from '../../src/warehouse/port/port.ts';
import { openDatabase } from '../support/postgres.ts';
import { type Fate, openPostgresLine } from '../support/postgres-line.ts';
import { until } from '../support/until.ts';
import { openTroubled, titlesOf } from '../support/warehouse-trouble.ts';

const limit = { timeout: 240_000 };

/** A link whose statements a test can cut. */
async function openOnLine() {
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const line = await openPostgresLine(database.url);
  onTestFinished(() => line[Symbol.asyncDispose]());
  const link = { backoff: { firstMs: 1, maxMs: 5 } };
  return { ...(await openTroubled({ database, link, url: line.through(database.url) })), line };
}

/** The long tests cut 200 times. */
const cutsGoal = Number(process.env['COMMIT_CUTS'] ?? 15);
/** A daemon that finds no way out of one change must not keep the test running. */
const cyclesMax = 200;
const fates: readonly Fate[] = ['cut', 'cutReply', 'cut', 'cutReply', 'cut', 'cutReply', 'cutReply', 'pass'];

describe('a commit without a reply', limit, () => {
  test('A10: cut again and again at random, before the server got it or after, loses no row and makes no version twice', async () => {
    const { change, expectMended, line, stage } = await openOnLine();
    let cuts = 0;
    let seed = 7;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    let isWrite = false;
    line.intercept((sql): Fate => {
      if (sql !== 'COMMIT') {
        isWrite ||= sql.includes('INSERT INTO "crm_sync"."ledger"');
        return 'pass';
      }
      if (!isWrite || cuts >= cutsGoal) return 'pass';
      isWrite = false;
      const fate = fates[Math.floor(random() * fates.length)] ?? 'pass';
      if (fate !== 'pass') cuts += 1;
      return fate;
    });
    while (cuts < cutsGoal) {
      await change(2);
      await until('the change was read', async () => stage.due() > 0);
      // The daemon waits a second after each cycle that fails, and the test does not.
      for (let cycles = 0; stage.due() > 0; cycles += 1) {
        expect(cycles).toBeLessThan(cyclesMax);
        await stage.engine.cycle().catch(() => undefined);
      }
    }
    await expectMended();
    expect(cuts).toBe(cutsGoal);
    expect(stage.log.lines.filter(({ event }) => event === 'warehouse.went-back')).toEqual([]);
  });

  test('a row that a user held during a commit without a reply is written once it is free', async () => {
    const { change, expectMended, line, stage } = await openOnLine();
    const [lead] = stage.model.records.leads.live();
    const user = await stage.database.connect();
    await user.query(`BEGIN; SELECT FROM crm.lead WHERE id = ${lead?.id} FOR UPDATE`);
    let cuts = 0;
    line.intercept((sql): Fate => {
      if (sql !== 'COMMIT' || cuts > 0) return 'pass';
      cuts += 1;
      return 'cutReply';
    });
    const title = await change();
    await until('the others are written', async () => {
      const rows = await stage.database.query('SELECT FROM crm.lead WHERE title = $1', [title]);
      return cuts === 1 && rows.length === 2;
    });
    await user.query('ROLLBACK');
    await expectMended();
    expect(await titlesOf(stage.database, lead?.id ?? 0)).toEqual([lead?.title, title]);
  });

  test('a write that is committed only after the daemon looked again is no sign that the database went back', async () => {
    const { change, expectMended, line, stage } = await openOnLine();
    const holder = await stage.database.connect();
    await holder.query('SELECT pg_advisory_lock(1)');
    await stage.database.query(`
      CREATE FUNCTION public.wait_at_commit() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
      BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER waits AFTER UPDATE ON crm.lead DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.wait_at_commit()`);
    let cuts = 0;
    line.intercept((sql): Fate => {
      if (sql !== 'COMMIT' || cuts > 0) return 'pass';
      cuts += 1;
      return 'cutReply';
    });
    await change();
    await until('the daemon waits for its own write', async () => {
      const waiting = await stage.database.query(
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%\"link\"%' AND datname = current_database()",
      );
      return waiting.length > 0;
    });
    await holder.query('SELECT pg_advisory_unlock(1)');
    await expectMended();
    expect(stage.log.lines.filter(({ event }) => event === 'warehouse.went-back')).toEqual([]);
  });
});

/** Where a process may end, seen from the port. */
type Point = `${'before' | 'after'} ${'meet' | 'layOut' | 'write' | 'fill' | 'touch' | 'findRun'}`;

/** At some point a call never ends for the side, and nothing else is called: what it came to is not heard of. */
function endingAt(warehouse: Warehouse, isHere: (point: Point) => boolean): Warehouse {
  const never = () => new Promise<never>(() => undefined);
  const around =
    <Given extends readonly unknown[], Result>(name: string, call: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      if (isHere(`before ${name}` as Point)) return never();
      const result = await call(...given);
      return isHere(`after ${name}` as Point) ? never() : result;
    };
  const { fill, findRun, layOut, meet, touch, write } = warehouse;
  return {
    ...warehouse,
    fill: around('fill', fill),
    findRun: around('findRun', findRun),
    layOut: around('layOut', layOut),
    meet: around('meet', meet),
    touch: around('touch', touch),
    write: around('write', write),
  };
}

const killPoints: readonly Point[] = [
  'before fill',
  'after fill',
  'before write',
  'after write',
  'after meet',
  'after layOut',
  'after write',
  'before touch',
  'after touch',
  'after fill',
  'after write',
  'before write',
];

describe('a daemon that is killed', limit, () => {
  test('fault 5: W9: ends as one that never was, wherever it was between its own transaction and that of the database', async () => {
    let armed: Point | undefined;
    let isKilled = false;
    const { change, expectMended, stage } = await openTroubled({
      counts: { leads: 1_100, opportunities: 6, tasks: 8 },
      wrap: (warehouse) =>
        endingAt(warehouse, (point) => {
          isKilled ||= point === armed;
          return isKilled;
        }),
    });
    for (const point of killPoints) {
      await change();
      if (point.endsWith('fill')) {
        // A cycle that has begun to write row by row does not fill.
        await until('nothing is due', async () => stage.due() === 0);
        stage.side.mirror.feed.noteAllDue();
      }
      armed = point;
      if (/meet|layOut/.test(point)) await stage.startAnew();
      await until(`the daemon was killed ${point}`, async () => isKilled, { limitMs: 15_000 });
      armed = undefined;
      // The next one finds out what became of the write of the one before.
      if (point === 'after write') armed = 'after findRun';
      isKilled = false;
      await stage.startAnew();
      if (armed) {
        await until('the daemon was killed in its recovery', async () => isKilled, { limitMs: 15_000 });
        armed = undefined;
        isKilled = false;
        await stage.startAnew();
      }
    }
    await expectMended();
    expect(stage.log.lines.filter(({ event }) => event === 'warehouse.went-back')).toEqual([]);
  });
});
