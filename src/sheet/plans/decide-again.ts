import { nextStale } from '../../core/notice.ts';
import { recordKeyText } from '../../core/record.ts';
import type { KnownRecord, OutboxItem } from '../../core/state.ts';
import { decide } from '../decide/decide.ts';
import { isOverKept } from '../decide/lifecycle/new-row.ts';
import type { DecideInput, Known, Plan } from './plan.ts';

/** A plan with what it was made of, as far as that can change. It stands as long as making it again would change nothing. */
export interface GroundedPlan {
  readonly ground: Pick<DecideInput, 'known' | 'table' | 'layout' | 'policy'>;
  readonly plan: Plan;
  /** Until when it holds, epoch ms: it changes nothing, and waits for no time to pass before. */
  readonly lastsUntil: number;
}

/**
 * Decides, or says again what was decided from the same. Besides the ground only time makes a difference to a plan that changes nothing:
 * the pauses that `isRestless` and `wasMissing` stand for, suspects, claims without a reply, creates that are kept for a while, notices
 * that are fresh for a day, and what of `changesAt` a plan says itself. Chance and the time stand in nothing but changes. The word by which `isOwnToken` knows a token must not change
 * between two calls.
 */
export function decideAgain(input: DecideInput, last: GroundedPlan | undefined): GroundedPlan {
  const { known, layout, now, policy, run, table } = input;
  if (last && stands(last, input)) return { ...last, plan: { ...last.plan, at: now, run } };
  let waits = false;
  const noting = (answer: boolean, isFinal: boolean) => {
    if (answer !== isFinal) waits = true;
    return answer;
  };
  const plan = decide({
    ...input,
    isRestless: (entity, row) => noting(input.isRestless(entity, row), false),
    wasMissing: (key) => noting(input.wasMissing(key), true),
  });
  const isLasting =
    !waits && changesNothing(plan) && known.claims.open.size === 0 && known.suspects.length === 0;
  const lastsUntil = isLasting ? Math.min(nextStale(known.agreements, now), plan.changesAt) : now;
  return { ground: { known, table, layout, policy }, plan, lastsUntil };
}

function stands(
  { ground, lastsUntil }: GroundedPlan,
  { known, layout, now, policy, table }: DecideInput,
): boolean {
  const isOver = (item: OutboxItem) => item.kind === 'create' && isOverKept(item, now);
  return (
    now < lastsUntil &&
    ground.table === table &&
    ground.policy === policy &&
    isAlike(ground.layout, layout) &&
    isKnownAlready(ground.known, known) &&
    !known.outbox.some(isOver)
  );
}

function changesNothing(plan: Plan): boolean {
  const { agreements, outbox, takesAccount } = plan;
  const parts = [
    ...[agreements.drop, agreements.save, outbox.drop, outbox.save],
    ...[plan.answers, plan.settledDecisions, plan.rebased, plan.remapped, plan.ruled],
    ...[plan.journal, plan.table, plan.suspects.save, plan.suspects.drop],
  ];
  return !takesAccount && parts.every(({ length }) => length === 0);
}

/** Whether nothing was learned since. What was not written since then is the same object; a record that was read again is another one. */
function isKnownAlready(before: Known, now: Known): boolean {
  const isPartAlike = (part: keyof Known) => {
    if (part === 'records') return sayAllTheSame(before.records, now.records);
    const [old, next] = [before[part], now[part]];
    return Array.isArray(old) && Array.isArray(next) ? areAllAlike(old, next, Object.is) : isAlike(old, next);
  };
  return (Object.keys(now) as (keyof Known)[]).every(isPartAlike);
}

function sayAllTheSame(before: readonly KnownRecord[], now: readonly KnownRecord[]): boolean {
  const writtenAt = now.reduce((latest, { written }) => Math.max(latest, written?.at ?? 0), 0);
  const isSeenAlike = (left: KnownRecord, right: KnownRecord) =>
    left.lastSeenAt === right.lastSeenAt ||
    Math.min(left.lastSeenAt, right.lastSeenAt) > Math.max(writtenAt, left.firstSeenAt);
  const areSaidAlike = (left: KnownRecord, right: KnownRecord) =>
    left === right || (sayTheSame(left, right) && isSeenAlike(left, right));
  return areAllAlike(before, now, areSaidAlike);
}

const compared = ['fields', 'presence', 'firstSeenAt', 'missedSweeps', 'written'] as const;

const sayTheSame = (left: KnownRecord, right: KnownRecord): boolean =>
  recordKeyText(left.key) === recordKeyText(right.key) &&
  compared.every((part) => left[part] === right[part]) &&
  isAlike(left.unread, right.unread);

function areAllAlike<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (one: Item, other: Item) => boolean,
): boolean {
  return left.length === right.length && left.every((item, index) => compare(item, right[index] as Item));
}

const isAlike = (left: unknown, right: unknown): boolean =>
  left === right || JSON.stringify(left, listed) === JSON.stringify(right, listed);

const listed = (_name: string, value: unknown) =>
  value instanceof Set || value instanceof Map ? [...value] : value;
