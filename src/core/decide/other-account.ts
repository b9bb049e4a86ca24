import type { Entity } from '../record.ts';
import { stopped } from './brakes.ts';
import type { DecideInput, TabContext } from './context.ts';
import type { Brake } from './plan.ts';

const accountScope = (entity: Entity): string => `brake:${entity}:account`;

/**
 * The brake of every tab while the CRM may show the records of another account. It holds until the account is the known one again, or a
 * person has taken it for the one to work with; then everything that was agreed is forgotten, and found anew before anything is written.
 */
export function findOtherAccount({ entity, input }: TabContext): Brake[] {
  const { accountDoubt } = input.known;
  if (!accountDoubt) return [];
  const { isOther, reason } = accountDoubt;
  const scope = isOther ? accountScope(entity) : `brake:${entity}:reading`;
  return [{ scope, entity, reason, changes: stopped([]) }];
}

/** Whether a person takes the other account for the one to work with. One tab stands for all: there is one account. */
export const isAccountTaken = (
  { known, layout }: DecideInput,
  decision: (scope: string) => string | undefined,
): boolean =>
  known.accountDoubt?.isOther === true &&
  layout.some(({ entity }) => entity !== 'question' && decision(accountScope(entity)) !== undefined);
