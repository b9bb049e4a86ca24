import { brakeOf, brakeScope } from '../../../core/waiting/brakes.ts';
import type { Brake } from '../../../core/waiting/waiting.ts';
import type { DecideInput } from '../../plans/input.ts';
import { recordTabs } from '../../port/layout.ts';
import type { TabIndex } from '../tab-index.ts';

/**
 * The brake of every tab while the CRM may show the records of another account. It holds until the account is the known one again, or a
 * person has taken it for the one to work with; then everything that was agreed is forgotten, and found anew before anything is written.
 */
export function findOtherAccount({ entity, input }: TabIndex): Brake[] {
  const { accountDoubt } = input.known;
  if (!accountDoubt) return [];
  const { isOther, reason } = accountDoubt;
  return [brakeOf(entity, isOther ? 'account' : 'reading', reason)];
}

/** Whether a user takes the other account for the one to work with. One tab stands for all: there is one account. */
export const isAccountTaken = (
  { known, layout }: DecideInput,
  isAnswered: (scope: string) => boolean,
): boolean =>
  known.accountDoubt?.isOther === true &&
  recordTabs(layout).some(({ entity }) => isAnswered(brakeScope(entity, 'account')));
