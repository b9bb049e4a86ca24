import type { Direction } from '../../src/core/merge.ts';
import type { Fault } from '../../src/sandbox/crm/faults.ts';
import type { Policy } from '../../src/sheet/policy.ts';
import { shiftPages } from './drift.ts';
import { deleteManyRecords, deleteManyRows } from './mass-people.ts';
import { backUp, loseMirror, putOldMirrorBack } from './mirrors.ts';
import type { Operation, OperationKind } from './operation.ts';
import { type People, pick } from './people.ts';
import { answerQuestions } from './set-right.ts';
import { backUpDatabase, restoreDatabase } from './sql-mishaps.ts';
import type { Stage } from './stage.ts';

/** Less than the daemon waits for an answer. */
const slowMaxMs = 15_000;

type Mishap = (people: People, operation: Operation) => Promise<string> | string;

/** What the CRM answers instead of what it should; nothing is done. */
const crmFaults: readonly Fault[] = [
  { kind: 'status', path: '*', times: 1, delayMs: 0, status: 503, afterCommit: false },
  { kind: 'rateLimited', path: '*', times: 1, delayMs: 0 },
  { kind: 'garbage', path: '*', times: 1, delayMs: 0 },
  { kind: 'emptyList', path: '*', times: 1, delayMs: 0 },
  { kind: 'staleList', path: '/leads', times: 1, delayMs: 0 },
  { kind: 'staleList', path: '/tasks', times: 1, delayMs: 0 },
];

/** What goes wrong, by the name of the operation. */
const mishaps: Partial<Record<OperationKind, Mishap>> = {
  'lose a request': async ({ stage }, { which, how }) => {
    await awaitWrite(stage, how);
    return stage.wire.lose(which);
  },
  'lose an answer': async ({ stage }, { which, how }) => {
    await awaitWrite(stage, how);
    return stage.wire.loseAnswer(which);
  },
  'carry out late': async ({ stage }, { which, how }) => {
    await awaitWrite(stage, how);
    return stage.wire.delay(which, stage.trueTime());
  },
  'arrive late': ({ stage }) => stage.wire.arriveLate(stage.trueTime()),
  'slow the line down': async ({ stage }, { how }) => {
    const waitMs = how % slowMaxMs;
    await stage.clock.advance(waitMs);
    return `${stage.wire.size} requests wait for ${waitMs} ms`;
  },
  'break the CRM': ({ masses, stage: { crm } }, { which, what }) => {
    const fault = pick(crmFaults, which) ?? crmFaults[0];
    if (fault) crm.faults.order({ clear: false, faults: [{ ...fault, times: 1 + (what % 3) }] });
    // Of what is deleted at once in the CRM its lists may tell in parts from now on, each too small to stop a tab.
    if (fault?.kind === 'staleList') masses.forgetSide('CRM');
    return fault?.kind ?? 'nothing';
  },
  'flush the queue': ({ stage }) => `${stage.wire.drop((label) => label.startsWith('job '))} jobs`,
  'shift the pages': shiftPages,
  'delete many rows': deleteManyRows,
  'delete many in the CRM': deleteManyRecords,
  'set the clock': ({ stage }, { which, how }) => {
    const { clock } = stage;
    const jumpMs = (how % 7_200_000) * (which % 2 === 0 ? 1 : -1);
    clock.setWallClock(clock.now() + jumpMs);
    stage.isBudgetKnown = false;
    return `${jumpMs} ms`;
  },
  crash: async ({ stage }, { what, how }) => {
    await awaitWrite(stage, how);
    // What was on its way may have arrived, or may still arrive.
    if (what % 3 === 0) stage.wire.delayAll(stage.trueTime());
    else if (what % 3 === 1) stage.wire.serveWrites();
    await stage.restart();
    return 'and a new start';
  },
  'change the settings': changeSettings,
  'back up the mirror': backUp,
  'lose the mirror': loseMirror,
  'put an old mirror back': putOldMirrorBack,
  'answer questions': answerQuestions,
  'back up the database': backUpDatabase,
  'restore the database': restoreDatabase,
};

/** Somebody stops the process, which takes longer than any request, and starts it with other rules for lost rows and conflicts. */
async function changeSettings({ stage }: People, { which, what, how }: Operation): Promise<string> {
  stage.wire.endAll(stage.trueTime(), (index) => ((how >> (index % 16)) & 1) === 1);
  const { policy } = stage;
  const vanishedRows = pick(['ask', 'trash', 'restore'] as const, what) ?? policy.vanishedRows;
  const conflict = pick(['crm', 'table', 'ask'] as const, which) ?? policy.tabs.lead.conflict;
  const direction = pick(['both', 'toTable', 'off'] as const, how) ?? 'both';
  const tabs = { ...policy.tabs, lead: { ...policy.tabs.lead, conflict } };
  stage.policy = directDescription({ ...policy, tabs, vanishedRows }, direction);
  await stage.restart();
  return `a lost row means ${vanishedRows}, a conflict of a lead ${conflict}, its description goes ${direction}`;
}

const directDescription = (policy: Policy, direction: Direction): Policy => {
  const { lead } = policy.tabs;
  const columns = { ...lead.columns, 'about.description': { direction } };
  return { ...policy, tabs: { ...policy.tabs, lead: { ...lead, columns } } };
};

const isOff = ({ tabs }: Policy): boolean => tabs.lead.columns['about.description']?.direction === 'off';

const stepsMax = 20;

/** Often it is a write that something happens to: the daemon works on until one is on its way, or for some time. */
async function awaitWrite(stage: Stage, how: number): Promise<void> {
  const toCrm = how % 4 === 0;
  for (let step = how % 2 === 0 ? 0 : stepsMax; step < stepsMax && !stage.wire.hasWrites(toCrm); step += 1)
    await stage.proceed();
}

export const isMishap = (kind: OperationKind): boolean => kind in mishaps;

/** Lets something go wrong; answers what. */
export async function mishap(people: People, operation: Operation): Promise<string> {
  const done = (await mishaps[operation.kind]?.(people, operation)) ?? 'nothing';
  // Requests to the spreadsheet and the process itself: what becomes of those to the CRM moves no row.
  const isOfSheet = /sheet (read|write)/.test(done) && operation.kind !== 'arrive late';
  if (isOfSheet || done === 'and a new start' || operation.kind === 'change the settings')
    people.accidents.note();
  await people.stage.settleDown();
  return done;
}

/** Nothing goes wrong any more, what is late arrives, and no column is off: what stands there waits for that. Answers by when the catalog is read again, monotonic ms. */
export async function endMishaps(stage: Stage): Promise<number> {
  stage.crm.faults.order({ clear: true, faults: [] });
  while (stage.wire.arriveLate(stage.trueTime()) !== 'nothing') await stage.settleDown();
  if (isOff(stage.policy)) {
    stage.policy = directDescription(stage.policy, 'both');
    await stage.restart();
  }
  return stage.clock.monotonicMs() + stage.link.times.catalogMs + readWithinMs;
}

/** How long a request that is due may wait for its turn, and its answer. */
const readWithinMs = 10_000;
