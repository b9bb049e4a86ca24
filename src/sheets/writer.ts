import { isUnfilled } from '../core/cell.ts';
import type { Damage } from '../core/damage.ts';
import { isSyncError, type SyncError } from '../core/errors.ts';
import type { KeepReceipt, Receipt } from '../core/open-write.ts';
import type { Log, Table } from '../core/ports.ts';
import type { StepEnd, WriteRefusal, WriteResult } from '../core/table.ts';
import { type Sent, sendBatch } from './batch.ts';
import type { Request, SheetsClient } from './client.ts';
import { compensate, toDamage } from './compensate.ts';
import { escalateEarlier } from './earlier-write.ts';
import { type GridDamage, type Judgement, judge, type Moment } from './judge.ts';
import { meetColumns } from './met-columns.ts';
import type { Stored, WriteTag } from './metadata.ts';
import { type Batch, type PlannedStep, planSteps, planTab, type Row, type Tabs } from './planned.ts';
import { findMet } from './read-back.ts';
import {
  endOfWrite,
  inverseFrom,
  isEarlier,
  readReceipt,
  type StoredWrite,
  writeReceipt,
} from './receipt.ts';
import { lookAgain } from './second-look.ts';
import { type KeptCells, keptFields, keptRange, readKept, type Shadow } from './shadow.ts';
import { advance, type WriteState } from './write-states.ts';

/** Writes steps to the tabs as they were read last, and undoes what reached other rows than was planned. */
export interface Writer extends Pick<Table, 'prepare' | 'recover'> {
  /** As {@link Table.write}; `besides` goes with the first batch that Google takes. */
  write(receipt: Receipt, keep: KeepReceipt, besides?: readonly Request[]): Promise<WriteResult>;
  /** Takes over what a read found. */
  start(tabs: Tabs, shadow: Shadow | undefined, lastWrite: Stored<WriteTag> | undefined): void;
}

/** A write under way. */
interface Course {
  readonly write: StoredWrite;
  readonly keep: KeepReceipt;
  /** The tabs as they were read before it; empty where that is not known any more. */
  readonly tabs: Tabs;
  state: WriteState;
}

