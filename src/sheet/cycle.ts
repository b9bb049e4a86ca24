import { isSyncError, type SyncError } from '../core/errors.ts';
import { emptyCatalog } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import { arrivingBy, type Receipt } from '../core/open-write.ts';
import { claimToken, entities, parseRecordKey, perEntity } from '../core/record.ts';
import { finishInTurns } from '../core/slices.ts';
import { readContests } from '../sync/contests.ts';
import { findAccountDoubt, readOwnCatalog } from '../sync/reading/account.ts';
import { readEmptyLists, readNameless, readSwept } from '../sync/reading/lists.ts';
import {
  applyPlan,
  isLong,
  nothingDone,
  prepareWrite,
  recoverWrites,
  type UndoTally,
  type WriteEnd,
} from './apply.ts';
import { readRemaps } from './column-map.ts';
import { readPending, readSuspects, readVoidClaims } from './damages.ts';
import { decide } from './decide/decide.ts';
import { settleRows, sliceMax } from './decide/in-step.ts';
import { Standing } from './index/standing.ts';
import { currentLayout } from './layout.ts';
import type { SheetLink } from './link.ts';
import { followRules, readRules } from './only-rules.ts';
import { decideAgain, type GroundedPlan } from './plans/decide-again.ts';
import type { DecideInput, Plan } from './plans/plan.ts';
import type { Mark } from './port/instance.ts';
import type { ObservedTab, ObservedTable } from './port/table.ts';
import { readRebases, readWord, rebaseOutrun, rebaseReplaced } from './rebase.ts';
import {
  emptyMemory,
  type FirstLooks,
  isRestless,
  keepOpen,
  lacksRow,
  lastSeen,
  type Memory,
  noteChanges,
  noteLostRows,
  remember,
  rememberWritten,
} from './rest.ts';
import type { SoleWriter } from './sole-writer.ts';
import { keepBoxes, noteColumns, tableLayout } from './tab-columns.ts';

/** What a cycle leaves for the next. */
export interface Trail {
  readonly memory: Memory;
  /** When the table was read last, epoch ms; before that, when the run began. */
  readonly lookedAt: number;
  /** When the last read of the table began, monotonic ms; absent before there was one. */
  readonly readFrom?: number;
  /** The changes in the table that have not reached the CRM. */
  readonly firstLooks: FirstLooks;
  /** What decisions are made of, which is brought up to date with each. */
  readonly standing: Standing;
  /** What it decided, and from what. */
  readonly grounded?: GroundedPlan;
}

/** The trail of a run that begins at `now`, epoch ms. */
export const beginTrail = (now: number): Trail => ({
  memory: emptyMemory,
  lookedAt: now,
  firstLooks: new Map(),
  standing: new Standing(),
});

/** What one cycle came to. */
export interface CycleResult {
  readonly trail: Trail;
  readonly plan: Plan;
  /** What of the plan was applied; absent where nothing was to be. */
  readonly applied: Plan | undefined;
  /** Steps that the next cycle has to plan again: they met other rows than their own, or values that a user typed at that moment. */
  readonly undoneSteps: number;
  /** Why the table did not take all of it: what it did not take is not among what was applied. */
  readonly refusal?: SyncError;
  /** Whether columns are new in the table, so that it has to be laid out again. */
  readonly hasFreshColumns: boolean;
}

/** What is to be done in a cycle. */
export interface Round {
  /** What of the plan is applied; `undefined` leaves everything as it is. To be asked any number of times. */
  readonly choose: (plan: Plan) => Plan | undefined;
  /** Notes that what was chosen begins. */
  readonly begin?: (chosen: Plan) => void;
  /** The run under which the history knows it; a new one where absent. */
  readonly run?: string | undefined;
}

/** What a cycle begins with, and what reading the table needs. */
interface CycleStart {
  /** What the cycle before left. */
  readonly trail: Trail;
  /** Says whether this instance may write, which everything after the read needs. */
  readonly writer: SoleWriter;
  readonly tally: UndoTally;
}

/**
 * One cycle: read the table, decide, apply. Throws what reading or writing throws; then nothing is remembered of it. Nothing is decided while
 * another instance keeps the table: SHEET_KEPT.
 */
