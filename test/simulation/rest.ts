import { sweepsToProve } from '../../src/core/reading/observe.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { isQuiet, type Plan } from '../../src/sheet/plans/plan.ts';
import { checkReasons } from './invariants.ts';
import type { People } from './people.ts';
import { setRight } from './set-right.ts';
import { answerBySql } from './sql-people.ts';
import { isSqlBusy, whatSqlWaitsFor } from './sql-rest.ts';
import { sweepsSince } from './stage.ts';
import { tabEntities } from './tab-view.ts';
import { Violation } from './violation.ts';

/** Two sweeps prove that a record is gone, and the third began after whatever was written. */
const sweepsToRest = 3;
/** One of them may have been under way when the last sweep was over. */
const cyclesToRest = 2;
/** Until the sheet was read and decided once more. */
const lookWithinMs = 10_000;
/** A CRM that shows few records at a time, and allows few requests, takes most of them: each job that waits is woken again and again. */
const stepsMax = { calm: 500, withMishaps: 5_000 };

/** How long the daemon has to find nothing to do. */
interface Quiet {
  /** How often it looks at everything, and after that at the sheet. */
  readonly sweepsMin: number;
  /** How often it has looked at everything since it became quiet, where it is that already. */
  readonly sweepsDone?: number;
  readonly cyclesMin: number;
  /** Of the clock, monotonic ms. */
  readonly notBeforeMs?: number;
}

/** Lets the daemon work alone until it is quiet; answers its last plan. */
export async function settle(
  people: People,
  { cyclesMin, notBeforeMs = 0, sweepsDone = 0, sweepsMin }: Quiet,
): Promise<Plan> {
  const { stage } = people;
  let [before, sweepsLeft] = [{ ...stage.sweeps }, sweepsMin - sweepsDone];
  let sweptCycles: number | undefined;
  const stepsLeft = stage.hasMishaps ? stepsMax.withMishaps : stepsMax.calm;
  // Steps on the way to that time are not counted: how many there are says nothing about rest.
  for (let step = 0; step < stepsLeft; step += Number(stage.clock.monotonicMs() >= notBeforeMs)) {
    const done = await stage.proceed();
    stage.tell(() => done);
    const { lastPlan, sheetCycles } = stage.engine;
    if (stage.bug) throw stage.bug;
    if (!lastPlan || isBusy(stage, lastPlan) || hasWork(stage) || isSqlBusy(people)) {
      [before, sweepsLeft, sweptCycles] = [{ ...stage.sweeps }, sweepsMin, undefined];
    } else if (isProving(stage.link)) {
      sweptCycles = undefined;
    } else if (sweepsSince(stage, before) >= sweepsLeft) {
      sweptCycles ??= sheetCycles;
      const isEnough = sheetCycles >= sweptCycles + cyclesMin;
      if (isEnough && stage.clock.monotonicMs() >= notBeforeMs) return lastPlan;
    }
  }
  const { lastPlan } = stage.engine;
  throw new Violation(
    'S6',
    `the daemon does not come to rest: ${JSON.stringify(lastPlan?.table.slice(0, 3))} ${whatSqlWaitsFor(people)}`,
  );
}

/** A delete waits, and is looked at again and again, as long as a brake of another side withholds an edit of its record. */
function isBusy({ engine, wire }: People['stage'], plan: Plan): boolean {
  const stopped = engine.found.brakes.map(({ entity }) => `job ${entity}-`);
  const isIdle = (label: string) =>
    /^(GET|sheet (read|mark)|warehouse (?!write))/.test(label) ||
    stopped.some((job) => label.startsWith(job));
  return !isQuiet(plan) || plan.restlessRows > 0 || !wire.labels.every(isIdle);
}

/** What a brake withholds waits for a person. */
const hasWork = ({ engine, link }: People['stage']): boolean =>
  link.mirror
    .readOutbox()
    .some(
      ({ key, state }) =>
        (state === 'waiting' || state === 'sending' || state === 'unknown') &&
        !engine.found.brakes.some(({ entity }) => entity === key.entity),
    );

