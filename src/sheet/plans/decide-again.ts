import { nextStale } from '../../core/notice.ts';
import type { OutboxItem } from '../../core/state.ts';
import { decideFrom } from '../decide/decide.ts';
import { isOverKept } from '../decide/lifecycle/new-row.ts';
import type { Standing } from '../index/standing.ts';
import type { DecideInput, Plan } from './plan.ts';

/** A plan, and what it was made from. It stands as long as making it again would change nothing. */
export interface GroundedPlan {
  readonly version: number;
  readonly input: DecideInput;
  readonly plan: Plan;
  /** Until when it holds, epoch ms: it changes nothing, and waits for no time to pass before. */
  readonly lastsUntil: number;
}

/**
 * Decides what changed since `standing` was brought up to date, or returns what was decided from the same. Besides what is known and read only
 * time makes a difference to a plan that changes nothing: the pauses behind `isRestless` and `wasMissing`, suspects, claims without a reply,
 * creates that are kept for a while, notices that are fresh for a day, and what a plan says itself by `changesAt`, which also bounds until when
 * a row is in step, or waits for its turn. Chance and the time are in nothing but changes. The word by which `isOwnToken` knows a token must not
 * change between two calls.
 */
export function decideAgain(
  input: DecideInput,
  standing: Standing,
  last: GroundedPlan | undefined,
): GroundedPlan {
  const { known, now, run } = input;
  standing.update(input);
  const { version } = standing;
  const isOver = (item: OutboxItem) => item.kind === 'create' && isOverKept(item, now);
  if (last?.version === version && now < last.lastsUntil && !known.outbox.some(isOver))
    return { ...last, input, plan: { ...last.plan, at: now, run } };
  let waits = false;
  const noting = (answer: boolean, isFinal: boolean) => {
    if (answer !== isFinal) waits = true;
    return answer;
  };
  const plan = decideFrom(
    {
      ...input,
      isRestless: (entity, row) => noting(input.isRestless(entity, row), false),
      wasMissing: (key) => noting(input.wasMissing(key), true),
    },
    standing,
  );
  const isLasting =
    !waits && changesNothing(plan) && known.claims.open.size === 0 && known.suspects.length === 0;
  const lastsUntil = isLasting ? Math.min(nextStale(standing.looseAgreements(), now), plan.changesAt) : now;
  return { version, input, plan, lastsUntil };
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
