import { endAtPace, endOfWriting, type Progress } from '../core/reading/progress.ts';
import type { Sample } from '../core/reading/samples.ts';
import { type Entity, isListed } from '../core/record.ts';
import { isOfWhole } from '../core/waiting/waiting.ts';
import type { ResyncReport } from './resync.ts';
import type { EntityStatus, Status } from './status.ts';

/** Fewer rows than this are written while somebody looks for them. */
const fillMin = 20;

/** The large pieces of work that are on their way: the first reading, the first filling of sides, and a resync. */
export function listProgress(
  status: Pick<Status, 'brakes' | 'entities' | 'holds' | 'isManual' | 'now' | 'resync'>,
  samples: readonly Sample[],
): Progress[] {
  const { brakes, entities, holds, isManual, now, resync } = status;
  const stopped = new Set<Entity | 'question'>(
    [...brakes, ...holds.filter(isOfWhole)].map(({ entity }) => entity),
  );
  const goingOn = entities.filter(({ entity }) => !stopped.has(entity));
  return [
    ...entities.flatMap((each) => readingOf(each, now)),
    // Nothing is filled by itself where a person has to apply the plan for it, to answer a brake, or to mend it first.
    ...(isManual ? [] : fillingOf(goingOn, samples, now)),
    ...(resync?.state === 'running' ? [resyncOf(resync, now)] : []),
  ];
}

/** The first reading of a list has an end where the CRM says how long the list is. */
function readingOf({ entity, recordsListed: total, sweep, title }: EntityStatus, now: number): Progress[] {
  if (!isListed(entity) || sweep?.isComplete) return [];
  const done = sweep?.records ?? 0;
  // Of records that move from page to page meanwhile, some are read twice.
  if (!sweep || total === undefined || done > total) return [{ work: 'reading', title, done }];
  const endsAt = endAtPace({ done, total }, sweep.startedAt, now);
  return [{ work: 'reading', title, done, total, endsAt }];
}

function fillingOf(entities: readonly EntityStatus[], samples: readonly Sample[], now: number): Progress[] {
  const missingOf = ({ recordsInTable, recordsWanted }: EntityStatus) => recordsWanted - recordsInTable;
  const filling = entities.filter((each) => each.sweep?.isComplete && missingOf(each) >= fillMin);
  const missing = filling.reduce((sum, each) => sum + missingOf(each), 0);
  const endsAt = endOfWriting(missing, samples, now);
  return filling.map((each) => {
    const { recordsInTable: done, recordsWanted: total, title } = each;
    return { work: 'filling', title, done, total, endsAt };
  });
}

/** Its end is that of the reading: what there is to write after it is known then. */
function resyncOf({ expected, records, startedAt }: ResyncReport, now: number): Progress {
  const sum = (counts: ResyncReport['records']) =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  const [done, total] = [sum(records), sum(expected)];
  const endsAt = endAtPace({ done, total }, startedAt, now);
  return { work: 'resync', title: 'all records', done, total: Math.max(done, total), endsAt };
}
