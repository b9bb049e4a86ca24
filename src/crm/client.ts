import { isSyncError, SyncError } from '../core/errors.ts';
import type { User } from '../core/fields/catalog.ts';
import { splitContactId } from '../core/fields/contact-id.ts';
import type { Crm, Lane, RecordList, RecordPage, Sending, WriteAnswer } from '../core/ports.ts';
import { takeIn } from '../core/reading/observe.ts';
import {
  type Entity,
  entities,
  type ListedEntity,
  type ObservedRecord,
  type RecordId,
  type RecordKey,
} from '../core/record.ts';
import { type Fields, pickFields } from '../core/value.ts';
import { readCatalog } from './catalog.ts';
import { endpointOf } from './contract.ts';
import { type CrmHttp, type CrmHttpOptions, type CrmReply, createCrmHttp } from './http.ts';
import { createListing, type ReadPage } from './listing.ts';
import {
  aboutNames,
  type CrmRecord,
  isTrashed,
  type KnownCustomField,
  placeContact,
  readRecord,
  unwrapRecord,
  writeRecord,
} from './records.ts';

export interface CrmClientOptions extends CrmHttpOptions {
  /** The custom fields as they were before, for what is read before the catalog is. */
  readonly customFields?: readonly KnownCustomField[];
  /** Names of users by id: no endpoint returns them. */
  readonly users?: Readonly<Record<string, string>>;
}

/** Makes the CRM of one key, over HTTP. */
export const createCrmClient = (options: CrmClientOptions): Crm => new CrmClient(options);

class CrmClient implements Crm {
  readonly #http: CrmHttp;
  readonly #options: CrmHttpOptions;
  readonly #listings: ReadonlyMap<Entity, ReadPage>;
  /** The list of contacts that was asked for last, by lane. */
  readonly #contactLists = new Map<Lane, Promise<unknown>>();
  /** The custom fields that are in use: a lead that lacks one of them has it empty. */
  #customFields: readonly KnownCustomField[];
  readonly #users: readonly User[];

  constructor({ customFields = [], users = {}, ...options }: CrmClientOptions) {
    const http = createCrmHttp(options);
    this.#http = http;
    this.#options = options;
    this.#customFields = customFields;
    this.#users = Object.entries(users).map(([id, name]) => ({ id, name }));
    this.#listings = new Map(entities.map((entity) => [entity, createListing(http, entity)]));
  }

  async readCatalog(lane: Lane) {
    const catalog = await readCatalog(this.#http, lane, this.#options.log);
    this.#customFields = catalog.customFields;
    return this.#users.length === 0 ? catalog : { ...catalog, users: this.#users };
  }

  listRecords(entity: ListedEntity, page: number, lane: Lane): Promise<RecordPage> {
    return this.#listings.get(entity)!(page, lane, this.#customFields);
  }

  /** One list at a time in each lane: what the page before told of where a list ends is told of one list alone. */
  listContacts(leadId: RecordId, lane: Lane): Promise<RecordList> {
    const before = this.#contactLists.get(lane) ?? Promise.resolve();
    const list = before.then(() => this.#readContactList(leadId, lane));
    this.#contactLists.set(
      lane,
      list.catch(() => undefined),
    );
    return list;
  }

  async #readContactList(leadId: RecordId, lane: Lane): Promise<RecordList> {
    const records: ObservedRecord[] = [];
    const nameless: string[] = [];
    for (let page = 1, hasMore = true; hasMore; page += 1) {
      const answer = await this.#listings.get('contact')!(page, lane, [], leadId);
      records.push(...answer.records);
      nameless.push(...(answer.nameless ?? []));
      ({ hasMore } = answer);
    }
    return { records, ...(nameless.length > 0 ? { nameless } : {}) };
  }

