import type { StatusAnswer } from '../app/answers.ts';
import { type Brake, type Hold, isNeeded } from '../core/waiting/waiting.ts';

/** A value as JSON. */
export const show = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value));

/** What waits behind a brake: a line for each record and field that is shown, and how many there are besides. */
export function describeStopped({ entity, changes: { count, shown } }: Brake): string[] {
  const lines = shown.map(({ id, what, field, before, after }) => {
    if (field === undefined) return `  ${entity}-${id}: ${what}`;
    // What a cell shows that can not be read is no value.
    const unread = before === undefined ? what : `${what} from ${show(before)}`;
    return `  ${entity}-${id} ${field}: ${after === undefined ? unread : `${show(before)} → ${show(after)}`}`;
  });
  return count > shown.length ? [...lines, `  and ${count - shown.length} more`] : lines;
}

/** Where a hold or a refusal is: the whole tab, a record, or a row that has none yet, by the number that people see beside it. */
export function describePlace({ entity, id, position }: Hold): string {
  if (id) return `${entity} ${id}`;
  return position === undefined ? entity : `${entity} row ${position + 1}`;
}

/** Whether something is stopped, held or refused until a person does something about it. What somebody ignores needs nobody. */
export const needsPerson = ({
  brakes,
  holds,
  refusals,
}: Pick<StatusAnswer, 'brakes' | 'holds' | 'refusals'>): boolean =>
  brakes.length > 0 || holds.some(isNeeded) || refusals.some(({ isIgnored }) => !isIgnored);
