import { z } from 'zod';
import type { ListedEntity } from '../../core/record.ts';
import { shareRead } from './shared-read.ts';

const text = z.string().nullable();

const lead = z.looseObject({
  id: z.int(),
  title: z.string(),
  status_name: text,
  meta_data: z
    .looseObject({ about: z.looseObject({ description: text.optional(), url: text.optional() }).optional() })
    .nullable(),
  custom_fields: z.record(z.string(), z.unknown()),
  created_at: z.string(),
});

const opportunity = z.looseObject({
  id: z.int(),
  lead_id: z.int(),
  stage_id: z.int(),
  value: z.number(),
  confidence: z.int(),
  expected_close_date: text,
  note: text,
  created_at: z.string(),
});

const task = z.looseObject({
  id: z.int(),
  title: z.string(),
  description: text,
  status: z.int(),
  priority: z.int(),
  start_date: text,
  due_date: text,
  lead_id: z.int().nullable(),
  parent_task_id: z.int().nullable(),
  created_at: z.string(),
});

const named = z.looseObject({ id: z.int(), name: z.string() });

const recordsShape = z.looseObject({
  leads: z.array(lead),
  opportunities: z.array(opportunity),
  tasks: z.array(task),
  leadStatuses: z.array(z.looseObject({ name: z.string(), label: z.string() })),
  pipelines: z.array(named.extend({ stages: z.array(named) })),
  customFields: z.array(named.extend({ field_key: z.string(), type: z.string(), is_active: z.boolean() })),
});

/** Everything the CRM holds, as it says it itself. */
export type CrmContents = z.infer<typeof recordsShape>;
export type CrmLead = z.infer<typeof lead>;
export type CrmOpportunity = z.infer<typeof opportunity>;
export type CrmTask = z.infer<typeof task>;
export type CrmRecord = CrmLead | CrmOpportunity | CrmTask;

const createdShape = z.object({ data: z.object({ id: z.int() }) });

const collections = { lead: 'leads', opportunity: 'opportunities', task: 'tasks' } as const;

export const recordsOf = (contents: CrmContents, entity: ListedEntity): readonly CrmRecord[] =>
  contents[collections[entity]];

/** The value at a path of keys like `custom_fields.city`; `undefined` where there is none. */
export function valueAt(record: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }, record);
}

/** Somebody who works in the CRM: sees everything and edits by hand, without a key and without a budget. */
export interface CrmPerson {
  look(): Promise<CrmContents>;
  find(entity: ListedEntity, id: number): Promise<CrmRecord | undefined>;
  /** The newest record that fits and that was not taken before, so that no two checks edit the same one. */
  take(entity: ListedEntity, fits?: (record: CrmRecord) => boolean): Promise<CrmRecord>;
  create(entity: ListedEntity, body: object): Promise<number>;
  update(entity: ListedEntity, id: number, body: object): Promise<void>;
  trash(entity: ListedEntity, id: number): Promise<void>;
}

/** `origin` is the sandbox CRM's address without a path. */
export function workInCrm(origin: string): CrmPerson {
  let seen: { readonly tag: string; readonly contents: CrmContents } | undefined;
  const taken = new Set<string>();

  const look = shareRead(async () => {
    const response = await fetch(`${origin}/__sandbox/records`, {
      headers: seen ? { 'if-none-match': seen.tag } : {},
    });
    if (response.status === 304 && seen) return seen.contents;
    const contents = recordsShape.parse(await response.json());
    seen = { tag: response.headers.get('etag') ?? '', contents };
    return contents;
  });

  async function act(method: 'POST' | 'PUT' | 'DELETE', path: string, body: object = {}): Promise<unknown> {
    const response = await fetch(`${origin}/__sandbox/by-hand`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ method, path, body }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`By hand, ${method} ${path} got ${JSON.stringify(answer)}.`);
    return answer;
  }

  return {
    look,
    async find(entity, id) {
      return recordsOf(await look(), entity).find((record) => record.id === id);
    },
    async take(entity, fits = () => true) {
      const records = recordsOf(await look(), entity);
      const free = records.findLast((record) => !taken.has(`${entity} ${record.id}`) && fits(record));
      if (!free) throw new Error(`The CRM has no ${entity} left that fits.`);
      taken.add(`${entity} ${free.id}`);
      return free;
    },
    create: async (entity, body) =>
      createdShape.parse(await act('POST', `/${collections[entity]}`, body)).data.id,
    update: async (entity, id, body) => void (await act('PUT', `/${collections[entity]}/${id}`, body)),
    trash: async (entity, id) => void (await act('DELETE', `/${collections[entity]}/${id}`)),
  };
}
