import type { JournalEntry } from './state.ts';
import { differingFields, type Fields, pickFields } from './value.ts';

/**
 * What the journal says of values that were sent: those that the CRM answered, and as lost what it was sent in their place. Where it
 * answers nothing, it is taken to hold what was sent.
 */
export function describeAnswered(sent: Fields, answered: Fields): Pick<JournalEntry, 'after' | 'lost'> {
  const changed = differingFields(sent, answered);
  return { after: { ...sent, ...pickFields(answered, changed) }, lost: pickFields(sent, changed) };
}
