import { type RecordId, recordKeyText } from '../../../core/record.ts';
import type { Contest } from '../../../core/waiting/contest.ts';
import { loopScope } from '../../../core/waiting/scopes.ts';
import { quoteValue, showValue } from '../../cells/sync-text.ts';
import type { TabIndex } from '../tab-index.ts';
import { keepChosen } from '../verdict.ts';
import { headerOf } from './columns.ts';

/**
 * Finds the contest of a record, with its hold until a user has approved that it goes on; `undefined` where there is none. An approval is
 * for the fight that was shown: one that goes on is held again once it is a fight without what was written before.
 */
export function findContestCase(index: TabIndex, id: RecordId) {
  const { answers, entity, input, questions } = index;
  const key = { entity, id };
  const contest = input.known.contests.get(recordKeyText(key));
  if (!contest) return undefined;
  const scope = loopScope(key);
  const hold = { entity, id, reason: describeContest(index, contest), decision: scope };
  const kept = answers.find(scope);
  if (kept && kept.at >= contest.since) return { verdict: { scopes: [scope] } };
  const chosen = answers.choose(scope, () => questions.ofHold(hold));
  if (chosen) return { verdict: keepChosen(scope, chosen) };
  return { hold, verdict: { scopes: [scope], ...(kept ? { spent: [scope] } : {}) } };
}

function describeContest(index: TabIndex, contest: Contest): string {
  const { fields, names } = index;
  const field = fields.get(contest.field);
  const show = (value: Contest['crm']) => (field ? quoteValue(field, value, names) : showValue(null));
  return (
    `${headerOf(index, contest.field)} is changed back again and again: the CRM wants ${show(contest.crm)}, the sheet ${show(contest.table)}. ` +
    'Switch off what does it on one of the sides. It is tried again after an hour, or when it is approved.'
  );
}
