import { type OwnCode, SyncError } from '../../src/core/errors.ts';
import { splitContactId } from '../../src/core/fields/contact-id.ts';
import type { Crm, Sending } from '../../src/core/ports.ts';
import { type Entity, type ObservedRecord, type RecordKey, recordKeyText } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';
import { addRecord, changeRecord, removeRecord, type World } from './world.ts';

/** What becomes of a write: it is done, it is done without an answer, or it is lost. */
export type Outcome = 'answered' | 'unanswered' | 'lost';

/** The CRM of a world. A create is always answered. */
export function createMemoryCrm(world: World, outcome: Outcome): Crm {
  const { catalog, clock, crm, order } = world;
  const observe = (record: { key: RecordKey; fields: Fields } | undefined): ObservedRecord | undefined =>
    record && { ...record.key, fields: record.fields, at: clock.now };
  const list = (entity: Entity) =>
    order([...crm.values()]).flatMap((record) =>
      record.key.entity === entity ? (observe(record) ?? []) : [],
    );
  const send = (sending: Sending | undefined, change: () => void) => {
    sending?.begin();
    if (outcome === 'lost') throw failure('CRM_UNREACHABLE');
    change();
    if (outcome === 'unanswered') throw failure('CRM_UNKNOWN_OUTCOME');
  };
  return {
    readCatalog: async () => catalog,
    listRecords: async (entity) => ({ records: list(entity), hasMore: false }),
    listContacts: async (leadId) => ({
      records: list('contact').filter(({ id }) => splitContactId(id).leadId === leadId),
    }),
    getRecord: async (key) => observe(crm.get(recordKeyText(key))),
    async createRecord(entity, fields, sending) {
      sending?.begin();
      const id = addRecord(world, entity, fields);
      return { id, fields: crm.get(recordKeyText({ entity, id }))?.fields ?? {}, at: clock.now };
    },
    async updateRecord(key, fields, _known, sending) {
      send(sending, () => changeRecord(world, key, fields));
      return { id: key.id, fields, at: clock.now };
    },
    deleteRecord: async (key, sending) => send(sending, () => removeRecord(world, key)),
  };
}

const failure = (code: OwnCode) => new SyncError(code, `The CRM says ${code}.`);
