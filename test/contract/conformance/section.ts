import { expect } from 'vitest';
import { z } from 'zod';
import { type EndpointName, endpoints } from '../../../src/crm/contract.ts';
import { openModel, start } from '../../support/sandbox-crm-calls.ts';

/** What a section of the specification says, in few words, each with the check that the sandbox does it. */
export type Section = Readonly<Record<string, () => void>>;

/** One statement for each row of a table. Rows that would be called the same are a mistake in the table. */
export function eachRow<Row extends readonly unknown[]>(
  rows: readonly Row[],
  name: (row: Row) => string,
  check: (row: Row) => void,
): Section {
  const section = Object.fromEntries(rows.map((row) => [name(row), () => check(row)]));
  if (Object.keys(section).length === rows.length) return section;
  throw new Error(`Rows of the same name: ${rows.map(name).join('; ')}`);
}

/** Values as they are written in names of tests; long texts by their length. */
export const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 12)}… of ${text.length}` : text;
};

export const leadId = 1001;
export const stageId = 11;

/** A body that each writing endpoint accepts. */
const bodies: Readonly<Partial<Record<EndpointName, object>>> = {
  createLead: { title: 'Anna' },
  updateLead: { title: 'Berta' },
  setLeadStatus: { status_name: 'lost' },
  createTask: { title: 'Call' },
  updateTask: { priority: 3 },
  createOpportunity: { stage_id: stageId, lead_id: leadId },
  updateOpportunity: { value: 5 },
  createContact: { full_name: 'Carla' },
  updateContact: { phone_number: '+49 30 1' },
};

const isEndpointName = (name: string): name is EndpointName => name in endpoints;
export const endpointNames = Object.keys(endpoints).filter(isEndpointName);

/** A model with a record of each kind, and a request for each endpoint that succeeds on it. */
export function openAgency(options: Parameters<typeof openModel>[0] = {}) {
  const crm = openModel(options);
  const add = (path: string, body: object): string => {
    const answer = crm.model.applyByHand(start, { method: 'POST', path, body: JSON.stringify(body) });
    return String(z.object({ data: z.object({ id: z.unknown() }) }).parse(answer.body).data.id);
  };
  const task = add('/tasks', { title: 'Write', lead_id: leadId });
  const opportunity = add('/opportunities', { stage_id: stageId, lead_id: leadId });
  const contact = add(`/leads/${leadId}/contacts`, { full_name: 'Ada', email: 'ada@example.com' });
  const ids = { task, opportunity, contact };
  return { ...crm, ids, send: (name: EndpointName, extra = {}) => crm.call(...requestOf(name, ids), extra) };
}

/** Method, path and body for an endpoint; the ids are those of {@link openAgency} or others. */
export function requestOf(
  name: EndpointName,
  ids: {
    readonly lead?: string;
    readonly task: string;
    readonly opportunity: string;
    readonly contact: string;
  },
): [method: string, path: string, body: object | undefined] {
  const { method, path } = endpoints[name];
  const [, resource = ''] = path.split('/');
  const lead = ids.lead ?? String(leadId);
  const id = { leads: lead, tasks: ids.task, opportunities: ids.opportunity }[resource] ?? '';
  const filled = path.replace('{id}', id).replace('{leadId}', lead).replace('{contactId}', ids.contact);
  return [method, filled, bodies[name]];
}

/** The body of an error. */
export const failed = (code: number, message: unknown) => ({ http_code: code, status: 'failed', message });

/** Checks that a write is refused with 400 and a message that begins with the field. */
export function expectRefused(method: string, path: string, body: unknown, field: string): void {
  const { call } = openAgency();
  const answer = call(method, path, body);
  expect(answer.body).toEqual(failed(400, expect.stringMatching(new RegExp(`^${RegExp.escape(field)}: .`))));
}
