import type { Labels } from '../core/fields/labels.ts';
import { addressOf } from '../core/fields/record-url.ts';
import { type Entity, isClaimToken, type RecordKey } from '../core/record.ts';
import type { FieldName, Value } from '../core/value.ts';
import { answerIn } from '../core/waiting/answer.ts';
import { scopeEntity, scopeKey } from '../core/waiting/scopes.ts';
import { type Brake, isNeeded } from '../core/waiting/waiting.ts';
import type { Engine } from './engine.ts';
import { labelsOf } from './labels.ts';
import { readUnderWay } from './pushing/under-way.ts';
import { readPresent } from './reading/lists.ts';
import type { ResyncReport } from './resync.ts';
import { isForUser, listToMend } from './to-mend.ts';

/** Something that a person can decide: its scope, what it is in a sentence, and what can be answered. */
export type WaitingItem = ReturnType<typeof listWaiting>[number];

/** Everything that waits for a person's decision, as of the last cycle. */
export function listWaiting({ found, link, runners }: Engine) {
  const labels = labelsOf(link);
  const brakes = new Map(found.brakes.map((brake) => [brake.scope, brake]));
  return runners.flatMap(({ askedSince, side: { mirror, report } }) => {
    if (!report || report.questions.length === 0) return [];
    // What is asked although the plan was made with an answer to it, as where the key does not let that through, is asked anew.
    const open = mirror.readDecisions().filter(({ at }) => at >= report.at);
    const answered = new Map(open.map((decision) => [decision.scope, answerIn(decision)]));
    return report.questions.map(({ about, answers, scope, what }) => ({
      scope,
      what,
      answers,
      about,
      ...nameSubject(scope, labels, link),
      /** What is stopped until it is answered. */
      stopped: labelStopped(brakes.get(scope), labels),
      /** When this process first saw it wait. */
      since: askedSince.get(scope),
      /** The answer of a user that is not carried out yet. */
      answered: answered.get(scope),
    }));
  });
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

/** Reads the status of a link from its mirror and its last cycle. */
export function readStatus(engine: Engine, resync: ResyncReport | undefined) {
  const { found, link } = engine;
  const waiting = listWaiting(engine);
  const asked = new Set(waiting.map(({ scope }) => scope));
  const toMend = listToMend(found, asked, labelsOf(link));
  const { brakes, conflicts, holds, refusals, restlessRows } = found;
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
    restlessRows,
    entities: readEntities(engine),
    problems: engine.listProblems(),
    brakes,
    holds,
    conflicts,
    waiting,
    toMend,
    /** How many things wait for a user who has not answered them. */
    forUser:
      waiting.filter(({ answered }) => answered === undefined).length + toMend.filter(isForUser).length,
    refusals,
    resync,
    latest: link.mirror.searchJournal({ limit: latestMax, bytesMax: latestBytesMax }),
  };
}

/** One entity at a glance; counts of records unless the name says otherwise. */
export type EntityStatus = Status['entities'][number];

function readEntities({ found, link, sides }: Engine) {
  const { entities, mirror } = link;
  const records = readPresent(mirror);
  const counts = sides.map((side) => [side.name, side.countRows()] as const);
  const leftOut = sides.map((side) => side.countLeftOut?.() ?? {});
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
    const rows = Object.fromEntries(
      counts.flatMap(([name, { [entity]: count }]) => (count === undefined ? [] : [[name, count] as const])),
    );
    return {
      entity,
      title: link.titles[entity],
      recordsInCrm: own.length,
      /** Records that each side shows, by its name; a side that does not keep them the same is absent. */
      rows,
      /** Records without a row because a side's own rule leaves them out; of several sides, where that are the most. */
      recordsLeftOut: Math.max(0, ...leftOut.map(({ [entity]: count = 0 }) => count)),
      // Of several sides, at the one that has the fewest.
      recordsInTable: Object.keys(rows).length === 0 ? 0 : Math.min(...Object.values(rows)),
      pending: ofEntity(underWay).length,
      /** Without what a user ignores: nothing has to be done about it. */
      refused: found.refusals.filter((each) => isOwn(each) && !each.isIgnored).length,
      conflicts: ofEntity(found.conflicts).length,
      held: found.holds.filter((each) => isOwn(each) && isNeeded(each)).length,
      sweep,
      /** Since when all records are known: time since the last complete sweep began. Absent before there was one. */
      sweepAgeMs: sweep?.isComplete ? now - sweep.startedAt : undefined,
      /** 95 of 100 records were read from the CRM no longer ago than this. Absent without records. */
      recordAgeP95Ms: percentile(ages, 0.95),
    };
  });
}

/** The value that this share of the values does not exceed. */
function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.ceil(share * sorted.length) - 1];
}
