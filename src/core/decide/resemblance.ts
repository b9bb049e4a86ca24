import { labelKey } from '../label-key.ts';
import type { Fields } from '../value.ts';

/** Whether two records are likely one: the same title, or the same lead and stage where they have no title. */
export function resembles(left: Fields, right: Fields): boolean {
  const [one, other] = [left['title'], right['title']];
  if (typeof one === 'string' && typeof other === 'string') return labelKey(one) === labelKey(other);
  if (one !== undefined || other !== undefined) return false;
  return (
    left['lead_id'] !== undefined &&
    left['lead_id'] === right['lead_id'] &&
    left['stage_id'] === right['stage_id']
  );
}
