import type { ListedEntity } from '../../core/record.ts';
import type { snapshotOf } from '../../sandbox/crm/control-routes.ts';
import { shareRead } from './expect.ts';

/** Everything the CRM holds, as it says it itself. */
export type CrmContents = ReturnType<typeof snapshotOf>;

const collections = { lead: 'leads', opportunity: 'opportunities', task: 'tasks' } as const;

export type CrmRecord<Kind extends ListedEntity = ListedEntity> =
  CrmContents[(typeof collections)[Kind]][number];

export const recordsOf = <Kind extends ListedEntity>(contents: CrmContents, entity: Kind) =>
  contents[collections[entity]] as readonly CrmRecord<Kind>[];

/** The value at a path of keys like `custom_fields.city`; `undefined` where there is none. */
export function valueAt(record: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }, record);
}

/** Somebody who works in the CRM: sees everything and edits by hand, without a key and without a budget. */
export type CrmPerson = ReturnType<typeof workInCrm>;

/** `origin` is the sandbox CRM's address without a path. */
export function workInCrm(origin: string) {
  let seen: { readonly tag: string; readonly contents: CrmContents } | undefined;
  const taken = new Set<string>();

  const look = shareRead(async (): Promise<CrmContents> => {
    const response = await fetch(`${origin}/__sandbox/records`, {
      headers: seen ? { 'if-none-match': seen.tag } : {},
    });
    if (response.status === 304 && seen) return seen.contents;
    const contents = (await response.json()) as CrmContents;
    seen = { tag: response.headers.get('etag') ?? '', contents };
    return contents;
  });

  async function act(method: 'POST' | 'PUT' | 'DELETE', path: string, body: object = {}) {
    const response = await fetch(`${origin}/__sandbox/by-hand`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ method, path, body }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`By hand, ${method} ${path} got ${JSON.stringify(answer)}.`);
    return answer as { readonly data: { readonly id: number } };
  }

  return {
    look,
    async find<Kind extends ListedEntity>(entity: Kind, id: number): Promise<CrmRecord<Kind> | undefined> {
      return recordsOf(await look(), entity).find((record) => record.id === id);
    },
    /** The newest record that fits and that was not taken before, so that no two checks edit the same one. */
    async take<Kind extends ListedEntity>(
      entity: Kind,
      fits: (record: CrmRecord<Kind>) => boolean = () => true,
    ): Promise<CrmRecord<Kind>> {
      const records = recordsOf(await look(), entity);
      const free = records.findLast((record) => !taken.has(`${entity} ${record.id}`) && fits(record));
      if (!free) throw new Error(`The CRM has no ${entity} left that fits.`);
      taken.add(`${entity} ${free.id}`);
      return free;
    },
    create: async (entity: ListedEntity, body: object): Promise<number> =>
      (await act('POST', `/${collections[entity]}`, body)).data.id,
    update: async (entity: ListedEntity, id: number, body: object): Promise<void> =>
      void (await act('PUT', `/${collections[entity]}/${id}`, body)),
    trash: async (entity: ListedEntity, id: number): Promise<void> =>
      void (await act('DELETE', `/${collections[entity]}/${id}`)),
  };
}
