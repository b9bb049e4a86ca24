import type { Labels } from '../core/fields/labels.ts';
import { addressOf } from '../core/fields/record-url.ts';
import { type Entity, isClaimToken, isListed, type RecordKey } from '../core/record.ts';
import type { FieldName, Value } from '../core/value.ts';
import { answerIn } from '../core/waiting/answer.ts';
import { scopeEntity, scopeKey } from '../core/waiting/scopes.ts';
import { type Brake, isNeeded, isOfWhole } from '../core/waiting/waiting.ts';
import type { Engine } from './engine.ts';
import { labelsOf } from './labels.ts';
import { readUnderWay } from './pushing/under-way.ts';
import { readPresent } from './reading/lists.ts';
import type { ResyncReport } from './resync.ts';
import { isForUser, listToMend } from './to-mend.ts';

/** Something that a person can decide: its scope, what it is in a sentence, and what can be answered. */
export type WaitingItem = ReturnType<typeof listWaiting>[number];

/** Everything that waits for a person's decision, as of the last cycle. */
export const listWaiting = (engine: Engine) => nameQuestions(engine, listQuestions(engine));

/** The same without names: to find those of thousands takes longer than all the rest. */
function listQuestions({ runners }: Engine) {
  return runners.flatMap(({ askedSince, side: { mirror, report } }) => {
    if (!report || report.questions.length === 0) return [];
    // What is asked although the plan was made with an answer to it, as where the key does not let that through, is asked anew.
    const open = mirror.readDecisions().filter(({ at }) => at >= report.at);
    const answered = new Map(open.map((decision) => [decision.scope, answerIn(decision)]));
    return report.questions.map((question) => ({
      ...question,
      /** When this process first saw it wait. */
      since: askedSince.get(question.scope),
      /** The answer of a user that is not carried out yet. */
      answered: answered.get(question.scope),
    }));
  });
}

type Question = ReturnType<typeof listQuestions>[number];

function nameQuestions({ found, link }: Engine, questions: readonly Question[]) {
  const labels = labelsOf(link);
  const brakes = new Map(found.brakes.map((brake) => [brake.scope, brake]));
  return questions.map(({ about, answered, answers, scope, since, what }) => ({
    scope,
    what,
    answers,
    about,
    ...nameSubject(scope, labels, link),
    /** What is stopped until it is answered. */
    stopped: labelStopped(brakes.get(scope), labels),
    since,
    answered,
  }));
}

/** Whom something under the scope is about, by name. */
function nameSubject(scope: string, labels: Labels, { recordUrl }: Engine['link']) {
  const [key, entity] = [scopeKey(scope), scopeEntity(scope)];
  return {
    name: key && labels.nameOf(key),
    /** Where users find it in the CRM. */
    url: key && recordUrl !== undefined && !isClaimToken(key.id) ? addressOf(recordUrl, key) : undefined,
    entityTitle: entity && labels.titles[entity],
  };
}

/** What waits behind a brake, with the record and the field of each change that is shown. */
function labelStopped(brake: Brake | undefined, labels: Labels) {
  if (!brake) return undefined;
  const { entity } = brake;
  const { count, shown } = brake.changes;
  const show = (field: FieldName, value: Value | undefined) =>
    value === undefined ? undefined : labels.show(entity, field, value);
  return {
    count,
    shown: shown.map(({ after, before, field, id, what }) => ({
      name: labels.nameOf({ entity, id }),
      what,
      ...(field === undefined
        ? {}
        : {
            header: labels.headerOf(entity, field),
            before: show(field, before),
            after: show(field, after),
          }),
    })),
  };
}

/** The scopes of what the CRM did not take, as of the last cycle, also of what a person ignores. */
export const listRefused = ({ found }: Engine): string[] =>
  found.refusals.flatMap(({ decision }) => decision ?? []);

const latestMax = 20;
const latestBytesMax = 64 * 1024;

/** Everything an operator wants to know, in one answer. Times are epoch ms. */
export type Status = ReturnType<typeof readStatus>;

/** A status has so many of each list at most, the first: with tens of thousands of records as many things may wait. */
export const listedMax = 200;

/** The lists of a status that grow with the records, whole and without names. */
function readLists(engine: Engine) {
  const { found, link } = engine;
  const { brakes, conflicts, holds, refusals } = found;
  const waiting = listQuestions(engine);
  const asked = new Set(waiting.map(({ scope }) => scope));
  const toMend = listToMend(found, asked, labelsOf(link));
  return {
    waiting,
    toMend,
    brakes,
    // What stops a whole table is never behind what stops single rows.
    holds: [...holds.filter(isOfWhole), ...holds.filter((hold) => !isOfWhole(hold))],
    conflicts,
    refusals,
    problems: engine.listProblems(),
  };
}

type Lists = ReturnType<typeof readLists>;
export const statusLists = [
  'waiting',
  'toMend',
  'brakes',
  'holds',
  'conflicts',
  'refusals',
  'problems',
] as const satisfies readonly (keyof Lists)[];

