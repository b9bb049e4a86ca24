import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { workInCrm } from '../../src/cli/check/crm-person.ts';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { openDatabase, startOwnPostgres, type TestDatabase } from '../support/postgres.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { startRedis, stopRedis } from '../support/redis.ts';
import { readCrm, readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';
import { findDifferences } from '../support/warehouse-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';
import { type Memory, measureMemory } from './heap.ts';
import { hireOperator, type Operator } from './operator.ts';
import { gatherPeople, ownerOf, type People } from './people.ts';
import { describeEnd, describeLost } from './post-mortem.ts';
import { makeTrouble, type Servers } from './troubles.ts';

/*
 * The whole daemon between the CRM, a sheet and a database, with people in the first two and things that go wrong, for SOAK_MINUTES. In the
 * first third the daemon is killed again and again; then it runs on, so that its memory can be watched. SOAK_SEED repeats a run's choices.
 */

const minutes = Number(process.env['SOAK_MINUTES'] ?? 60);
const seed = Number(process.env['SOAK_SEED'] ?? 1);
const totalMs = minutes * 60_000;

const settleLimitMs = 300_000;

interface Course {
  readonly stage: ProcessStage;
  readonly people: People;
  readonly operator: Operator;
  readonly random: Random;
  daemon: DaemonProcess;
  kills: number;
  readonly troubles: Map<string, number>;
  /** What the daemon held since the last kill, with the minute it was read in and the number of leads there were. */
  memory: (Memory & { readonly minute: number; readonly leads: number })[];
}

async function live(course: Course, servers: Servers): Promise<void> {
  const { operator, people, random, stage, troubles } = course;
  const begunAt = Date.now();
  const elapsed = () => Date.now() - begunAt;
  for (let turn = 1; elapsed() < totalMs; turn += 1) {
    await people.act();
    if (random.chance(0.05)) {
      const name = await makeTrouble(stage, servers, random);
      troubles.set(name, (troubles.get(name) ?? 0) + 1);
    }
    if (random.chance(0.01) && elapsed() < totalMs / 3) {
      await course.daemon.kill();
      course.daemon = await stage.startDaemon();
      course.kills += 1;
      course.memory = [];
    }
    if (turn % 3 === 0) people.noteRaces();
    if (turn % 20 === 0) await operator.answerAll();
    if (turn % 100 === 0) {
      const { leads } = await readCrm(stage.addresses.crmUrl);
      const memory = await measureMemory(course.daemon);
      course.memory.push({ ...memory, minute: elapsed() / 60_000, leads: leads.length });
    }
    await sleep(random.integer(200, 2_500));
  }
}

const shownMax = 12;

/** Some of many, from the first to the last. */
function thin<Item>(items: readonly Item[]): Item[] {
  const every = Math.ceil(items.length / shownMax);
  return items.filter((_, index) => index % every === 0 || index === items.length - 1);
}

const inMegabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const describeMemory = ({ external, heap, leads, minute, resident }: Course['memory'][number]) =>
  `minute ${Math.round(minute)}, ${leads} leads: heap ${inMegabytes(heap)}, external ${inMegabytes(external)}, resident ${inMegabytes(resident)}`;

/** The people and the troubles have stopped: now all sides have to become the same and stay so. */
async function settle(stage: ProcessStage, database: TestDatabase, operator: Operator): Promise<void> {
  stage.setCrmFaults({ clear: true });
  await stage.setSheetFaults({});
  let waiting: readonly string[] = [];
  const isNothingLeft = async () => {
    waiting = await operator.answerAll();
    return waiting.length === 0;
  };
  await until('nothing waits for anybody', isNothingLeft, {
    limitMs: settleLimitMs,
    describe: async () => waiting.join('\n'),
  });
  await stage.agreed();
  await stage.expectAtRest();
  stage.expectBudgetKept();
  const person = workInCrm(new URL(stage.addresses.crmUrl).origin);
  let differences: readonly string[] = [];
  await until(
    'the tables show what the CRM has',
    async () => {
      differences = await findDifferences(database, person);
      return differences.length === 0;
    },
    { limitMs: settleLimitMs, describe: async () => differences.join('\n') },
  );
  await expectWholeHistory(database);
}

test(`all sides are the same after ${minutes} minutes of people and trouble`, {
  timeout: totalMs * 2 + 1_200_000,
}, async () => {
  const redis = await startRedis();
  onTestFinished(() => stopRedis(redis));
  const postgres = await startOwnPostgres();
  onTestFinished(() => postgres.stop());
  const database = await openDatabase(postgres);
  const stage = await openStage({
    counts: { leads: 250, opportunities: 80, tasks: 100 },
    redisUrl: redis.url,
    // As in the image: without it V8 lets the young generation grow for an hour, and a leak would not show beside it.
    environment: { NODE_OPTIONS: '--max-semi-space-size=8', WAREHOUSE_URL: database.url },
  });
  const random = createRandom(seed);
  const people = gatherPeople(stage, random);
  const daemon = await stage.startDaemon();
  await stage.agreed();
  const operator = hireOperator(stage);
  const troubles = new Map<string, number>();
  const course: Course = { stage, people, operator, random, daemon, kills: 0, troubles, memory: [] };
  try {
    await live(course, { postgres, redis });
    await settle(stage, database, operator);
  } catch (error) {
    console.log(await describeEnd(stage, course.daemon, operator));
    throw error;
  }
  await course.daemon.terminate();
  const { mirror } = openMirror({ directory: stage.environment['STATE_DIR'] ?? '' });
  onTestFinished(() => mirror.close());
  const journal = mirror.searchJournal({ limit: 1_000_000 });
  const { leads } = await readCrm(stage.addresses.crmUrl);
  const alive = new Set(leads.flatMap(({ title, meta_data: meta }) => [title, meta?.about?.description]));
  const said = new Set(
    journal.flatMap(({ before, after, lost }) =>
      [before, after, lost].flatMap((fields) => Object.values(fields)),
    ),
  );
  const gone = [...people.typed].filter(
    (text) => !alive.has(text) && !said.has(text) && !people.withdrawn.has(text),
  );
  const overwritten = gone.filter((text) => people.raced.has(text));
  const lost = gone.filter((text) => !people.raced.has(text));
  for (const text of lost) console.log(describeLost(stage, journal, text));
  const strays = leads.filter(({ title, meta_data: meta }) => {
    const owners = [title, meta?.about?.description].flatMap((text) => ownerOf(text) ?? []);
    return new Set(owners).size > 1;
  });
  console.log(
    JSON.stringify({
      minutes,
      seed,
      done: Object.fromEntries(people.done),
      troubles: Object.fromEntries(course.troubles),
      kills: course.kills,
      journal: journal.length,
      typed: people.typed.size,
      overwritten,
      lost,
      strays,
      leads: leads.length,
      rows: (await readSheet(stage.addresses))['Leads']?.length,
      memory: thin(course.memory).map(describeMemory),
    }),
  );
  expect(lost).toEqual([]);
  expect(strays).toEqual([]);
});
