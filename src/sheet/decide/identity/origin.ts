import type { Agreement } from '../../../core/state.ts';
import type { Fields } from '../../../core/value.ts';
import type { TabIndex } from '../tab-index.ts';

/** What is known of a record whose row is not there: of one whose row went before the CRM told anything of it, what was sent. */
export const baseOf = (index: TabIndex, { key, fields }: Agreement): Fields =>
  Object.keys(fields).length > 0 ? fields : (index.findOrigin(key.id)?.fields ?? {});

/** Whether a record has a row, or had one with the token of its create. */
export const isInTable = (index: TabIndex, { fields, key }: Agreement): boolean =>
  Object.keys(fields).length > 0 || index.findOrigin(key.id) !== undefined;

/** Whether the read before lacked the row of a record as well, also one that still had the token of its create. */
export function wasMissing(index: TabIndex, { key }: Agreement): boolean {
  const origin = index.findOrigin(key.id);
  return index.input.wasMissing(key) && (!origin || index.input.wasMissing(origin.key));
}
