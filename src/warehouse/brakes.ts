import type { Mirror } from '../core/mirror.ts';
import type { Entity } from '../core/record.ts';
import { answersTo, readBrakeAnswer } from '../core/waiting/answer.ts';
import { brakeOf, brakeScope, shownOf } from '../core/waiting/brakes.ts';
import type { Brake } from '../core/waiting/waiting.ts';
import type { Question } from '../sync/side.ts';
import { warehouseFacts } from './facts.ts';
import type { DeleteLimits } from './link.ts';

const hourMs = 60 * 60 * 1_000;

/** The scope under which a user lets many rows of a table be deleted. */
export const deletesScope = (entity: Entity): string => brakeScope(entity, 'rows');

/**
 * The brakes for rows whose records are gone: what a CRM that lost its data, or shows the one of another account, would delete bit by bit.
 * An approval is for as many as were shown, and for those that may be deleted anyway. It lasts until each of those rows was tried: what is
 * locked, or refused, is tried again without one.
 */
export function findBrakes(
  mirror: Mirror,
  entities: readonly Entity[],
  limits: DeleteLimits,
  now: number,
): Brake[] {
  const gone = untriedDeletes(mirror);
  return entities.flatMap((entity) => {
    const rows = mirror.readFact(warehouseFacts.rows(entity)) ?? 0;
    const waiting = Math.min(gone[entity] ?? 0, rows);
    if (waiting === 0) return [];
    const deleted = deletedLately(mirror, entity, now);
    const allowed = Math.max(limits.deletesMin, Math.floor((rows + deleted) * limits.deletesShare));
    if (waiting + deleted <= allowed || waiting <= approvedDeletes(mirror, entity) + allowed) return [];
    const before = deleted === 0 ? '' : `, after ${deleted} in the last hour`;
    const reason = `${waiting} of ${rows} records are gone from the CRM${before}; ${allowed} rows of the warehouse may be deleted within an hour.`;
    return [{ ...brakeOf(entity, 'rows', reason), changes: { count: waiting, shown: [] } }];
  });
}

/** How many rows are to be deleted that were not tried so far. */
function untriedDeletes({ feed }: Mirror): Partial<Record<Entity, number>> {
  const gone = feed.countGone();
  if (Object.keys(gone).length === 0) return gone;
  const tried = feed.countGonePutOff();
  const counts = Object.entries(gone) as [Entity, number][];
  return Object.fromEntries(counts.map(([entity, count]) => [entity, count - (tried[entity] ?? 0)]));
}

const findApproval = (mirror: Mirror, entity: Entity) =>
  mirror.readDecisions().find(({ scope }) => scope === deletesScope(entity));

/** How many deletes the user had seen who approved; less than none without an approval. */
function approvedDeletes(mirror: Mirror, entity: Entity): number {
  const approval = findApproval(mirror, entity);
  if (!approval) return Number.NEGATIVE_INFINITY;
  return Number.parseInt(readBrakeAnswer(approval.choice).seen ?? '0', 10);
}

/** How many rows were deleted in the hour that runs. */
function deletedLately(mirror: Mirror, entity: Entity, now: number): number {
  const [since, count] = mirror.readFact(warehouseFacts.deleted(entity)) ?? [now, 0];
  return now - since < hourMs && now >= since ? count : 0;
}

/** Counts rows that were deleted. To be called in a transaction. */
export function noteDeleted(mirror: Mirror, entity: Entity, count: number, now: number): void {
  if (count === 0) return;
  const before = deletedLately(mirror, entity, now);
  const [since] = before === 0 ? [now] : (mirror.readFact(warehouseFacts.deleted(entity)) ?? [now]);
  mirror.saveFact(warehouseFacts.deleted(entity), [since, before + count]);
}

/** Ends the approvals under which all was tried. To be called in a transaction. */
export function endApprovals(mirror: Mirror, entities: readonly Entity[]): void {
  const gone = untriedDeletes(mirror);
  for (const entity of entities)
    if (!gone[entity] && findApproval(mirror, entity)) mirror.dropDecision(deletesScope(entity));
}

/** The question that a brake asks. */
export const questionOf = (brake: Brake): Question => ({
  scope: brake.scope,
  what: brake.reason,
  about: { table: brake.entity },
  answers: answersTo(brake.scope),
  shown: shownOf(brake),
});
