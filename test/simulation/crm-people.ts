import type { Operation } from './operation.ts';
import { type LiveRecord, type People, pick } from './people.ts';
import { type TabEntity, typedFields } from './tab-view.ts';

const paths: Readonly<Record<TabEntity, string>> = { lead: '/leads', task: '/tasks' };

/** What people do in the CRM's own pages. */
export function workInCrm(people: People, { kind, which, what }: Operation): void {
  const entity: TabEntity = which % 3 === 0 ? 'task' : 'lead';
  if (kind === 'create in the CRM') return createRecord(people, entity);
  const record = pick(people.liveRecords(entity), which >> 2);
  const owner = record && people.ownerOfRecord.get(`${entity}-${record.id}`);
  if (!record || owner === undefined) return;
  const path = `${paths[entity]}/${record.id}`;
  if (kind === 'delete in the CRM') {
    if (!isAlmostEmpty(people, entity)) deleteRecord(people, entity, record);
    return;
  }
  const fields = kind === 'empty in the CRM' ? typedFields[entity].slice(1) : typedFields[entity];
  const field = pick(fields, what) ?? 'title';
  people.withdrawn.add(String(record.values[field]));
  const value = kind === 'empty in the CRM' ? null : people.claims.newValue(owner, field);
  callCrm(people, 'PUT', path, bodyOf({ [field]: value }));
}

export function deleteRecord(people: People, entity: TabEntity, { id, values }: LiveRecord): void {
  for (const value of Object.values(values)) people.withdrawn.add(String(value));
  people.deleted.add(people.ownerOfRecord.get(`${entity}-${id}`) ?? '');
  callCrm(people, 'DELETE', `${paths[entity]}/${id}`);
}

/** A CRM that lists nothing any more is taken for one that fails, so nobody empties it. */
export const isAlmostEmpty = (people: People, entity: TabEntity): boolean =>
  Math.min(people.liveRecords(entity).length, people.tab(entity)?.rows.length ?? 0) <= recordsMin;

const recordsMin = 2;

export function createRecord(people: People, entity: TabEntity): void {
  const owner = people.claims.newOwner();
  const values = typedFields[entity].map((field) => [field, people.claims.newValue(owner, field)] as const);
  const { crm } = people.stage;
  const answer = crm.applyByHand(people.stage.trueTime(), {
    method: 'POST',
    path: paths[entity],
    body: JSON.stringify(bodyOf(Object.fromEntries(values))),
  });
  if (answer.status >= 400) throw new Error(`POST by hand: ${JSON.stringify(answer.body)}`);
  people.ownerOfRecord.set(`${entity}-${createdId(answer.body)}`, owner);
  people.noteCrm();
}

export function createdId(body: unknown): string {
  const { data } = body as { data?: { id?: number } };
  return String(data?.id);
}

export function callCrm(people: People, method: string, path: string, body?: object): void {
  people.stage.tell(() => `in the CRM: ${method} ${path} ${JSON.stringify(body)}`);
  const { crm, trueTime } = people.stage;
  const answer = crm.applyByHand(trueTime(), {
    method,
    path,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (answer.status >= 400) throw new Error(`${method} ${path} by hand: ${JSON.stringify(answer.body)}`);
  people.noteCrm();
  people.masses.look();
}

function bodyOf(fields: Readonly<Record<string, string | null>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const about: Record<string, unknown> = {};
  const custom: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith('about.')) about[name.slice('about.'.length)] = value;
    else if (name.startsWith('custom.')) custom[name.slice('custom.'.length)] = value;
    else body[name] = value;
  }
  if (Object.keys(about).length > 0) body['meta_data'] = { about };
  if (Object.keys(custom).length > 0) body['custom_fields'] = custom;
  return body;
}

/** The fields of a body that the daemon sent, by the names of the program. */
export function fieldsOfBody(body: Readonly<Record<string, unknown>>): [string, unknown][] {
  const { meta_data: meta, custom_fields: custom, ...rest } = body;
  const about = (meta as { about?: object } | undefined)?.about ?? {};
  return [
    ...Object.entries(rest),
    ...Object.entries(about).map(([name, value]): [string, unknown] => [`about.${name}`, value]),
    ...Object.entries(custom ?? {}).map(([name, value]): [string, unknown] => [`custom.${name}`, value]),
  ];
}