export async function runCycle(link: SheetLink, order: Round & CycleStart): Promise<CycleResult> {
  const { begin, choose, run, tally, trail, writer } = order;
  const { clock, mirror, times } = link;
  mirror.expectRoom();
  const readFrom = clock.monotonicMs();
  const table = await readTable(link, order, true);
  const looked = await planAgain(link, trail, planCycle(link, trail, table, run), order);
  const { chosen, planned, receipt } = await planInTurn(link, trail, looked, choose);
  const { memory, lookedAt, grounded } = planned;
  const { plan } = grounded;
  const looks = noteChanges(trail.firstLooks, memory, trail.readFrom);
  const mark = writer.takeMark();
  if (chosen) begin?.(chosen);
  const end = chosen ? await applyPlan(link, chosen, tally, { mark, receipt }) : nothingDone;
  // Where nothing else was to be written, nothing has carried it.
  const isLeft = mark !== undefined && (chosen?.table.length ?? 0) === 0;
  const { done, refusal, undoneSteps } = isLeft ? await renew(writer, mark, end) : end;
  const applied = chosen && { ...chosen, table: chosen.table.filter((_, number) => done.has(number)) };
  const firstLooks = keepOpen(looks, memory, applied, {
    isOutbound: (name) => isOutbound(mirror, name),
    typingPauseMs: times.typingPauseMs,
  });
  const remembered = applied ? rememberWritten(memory, applied) : memory;
  return {
    trail: { memory: remembered, lookedAt, readFrom, firstLooks, standing: trail.standing, grounded },
    plan,
    applied,
    undoneSteps,
    ...(refusal ? { refusal } : {}),
    hasFreshColumns: hasFreshColumns(table),
  };
}

/**
 * Plans once more what is to be written to the table, after another look at its rows: what was read may be seconds old by now. From that look
 * to the write nothing outside is waited for.
 */
async function planAgain(
  link: SheetLink,
  trail: Trail,
  planned: PlannedCycle,
  { choose, run, writer }: Round & CycleStart,
): Promise<PlannedCycle> {
  const chosen = choose(planned.grounded.plan);
  // New rows reach none that is there.
  if (!chosen?.table.some(({ write }) => write.kind !== 'append')) return planned;
  const steps = chosen.table.map(({ write }) => write);
  const looked = await link.table.look(tableLayout(link), steps);
  await writer.enter(looked);
  return planCycle(link, trail, keepBoxes(link.mirror, looked), run);
}

/** A long plan is made at most this often. The last one is taken without another turn of others. */
const plansMax = 6;

/** What is about to be applied. */
interface Ready {
  readonly planned: PlannedCycle;
  readonly chosen: Plan | undefined;
  /** Of the write to the table; absent where it is yet to be prepared. */
  readonly receipt?: Receipt;
}

/**
 * Gives others their turn between deciding many rows, preparing their write and making that durable: all at once would keep them waiting for
 * more than a tenth of a second. What they changed in the mirror is decided once more.
 */
async function planInTurn(
  link: SheetLink,
  trail: Trail,
  planned: PlannedCycle,
  choose: Round['choose'],
): Promise<Ready> {
  let last = planned;
  for (let count = 1; ; count += 1) {
    const chosen = choose(last.grounded.plan);
    if (!chosen || !isLong(chosen.table) || count === plansMax) return { planned: last, chosen };
    const before = link.mirror.countChanges();
    const isUnchanged = () => link.mirror.countChanges() === before;
    await link.clock.sleep(0);
    if (isUnchanged()) {
      const receipt = prepareWrite(link, chosen, chosen.table);
      await link.clock.sleep(0);
      if (isUnchanged()) return { planned: last, chosen, receipt };
    }
    const { run, table } = last.grounded.input;
    last = planCycle(link, trail, table, run);
  }
}

const isOutbound = (mirror: Mirror, name: string): boolean => {
  const key = parseRecordKey(name);
  return key !== undefined && mirror.findOutboxItem(key) !== undefined;
};

/** What was done is remembered, whatever becomes of the mark. */
async function renew(writer: SoleWriter, mark: Mark, end: WriteEnd): Promise<WriteEnd> {
  try {
    await writer.renew(mark);
    return end;
  } catch (error) {
    if (!isSyncError(error)) throw error;
    return { ...end, refusal: error };
  }
}

/**
 * Reads the table, `enters` it as its writer where that is meant, and finds which rows are in step. All of it again where the catalog came
 * meanwhile: a column that was not asked for would pass for one that the tab does not have.
 */
async function readTable(link: SheetLink, start: CycleStart, enters: boolean): Promise<ObservedTable> {
  for (;;) {
    const catalog = link.mirror.readCatalog();
    const isSameCatalog = () => catalog === link.mirror.readCatalog();
    const read = await link.table.read(tableLayout(link), !start.writer.mayWrite);
    if (enters) await start.writer.enter(read);
    if (!isSameCatalog()) continue;
    const table = await takeNote(link, read, start);
    await settleSlowly(link, start.trail, table);
    if (isSameCatalog()) return table;
  }
}

/** Keeps what a read says of the table as a whole. Returns the table as it counts. */
async function takeNote(link: SheetLink, table: ObservedTable, access: CycleStart): Promise<ObservedTable> {
  if (readOwnCatalog(link.mirror) === undefined) return { ...table, tabs: unknownTabs };
  noteColumns(link.mirror, table);
  const isOutrun = rebaseOutrun(link, table);
  const isReplaced = rebaseReplaced(link, table);
  if (isOutrun || isReplaced) link.log.warn('mirror.rebased', {});
  return keepBoxes(link.mirror, await readBehindWrites(link, table, access));
}

