import { expect } from 'vitest';
import { isSyncError } from '../../src/core/errors.ts';
import { lateLandingMs } from '../../src/core/open-write.ts';
import type { Clock } from '../../src/core/ports.ts';
import { claimToken, listedEntities } from '../../src/core/record.ts';
import { finishAtOnce } from '../../src/core/slices.ts';
import type { OutboxItem } from '../../src/core/state.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import { readRemaps } from '../../src/sheet/column-map.ts';
import { dryRun, runCycle, type Trail } from '../../src/sheet/cycle.ts';
import { addVoidClaims } from '../../src/sheet/damages.ts';
import { decide, decideFrom } from '../../src/sheet/decide/decide.ts';
import { settleRows } from '../../src/sheet/decide/in-step.ts';
import { Standing } from '../../src/sheet/index/standing.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { type DecideInput, isQuiet, type Plan } from '../../src/sheet/plans/plan.ts';
import { isWithheld } from '../../src/sheet/plans/plan-gate.ts';
import { type ColumnPolicy, titlesOf } from '../../src/sheet/policy.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import type { ObservedTable } from '../../src/sheet/port/table.ts';
import { saveRebase } from '../../src/sheet/rebase.ts';
import { SoleWriter } from '../../src/sheet/sole-writer.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { readNextContacts } from '../../src/sync/reading/contacts.ts';
import { absorbPage, finishSweep, proveGone, pullPage } from '../../src/sync/reading/pull.ts';
import { markTimes, namedInstance } from './instances.ts';
import { createMemoryCrm, type Outcome } from './memory-crm.ts';
import { createRecordingLog } from './recording-log.ts';
import type { Fate } from './table-stage.ts';
import { addRecord, createWorld, type World, type WorldOptions } from './world.ts';

/* The real rooms of the daemon at work in a world: all that tests ask of `src/sync` they ask here. */

export type { Outcome };

/** The link between the two sides of a world, as the world is now. */
function linkOf(world: World, outcome: Outcome = 'answered', table = world.table): SheetLink {
  const { clock, entities, mirror, order, policy } = world;
  const log = createRecordingLog();
  const now = () => clock.now;
  const time: Clock = {
    now,
    monotonicMs: now,
    // What waits for its turn gets it at once; nobody has to give up.
    sleep: async (durationMs, signal) => {
      if (signal) await new Promise(() => undefined);
      clock.now += durationMs;
    },
  };
  return {
    entities,
    titles: titlesOf(policy),
    name: 'world',
    mirror: {
      ...mirror,
      readRecords: (entity) => [...order(mirror.readRecords(entity))],
      readAgreements: () => [...order(mirror.readAgreements())],
      readOutbox: () => [...order(mirror.readOutbox())],
    },
    crm: createMemoryCrm(world, outcome),
    table,
    own: namedInstance('world'),
    queue: createInProcessQueue({ concurrency: 1, clock: time, log }),
    clock: time,
    log,
    policy,
    times,
    backoff: { firstMs: 1, maxMs: 1 },
    random: () => 0.5,
    newWord: () => {
      world.words.count += 1;
      return String(world.words.count);
    },
  };
}

/** How long a list of the CRM may show what an update replaced. */
export const lagMs = 5_000;

const times: SheetLink['times'] = {
  pollMs: 1_000,
  quietPollMs: 0,
  typingPauseMs: 0,
  sweepMs: 1_000,
  readPauseMs: 0,
  contactsPauseMs: 0,
  catalogMs: 1_000,
  rereadAfterMs: 0,
  settleMs: 0,
  lagMs,
  historyMs: Number.MAX_SAFE_INTEGER,
  refillMs: 1_000,
  ...markTimes,
};

/** Reads the whole CRM; a record that two reads lack is gone. */
export async function pull(world: World): Promise<void> {
  world.clock.now += 1_000;
  const link = linkOf(world);
  for (const entity of listedEntities) {
    const startedAt = world.clock.now;
    const { records } = await pullPage(link, entity, 1, 'sweep');
    absorbPage(link, { records });
    const sweep = { entity, startedAt, isComplete: false, pages: 1, records: records.length };
    await proveGone(link, finishSweep(link, sweep, () => true, []).missed);
  }
  if (!world.entities.includes('contact')) return;
  for (const _lead of world.mirror.readRecords('lead')) await readNextContacts(link, 'any');
}

