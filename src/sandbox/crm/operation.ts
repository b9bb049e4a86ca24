import type { CrmChoices } from './choices.ts';
import type { CrmRecords } from './records.ts';
import { type Refusal, refuseField, refuseWith } from './refusal.ts';

/** The account an operation works on. */
export interface Crm {
  readonly records: CrmRecords;
  readonly choices: CrmChoices;
}

/** A request whose key, scope and route are already checked. */
export interface OperationRequest {
  /** Epoch ms. */
  readonly now: number;
  /** Values of `{id}`, `{leadId}` and `{contactId}`. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What goes into the envelope of a success. `data` is absent where the CRM sends none. */
export interface OperationAnswer {
  /** Only for endpoints whose message the contract does not know. */
  readonly message?: string;
  readonly data?: unknown;
}

/** @throws Refusal where the CRM answers with an error. */
export type Operation = (crm: Crm, request: OperationRequest) => OperationAnswer;

/** Now, as the timestamps of records are written. */
export const timestamp = (request: OperationRequest): string => new Date(request.now).toISOString();

/** @throws Refusal where the path's id is not an integer. */
export function readPathId(crm: Crm, request: OperationRequest, name = 'id'): number {
  const text = request.path[name] ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  throw crm.choices.malformedIdStatus === 404 ? refuseWith(404) : refuseField(name, 'Expected an integer');
}

/** The error for an id in a body that names no record. */
export const refuseReference = (crm: Crm, field: string, id: number): Refusal =>
  crm.choices.danglingReferenceStatus === 404 ? refuseWith(404) : refuseField(field, `${id} does not exist`);

/** @throws Refusal where `leadId` names no live lead. */
export function checkLeadReference(crm: Crm, leadId: number | null): void {
  if (leadId !== null && !crm.records.leads.find(leadId)) throw refuseReference(crm, 'lead_id', leadId);
}

/** A single record as it stands in `data`. */
export function wrapRecord(crm: Crm, entity: string, record: object): object {
  const { singleRecord } = crm.choices;
  return singleRecord === 'plain' ? record : { [singleRecord === 'entity' ? entity : singleRecord]: record };
}
