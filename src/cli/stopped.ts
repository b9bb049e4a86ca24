import { z } from 'zod';
import { isNeeded } from '../core/waiting/waiting.ts';
import { show } from './history.ts';

/** A brake as the daemon tells it, with what it stops. */
export const brakeShape = z.looseObject({
  scope: z.string(),
  entity: z.string(),
  reason: z.string(),
  changes: z.object({
    count: z.number(),
    shown: z.array(
      z.object({
        id: z.string(),
        what: z.string(),
        field: z.string().optional(),
        before: z.unknown().optional(),
        after: z.unknown().optional(),
      }),
    ),
  }),
});

/** What waits behind a brake: a line for each record and field that is shown, and how many there are besides. */
export function describeStopped({ entity, changes }: z.infer<typeof brakeShape>): string[] {
  const { count, shown } = changes;
  const lines = shown.map(({ id, what, field, before, after }) => {
    if (field === undefined) return `  ${entity}-${id}: ${what}`;
    // What a cell shows that can not be read is no value.
    const unread = before === undefined ? what : `${what} from ${show(before)}`;
    return `  ${entity}-${id} ${field}: ${after === undefined ? unread : `${show(before)} → ${show(after)}`}`;
  });
  return count > shown.length ? [...lines, `  and ${count - shown.length} more`] : lines;
}

/** Where a hold or a refusal is: the whole tab, a record, or a row that has none yet, by the number that people see beside it. */
export function describePlace(place: {
  readonly entity: string;
  readonly id?: string | undefined;
  readonly position?: number | undefined;
}): string {
  const { entity, id, position } = place;
  if (id) return `${entity} ${id}`;
  return position === undefined ? entity : `${entity} row ${position + 1}`;
}

/** Whether something is stopped, held or refused until a person does something about it. What somebody ignores needs nobody. */
export const needsPerson = (of: {
  readonly brakes: readonly unknown[];
  readonly holds: readonly { readonly isOffer?: boolean | undefined }[];
  readonly refusals: readonly { readonly isIgnored?: boolean | undefined }[];
}): boolean =>
  of.brakes.length > 0 || of.holds.some(isNeeded) || of.refusals.some(({ isIgnored }) => !isIgnored);
