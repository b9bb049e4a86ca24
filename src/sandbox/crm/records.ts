import type { CustomFieldDefinition, Pipeline } from '../../crm/contract.ts';
import { createRandom, drawUuid } from './random.ts';
import { refuseWith } from './refusal.ts';

/** What the sandbox CRM keeps. All fields are always there; how they are shown is the operations' matter. */

export type CustomFieldValue = string | number | boolean | readonly string[];
export type CustomFieldValues = Readonly<Record<string, CustomFieldValue | null>>;

export interface LeadAbout {
  readonly description?: string | null;
  readonly url?: string | null;
}

export interface StoredLead {
  readonly id: number;
  readonly uuid: string;
  readonly title: string;
  readonly status_name: string | null;
  readonly meta_data: { readonly about?: LeadAbout } | null;
  readonly custom_fields: CustomFieldValues;
  readonly avatar: string | null;
  readonly avatar_type: 'emoji' | 'image' | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface StoredTask {
  readonly id: number;
  readonly title: string;
  readonly description: string | null;
  readonly status: number;
  readonly priority: number;
  readonly due_date: string | null;
  readonly start_date: string | null;
  readonly lead_id: number | null;
  readonly parent_task_id: number | null;
  readonly created_at: string;
}

export interface StoredOpportunity {
  readonly id: number;
  readonly stage_id: number;
  readonly lead_id: number;
  readonly value: number;
  readonly confidence: number;
  readonly expected_close_date: string | null;
  readonly note: string | null;
  readonly created_at: string;
}

export interface StoredContact {
  readonly id: string;
  readonly full_name: string;
  readonly email: string | null;
  readonly phone_number: string | null;
  readonly whatsapp_number: string | null;
}

export interface StoredLeadStatus {
  readonly id: number;
  readonly name: string;
  readonly label: string;
  readonly color: string;
  readonly is_default: boolean;
  readonly sort_order: number;
}

/** A member of the workspace: whom `user-select` fields can name. The API has no listing of them. */
export interface Member {
  readonly id: string;
  readonly name: string;
}

/** Records of one kind with ids that are given once and never again, and the trash they move to. */
export class Collection<Stored extends { readonly id: number }> {
  readonly #live = new Map<number, Stored>();
  readonly #trash = new Map<number, Stored>();
  #nextId: number;

  constructor(firstId: number) {
    this.#nextId = firstId;
  }

  /** Stores a new record under the next id. */
  add(make: (id: number) => Stored): Stored {
    const record = make(this.#nextId);
    this.#nextId += 1;
    this.#live.set(record.id, record);
    return record;
  }

  replace(record: Stored): void {
    this.#live.set(record.id, record);
  }

  find(id: number): Stored | undefined {
    return this.#live.get(id);
  }

  /** @throws Refusal 404 where no live record has the id. */
  get(id: number): Stored {
    const record = this.#live.get(id);
    if (!record) throw refuseWith(404);
    return record;
  }

  trash(id: number): void {
    const record = this.get(id);
    this.#live.delete(id);
    this.#trash.set(id, record);
  }

  live(): Stored[] {
    return [...this.#live.values()];
  }

  trashed(): Stored[] {
    return [...this.#trash.values()];
  }
}

/** One agency's records. */
export interface CrmRecords {
  readonly leads: Collection<StoredLead>;
  readonly tasks: Collection<StoredTask>;
  readonly opportunities: Collection<StoredOpportunity>;
  /** By lead id, then by contact id. */
  readonly contacts: Map<number, Map<string, StoredContact>>;
  readonly leadStatuses: StoredLeadStatus[];
  readonly pipelines: readonly Pipeline[];
  readonly customFields: readonly CustomFieldDefinition[];
  readonly members: readonly Member[];
  /** Gives the next UUID of a sequence that follows from the seed. */
  readonly nextUuid: () => string;
}

/** Where the ids of an agency's records begin: no id is ever given to two agencies of one CRM. */
const firstIds = { lead: 1001, opportunity: 3001, task: 5001 };

/** Records without any lead, task or opportunity, on a copy of a given catalog: each agency changes its own. Further ones take an `idOffset`. */
export function createRecords(
  seed: number,
  catalog: Pick<CrmRecords, 'pipelines' | 'customFields' | 'members'> & {
    readonly leadStatuses: readonly StoredLeadStatus[];
  },
  idOffset = 0,
): CrmRecords {
  const random = createRandom(seed ^ 0x1d);
  const { customFields, leadStatuses, members, pipelines } = structuredClone(catalog);
  return {
    leads: new Collection(firstIds.lead + idOffset),
    tasks: new Collection(firstIds.task + idOffset),
    opportunities: new Collection(firstIds.opportunity + idOffset),
    contacts: new Map(),
    leadStatuses: [...leadStatuses],
    pipelines,
    customFields,
    members,
    nextUuid: () => drawUuid(random),
  };
}
