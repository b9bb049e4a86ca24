import type { ListedEntity } from '../../core/record.ts';
import type { Check } from './check.ts';
import { difference, waitUntil } from './expect.ts';
import type { SheetCell } from './sheet-person.ts';

/** What a person in the CRM writes, and what the sheet then has to show under a header. */
interface RecordEdit {
  readonly what: string;
  readonly entity: ListedEntity;
  readonly body: object;
  readonly header: string;
  readonly cell: SheetCell;
}

const customEdit = (
  type: string,
  key: string,
  value: unknown,
  header: string,
  cell: SheetCell,
): RecordEdit => ({
  what: `a lead's ${type} field`,
  entity: 'lead',
  body: { custom_fields: { [key]: value } },
  header,
  cell,
});

const edits: readonly RecordEdit[] = [
  {
    what: "a lead's title",
    entity: 'lead',
    body: { title: 'Renamed in the CRM' },
    header: 'Title',
    cell: 'Renamed in the CRM',
  },
  { what: "a lead's status", entity: 'lead', body: { status_name: 'lost' }, header: 'Status', cell: 'Lost' },
  customEdit('text', 'phone', '+48 22 555 0199', 'Phone', '+48 22 555 0199'),
  customEdit('number', 'yearly_budget', 98_765.5, 'Yearly budget (€)', 98_765.5),
  customEdit('boolean', 'newsletter', false, 'Newsletter', false),
  // 2026-01-02 is day 46024 of a sheet.
  customEdit('date', 'first_contact', '2026-01-02', 'First contact', 46_024),
  customEdit('select', 'source', 'Cold call', 'Source', 'Cold call'),
  customEdit('multi-select', 'services', ['Branding', 'SEO'], 'Services', 'Branding, SEO'),
  customEdit('user-select', 'account_manager', '9002', 'Account manager', '9002'),
  customEdit('user-multi-select', 'team', ['9002', '9003'], 'Team', '9002, 9003'),
  {
    what: "an opportunity's stage",
    entity: 'opportunity',
    body: { stage_id: 14 },
    header: 'Stage',
    cell: 'New business / Won',
  },
  {
    what: "an opportunity's value",
    entity: 'opportunity',
    body: { value: 31_415.93 },
    header: 'Value',
    cell: 31_415.93,
  },
  { what: "a task's status", entity: 'task', body: { status: 2 }, header: 'Status', cell: 'In progress' },
  {
    what: "a task's due date",
    entity: 'task',
    body: { due_date: '2026-01-02' },
    header: 'Due',
    cell: 46_024,
  },
];

/** The record is edited in the CRM, the sheet has to follow. */
const checkEdit = ({ what, entity, body, header, cell }: RecordEdit): Check => ({
  name: `${what} edited in the CRM arrives in the sheet`,
  async run({ sheet, crm }) {
    const rows = (await sheet.look())[entity].rows;
    const { id } = await crm.take(entity, (record) => {
      const row = rows.find((candidate) => candidate['ID'] === record.id);
      return row !== undefined && row[header] !== cell;
    });
    await crm.update(entity, id, body);
    await waitUntil(async () =>
      difference(
        `${header} of ${entity} ${id} in the sheet`,
        (await sheet.findRow(entity, id))?.[header],
        cell,
      ),
    );
  },
});

interface Creation {
  readonly entity: ListedEntity;
  readonly makeBody: (leadId: number) => object;
  readonly header: string;
  readonly cell: SheetCell;
}

const creations: readonly Creation[] = [
  { entity: 'lead', makeBody: () => ({ title: '=1+1' }), header: 'Title', cell: '=1+1' },
  { entity: 'lead', makeBody: () => ({ title: '007' }), header: 'Title', cell: '007' },
  {
    entity: 'opportunity',
    makeBody: (leadId) => ({ lead_id: leadId, stage_id: 22, value: 900 }),
    header: 'Stage',
    cell: 'Upsell & renewals / Offer / terms',
  },
  {
    entity: 'task',
    makeBody: (leadId) => ({ title: 'Made in the CRM', lead_id: leadId }),
    header: 'Title',
    cell: 'Made in the CRM',
  },
];

const articles = { lead: 'a', opportunity: 'an', task: 'a' } as const;

const checkCreation = ({ entity, makeBody, header, cell }: Creation): Check => ({
  name: `${articles[entity]} ${entity} created in the CRM gets one row: ${cell}`,
  async run({ sheet, crm }) {
    const lead = await crm.take('lead');
    const id = await crm.create(entity, makeBody(lead.id));
    await waitUntil(async () => {
      const rows = (await sheet.look())[entity].rows.filter((row) => row['ID'] === id);
      const shown = rows.map((row) => row[header]);
      return difference(`${header} in the rows of ${entity} ${id}`, shown, [cell]);
    });
  },
});

export const crmToSheet: readonly Check[] = [...edits.map(checkEdit), ...creations.map(checkCreation)];
