import type { SyncError } from '../../core/errors.ts';
import type { Receipt } from '../../core/open-write.ts';
import type { Log } from '../../core/ports.ts';
import type { KeepReceipt, Table } from '../../sheet/port/port.ts';
import type { RowStep, WriteRefusal, WriteResult } from '../../sheet/port/table.ts';
import type { Request, SheetsClient } from '../client.ts';
import { mapKnown } from '../map-known.ts';
import type { Stored, WriteTag } from '../metadata.ts';
import type { Answers } from '../probes/answers.ts';
import { heed } from '../probes/heed.ts';
import { sendBatch } from './batch.ts';
import { escalateEarlier } from './earlier-write.ts';
import { type Judgement, judge } from './judge.ts';
import { endOfBatch, findAwaited, type PlannedStep, planSteps, planTab, type Tabs } from './planned.ts';
import { endOfWrite, isEarlier, noEnds, readReceipt, type StoredWrite, writeReceipt } from './receipt.ts';
import { fetchMarked, type KeptCells, type Shadow, sortKept } from './shadow.ts';
import {
  advanceTo,
  type Course,
  judgeInverse,
  type LookAt,
  nothing,
  pendingOf,
  type Surroundings,
  undo,
} from './undo.ts';

/** Writes steps to the tabs as they were read last, and undoes what reached other rows than was planned. */
export class Writer implements Pick<Table, 'prepare' | 'recover'> {
  readonly #around: Surroundings;
  /** As they were read last; a new read must come before the next write. */
  #tabs: Tabs = new Map();
  #lastWrite: Stored<WriteTag> | undefined;
  /** What was prepared last: to read a long receipt again takes a tenth of a second. */
  #prepared: { readonly receipt: Receipt; readonly write: StoredWrite } | undefined;

  constructor(client: SheetsClient, log: Log, answers: Answers, look: LookAt) {
    this.#around = { client, log, answers, look, shadow: undefined };
  }

  /** Takes over what a read found. */
  start(tabs: Tabs, shadow: Shadow | undefined, lastWrite: Stored<WriteTag> | undefined): void {
    this.#tabs = mapKnown(tabs, (tab) => heed(tab, this.#around.answers));
    this.#around.shadow = shadow;
    this.#lastWrite = lastWrite;
    this.#prepared = undefined;
  }

