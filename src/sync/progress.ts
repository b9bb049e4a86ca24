import { endAtPace, endOfWriting, type Progress } from '../core/progress.ts';
import { type Entity, isListed } from '../core/record.ts';
import type { Sample } from '../core/samples.ts';
import { isOfWhole } from '../core/waiting.ts';
import type { ResyncReport } from './resync.ts';
import type { Status, TabStatus } from './status.ts';

/** Fewer rows than this are written while somebody looks for them. */
const fillMin = 20;

/** The large pieces of work that are on their way: the first reading, the first filling of tabs, and a resync. */
export function listProgress(
  {
    brakes,
    holds,
    isManual,
    now,
    resync,
    tabs,
  }: Pick<Status, 'brakes' | 'holds' | 'isManual' | 'now' | 'resync' | 'tabs'>,
  samples: readonly Sample[],
): Progress[] {
  const stopped = new Set<Entity | 'question'>(
    [...brakes, ...holds.filter(isOfWhole)].map(({ entity }) => entity),
  );
  const goingOn = tabs.filter(({ entity }) => !stopped.has(entity));
  return [
    ...tabs.flatMap(readingOf),
    // No tab is filled by itself where a person has to apply the plan for it, to answer a brake, or to mend it first.
    ...(isManual ? [] : fillingOf(goingOn, samples, now)),
    ...(resync?.state === 'running' ? [resyncOf(resync, now)] : []),
  ];
}

/** No list of the CRM says how long it is, so the first reading has no end that could be told. */
const readingOf = ({ entity, sweep, title }: TabStatus): Progress[] =>
  isListed(entity) && !sweep?.isComplete ? [{ work: 'reading', title, done: sweep?.records ?? 0 }] : [];

function fillingOf(tabs: readonly TabStatus[], samples: readonly Sample[], now: number): Progress[] {
  const missingOf = ({ recordsInCrm, recordsInTable }: TabStatus) => recordsInCrm - recordsInTable;
  const filling = tabs.filter((tab) => tab.sweep?.isComplete && missingOf(tab) >= fillMin);
  const missing = filling.reduce((sum, tab) => sum + missingOf(tab), 0);
  const endsAt = endOfWriting(missing, samples, now);
  return filling.map(({ recordsInCrm: total, recordsInTable: done, title }) => ({
    work: 'filling',
    title,
    done,
    total,
    ...(endsAt === undefined ? {} : { endsAt }),
  }));
}

/** Its end is that of the reading: what there is to write after it is known then. */
function resyncOf({ expected, records, startedAt }: ResyncReport, now: number): Progress {
  const sum = (counts: ResyncReport['records']) =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  const [done, total] = [sum(records), sum(expected)];
  const endsAt = endAtPace({ done, total }, startedAt, now);
  return {
    work: 'resync',
    title: 'all tabs',
    done,
    total: Math.max(done, total),
    ...(endsAt === undefined ? {} : { endsAt }),
  };
}
