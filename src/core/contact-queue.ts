import type { RecordId } from './record.ts';
import type { ContactRead, StoredRecord } from './state.ts';

/** The version of a lead whose contacts are to be read soon, whatever it looks like. */
export const staleVersion = '';

/** A text that differs when the lead changed. Its fields have the CRM's `updated_at` among them, where the CRM tells it. */
export const versionOf = ({ fields, presence }: StoredRecord): string =>
  `${presence} ${JSON.stringify(fields)}`;

/**
 * The lead whose contacts are to be read next: one that changed since they were read, else the one whose reading is the oldest; leads
 * that were never read are older than all. A lead that is gone is asked after as long as it is among `leadsOfContacts`: contacts of it
 * are still believed to be there.
 */
export function chooseLead(
  leads: readonly StoredRecord[],
  leadsOfContacts: ReadonlySet<RecordId>,
  reads: readonly ContactRead[],
): StoredRecord | undefined {
  const readByLead = new Map(reads.map((read) => [read.leadId, read]));
  let chosen: { readonly lead: StoredRecord; readonly readAt: number } | undefined;
  for (const lead of leads) {
    if (lead.presence === 'gone' && !leadsOfContacts.has(lead.key.id)) continue;
    const read = readByLead.get(lead.key.id);
    if (read && read.leadVersion !== versionOf(lead)) return lead;
    const readAt = read?.at ?? Number.NEGATIVE_INFINITY;
    if (!chosen || readAt < chosen.readAt) chosen = { lead, readAt };
  }
  return chosen?.lead;
}
