import type { Catalog } from '../../src/core/catalog.ts';
import { splitContactId } from '../../src/core/contact-id.ts';
import { type ErrorCode, SyncError } from '../../src/core/errors.ts';
import type { Crm, Sending } from '../../src/core/ports.ts';
import { type Entity, type ObservedRecord, type RecordKey, recordKeyText } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';

/** What becomes of a write: it is done, it is done without an answer, or it is lost. */
export type Outcome = 'answered' | 'unanswered' | 'lost';

/** Records in memory, which people change as they like. */
export interface CrmRecords {
  readonly catalog: Catalog;
  readonly crm: Map<string, { readonly key: RecordKey; fields: Fields }>;
  now(): number;
  add(entity: Entity, fields: Fields): string;
  order<Item>(items: readonly Item[]): readonly Item[];
}

/** A CRM that holds them. A create is always answered. */
export function createMemoryCrm(records: CrmRecords, outcome: Outcome): Crm {
  const { crm } = records;
  const observe = ({ key, fields }: { key: RecordKey; fields: Fields }): ObservedRecord => ({
    ...key,
    fields,
    at: records.now(),
  });
  const list = (entity: Entity) =>
    records.order([...crm.values()].filter(({ key }) => key.entity === entity)).map(observe);
  const find = (key: RecordKey) => crm.get(recordKeyText(key));
  const send = (sending: Sending | undefined, change: () => void) => {
    sending?.begin();
    if (outcome === 'lost') throw failure('CRM_UNREACHABLE');
    change();
    if (outcome === 'unanswered') throw failure('CRM_UNKNOWN_OUTCOME');
  };
  return {
    readCatalog: async () => records.catalog,
    listRecords: async (entity) => ({ records: list(entity), hasMore: false }),
    listContacts: async (leadId) => ({
      records: list('contact').filter(({ id }) => splitContactId(id).leadId === leadId),
    }),
    async getRecord(key) {
      const found = find(key);
      return found && observe(found);
    },
    async createRecord(entity, fields, sending) {
      sending?.begin();
      const id = records.add(entity, fields);
      return { id, fields: find({ entity, id })?.fields ?? {}, at: records.now() };
    },
    async updateRecord(key, fields, _known, sending) {
      send(sending, () => {
        const record = find(key);
        if (!record) throw failure('CRM_NOT_FOUND');
        record.fields = { ...record.fields, ...fields };
      });
      return { id: key.id, fields, at: records.now() };
    },
    async deleteRecord(key, sending) {
      send(sending, () => crm.delete(recordKeyText(key)));
    },
  };
}

const failure = (code: ErrorCode) => new SyncError(code, `The CRM says ${code}.`);