/** Where few requests are allowed, asking for a record that the lists lack waits longer than some cycles. */
const isProving = ({ mirror }: People['stage']['link']): boolean =>
  mirror
    .readRecords()
    .some(({ presence, missedSweeps }) => presence === 'present' && missedSweeps >= sweepsToProve);

const daysMax = 12;
/** People come as soon as it has looked at everything once. */
const sweepsToCome = 1;

/**
 * Nobody edits any more. People answer what the daemon asks them and mend what they did by mistake, until nothing waits. They come as soon
 * as it has looked at everything once; it is at rest when it has looked on for longer and they still find nothing, not before it knows
 * what there is to know, which is at `knownByMs` of the clock.
 */
export async function comeToRest(people: People, knownByMs: number): Promise<void> {
  for (let day = 1; day <= daysMax; day += 1) {
    const first = { sweepsMin: sweepsToCome, cyclesMin: 1, notBeforeMs: writesKnownByMs(people) };
    if (mend(people, await settle(people, first), day)) continue;
    const plan = await settle(people, {
      sweepsMin: sweepsToRest,
      sweepsDone: sweepsToCome,
      cyclesMin: cyclesToRest,
      notBeforeMs: Math.max(knownByMs, writesKnownByMs(people)),
    });
    checkReasons(people, plan);
    // A row may have begun to leave since it was known how long to wait.
    if (!mend(people, plan, day) && leavesOf(people).length === 0) return;
  }
  const { brakes, holds, refusals, conflicts } = people.stage.engine.lastPlan ?? {};
  throw new Violation(
    'S6',
    `something waits for people for ever: ${JSON.stringify({ brakes, holds, refusals, conflicts })}`,
  );
}

/**
 * The time from which writes without a reply, and what undid them, can land no longer, monotonic ms. Rows that they may concern, and new rows
 * that they may bring, wait until then.
 */
function writesKnownByMs(people: People): number {
  const { clock, link } = people.stage;
  const now = clock.now();
  const waitsMs = link.mirror
    .readOpenWrites()
    .flatMap(({ settlesAt }) => (now < settlesAt ? [settlesAt - now] : []));
  // A row that says that it leaves is at rest once it has.
  const leavesMs = leavesOf(people).map(({ at }) => at + leaveAfterMs - now);
  const all = [...waitsMs, ...leavesMs];
  return clock.monotonicMs() + Math.max(0, ...all.map((waitMs) => waitMs + lookWithinMs));
}

/** The leaves of the rows that say that they leave. */
const leavesOf = ({ stage: { link } }: People) =>
  link.mirror.readAgreements().flatMap(({ leave }) => (leave?.state === 'leaving' ? [leave] : []));

/** People look at what the daemon left. Answers whether there was anything to mend. */
function mend(people: People, plan: Plan, day: number): boolean {
  people.stage.tell(() => `day ${day}: ${JSON.stringify(shown(people, plan))}`);
  const hasAnswered = answerBySql(people);
  return setRight(people, plan) || hasAnswered;
}

const shown = (people: People, { brakes, conflicts, holds, refusals }: Plan) => ({
  brakes,
  conflicts,
  holds,
  refusals,
  rows: tabEntities.map((entity) => people.tab(entity)?.rows),
});

/** S7: one more cycle writes nothing. */
export async function checkFixpoint({ stage }: People): Promise<void> {
  const [writes, cycles, requests] = [
    stage.spreadsheet.writes(),
    stage.engine.sheetCycles,
    stage.crm.revision,
  ];
  const runs = stage.sql?.database.content.runs.length;
  while (stage.engine.sheetCycles < cycles + 2) await stage.proceed();
  if (stage.spreadsheet.writes() > writes) throw new Violation('S7', 'one more cycle wrote the sheet');
  if (stage.crm.revision > requests) throw new Violation('S7', 'one more cycle wrote the CRM');
  if (stage.sql?.database.content.runs.length !== runs)
    throw new Violation('W8', 'one more cycle wrote the tables');
}