export function createWriter(client: SheetsClient, log: Log): Writer {
  let tabs: Tabs = new Map();
  let shadow: Shadow | undefined;
  let lastWrite: Stored<WriteTag> | undefined;

  function advanceTo(course: Course, next: WriteState): void {
    course.state = advance(course.state, next);
    log.debug('sheet.write', { run: course.write.batch.run, state: next });
  }

  /** Undoes the damage of a write, of which `judgement` is known. `isOver`: nothing more may become known of it. */
  async function settle(course: Course, judgement: Judgement, isOver: boolean): Promise<WriteResult> {
    const { damage, done } = judgement;
    if (damage.length === 0) return { ...nothing, done, isOver };
    advanceTo(course, 'misdirected');
    log.warn('sheet.rows_moved', { run: course.write.batch.run, rows: damage.length });
    const { batch } = course.write;
    const look = await lookAgain(client, batch, shadow);
    const seen = new Map(
      [...look.tabs].map(([kind, { hiddenRows, rows }]) => {
        const fields = batch.tabs.get(kind)?.columns.fields ?? new Map();
        const kinds = new Map([...fields].map(([name, column]) => [name, column.kind]));
        return [kind, { rows, hiddenRows, kinds }];
      }),
    );
    const plan = compensate(damage, seen, look.shadow !== undefined);
    const ends = { done: new Map([...done, ...plan.done]), undone: plan.undone, escalated: plan.escalated };
    if (plan.steps.length === 0) return end(course, ends, isOver);
    const inverse: Batch = {
      run: `${course.write.inverse?.batch.run ?? batch.run}~`,
      from: inverseFrom(batch),
      steps: plan.steps,
      tabs: new Map([...look.tabs].map(([kind, tab]) => [kind, planTab(tab)])),
    };
    const write = { ...course.write, inverse: { batch: inverse, damageOf: plan.damageOf } };
    const left = judgement.unknown.map(({ number }) => number);
    const next = { ...course, write: { ...write, left: new Set(isOver ? [] : left) } };
    advanceTo(next, 'compensating');
    course.keep(writeReceipt(next.write), [...plan.damageOf.values()].filter(isForeign).map(toDamage));
    try {
      const sent = await sendBatch(client, log, inverse, {
        ...look,
        lastWrite: undefined,
        besides: [],
      });
      shadow = sent.shadow ?? shadow;
      return await finishInverse(
        next,
        momentOf(inverse, sent, look.tabs, []),
        ends,
        isOver && left.length === 0,
      );
    } catch (error) {
      if (!isSyncError(error)) throw error;
      advanceTo(next, 'unknown');
      log.warn('sheet.undo_without_reply', { run: batch.run, code: error.code });
      return {
        ...end(next, ends, false),
        pending: [...plan.damageOf.values()].filter(isForeign).map(toDamage),
      };
    }
  }

  /** Judges what undid the damage: what it missed is escalated, and so is what it did elsewhere. */
  async function finishInverse(
    course: Course,
    moment: Moment,
    before: Ends,
    isOver: boolean,
  ): Promise<WriteResult> {
    const { batch, damageOf } = course.write.inverse ?? { batch: course.write.batch, damageOf: new Map() };
    const judged = judge(batch, moment);
    const unclear = judged.damage.filter(({ right }) => right);
    const look = unclear.length > 0 ? await lookAgain(client, batch, shadow) : undefined;
    const clear = compensate(
      unclear,
      look ? new Map([...look.tabs].map(([kind, tab]) => [kind, { ...tab, kinds: new Map() }])) : new Map(),
      false,
    );
    const isDone = (number: number) =>
      judged.done.has(number) ||
      clear.done.has(number) ||
      clear.undone.some((each) => each.number === number);
    const missed = judged.damage.filter(({ number }) => !isDone(number));
    const steps = [...damageOf];
    const undone = steps.flatMap(([number, damage]) => (isDone(number) ? [damage] : []));
    // A cell that a user typed into at that moment was undone, and typed over by us.
    const over = new Set(missed.filter(({ edited }) => edited).map(({ number }) => number));
    const lost = steps.flatMap(([number, damage]) => (isDone(number) || over.has(number) ? [] : [damage]));
    return end(
      course,
      {
        done: before.done,
        undone: [...before.undone, ...undone],
        escalated: [...before.escalated, ...lost.map(toDamage), ...missed.map(toDamage)],
      },
      isOver,
    );
  }

  interface Ends {
    readonly done: ReadonlyMap<number, StepEnd>;
    readonly undone: readonly GridDamage[];
    readonly escalated: readonly Damage[];
  }

  /** The result of a write of which no damage is left to undo. */
  function end(course: Course, { done, escalated, undone }: Ends, isOver: boolean): WriteResult {
    const edited = undone.flatMap(({ edited: fields, number }) =>
      fields ? [[number, { edited: fields }] as const] : [],
    );
    const foreign = undone.filter(isForeign);
    if (isOver) advanceTo(course, endState(escalated.length, foreign.length));
    return {
      ...nothing,
      done: new Map([...done, ...edited]),
      undone: foreign.map(toDamage),
      escalated,
      isOver,
    };
  }

  return {
    start(nowTabs, nowShadow, nowLastWrite) {
      tabs = nowTabs;
      shadow = nowShadow;
      lastWrite = nowLastWrite;
    },
    prepare(steps, run, open) {
      const writes = open.map(readReceipt);
      const kinds = new Set(steps.map(({ entity }) => entity));
      const own = [...tabs].filter(([kind]) => kinds.has(kind));
      return writeReceipt({
        batch: {
          run,
          from: Math.max(0, ...writes.map(endOfWrite)),
          steps: planSteps(steps, tabs),
          tabs: new Map(own.map(([kind, tab]) => [kind, planTab(tab)])),
        },
        others: writes.flatMap((write) => (isEarlier(write) ? [] : write.batch.steps)),
      });
    },
    async write(receipt, keep, besides = []) {
      const write = readReceipt(receipt);
      if (isEarlier(write)) throw new Error('A write of an earlier version is never sent.');
      const course: Course = { write, keep, tabs, state: 'planned' };
      tabs = new Map();
      advanceTo(course, 'sent');
      const sent = await sendBatch(client, log, write.batch, {
        tabs: course.tabs,
        shadow,
        lastWrite,
        besides,
      }).catch((error: unknown) => {
        advanceTo(course, 'unknown');
        throw error;
      });
      shadow = sent.shadow ?? shadow;
      const judgement = judge(write.batch, momentOf(write.batch, sent, course.tabs, write.others));
      const refusal = refusalOf(sent.refused);
      if (judgement.damage.length === 0)
        advanceTo(course, judgement.done.size === 0 && refusal ? 'refused' : 'confirmed');
      const result = await settle(course, judgement, true);
      return refusal ? { ...result, refusal } : result;
    },
    async recover(receipt, keep, mayLand) {
      const write = readReceipt(receipt);
      if (isEarlier(write)) return escalateEarlier(write, client, shadow);
      const course: Course = { write, keep, tabs: new Map(), state: 'unknown' };
      const { inverse, others } = write;
      const cells = await readAllKept(client, shadow, inverse?.batch ?? write.batch);
      if (inverse && cells.headers.size > 0) {
        course.state = 'compensating';
        return finishInverse(course, { ...cells, others }, noEnds, true);
      }
      const pending = [...(inverse?.damageOf.values() ?? [])];
      if (inverse && mayLand)
        return { ...nothing, pending: pending.filter(isForeign).map(toDamage), isOver: false };
      if (inverse) return settle(course, { done: new Map(), damage: pending, unknown: [] }, true);
      if (cells.headers.size === 0) return undefined;
      const judged = keepLeft(
        withoutAppends(write.batch, judge(write.batch, { ...cells, others })),
        write.left,
      );
      const isOver = !mayLand || judged.unknown.length === 0;
      if (judged.damage.length === 0 && isOver) advanceTo(course, 'confirmed');
      if (!isOver && judged.damage.length === 0)
        keep(writeReceipt({ ...write, left: new Set(judged.unknown.map(({ number }) => number)) }), []);
      return settle(course, judged, isOver);
    },
  };
}

