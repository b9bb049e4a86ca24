import type { RecordKey } from './record.ts';
import type { JournalEntry } from './state.ts';
import { differingFields, type Fields, pickFields } from './value.ts';

/** What tells one line of the journal from another; of the table, and of no values, where nothing else is said. */
type EntryParts = Pick<JournalEntry, 'kind' | 'cause'> &
  Partial<Pick<JournalEntry, 'side' | 'before' | 'after' | 'lost'>>;

/** A line of the journal about what was just decided of a record. */
export const journalEntry = (
  { now, run }: { readonly now: number; readonly run: string },
  key: RecordKey,
  parts: EntryParts,
): JournalEntry => ({ at: now, run, key, side: 'table', before: {}, after: {}, lost: {}, ...parts });

/**
 * What the journal says of values that were sent: those that the CRM answered, and as lost what it was sent in their place. Where it
 * answers nothing, it is taken to hold what was sent.
 */
export function describeAnswered(sent: Fields, answered: Fields): Pick<JournalEntry, 'after' | 'lost'> {
  const changed = differingFields(sent, answered);
  return { after: { ...sent, ...pickFields(answered, changed) }, lost: pickFields(sent, changed) };
}
