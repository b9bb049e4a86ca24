import type { RecordId } from '../record.ts';
import type { ContactRead, StoredRecord } from '../state.ts';

/** The version of a lead whose contacts are to be read soon, whatever it looks like. */
export const staleVersion = '';

/** A text that differs when the lead changed. Its fields have the CRM's `updated_at` among them, where the CRM tells it. */
export const versionOf = ({ fields, presence }: StoredRecord): string =>
  `${presence} ${JSON.stringify(fields)}`;

/** Whose turn it is where leads change faster than they are read: those that changed, or all of them. */
export type ContactTurn = 'changed' | 'any';

/**
 * The lead whose contacts are to be read next: the one whose reading is the oldest, among those that changed since if it is their turn and
 * there are any. Leads that were never read are older than all. A lead that is gone is asked after as long as it is among
 * `leadsOfContacts`: contacts of it are still believed to be there. Whose reading failed (`failedAt`, epoch ms) has had its turn.
 */
export function chooseLead(
  leads: readonly StoredRecord[],
  leadsOfContacts: ReadonlySet<RecordId>,
  reads: readonly ContactRead[],
  turn: ContactTurn,
  failedAt: ReadonlyMap<RecordId, number> = new Map(),
): StoredRecord | undefined {
  const readByLead = new Map(reads.map((read) => [read.leadId, read]));
  const readAt = ({ key: { id } }: StoredRecord) =>
    Math.max(...[readByLead.get(id)?.at, failedAt.get(id)].map((at) => at ?? Number.NEGATIVE_INFINITY));
  let oldest: StoredRecord | undefined;
  let changed: StoredRecord | undefined;
  for (const lead of leads) {
    if (lead.presence === 'gone' && !leadsOfContacts.has(lead.key.id)) continue;
    if (!oldest || readAt(lead) < readAt(oldest)) oldest = lead;
    const mayBeFirst = turn === 'changed' && (!changed || readAt(lead) < readAt(changed));
    const read = mayBeFirst ? readByLead.get(lead.key.id) : undefined;
    if (read && read.leadVersion !== versionOf(lead)) changed = lead;
  }
  return changed ?? oldest;
}
