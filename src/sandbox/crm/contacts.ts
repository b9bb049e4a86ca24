import { endpoints } from '../../crm/contract.ts';
import { answerWhole } from './listing.ts';
import { type Crm, type Operation, type OperationRequest, readPathId, wrapRecord } from './operation.ts';
import type { StoredContact } from './records.ts';
import { checkShape, refuseField, refuseWith, requireFields } from './refusal.ts';

/** Operations of CRM External API Specification, "Contacts (nested under a lead)". */

export const listContacts: Operation = (crm, request) => {
  const items = [...contactsOfLead(crm, request).values()];
  return answerWhole({ entity: 'contacts', message: 'Contacts retrieved', items }, crm.choices);
};

export const getContact: Operation = (crm, request) => ({
  data: wrapRecord(crm, 'contact', findContact(contactsOfLead(crm, request), request)),
});

export const createContact: Operation = (crm, request) => {
  const contacts = contactsOfLead(crm, request);
  requireFields(request.body, crm.choices.requiredOnCreate.contact);
  const body = checkShape(endpoints.createContact.body, request.body);
  if (emailIsTaken(contacts, body.email)) throw refuseWith(409);
  const contact: StoredContact = {
    id: crm.records.nextUuid(),
    full_name: '',
    email: null,
    phone_number: null,
    whatsapp_number: null,
    ...body,
  };
  contacts.set(contact.id, contact);
  return { data: { id: contact.id, full_name: contact.full_name } };
};

export const updateContact: Operation = (crm, request) => {
  const contacts = contactsOfLead(crm, request);
  const contact = findContact(contacts, request);
  const body = checkShape(endpoints.updateContact.body, request.body);
  if (Object.keys(body).length === 0) throw refuseField('body', 'At least one contact field is required');
  // Only creating is documented to answer 409; "unique per lead" has to hold for updates as well.
  if (body.email !== contact.email && emailIsTaken(contacts, body.email)) throw refuseWith(409);
  contacts.set(contact.id, { ...contact, ...body });
  return {};
};

export const deleteContact: Operation = (crm, request) => {
  const contacts = contactsOfLead(crm, request);
  contacts.delete(findContact(contacts, request).id);
  return {};
};

/** @throws Refusal 404 where the lead is not there. */
function contactsOfLead(crm: Crm, request: OperationRequest): Map<string, StoredContact> {
  const lead = crm.records.leads.get(readPathId(crm, request, 'leadId'));
  const contacts = crm.records.contacts.get(lead.id) ?? new Map<string, StoredContact>();
  crm.records.contacts.set(lead.id, contacts);
  return contacts;
}

function findContact(contacts: ReadonlyMap<string, StoredContact>, request: OperationRequest): StoredContact {
  const contact = contacts.get(request.path['contactId'] ?? '');
  if (!contact) throw refuseWith(404);
  return contact;
}

function emailIsTaken(
  contacts: ReadonlyMap<string, StoredContact>,
  email: string | null | undefined,
): boolean {
  return email != null && [...contacts.values()].some((contact) => contact.email === email);
}
