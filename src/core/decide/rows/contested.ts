import { type RecordId, recordKeyText } from '../../record.ts';
import { loopScope, type TabContext } from '../context.ts';
import { headerOf } from './columns.ts';
import { quoteValue } from './describe-value.ts';
import { showValue } from './sync-text.ts';

/** Why a record is left alone, and the scope under which a person lets it go on. */
export interface ContestHold {
  readonly reason: string;
  readonly scope: string;
}

/**
 * The hold of a record that is left alone, because its two sides fight over a field and nobody has approved that; `undefined` when it is not.
 * An approval is for the fight that was shown: one that goes on is held again once it is a fight without what was written before.
 */
export function findContestHold(context: TabContext, id: RecordId): ContestHold | undefined {
  const { draft, entity, fields, input, names } = context;
  const key = { entity, id };
  const contest = input.known.contests.get(recordKeyText(key));
  const scope = loopScope(key);
  if (!contest) return undefined;
  if (context.decision(scope) !== undefined) {
    if ((context.answeredAt(scope) ?? 0) >= contest.since) return undefined;
    draft.outrunDecisions.add(scope);
  }
  const field = fields.get(contest.field);
  const show = (value: typeof contest.crm) => (field ? quoteValue(field, value, names) : showValue(null));
  const reason =
    `${headerOf(context, contest.field)} is changed back again and again: the CRM wants ${show(contest.crm)}, the sheet ${show(contest.table)}. ` +
    'Switch off what does it on one of the sides. It is tried again after an hour, or when it is approved.';
  return { reason, scope };
}