  async getRecord(key: RecordKey, lane: Lane): Promise<ObservedRecord | undefined> {
    try {
      const reply = await this.#http({ endpoint: endpointOf('get', key.entity), lane, path: pathOf(key) });
      if (isTrashed(unwrapRecord(key.entity, reply.envelope.data))) return undefined;
      const record = this.#readReply(key.entity, reply, leadOf(key));
      if ('problem' in record) throw unreadable(key, record.problem);
      // Where two records were merged, the CRM may answer for both with the one that is left.
      return record.id === key.id ? { entity: key.entity, ...record, at: reply.sentAt } : undefined;
    } catch (error) {
      if (isSyncError(error, 'CRM_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  async createRecord(entity: Entity, fields: Fields, sending?: Sending): Promise<WriteAnswer> {
    // What is empty is left to the CRM: most fields can be unset in a create, but not all take a null.
    const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
    const body = writeRecord(entity, filled);
    const leadId = entity === 'contact' ? String(fields['lead_id']) : undefined;
    const reply = await this.#http({
      endpoint: endpointOf('create', entity),
      lane: 'edit',
      body,
      ...(leadId === undefined ? {} : { path: { leadId } }),
      furtherScopes: 'custom_fields' in body ? ['write:custom_fields'] : [],
      sending,
    }).catch((error: unknown) => failNamed(error, entity, fields));
    const record = this.#readReply(entity, reply, leadId);
    if ('problem' in record) {
      // Something was created, but only a look at the newest records tells under which id.
      throw new SyncError(
        'CRM_UNKNOWN_OUTCOME',
        `The CRM created a ${entity} and did not say which: ${record.problem}.`,
      );
    }
    return { ...record, at: reply.receivedAt };
  }

  /** Where the CRM does not say what a field became, it is taken to be what was sent. */
  async updateRecord(
    key: RecordKey,
    fields: Fields,
    known: Fields = {},
    sending?: Sending,
  ): Promise<WriteAnswer> {
    const secrets = this.#options.budget.secrets();
    const body = writeRecord(key.entity, await this.#completeAbout(key, fields, known));
    const reply = await this.#http({
      endpoint: endpointOf('update', key.entity),
      lane: 'edit',
      path: pathOf(key),
      body,
      sending,
      secrets,
    }).catch((error: unknown) => failNamed(error, key.entity, fields));
    const record = this.#readReply(key.entity, reply, leadOf(key));
    const isOfIt = !('problem' in record) && record.id === key.id;
    const sent: Pick<WriteAnswer, 'fields' | 'unread'> = { fields };
    const { fields: told, unread } = isOfIt ? takeIn(sent, record) : sent;
    return { id: key.id, fields: told, ...(unread ? { unread } : {}), at: reply.receivedAt };
  }

  async deleteRecord(key: RecordKey, sending?: Sending): Promise<void> {
    try {
      await this.#http({
        endpoint: endpointOf('delete', key.entity),
        lane: 'edit',
        path: pathOf(key),
        sending,
      });
    } catch (error) {
      if (!isSyncError(error, 'CRM_NOT_FOUND')) throw error;
    }
  }

  /**
   * Adds the rest of a lead's `about` when a part of it changes: the specification does not show whether an
   * update merges or replaces this object, and the whole of it comes out the same in both cases.
   */
  async #completeAbout(key: RecordKey, fields: Fields, known: Fields): Promise<Fields> {
    if (!aboutNames.some((name) => name in fields)) return fields;
    const complete = { ...pickFields(known, aboutNames), ...fields };
    if (aboutNames.every((name) => name in complete)) return complete;
    const current = await this.getRecord(key, 'edit');
    if (!current) throw new SyncError('CRM_NOT_FOUND', `The ${key.entity} ${key.id} is not in the CRM.`);
    const odd = aboutNames.find((name) => current.unread?.[name] !== undefined && !(name in fields));
    // The whole of it is not known, and a part may replace the rest.
    if (odd) throw unreadable(key, `${odd} ${current.unread?.[odd]}`);
    return { ...pickFields(current.fields, aboutNames), ...fields };
  }

  #readReply(entity: Entity, reply: CrmReply, leadId?: RecordId): CrmRecord | { readonly problem: string } {
    const record = readRecord(entity, unwrapRecord(entity, reply.envelope.data), this.#customFields);
    return leadId === undefined || 'problem' in record ? record : placeContact(leadId, record);
  }
}

/** The lead below which the CRM has a contact. */
const leadOf = ({ entity, id }: RecordKey): RecordId | undefined =>
  entity === 'contact' ? splitContactId(id).leadId : undefined;

const pathOf = ({ entity, id }: RecordKey): Readonly<Record<string, string>> =>
  entity === 'contact' ? { ...splitContactId(id) } : { id };

/** What else has to be there for a record with these fields, in words; empty for nothing. */
const describeNamed = (fields: Fields): string =>
  Object.entries({ lead_id: 'lead', parent_task_id: 'parent task', stage_id: 'stage' })
    .flatMap(([name, what]) => ((fields[name] ?? null) === null ? [] : [`the ${what} #${fields[name]}`]))
    .join(' or ');

/**
 * A record that is to be made, or was there right before, is not what a write of it did not find. The words stand beside the row, where a
 * path of the CRM tells nobody what is missing.
 */
function failNamed(error: unknown, entity: Entity, fields: Fields): never {
  const named = describeNamed(fields);
  if (named === '' || !isSyncError(error, 'CRM_NOT_FOUND')) throw error;
  const words = `The CRM does not have ${named} of this ${entity} any more. Restore it there and retry, or write another one.`;
  throw new SyncError('CRM_NOT_FOUND', words);
}

const unreadable = (key: RecordKey, problem: string): SyncError =>
  new SyncError('CRM_UNREADABLE', `The ${key.entity} ${key.id} can not be understood: ${problem}.`);
