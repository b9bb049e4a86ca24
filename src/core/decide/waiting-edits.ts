import type { OutboxItem } from '../state.ts';
import { type Fields, pickFields } from '../value.ts';
import type { TabContext } from './context.ts';

/** What people typed and the CRM has not taken yet; nothing where a step is no edit of a row. */
export const waitingFields = (item: OutboxItem | undefined): Fields =>
  item?.kind === 'update' && !item.isUndo ? item.fields : {};

/** Keeps in the journal what is not to be sent any more and stands in no row, beside what the CRM has instead. */
export function noteLost(
  { draft, input, records }: TabContext,
  { key }: OutboxItem,
  lost: Fields,
  cause: string,
): void {
  const names = Object.keys(lost);
  if (names.length === 0) return;
  const record = records.get(key.id);
  draft.journal.push({
    at: input.now,
    run: input.run,
    key,
    kind: 'update',
    side: 'table',
    before: lost,
    after: record?.presence === 'present' ? pickFields(record.fields, names) : {},
    lost,
    cause,
  });
}
