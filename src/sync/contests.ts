import { SyncError } from '../core/errors.ts';
import type { Mirror } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import { type Contest, contestMs, contestWritesMax, findContest } from '../core/waiting/contest.ts';
import { loopScope } from '../core/waiting/scopes.ts';
import type { Problems } from './problems.ts';
import type { SideReport } from './side.ts';

/** A record is not written more often than this within the time that counts without a look at what for. */
const linesMax = 1_000;

/** The records over which the two sides fight, by the text of their key. */
export function readContests(mirror: Mirror, now: number): ReadonlyMap<string, Contest> {
  const since = now - contestMs;
  return new Map(
    mirror.readBusyRecords(since, contestWritesMax + 1).flatMap((key) => {
      const lines = mirror.searchJournal({ key, since, limit: linesMax });
      // Lines from before the clock was set back: whoever approves now would have approved before them.
      const past = lines.filter(({ at }) => at <= now);
      const contest = findContest(past.toReversed());
      return contest ? [[recordKeyText(key), contest] as const] : [];
    }),
  );
}

/** Tells who watches the log and the status of records that are held for it: each once when it begins and once when it ends. */
export function noteContests(problems: Problems, { holds }: Pick<SideReport, 'holds'>): void {
  const parked = new Set(
    holds.flatMap(({ decision, entity, id }) => {
      const key = id === undefined || entity === 'question' ? undefined : { entity, id };
      return key && decision === loopScope(key) ? [recordKeyText(key)] : [];
    }),
  );
  const known = new Set(problems.list().map(({ source }) => source));
  for (const source of known.difference(parked)) problems.end(source);
  for (const source of parked.difference(known)) {
    const words = `${source} is held: both sides keep changing it.`;
    problems.begin(source, new SyncError('RECORD_CONTESTED', words));
  }
}
