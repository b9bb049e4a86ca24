import type { RecordKey } from '../record.ts';
import { splitContactId } from './contact-id.ts';

/** The address of a record, by a template with `{entity}`, `{id}` and, of a contact, `{lead}`. */
export function addressOf(template: string, { entity, id }: RecordKey): string {
  const { contactId, leadId } = splitContactId(id);
  const parts: Readonly<Record<string, string>> =
    entity === 'contact' ? { entity, id: contactId, lead: leadId } : { entity, id };
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    name in parts ? encodeURIComponent(parts[name] ?? '') : whole,
  );
}