/**
 * Recovers the writes without a reply, and reads the table once more where one has landed or was undone, and so on: meanwhile another may
 * land. A read counts only if none is found to have landed after it.
 */
async function readBehindWrites(link: SheetLink, read: ObservedTable, { tally, writer }: CycleStart) {
  let table = read;
  let known: ReadonlySet<string> = new Set();
  // Recovering may undo what a write did.
  while (writer.mayWrite) {
    const news = new Set(await recoverWrites(link, tally));
    if (news.isSubsetOf(known)) break;
    known = known.union(news);
    table = await link.table.read(tableLayout(link));
  }
  return table;
}

/**
 * Without the catalog nobody knows what the columns are: those of custom fields would be taken for people's own, and what they show for
 * unknown. That passes, so it is no question for anybody either.
 */
const unknown: ObservedTab = {
  state: 'held',
  reason:
    'The stages, statuses and custom fields of the CRM were not read yet, so that nothing can be compared.',
};

const unknownTabs = perEntity(() => unknown);

const hasFreshColumns = ({ tabs }: ObservedTable): boolean =>
  Object.values(tabs).some((tab) => tab.state === 'read' && (tab.fresh?.size ?? 0) > 0);

/**
 * The plan of a cycle without applying it: the same decision from a read of its own. Where a tab follows another rule from then on, it is the one
 * of the cycle after that, which moves the rows.
 */
export async function dryRun(link: SheetLink, start: CycleStart): Promise<Plan> {
  const table = await readTable(link, start, false);
  const { input, plan } = planCycle(link, start.trail, table).grounded;
  if (plan.ruled.length === 0) return plan;
  return decide({ ...input, known: { ...input.known, rules: followRules(input.known.rules, plan.ruled) } });
}

/** What is decided from at this moment. */
function gather(link: SheetLink, trail: Trail, table: ObservedTable, run: string) {
  const { memory, lookedAt } = trail;
  const { clock, mirror, policy, times } = link;
  const now = clock.now();
  const next = remember(memory, table, clock.monotonicMs(), times.typingPauseMs);
  const seenAt = lastSeen(mirror, lookedAt);
  const agreements = mirror.readAgreements();
  const openWrites = mirror.readOpenWrites();
  const word = readWord(mirror, link.newWord);
  const input: DecideInput = {
    known: {
      records: mirror.readRecords(),
      agreements,
      outbox: mirror.readOutbox(),
      decisions: mirror.readDecisions(),
      suspects: [...readSuspects(mirror), ...readPending(openWrites)],
      claims: { open: new Set(openWrites.flatMap(({ tokens }) => tokens)), void: readVoidClaims(mirror) },
      arriving: arrivingBy(openWrites),
      catalog: mirror.readCatalog() ?? emptyCatalog,
      sweptEntities: readSwept(mirror),
      nameless: readNameless(mirror),
      emptyLists: readEmptyLists(mirror),
      contests: readContests(mirror, now),
      rebases: readRebases(mirror, agreements, table),
      remaps: readRemaps(mirror, policy),
      rules: readRules(mirror, policy),
      accountDoubt: findAccountDoubt(link),
    },
    table,
    isRestless: (entity, row) => isRestless(next, times.typingPauseMs, entity, row),
    wasMissing: (key) => lacksRow(memory, key),
    shownUntil: seenAt,
    layout: currentLayout(link),
    policy,
    now,
    run,
    newToken: () => claimToken(`${word}-${link.newWord()}`),
    isOwnToken: (token) => token.startsWith(claimToken(`${word}-`)),
  };
  return { input, memory: next, seenAt };
}

type PlannedCycle = ReturnType<typeof planCycle>;

function planCycle(link: SheetLink, trail: Trail, table: ObservedTable, run = link.newWord()) {
  const { input, memory, seenAt } = gather(link, trail, table, run);
  const grounded = decideAgain(input, trail.standing, trail.grounded);
  noteLostRows(link.mirror, table, trail.standing.rowless(), seenAt);
  return { memory, lookedAt: input.now, grounded };
}

/** Finds which rows are in step, where many may not be, before all that is left is decided at once. */
async function settleSlowly(link: SheetLink, trail: Trail, table: ObservedTable): Promise<void> {
  const { standing } = trail;
  const isLong = (tab: ObservedTab) => tab.state === 'read' && tab.rows.length > sliceMax;
  // So many rows took some time to read.
  if (Object.values(table.tabs).some(isLong)) await link.clock.sleep(0);
  const { input } = gather(link, trail, table, '');
  standing.update(input);
  const { grounded } = trail;
  if (grounded?.version === standing.version && input.now < grounded.lastsUntil) return;
  if (entities.every((entity) => standing.countLooseRows(entity) <= sliceMax)) return;
  await finishInTurns(settleRows(input, standing), link.clock);
}
