import type { Plan } from '../core/decide/plan.ts';
import { isClaimToken } from '../core/record.ts';
import type { OutboxItem } from '../core/state.ts';
import { lacksRow, type Memory } from './rest.ts';

/**
 * Whether what is known of the table keeps a step from being sent. Before the first plan nobody knows what stands there now, so everything
 * is withheld. So is a create that was tried and whose row is gone: while nobody knew what had become of it no plan could drop it, and the
 * next one does.
 */
export function isWithheld(
  { attempts, key }: Pick<OutboxItem, 'attempts' | 'key'>,
  plans: readonly (Plan | undefined)[],
  memory: Memory,
): boolean {
  const isStopped = plans.some((plan) => plan?.withheld.includes(key.entity) ?? true);
  return isStopped || (attempts > 0 && isClaimToken(key.id) && lacksRow(memory, key));
}
