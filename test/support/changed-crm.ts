import type { Crm } from '../../src/core/ports.ts';
import type { SheetLink } from '../../src/sheet/link.ts';

/** The CRM with some calls that do something else: a client is no plain object that could be spread. */
export const changeCrm = (crm: Crm, changes: Partial<Crm>): Crm => ({
  readCatalog: (lane) => crm.readCatalog(lane),
  listRecords: (entity, page, lane) => crm.listRecords(entity, page, lane),
  listContacts: (leadId, lane) => crm.listContacts(leadId, lane),
  getRecord: (key, lane) => crm.getRecord(key, lane),
  createRecord: (entity, fields, sending) => crm.createRecord(entity, fields, sending),
  updateRecord: (key, fields, known, sending) => crm.updateRecord(key, fields, known, sending),
  deleteRecord: (key, sending) => crm.deleteRecord(key, sending),
  ...changes,
});

/** A link whose CRM has such calls. */
export const withCrm = (link: SheetLink, changes: Partial<Crm>): SheetLink => ({
  ...link,
  crm: changeCrm(link.crm, changes),
});
