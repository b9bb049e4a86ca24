import { type Settings, tabNames } from '../../app/settings.ts';
import { explainError, isSyncError } from '../../core/errors.ts';
import type { Entity } from '../../core/record.ts';
import { currentLayout, type LayoutLink } from '../../sheet/layout.ts';
import type { SheetLink } from '../../sheet/link.ts';
import type { Plan } from '../../sheet/plans/plan.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import { SheetSide } from '../../sheet/side.ts';
import { Engine } from '../../sync/engine.ts';
import type { Link } from '../../sync/link.ts';
import { print } from '../command.ts';
import { ProgressLine, type WorkDone } from '../fill/progress-line.ts';

/** Reads the CRM and says in a few lines what the daemon would do first, in one cycle or in many. Nothing is written. */
export async function showFirstPlan(given: SheetLink, budget: Settings['crm']['budget']): Promise<void> {
  // A tab is filled, and written to, in several cycles: the first alone would leave out most of the records.
  const all = Number.POSITIVE_INFINITY;
  const link = { ...given, policy: { ...given.policy, appendsMax: all, updatesMax: all } };
  try {
    print(
      `Reading the CRM, at most ${budget.requests} requests in ${budget.windowMs / 1_000} s (crm.budget.requests).`,
    );
    await readAll(new Engine(link, []), link);
    print(...describeFirstPlan(await new SheetSide(link).plan(), link));
  } catch (error) {
    if (!isSyncError(error)) throw error;
    print(`What the daemon would do first can not be told yet: ${explainError(error)}`);
  }
}

async function readAll(engine: Engine, { clock }: Link): Promise<void> {
  const startedAt = clock.now();
  const line = new ProgressLine();
  const read: Record<string, number> = {};
  const sum = () => Object.values(read).reduce((total, count) => total + count, 0);
  const follow = followReading(startedAt);
  await engine.pullAll((entity, records, _isWhole, total) => {
    read[entity] = records;
    line.show(follow(entity, { done: records, total }, clock.now()));
  });
  line.end();
  print(`Read ${sum()} records of the CRM in ${Math.round((clock.now() - startedAt) / 1_000)} s.`);
}

/**
 * Follows the reading of one list after the other, from an instant on. Returns how far a list is, after each of its pages; it ends when it
 * goes on at the same pace. Each list says how long it is when its turn comes, so there is no sum.
 */
export function followReading(startedAt: number) {
  let current: { readonly entity?: Entity; readonly startedAt: number } = { startedAt };
  let pageAt = startedAt;
  return (entity: Entity, work: Pick<WorkDone, 'done' | 'total'>, now: number): WorkDone => {
    // A list begins where the one before it ended: its own first page is read already.
    if (current.entity !== entity) current = { entity, startedAt: pageAt };
    pageAt = now;
    const { done, total } = work;
    const endsAt = total && done > 0 ? now + ((now - current.startedAt) * (total - done)) / done : undefined;
    return { ...work, name: `Reading ${tabNames[entity]}`, startedAt: current.startedAt, endsAt };
  };
}

/** What a plan comes to on each side, in numbers. */
export function describeFirstPlan(plan: Plan, link: LayoutLink): string[] {
  const layout = currentLayout(link);
  const tabs = layout.flatMap(({ entity, title }) => {
    const written = describeRows(plan, entity);
    return written === '' ? [] : [`  in the tab ${title}: ${written}`];
  });
  const { brakes, conflicts, holds, outbox, refusals, restlessRows, table } = plan;
  const count = (kind: string) => outbox.save.filter((item) => item.kind === kind).length;
  const creates = table.filter((step) => step.creates !== undefined).length + count('create');
  const crm = listCounts([
    [creates, 'to be created'],
    [count('update'), 'to be changed'],
    [count('delete'), 'to be moved to the trash'],
  ]);
  const titles = new Map(layout.map(({ entity, title }) => [entity, title]));
  const waiting = [...brakes, ...holds, ...refusals].map(
    ({ entity, reason }) => `  waits for you in the tab ${titles.get(entity)}: ${reason}`,
  );
  return [
    'What the daemon would do first:',
    ...(tabs.length > 0 ? tabs : ['  in the sheet: nothing']),
    `  in the CRM: ${crm === '' ? 'nothing' : `records ${crm}`}`,
    ...(restlessRows > 0 ? [`  once they rest: ${restlessRows} rows of the sheet are looked at again`] : []),
    ...(conflicts.length > 0 ? [`  waits for you: ${conflicts.length} fields that differ`] : []),
    ...waiting.slice(0, shownMax),
    ...(waiting.length > shownMax ? [`  and ${waiting.length - shownMax} more wait for you`] : []),
  ];
}

const shownMax = 5;

function describeRows({ table }: Plan, entity: TabKind): string {
  const writes = table.filter(({ write }) => write.entity === entity);
  const count = (kind: string) => writes.filter(({ write }) => write.kind === kind).length;
  return listCounts([
    [count('append'), 'rows to be added'],
    [count('set'), 'rows to be written to'],
    [count('delete'), 'rows to be taken away'],
  ]);
}

const listCounts = (counts: readonly (readonly [count: number, what: string])[]): string =>
  counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
