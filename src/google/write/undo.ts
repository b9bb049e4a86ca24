import { isSyncError } from '../../core/errors.ts';
import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import type { Log } from '../../core/ports.ts';
import { isUnfilled } from '../../sheet/port/cell.ts';
import type { Damage } from '../../sheet/port/damage.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import type { KeepReceipt } from '../../sheet/port/port.ts';
import type { StepEnd, WriteResult } from '../../sheet/port/table.ts';
import type { Choose } from '../chosen-tabs.ts';
import type { SheetsClient } from '../client.ts';
import type { ManagedColumn } from '../columns.ts';
import type { Grid } from '../grid.ts';
import { mapKnown } from '../map-known.ts';
import type { Answers } from '../probes/answers.ts';
import { heed } from '../probes/heed.ts';
import type { BoundTab } from '../read.ts';
import type { TaggedSpreadsheet } from '../tabs.ts';
import { sendBatch } from './batch.ts';
import { compensate, isSameButSync, toDamage } from './compensate.ts';
import { type GridDamage, type Judgement, judge, type Moment, meetColumns } from './judge.ts';
import {
  type Batch,
  endOfBatch,
  isSameRow,
  overlay,
  type PlannedTab,
  planTab,
  type Row,
  type Tabs,
} from './planned.ts';
import { type Ends, noEnds, type StoredWrite, writeReceipt } from './receipt.ts';
import type { SeenTab } from './seen-tab.ts';
import type { Shadow } from './shadow.ts';
import { advance, type WriteState } from './write-states.ts';

/** Reads all tabs there are and the cells of those that are chosen, of long ones as many rows at a time as Google has answers for. */
export type LookAt = (choose: Choose) => Promise<TaggedSpreadsheet>;

/** What all writes have in common. */
export interface Surroundings {
  readonly client: SheetsClient;
  readonly log: Log;
  readonly answers: Answers;
  readonly look: LookAt;
  /** The hidden tab as it was last seen. */
  shadow: Shadow | undefined;
}

/** A write under way. */
export interface Course {
  readonly write: StoredWrite;
  readonly keep: KeepReceipt;
  state: WriteState;
}

export function advanceTo({ log }: Surroundings, course: Course, next: WriteState): void {
  course.state = advance(course.state, next);
  log.debug('sheet.write', { run: course.write.batch.run, state: next });
}

export const nothing: WriteResult = {
  done: new Map(),
  undone: [],
  escalated: [],
  pending: [],
  isOver: true,
};

/** Undoes the damage of a write. `isOver`: nothing more may become known of its other steps. `before` is what was known before. */
export async function undo(
  around: Surroundings,
  course: Course,
  { damage, done, unknown }: Judgement,
  isOver: boolean,
  before = noEnds,
): Promise<WriteResult> {
  if (damage.length === 0) return { ...nothing, done, isOver };
  const { batch } = course.write;
  advanceTo(around, course, 'misdirected');
  around.log.warn('sheet.rows_moved', { run: batch.run, rows: damage.length });
  const look = await lookAgain(around, batch);
  const plan = compensate(damage, seenTabs(course, look.tabs, done), look.shadow !== undefined);
  const ends: Ends = {
    done: new Map([...before.done, ...done, ...plan.done]),
    undone: [...before.undone, ...plan.undone],
    escalated: [...before.escalated, ...plan.escalated],
  };
  const left = new Set(isOver ? [] : unknown.map(({ number }) => number));
  const known: Course = { ...course, write: { ...course.write, left } };
  if (plan.steps.length === 0) return end(around, known, ends, isOver);
  const inverse: Batch = {
    run: `${lastRunOf(course.write)}~`,
    from: endOfBatch(batch),
    steps: plan.steps,
    tabs: new Map([...look.tabs].map(([kind, tab]) => [kind, planTab(tab)])),
  };
  const write = { ...known.write, inverse: { batch: inverse, damageOf: plan.damageOf, ends } };
  const next: Course = { ...known, write };
  const pending = pendingOf(write);
  advanceTo(around, next, 'compensating');
  course.keep(writeReceipt(write), pending);
  try {
    const ground = { ...look, lastWrite: undefined, besides: [] };
    const sent = await sendBatch(around.client, around.log, inverse, ground);
    around.shadow = sent.shadow;
    return await judgeInverse(around, next, { ...sent, others: [] }, ends, isOver);
  } catch (error) {
    if (!isSyncError(error)) throw error;
    around.log.warn('sheet.undo_without_reply', { run: batch.run, code: error.code });
    advanceTo(around, next, 'unknown');
    return { ...nothing, done: ends.done, pending, isOver: false };
  }
}

