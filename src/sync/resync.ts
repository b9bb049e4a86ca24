import { explainError } from '../core/errors.ts';
import { type Entity, listedEntities } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import { refusedScope } from '../core/waiting/scopes.ts';
import { isNeeded } from '../core/waiting/waiting.ts';
import type { Engine } from './engine.ts';
import { readSteps, readUnderWay } from './pushing/under-way.ts';
import { readPresent } from './reading/lists.ts';

/** How a resync goes, and what it came to. Times are epoch ms. */
export interface ResyncReport {
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAt: number;
  readonly finishedAt?: number;
  /** Records that were known when it began, by entity: what there may be to read. */
  readonly expected: Readonly<Partial<Record<Entity, number>>>;
  /** Records read so far, by entity. */
  readonly records: Readonly<Partial<Record<Entity, number>>>;
  /** Writes to the sheet and to the CRM since it began: none when both sides were the same already. */
  readonly tableSteps: number;
  readonly crmWrites: number;
  /** What still waits for a person or for time when it ended. */
  readonly waiting: number;
  /** Records and new rows that wait for a plan to be applied, where nothing is written without. */
  readonly unapplied: number;
  readonly problem?: string;
}

/** Cycles after which a resync ends although something is still moving, because people go on working. */
const cyclesMax = 40;

/** Reads everything from the CRM again and cycles until nothing is left to do. Reports after every step. */
export async function resync(
  engine: Engine,
  onProgress: (report: ResyncReport) => void,
): Promise<ResyncReport> {
  const { clock, mirror, times } = engine.link;
  const before = engine.tally;
  let report: ResyncReport = {
    state: 'running',
    startedAt: clock.now(),
    expected: {},
    records: {},
    tableSteps: 0,
    crmWrites: 0,
    waiting: 0,
    unapplied: 0,
  };
  const advance = (news: Partial<ResyncReport>) => {
    const { tableSteps, crmWrites } = engine.tally;
    report = {
      ...report,
      ...news,
      tableSteps: tableSteps - before.tableSteps,
      crmWrites: crmWrites - before.crmWrites,
    };
    onProgress(report);
  };
  try {
    const known = listedEntities.map((entity) => [entity, readPresent(mirror, entity).length]);
    advance({ expected: Object.fromEntries(known) });
    await engine.pullAll((entity, records) => advance({ records: { ...report.records, [entity]: records } }));
    for (let cycles = 0, isSettled = false; !isSettled && cycles < cyclesMax; cycles += 1) {
      if (engine.isStopping) throw new Error('The daemon stopped before both sides were the same.');
      await engine.cycle();
      const { found, reports } = engine;
      const active = readUnderWay(engine.link).length;
      const restless = found.restlessRows;
      isSettled = reports.every(({ hasActed }) => !hasActed) && restless === 0 && active === 0;
      const unapplied = reports.reduce((sum, report) => sum + report.unapplied, 0);
      // Where somebody types on and on, that was not looked at yet.
      const waiting = active + restless + countQuestions(found, readSteps(engine.link));
      advance({ unapplied, waiting });
      if (!isSettled) await clock.sleep(times.typingPauseMs);
    }
    advance({ state: 'done', finishedAt: clock.now() });
  } catch (error) {
    advance({ state: 'failed', finishedAt: clock.now(), problem: explainError(error) });
  }
  return report;
}

/** What only a person can settle, and is to. What the CRM refused may be in the outbox alone. */
function countQuestions(
  { brakes, conflicts, holds, refusals }: Engine['found'],
  items: readonly OutboxItem[],
): number {
  const ignored = new Set(refusals.filter(({ isIgnored }) => isIgnored).map(({ decision }) => decision));
  const isAsked = ({ key, state }: OutboxItem) => state === 'refused' && !ignored.has(refusedScope(key));
  return (
    brakes.length +
    conflicts.length +
    holds.filter(isNeeded).length +
    refusals.filter(({ decision }) => decision === undefined).length +
    items.filter(isAsked).length
  );
}