  prepare(steps: readonly RowStep[], run: string, open: readonly Receipt[]): Receipt {
    const writes = open.map(readReceipt);
    const own = [...this.#tabs].filter(([kind]) => steps.some(({ entity }) => entity === kind));
    const hasDeletes = (kind: string) => steps.some((step) => step.kind === 'delete' && step.entity === kind);
    const write: StoredWrite = {
      batch: {
        run,
        from: Math.max(0, ...writes.map(endOfWrite)),
        steps: planSteps(steps, this.#tabs),
        tabs: new Map(own.map(([kind, tab]) => [kind, planTab(tab, hasDeletes(kind))])),
      },
      others: writes.flatMap((each) => (isEarlier(each) ? [] : each.batch.steps)),
    };
    const receipt = writeReceipt(write);
    this.#prepared = { receipt, write };
    return receipt;
  }

  /** As {@link Table.write}; `besides` goes with the first batch that Google takes. */
  async write(receipt: Receipt, keep: KeepReceipt, besides: readonly Request[] = []): Promise<WriteResult> {
    const around = this.#around;
    const { client, log, shadow } = around;
    const write = this.#prepared?.receipt === receipt ? this.#prepared.write : readReceipt(receipt);
    this.#prepared = undefined;
    if (isEarlier(write)) throw new Error('A write of an earlier version is never sent.');
    const course: Course = { write, keep, state: 'planned' };
    const ground = { tabs: this.#tabs, shadow, lastWrite: this.#lastWrite, besides };
    this.#tabs = new Map();
    advanceTo(around, course, 'sent');
    const sent = await sendBatch(client, log, write.batch, ground).catch((error: unknown) => {
      advanceTo(around, course, 'unknown');
      throw error;
    });
    around.shadow = sent.shadow;
    const judgement = judge(write.batch, { ...sent, others: write.others });
    const refusal = refusalOf(sent.refused);
    if (judgement.damage.length === 0)
      advanceTo(around, course, judgement.done.size === 0 && refusal ? 'refused' : 'confirmed');
    const result = await undo(around, course, judgement, true);
    return refusal ? { ...result, refusal } : result;
  }

  async recover(receipt: Receipt, keep: KeepReceipt, mayLand: boolean): Promise<WriteResult | undefined> {
    const around = this.#around;
    const write = readReceipt(receipt);
    if (isEarlier(write)) return escalateEarlier(write, around);
    const course: Course = { write, keep, state: 'unknown' };
    const batch = write.inverse?.batch ?? write.batch;
    const cells = sortKept(batch, await fetchMarked(around.client, around.shadow, batch, endOfBatch(batch)));
    if (write.inverse) return this.#recoverInverse(course, cells, mayLand);
    if (cells.headers.size === 0) return undefined;
    const judged = keepOpen(write, judge(write.batch, { ...cells, others: write.others }), this.#tabs);
    const isOver = !mayLand || judged.unknown.length === 0;
    if (judged.damage.length > 0) return undo(around, course, judged, isOver);
    if (isOver) advanceTo(around, course, 'confirmed');
    return { ...nothing, done: judged.done, isOver };
  }

  /** An inverse that never landed is planned once more, from what is there now. */
  async #recoverInverse(course: Course, cells: KeptCells, mayLand: boolean): Promise<WriteResult> {
    const around = this.#around;
    const { inverse, left, others } = course.write;
    const ends = inverse?.ends ?? noEnds;
    if (cells.headers.size > 0) {
      advanceTo(around, course, 'compensating');
      const isOver = !mayLand || (left?.size ?? 0) === 0;
      return judgeInverse(around, course, { ...cells, others }, ends, isOver);
    }
    if (mayLand) return { ...nothing, done: ends.done, pending: pendingOf(course.write), isOver: false };
    const damage = [...(inverse?.damageOf.values() ?? [])];
    return undo(around, course, { done: new Map(), damage, unknown: [] }, true, ends);
  }
}

/**
 * What is judged of the steps that are left. Nothing is kept of new rows, and a write in several parts may have put in some of them: those that
 * `tabs`, as they were read last, do not show may still come.
 */
function keepOpen({ batch, left }: StoredWrite, { damage, done, unknown }: Judgement, tabs: Tabs): Judgement {
  const steps = batch.steps.filter(({ number }) => left?.has(number) ?? true);
  const [appends, others] = [steps.filter(isAppend), steps.filter((step) => !isAppend(step))];
  const [isLeft, isOpen, isDamage] = [hasNumberOf(steps), hasNumberOf(others), hasNumberOf(damage)];
  const added = appends.filter((step) => !isDamage(step));
  return {
    done: new Map([...done].filter(([number]) => isOpen({ number }))),
    damage: damage.filter(isLeft),
    unknown: [...unknown.filter(isOpen), ...findAwaited(batch, added, tabs)],
  };
}

const isAppend = ({ kind }: PlannedStep): boolean => kind === 'append';

type Numbered = Pick<PlannedStep, 'number'>;

function hasNumberOf(steps: readonly Numbered[]) {
  const numbers = new Set(steps.map(({ number }) => number));
  return ({ number }: Numbered): boolean => numbers.has(number);
}

/** The first error is reported; what else is wrong shows once that is mended. */
function refusalOf(refused: ReadonlyMap<number, SyncError>): WriteRefusal | undefined {
  const [error] = refused.values();
  return error && { error, steps: new Set(refused.keys()) };
}
