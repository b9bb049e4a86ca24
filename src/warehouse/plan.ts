import type { Labels } from '../core/fields/labels.ts';
import type { Entity } from '../core/record.ts';
import type { Brake, Hold } from '../core/waiting/waiting.ts';
import type { PlanDifference, SidePlan } from '../sync/side.ts';
import { tellBrake, tellHold } from '../sync/told-plan.ts';
import { showSql } from './edits/context.ts';
import type { EditedRow } from './port/port.ts';

/** What the next cycle would write. */
export interface WarehousePlan extends SidePlan {
  readonly side: 'warehouse';
  /** Epoch ms. */
  readonly at: number;
  /** Records that are due: their rows are written, or deleted where the CRM does not have them. */
  readonly records: Readonly<Partial<Record<Entity, number>>>;
  readonly deletes: Readonly<Partial<Record<Entity, number>>>;
  /** What was edited by SQL and would be decided about. */
  readonly edits: readonly PlannedEdit[];
  readonly brakes: readonly Brake[];
  readonly holds: readonly Hold[];
}

/** An edit by SQL that was not taken so far, in words. */
export interface PlannedEdit {
  /** The row, such as `lead 42`, with the column. */
  readonly place: string;
  readonly before: string;
  readonly after: string;
}

const wordsOf = { insert: 'inserted', delete: 'deleted', revert: 'taken back' } as const;

/** What new edits would change, in words. */
export const editsOf = (rows: readonly EditedRow[]): readonly PlannedEdit[] =>
  rows.flatMap(({ edits, entity, id }) =>
    edits
      .filter(({ state }) => state === 'new')
      .flatMap(({ after, before, kind }): PlannedEdit[] => {
        const place = `${entity} ${id}`;
        if (kind !== 'update') return [{ place, before: '', after: wordsOf[kind] }];
        return Object.keys(after).map((name) => ({
          place: `${place} ${name}`,
          before: showSql(before[name] ?? null),
          after: showSql(after[name] ?? null),
        }));
      }),
  );

/** Says what a plan writes to the warehouse, which edits by SQL it decides about, and what it leaves to people. */
export function tellPlan(labels: Labels, plan: Omit<WarehousePlan, 'told'>): string[] {
  const { brakes, deletes, edits, holds, records } = plan;
  const tellCounts = (verb: string, counts: WarehousePlan['records']) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([entity, count]) => `Warehouse  ${verb} ${count} ${labels.titles[entity as Entity]}`);
  return [
    ...tellCounts('write', records),
    ...tellCounts('delete', deletes),
    ...edits.map(
      ({ after, before, place }) => `SQL  ${place}: ${before === '' ? after : `${before} → ${after}`}`,
    ),
    ...brakes.flatMap((brake) => tellBrake(labels, brake)),
    ...holds.map((hold) => tellHold(labels, hold)),
  ];
}

/** What is different between two plans, by kind of record. */
export function comparePlans(planned: WarehousePlan, now: WarehousePlan): PlanDifference[] {
  const parts = ['records', 'deletes'] as const;
  const ofRecords = parts.flatMap((part) => {
    const kinds = new Set([...Object.keys(planned[part]), ...Object.keys(now[part])]) as Set<Entity>;
    return [...kinds].flatMap((entity) => {
      const [before, after] = [planned[part][entity] ?? 0, now[part][entity] ?? 0];
      if (before === after) return [];
      return [{ place: `${entity} ${part}`, planned: String(before), now: String(after) }];
    });
  });
  const said = (plan: WarehousePlan) => new Map(plan.edits.map(({ after, place }) => [place, after]));
  const [before, after] = [said(planned), said(now)];
  const ofEdits = [...new Set([...before.keys(), ...after.keys()])]
    .filter((place) => before.get(place) !== after.get(place))
    .map((place) => ({ place, planned: before.get(place), now: after.get(place) }));
  return [...ofRecords, ...ofEdits];
}
