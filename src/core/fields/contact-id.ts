import type { RecordId } from '../record.ts';

/** What the CRM's paths need to name a contact: its lead, and the CRM's own id of it, a UUID. */
type ContactParts = ReturnType<typeof splitContactId>;

/** `42.0198…`: lead and UUID in one, because the CRM finds a contact below its lead only, and a contact never changes its lead. */
export const joinContactId = ({ leadId, contactId }: ContactParts): RecordId => `${leadId}.${contactId}`;

/** Reads what {@link joinContactId} wrote. */
export function splitContactId(id: RecordId) {
  const dot = id.indexOf('.');
  return { leadId: id.slice(0, dot), contactId: id.slice(dot + 1) };
}