const writers = new WeakMap<Table, SoleWriter>();

function access(world: World, link: SheetLink) {
  const writer = writers.get(world.table) ?? new SoleWriter(link);
  writers.set(world.table, writer);
  return { writer, tally: { undoneWrites: 0, escalatedWrites: 0 } };
}

/** One cycle: reads the sheet, decides, and does what the plan says. `outcome` is that of the write to the sheet. */
export async function cycle(world: World, outcome: Fate = 'answered'): Promise<Plan> {
  world.clock.now += 1_000;
  const link = linkOf(world);
  await layOut(world, link);
  world.tabs.fate = outcome;
  let decided: Plan | undefined;
  const choose = (plan: Plan) => {
    decided = plan;
    return { ...plan, table: world.order(plan.table) };
  };
  const run = `run-${world.clock.now}`;
  try {
    const result = await runCycle(link, { ...access(world, link), choose, run, trail: world.trail });
    expectWhole(result.trail);
    if (result.refusal) throw result.refusal;
    world.trail = result.trail;
  } catch (error) {
    if (outcome === 'answered' || !isSyncError(error, 'SHEET_UNREACHABLE')) throw error;
  } finally {
    world.tabs.fate = 'answered';
  }
  if (!decided) throw new Error('Nothing was decided.');
  return decided;
}

/** Users lay out what is new in the layout. */
async function layOut(world: World, link: SheetLink): Promise<void> {
  const layout = currentLayout(link);
  const isLaidOut = JSON.stringify(world.tabs.laidOut) === JSON.stringify(layout);
  if (!isLaidOut) await link.table.layOut(layout, 'create', { addColumns: true });
  world.tabs.laidOut = layout;
}

/** What the daemon would do now, or if it read this. A row is settled when the read before showed the same. */
export async function decideWorld(world: World, read?: ObservedTable): Promise<Plan> {
  const link = linkOf(world, 'answered', readingTable(world, read));
  await layOut(world, link);
  return dryRun(link, { trail: world.trail, ...access(world, link) });
}

/** Reads the sheet, decides and does nothing. */
export async function look(world: World): Promise<void> {
  world.trail = await glance(world, linkOf(world));
}

async function glance(world: World, link: SheetLink): Promise<Trail> {
  await layOut(world, link);
  const order = { ...access(world, link), choose: () => undefined, trail: world.trail };
  const { trail } = await runCycle(link, order);
  expectWhole(trail);
  return trail;
}

/** What was decided of what changed has to be what would be decided of everything, and so has what is left once rows were looked at in slices. */
function expectWhole({ grounded }: Trail): void {
  if (!grounded) return;
  const { input, plan } = grounded;
  const anew = { ...input, newToken: () => claimToken('anew') };
  const whole = words(decide(anew));
  expect(words(plan)).toEqual(whole);
  const standing = new Standing();
  standing.update(anew);
  finishAtOnce(settleRows(anew, standing, 0));
  expect(words(decideFrom(anew, standing))).toEqual(whole);
}

/**
 * A plan without the names of runs and tokens, which are new each time, without the order of its parts, which follows from what was read, and
 * without the time that changes it: of rows in step that is known apart.
 */
const words = (plan: Plan): unknown =>
  Object.fromEntries(
    Object.entries(parts(plan)).map(([name, part]) => [
      name,
      Array.isArray(part) ? part.map((each) => JSON.stringify(each)).toSorted() : part,
    ]),
  );

const parts = (plan: Plan): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(plan, (name, value) => (name === 'run' || name === 'changesAt' ? '' : value)).replaceAll(
      /"new-[\w-]+"/g,
      '""',
    ),
  );