/** A part of one of the lists, and where the next part begins; absent behind the last. */
export function readStatusList(engine: Engine, name: (typeof statusLists)[number], from: number) {
  const end = from + listedMax;
  const { [name]: list, waiting } = readLists(engine);
  const items = name === 'waiting' ? nameQuestions(engine, waiting.slice(from, end)) : list.slice(from, end);
  return { items, ...(list.length > end ? { next: end } : {}) };
}

const firstOf = <Item>(list: readonly Item[]): readonly Item[] => list.slice(0, listedMax);

/** Reads the status of a link from its mirror and its last cycle. */
export function readStatus(engine: Engine, resync: ResyncReport | undefined) {
  const { found, link } = engine;
  const lists = readLists(engine);
  const { toMend, waiting } = lists;
  return {
    link: link.name,
    now: link.clock.now(),
    queue: { kind: link.queue.kind },
    /** Nothing is written unless a person applies the plan for it. */
    isManual: link.isManual ?? false,
    cycles: engine.tally.cycles,
    lastCycleAt: engine.lastCycleAt,
    sides: engine.runners.map(({ lastCycleAt, side: { name, title, url } }) => ({
      name,
      title,
      url,
      lastCycleAt,
    })),
    restlessRows: found.restlessRows,
    entities: readEntities(engine),
    waiting: nameQuestions(engine, firstOf(waiting)),
    toMend: firstOf(toMend),
    brakes: firstOf(lists.brakes),
    holds: firstOf(lists.holds),
    conflicts: firstOf(lists.conflicts),
    refusals: firstOf(lists.refusals),
    problems: firstOf(lists.problems),
    /** How long each of these lists is. */
    counts: Object.fromEntries(statusLists.map((name) => [name, lists[name].length])) as Readonly<
      Record<keyof Lists, number>
    >,
    /** How many things wait for a user who has not answered them. */
    forUser:
      waiting.filter(({ answered }) => answered === undefined).length + toMend.filter(isForUser).length,
    resync,
    latest: link.mirror.searchJournal({ limit: latestMax, bytesMax: latestBytesMax }),
  };
}

/** One entity at a glance; counts of records unless the name says otherwise. */
export type EntityStatus = Status['entities'][number];

function readEntities(engine: Engine) {
  const { found, link, sides } = engine;
  const { entities, mirror } = link;
  const counts = sides.map((side) => ({
    name: side.name,
    rows: side.countRows(),
    leftOut: side.countLeftOut?.(),
  }));
  const underWay = readUnderWay(link);
  const sweeps = mirror.readSweeps();
  const now = link.clock.now();
  return entities.map((entity) => {
    const ofEntity = <Item extends { readonly key: RecordKey }>(items: readonly Item[]) =>
      items.filter(({ key }) => key.entity === entity);
    const isOwn = (item: { readonly entity: Entity | 'question' }) => item.entity === entity;
    const sweep = sweeps.find(isOwn);
    const own = readPresent(mirror, entity);
    const ages = own.map(({ observedAt }) => now - observedAt);
    const kept = counts.flatMap(({ leftOut: allLeftOut, name, rows: { [entity]: shown } }) => {
      if (shown === undefined) return [];
      const leftOut = allLeftOut ? allLeftOut[entity] : 0;
      // Until a side knows how many records it leaves out, none is known to lack there.
      return [{ name, shown, leftOut, wanted: leftOut === undefined ? shown : own.length - leftOut }];
    });
    const [behind] = kept.toSorted((one, other) => missingAt(other) - missingAt(one));
    return {
      entity,
      title: link.titles[entity],
      recordsInCrm: own.length,
      /** Records that each side shows, by its name; a side that does not keep them the same is absent. */
      rows: Object.fromEntries(kept.map(({ name, shown }) => [name, shown])),
      /** Records without a row because a side's own rule leaves them out; of several sides, where that are the most. */
      recordsLeftOut: Math.max(0, ...kept.map(({ leftOut = 0 }) => leftOut)),
      /** Records that a side shows, and is to show; of several sides, the one that lacks the most. */
      recordsInTable: behind?.shown ?? 0,
      recordsWanted: behind?.wanted ?? 0,
      pending: ofEntity(underWay).length,
      /** Without what a user ignores: nothing has to be done about it. */
      refused: found.refusals.filter((each) => isOwn(each) && !each.isIgnored).length,
      conflicts: ofEntity(found.conflicts).length,
      held: found.holds.filter((each) => isOwn(each) && isNeeded(each)).length,
      sweep,
      /** How many records the list has that is being read, where the CRM says so. */
      recordsListed: isListed(entity) ? engine.countListed(entity) : undefined,
      /** Since when all records are known: time since the last complete sweep began. Absent before there was one. */
      sweepAgeMs: sweep?.isComplete ? now - sweep.startedAt : undefined,
      /** 95 of 100 records were read from the CRM no longer ago than this. Absent without records. */
      recordAgeP95Ms: percentile(ages, 0.95),
    };
  });
}

const missingAt = ({ shown, wanted }: { readonly shown: number; readonly wanted: number }) => wanted - shown;

/** The value that this share of the values does not exceed. */
function percentile(values: readonly number[], share: number): number | undefined {
  // Several times as fast as sorting with a function.
  const sorted = new Float64Array(values).sort();
  return sorted[Math.ceil(share * sorted.length) - 1];
}