const nothing: WriteResult = { done: new Map(), undone: [], escalated: [], pending: [], isOver: true };
const noEnds = { done: new Map(), undone: [], escalated: [] };

/** Whether it is damage to another row, or to cells that were not meant: what a user typed into the right row is given back, and that is all. */
const isForeign = ({ edited }: GridDamage): boolean => edited === undefined;

const endState = (escalated: number, undone: number): WriteState => {
  if (escalated > 0) return 'escalated';
  return undone > 0 ? 'undone' : 'confirmed';
};

function keepLeft({ damage, done, unknown }: Judgement, left?: ReadonlySet<number>): Judgement {
  const isLeft = (number: number) => left?.has(number) ?? true;
  return {
    done: new Map([...done].filter(([number]) => isLeft(number))),
    damage: damage.filter(({ number }) => isLeft(number)),
    unknown: unknown.filter(({ number }) => isLeft(number)),
  };
}

/** Whether a new row has landed, of a write in several parts, only the next read shows. */
function withoutAppends({ steps }: Batch, judgement: Judgement): Judgement {
  const isAppend = (number: number) => steps.some((step) => step.number === number && step.kind === 'append');
  return {
    ...judgement,
    done: new Map([...judgement.done].filter(([number]) => !isAppend(number))),
    unknown: judgement.unknown.filter(({ kind }) => kind !== 'append'),
  };
}

/** The first error is reported; what else is wrong shows once that is mended. */
function refusalOf(refused: ReadonlyMap<number, SyncError>): WriteRefusal | undefined {
  const [error] = refused.values();
  return error && { error, steps: new Set(refused.keys()) };
}

/** What is known of the moment in which a batch landed. `tabs` are those that it was planned from. */
function momentOf(batch: Batch, sent: Sent, tabs: Tabs, others: readonly PlannedStep[]): Moment {
  const rows = new Map<number, Row>();
  for (const step of batch.steps) {
    const { entity, kind, number } = step;
    const [tab, headers] = [batch.tabs.get(entity), sent.headers.get(entity)];
    const [kept, after] = [sent.rows.get(number), sent.after.get(number)];
    if (!tab || !headers || kind === 'append' || sent.refused.has(number)) continue;
    const isKept = kept?.some((cell) => !isUnfilled(cell)) && !sent.uncopied.has(entity);
    if (isKept || !after) rows.set(number, kept ?? []);
    else rows.set(number, findMet(step, meetColumns(tab, headers), tabs.get(entity)?.rows ?? [], after));
  }
  return { headers: sent.headers, rows, refused: sent.refused, others };
}

/** Reads everything that a batch kept. */
async function readAllKept(
  client: SheetsClient,
  shadow: Shadow | undefined,
  batch: Batch,
): Promise<KeptCells> {
  const ranges = shadow ? keptRange(shadow, batch) : [];
  const answer = ranges.length > 0 ? await client.get(keptFields, ranges) : undefined;
  return shadow && answer ? readKept(shadow, batch, answer) : { headers: new Map(), rows: new Map() };
}