/** What deciding is given where every row is settled, and every record without one has lacked it before. */
export async function inputOf(world: World, read?: ObservedTable): Promise<DecideInput> {
  const link = linkOf(world, 'answered', readingTable(world, read));
  const { grounded } = await glance(world, link);
  if (!grounded) throw new Error('Nothing was decided.');
  return {
    ...grounded.input,
    isRestless: () => false,
    wasMissing: () => true,
    shownUntil: link.clock.now,
    now: world.clock.now,
    run: 'run',
    newToken: () => claimToken(link.newWord()),
    isOwnToken: () => true,
  };
}

/** A table of which every read shows this. */
const readingTable = ({ table, tabs }: World, read: ObservedTable | undefined): Table =>
  read ? Object.assign(tabs.openTable(), { read: async () => read }) : table;

/** What a read of the sheet shows now. */
export async function readSheet(world: World): Promise<ObservedTable> {
  const link = linkOf(world);
  await layOut(world, link);
  return link.table.read(currentLayout(link));
}

/**
 * Sends what waits in the outbox, each after a fresh look at its record: so it is found out whether an update that was not answered was
 * done.
 */
export async function push(world: World, outcome: Outcome = 'answered'): Promise<void> {
  const link = linkOf(world, outcome);
  for (const { key, state } of world.order(world.mirror.readOutbox())) {
    world.clock.now += 1_000;
    if (state === 'waiting') await pushRecord(link, key, (item) => isStopped(world, item));
  }
}

/** The mirror doubts for this reason what it remembers of the leads. */
export const rebase = ({ mirror }: World, reason: string): void => saveRebase(mirror, 'lead', reason);

/** A write of this claim token is known to have landed nowhere. */
export const voidClaim = ({ clock, mirror }: World, token: string): void =>
  addVoidClaims(mirror, [token], clock.now);

/** The lists of the CRM are to be read anew from their beginning. */
export function beginSweeps({ clock, mirror }: World): void {
  for (const entity of listedEntities)
    mirror.saveSweep({ entity, startedAt: clock.now, isComplete: false, pages: 0, records: 0 });
}

const refusal = { state: 'refused', error: { code: 'CRM_REFUSED', message: 'The title is taken.' } } as const;

const isStopped = ({ trail: { grounded, memory } }: World, item: OutboxItem): boolean =>
  isWithheld(item, [grounded?.plan], memory);

/** What the CRM says to everything that waits; no where nothing else is told. */
export function refuse(world: World, changes: Partial<OutboxItem> = refusal): void {
  for (const item of world.mirror.readOutbox())
    if (item.state === 'waiting') world.mirror.saveOutboxItem({ ...item, ...changes });
}

const roundsMax = 20;

/** Lets the daemon work until nothing changes any more. Returns the last plan, which is quiet. */
export async function settle(world: World): Promise<Plan> {
  for (let round = 1; round <= roundsMax; round += 1) {
    if (world.mirror.readOpenWrites().length > 0) world.clock.now += lateLandingMs;
    await pull(world);
    const first = await cycle(world);
    await push(world);
    await pull(world);
    const second = await cycle(world);
    const isWaiting = world.mirror
      .readOutbox()
      .some((item) => item.state === 'waiting' && !isStopped(world, item));
    const isOpen = isWaiting || world.mirror.readOpenWrites().length > 0;
    if (isQuiet(first) && isQuiet(second) && second.restlessRows === 0 && !isOpen) return second;
  }
  throw new Error(`The two sides do not come to rest within ${roundsMax} rounds.`);
}

/** A world at rest whose leads have these titles; their ids count from 1. */
export async function worldWithLeads(titles: readonly string[], options: WorldOptions = {}): Promise<World> {
  const world = createWorld(options);
  for (const title of titles) addRecord(world, 'lead', { title });
  await settle(world);
  return world;
}

/** The settings give the title of leads another column, and the daemon begins anew. */
export function setTitle(world: World, column: ColumnPolicy): void {
  const { lead } = world.policy.tabs;
  const tabs = { ...world.policy.tabs, lead: { ...lead, columns: { ...lead.columns, title: column } } };
  Object.assign(world, { policy: { ...world.policy, tabs } });
}

export const isRemapped = ({ mirror, policy }: World): boolean => readRemaps(mirror, policy).has('lead');
