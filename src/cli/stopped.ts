import type { StatusAnswer } from '../app/answers.ts';
import { isNeeded } from '../core/waiting/waiting.ts';

/** Whether something is stopped, held or refused until a person does something about it. What somebody ignores needs nobody. */
export const needsPerson = ({
  brakes,
  holds,
  refusals,
}: Pick<StatusAnswer, 'brakes' | 'holds' | 'refusals'>): boolean =>
  brakes.length > 0 || holds.some(isNeeded) || refusals.some(({ isIgnored }) => !isIgnored);
