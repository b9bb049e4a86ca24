import { endpoints } from '../../crm/contract.ts';
import { writeCustomFields } from './custom-fields.ts';
import { answerLooselyPaged } from './listing.ts';
import { type Crm, type Operation, readPathId, timestamp } from './operation.ts';
import type { CustomFieldValues, StoredLead, StoredLeadStatus } from './records.ts';
import { checkShape, refuseField } from './refusal.ts';
import { trashLead } from './trash.ts';

/** Operations of CRM External API Specification, "Leads". */

export const listLeads: Operation = (crm, request) =>
  answerLooselyPaged(
    { entity: 'leads', message: 'Leads retrieved', items: crm.records.leads.live().map(asListed(crm)) },
    request.query,
    crm.choices,
  );

const asListed =
  (crm: Crm) =>
  ({ updated_at, ...lead }: StoredLead) =>
    crm.choices.listedLeadHasUpdatedAt ? { ...lead, updated_at } : lead;

export const getLead: Operation = (crm, request) => ({
  data: crm.records.leads.get(readPathId(crm, request)),
});

export const createLead: Operation = (crm, request) => {
  const body = checkShape(endpoints.createLead.body, request.body);
  const customFields = readCustomFields(crm, {}, body.custom_fields);
  const statusName =
    body.status_name == null ? nameOfNewStatus(crm) : ensureStatus(crm, body.status_name).status.name;
  const now = timestamp(request);
  const lead = crm.records.leads.add((id) => ({
    id,
    uuid: crm.records.nextUuid(),
    title: body.title,
    status_name: statusName,
    meta_data: body.meta_data ?? null,
    custom_fields: customFields,
    avatar: null,
    avatar_type: null,
    created_at: now,
    updated_at: now,
  }));
  const { id, title, status_name, meta_data, custom_fields, created_at } = lead;
  return { data: { id, title, status_name, meta_data, custom_fields, created_at } };
};

export const updateLead: Operation = (crm, request) => {
  const lead = crm.records.leads.get(readPathId(crm, request));
  const body = checkShape(endpoints.updateLead.body, request.body);
  const customFields = readCustomFields(crm, lead.custom_fields, body.custom_fields);
  const updated: StoredLead = {
    ...lead,
    title: body.title ?? lead.title,
    status_name: writeStatusName(crm, lead.status_name, body.status_name),
    meta_data: writeMetaData(crm, lead.meta_data, body.meta_data),
    custom_fields: customFields,
    updated_at: timestamp(request),
  };
  crm.records.leads.replace(updated);
  return { data: updated };
};

export const setLeadStatus: Operation = (crm, request) => {
  const lead = crm.records.leads.get(readPathId(crm, request));
  const body = checkShape(endpoints.setLeadStatus.body, request.body);
  const { status, created } = ensureStatus(crm, body.status_name);
  crm.records.leads.replace({ ...lead, status_name: status.name, updated_at: timestamp(request) });
  const { name, label, color } = status;
  return { data: { lead_id: lead.id, status: { name, label, color, created } } };
};

export const deleteLead: Operation = (crm, request) => {
  const lead = crm.records.leads.get(readPathId(crm, request));
  trashLead(crm.records, lead.id);
  return { data: {} };
};

function readCustomFields(
  crm: Crm,
  current: CustomFieldValues,
  written: Readonly<Record<string, unknown>> | undefined,
): CustomFieldValues {
  const { customFields: definitions, members } = crm.records;
  return written
    ? writeCustomFields(current, written, { definitions, members, choices: crm.choices })
    : current;
}

function nameOfNewStatus(crm: Crm): string | null {
  if (crm.choices.newLeadStatus === 'none') return null;
  return crm.records.leadStatuses.find((status) => status.is_default)?.name ?? null;
}

function writeStatusName(
  crm: Crm,
  current: string | null,
  written: string | null | undefined,
): string | null {
  if (written === undefined) return current;
  return written === null ? null : ensureStatus(crm, written).status.name;
}

function writeMetaData(
  crm: Crm,
  current: StoredLead['meta_data'],
  written: StoredLead['meta_data'] | undefined,
): StoredLead['meta_data'] {
  if (written === undefined) return current;
  if (written === null || crm.choices.aboutUpdate === 'replace') return written;
  return { about: { ...current?.about, ...written.about } };
}

const newStatusColors = ['#5b8def', '#e0803c', '#3fa66b', '#a35bd6', '#c9a227', '#d6456b'] as const;

/** Finds the status of this name or creates its definition ("States and transitions", Lead status). */
function ensureStatus(crm: Crm, written: string): { status: StoredLeadStatus; created: boolean } {
  const { leadStatuses } = crm.records;
  const existing = leadStatuses.find((status) => status.name === written);
  if (existing) return { status: existing, created: false };
  const name = crm.choices.autoCreatedStatusName === 'slug' ? slugOf(written) : written;
  if (name.trim() === '') throw refuseField('status_name', 'Required');
  const sameSlug = leadStatuses.find((status) => status.name === name);
  if (sameSlug) return { status: sameSlug, created: false };
  const status: StoredLeadStatus = {
    id: Math.max(0, ...leadStatuses.map((definition) => definition.id)) + 1,
    name,
    label: labelOf(name),
    color: newStatusColors[leadStatuses.length % newStatusColors.length]!,
    is_default: false,
    sort_order: leadStatuses.length + 1,
  };
  leadStatuses.push(status);
  return { status, created: true };
}

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replace(/^-|-$/g, '');

function labelOf(name: string): string {
  const words = name.replace(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
