import { labelKey } from '../../../core/text/label-key.ts';
import type { FieldName, Fields } from '../../../core/value.ts';

/**
 * Whether two records are likely one: the same title; or, where they have none, the same lead and stage, or the same lead and the same
 * name or e-mail address for contacts.
 */
export function resembles(left: Fields, right: Fields): boolean {
  if (hasEither('title')) return isSameText('title');
  const { lead_id: leadId } = left;
  if (leadId === undefined || leadId !== right['lead_id']) return false;
  if (hasEither('full_name')) return isSameText('full_name') || isSameText('email');
  return left['stage_id'] === right['stage_id'];

  function hasEither(name: FieldName): boolean {
    return left[name] !== undefined || right[name] !== undefined;
  }

  function isSameText(name: FieldName): boolean {
    const [one, other] = [left[name], right[name]];
    return typeof one === 'string' && typeof other === 'string' && labelKey(one) === labelKey(other);
  }
}

/** What all that resembles a record has as well, in one text: the title, or the lead of what has none. `undefined` where nothing can. */
export function sharedTrait({ lead_id: leadId, title }: Fields): string | undefined {
  if (title !== undefined) return typeof title === 'string' ? `called ${labelKey(title)}` : undefined;
  return leadId === undefined ? undefined : `of ${JSON.stringify(leadId)}`;
}