/** Each inverse has a run of its own: what one has kept says nothing of the next. */
const lastRunOf = ({ batch, inverse, inverted }: StoredWrite): string =>
  inverse?.batch.run ?? inverted ?? batch.run;

/** What a write is known to have damaged while its inverse may still land: also what that does not undo. */
export const pendingOf = ({ inverse }: Pick<StoredWrite, 'inverse'>): Damage[] => [
  ...[...(inverse?.damageOf.values() ?? [])].map(toDamage),
  ...(inverse?.ends ?? noEnds).escalated,
];

/** Judges what undid the damage: what it missed is escalated, and so is what it did elsewhere. */
export async function judgeInverse(
  around: Surroundings,
  course: Course,
  moment: Moment,
  before: Ends,
  isOver: boolean,
): Promise<WriteResult> {
  const { inverse } = course.write;
  if (!inverse) return end(around, course, before, isOver);
  const { batch, damageOf } = inverse;
  const judged = judge(batch, moment);
  const clear = await lookWhetherRight(around, batch, judged.damage);
  const gone = findGone(judged.damage, damageOf);
  const isDone = (number: number) =>
    judged.done.has(number) || clear.has(number) || gone.some(({ numbers }) => numbers.includes(number));
  const missed = judged.damage.filter(
    (each) => !isDone(each.number) && !gone.some(({ taken }) => taken === each),
  );
  // What a user typed at that moment was written over or deleted: the rest of it is undone.
  const over = new Set(
    missed.filter(({ edited, isOwnRow }) => edited ?? isOwnRow).map(({ number }) => number),
  );
  const steps = [...damageOf];
  const lost = steps.flatMap(([number, damage]) => (isDone(number) || over.has(number) ? [] : [damage]));
  const ends: Ends = {
    done: before.done,
    undone: [...before.undone, ...steps.flatMap(([number, damage]) => (isDone(number) ? [damage] : []))],
    escalated: [...before.escalated, ...[...lost, ...missed].map(toDamage)],
  };
  return end(around, course, ends, isOver);
}

/**
 * Rows that the inverse deleted by mistake although they were to go: new rows under wrong columns. With each are the numbers of the steps that
 * were to delete it.
 */
function findGone(deleted: readonly GridDamage[], damageOf: ReadonlyMap<number, GridDamage>) {
  const added = [...damageOf].filter(([, { kind }]) => kind === 'added');
  return deleted.flatMap((taken) => {
    const isIt = ([, one]: (typeof added)[number]) =>
      one.entity === taken.entity && isSameButSync(overlay([], one.placed), taken.before, one);
    const numbers = taken.kind === 'deleted' ? added.filter(isIt).map(([number]) => number) : [];
    return numbers.length > 0 ? [{ taken, numbers }] : [];
  });
}

/** The steps of an inverse of which nothing was kept, and that have reached their rows all the same. */
async function lookWhetherRight(
  around: Surroundings,
  batch: Batch,
  damage: readonly GridDamage[],
): Promise<ReadonlySet<number>> {
  const unclear = damage.filter(({ right }) => right);
  if (unclear.length === 0) return new Set();
  const { tabs } = await lookAgain(around, batch);
  return new Set(compensate(unclear, tabs, false).done.keys());
}

