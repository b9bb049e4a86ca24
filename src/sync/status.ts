import type { Entity, RecordKey } from '../core/record.ts';
import type { Decision, JournalEntry, Sweep } from '../core/state.ts';
import { type Answer, answerIn } from '../core/waiting/answer.ts';
import { type Brake, type Conflict, type Hold, isNeeded, type Refusal } from '../core/waiting/waiting.ts';
import type { Engine } from './engine.ts';
import type { Problem } from './problems.ts';
import { readUnderWay } from './pushing/under-way.ts';
import type { ResyncReport } from './resync.ts';

/** One entity at a glance; counts of records unless the name says otherwise. */
export interface EntityStatus {
  readonly entity: Entity;
  readonly title: string;
  readonly recordsInCrm: number;
  readonly recordsInTable: number;
  readonly pending: number;
  /** Without what a person ignores: nobody has to do anything about it. */
  readonly refused: number;
  readonly conflicts: number;
  readonly held: number;
  readonly sweep: Sweep | undefined;
  /** Since when all records are known: time since the last complete sweep began. Absent before there was one. */
  readonly sweepAgeMs: number | undefined;
  /** 95 of 100 records were read from the CRM no longer ago than this. Absent without records. */
  readonly recordAgeP95Ms: number | undefined;
}

/** Everything an operator wants to know, in one answer. Times are epoch ms. */
export interface Status {
  readonly link: string;
  readonly now: number;
  readonly queue: { readonly kind: string };
  /** Nothing is written unless a person applies the plan for it. */
  readonly isManual: boolean;
  readonly cycles: number;
  readonly lastCycleAt: number | undefined;
  readonly restlessRows: number;
  readonly entities: readonly EntityStatus[];
  readonly problems: readonly Problem[];
  readonly brakes: readonly Brake[];
  readonly holds: readonly Hold[];
  readonly conflicts: readonly Conflict[];
  readonly waiting: readonly WaitingItem[];
  readonly refusals: readonly Refusal[];
  readonly resync: ResyncReport | undefined;
  readonly latest: readonly JournalEntry[];
}

/** Something that a person can decide: its scope, what it is in a sentence, and what can be answered. */
export interface WaitingItem {
  readonly scope: string;
  readonly what: string;
  readonly answers: readonly Answer[];
  /** What it is about, as the side shows it: kind, record, title, field, crm, table, agreed. */
  readonly about: Readonly<Record<string, string>>;
  /** When this process first saw it wait. */
  readonly since: number | undefined;
  /** What somebody answered that is not carried out yet. */
  readonly answered: Answer | 'value' | undefined;
}

/** Everything that waits for a person's decision, as of the last cycle. */
export const listWaiting = ({ runners }: Engine): WaitingItem[] =>
  runners.flatMap(({ askedSince, side: { mirror, report } }) => {
    if (!report || report.questions.length === 0) return [];
    // What is asked although the plan was made with an answer to it, as where the key does not let that through, is asked anew.
    const isOpen = ({ at }: Decision) => at >= report.at;
    const answered = new Map(
      mirror
        .readDecisions()
        .filter(isOpen)
        .map((decision) => [decision.scope, answerIn(decision)]),
    );
    return report.questions.map(({ about, answers, scope, what }) => ({
      scope,
      what,
      answers,
      about,
      since: askedSince.get(scope),
      answered: answered.get(scope),
    }));
  });

/** The scopes of what the CRM did not take, as of the last cycle, also of what a person ignores. */
export const listRefused = ({ found }: Engine): string[] =>
  found.refusals.flatMap(({ decision }) => decision ?? []);

const latestMax = 20;
const latestBytesMax = 64 * 1024;

/** Reads the status of a link from its mirror and its last cycle. */
export function readStatus(engine: Engine, resync: ResyncReport | undefined): Status {
  const { found, link } = engine;
  const { brakes, conflicts, holds, refusals, restlessRows } = found;
  return {
    link: link.name,
    now: link.clock.now(),
    queue: { kind: link.queue.kind },
    isManual: link.isManual ?? false,
    cycles: engine.tally.cycles,
    lastCycleAt: engine.lastCycleAt,
    restlessRows,
    entities: readEntities(engine),
    problems: engine.listProblems(),
    brakes,
    holds,
    conflicts,
    waiting: listWaiting(engine),
    refusals,
    resync,
    latest: link.mirror.searchJournal({ limit: latestMax, bytesMax: latestBytesMax }),
  };
}

function readEntities({ found, link, sides }: Engine): EntityStatus[] {
  const { entities, mirror } = link;
  const records = mirror.readRecords().filter(({ presence }) => presence === 'present');
  const agreements = sides.map((side) =>
    side.mirror.readAgreements().filter(({ fields }) => Object.keys(fields).length > 0),
  );
  const underWay = readUnderWay(link);
  const sweeps = mirror.readSweeps();
  const now = link.clock.now();
  return entities.map((entity) => {
    const ofEntity = <Item extends { readonly key: RecordKey }>(items: readonly Item[]) =>
      items.filter(({ key }) => key.entity === entity);
    const isOwn = (item: { readonly entity: Entity | 'question' }) => item.entity === entity;
    const sweep = sweeps.find(isOwn);
    const own = ofEntity(records);
    const ages = own.map(({ observedAt }) => now - observedAt);
    return {
      entity,
      title: link.titles[entity],
      recordsInCrm: own.length,
      // Of several sides, at the one that has the fewest.
      recordsInTable: sides.length === 0 ? 0 : Math.min(...agreements.map((each) => ofEntity(each).length)),
      pending: ofEntity(underWay).length,
      refused: found.refusals.filter((each) => isOwn(each) && !each.isIgnored).length,
      conflicts: ofEntity(found.conflicts).length,
      held: found.holds.filter((each) => isOwn(each) && isNeeded(each)).length,
      sweep,
      sweepAgeMs: sweep?.isComplete ? now - sweep.startedAt : undefined,
      recordAgeP95Ms: percentile(ages, 0.95),
    };
  });
}

/** The value that this share of the values does not exceed. */
function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.ceil(share * sorted.length) - 1];
}