/** The result of a write of which no damage is left to undo. */
function end(
  around: Surroundings,
  course: Course,
  { done, escalated, undone }: Ends,
  isOver: boolean,
): WriteResult {
  const edited = undone.flatMap(({ edited: fields, number }) =>
    fields ? [[number, { edited: fields }] as const] : [],
  );
  const foreign = undone.filter(isForeign).map(toDamage).filter(isSomething);
  if (isOver) advanceTo(around, course, endState(escalated.length, foreign.length));
  const { inverse: _, ...rest } = { ...course.write, inverted: lastRunOf(course.write) };
  return {
    ...nothing,
    done: new Map([...done, ...edited]),
    undone: foreign,
    escalated,
    isOver,
    // The steps of which nothing is known yet are judged without the others.
    ...(isOver ? {} : { rest: writeReceipt(rest) }),
  };
}

/** Whether anything of it shows: a delete that took a blank row, also one with a box that is not ticked, did no damage. */
const isSomething = ({ cells, own }: Damage): boolean =>
  [...Object.values(cells), ...Object.values(own)].some(
    ({ before, written }) => !isUnfilled(before) || !isUnfilled(written),
  );

const endState = (escalated: number, undone: number): WriteState => {
  if (escalated > 0) return 'escalated';
  return undone > 0 ? 'undone' : 'confirmed';
};

/** Whether it is damage to another row, or to cells that were not meant: what a user typed into the right row is given back, and that is all. */
export const isForeign = ({ edited }: GridDamage): boolean => edited === undefined;

function seenTabs(
  { write: { batch } }: Course,
  look: Tabs,
  done: ReadonlyMap<number, StepEnd>,
): ReadonlyMap<TabKind, SeenTab> {
  // What our own steps did to a row is known: it is not missing.
  const isPlanned = (entity: TabKind, row: Row) =>
    batch.steps.some(
      (step) =>
        step.entity === entity && isSameRow(step.read, row) && (step.kind === 'set' || done.has(step.number)),
    );
  return mapKnown(look, ({ hiddenRows, rows }, kind) => {
    const { columns = { fields: new Map() }, unseen = [] } = batch.tabs.get(kind) ?? {};
    return { rows, hiddenRows, columns, unseen, isPlanned: (row) => isPlanned(kind, row) };
  });
}

/** The tabs of a batch as they are now, those that are gone left out, and the hidden tab where it is still there. */
async function lookAgain(
  { answers, look, shadow }: Surroundings,
  batch: Batch,
): Promise<{ readonly tabs: Tabs; readonly shadow: Shadow | undefined }> {
  const ids = [...batch.tabs.values()].map(({ sheetId }) => sheetId);
  const { grids } = await look((there) => there.grids.filter(({ sheetId }) => ids.includes(sheetId)));
  const tabs = mapKnown(batch.tabs, (planned) => {
    const grid = grids.find(({ sheetId }) => sheetId === planned.sheetId);
    return grid && heed(bindAgain(grid, planned), answers);
  });
  return { tabs, shadow: grids.find(({ sheetId }) => sheetId === shadow?.sheetId) };
}

/** The columns are found by the headers that they were planned under. */
function bindAgain({ merges: _merges, tags: _tags, ...grid }: Grid, planned: PlannedTab): BoundTab {
  const { id = -1, names } = meetColumns(planned, grid.rows[0] ?? []);
  const isField = ([, name]: readonly [number, string]) => name !== idHeader && name !== syncHeader;
  const fields = [...names].filter(isField).map(([index, name]): [string, ManagedColumn] => {
    const kind = planned.columns.fields.get(name)?.kind ?? 'text';
    return [name, { index, kind, header: name }];
  });
  const [sync] = [...names].find(([, name]) => name === syncHeader) ?? [];
  return { ...grid, columns: { id, sync, fields: new Map(fields) } };
}
