import type { ListedEntity } from '../../core/record.ts';
import type { Check } from './check.ts';
import { difference, waitUntil } from './expect.ts';
import type { SheetCell } from './sheet-person.ts';

/** A record is edited in the CRM, and the sheet then has to show the cell under a header. */
const edited = (
  entity: ListedEntity,
  what: string,
  body: object,
  header: string,
  cell: SheetCell,
): Check => ({
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

const custom = (type: string, key: string, value: unknown, header: string, cell: SheetCell): Check =>
  edited('lead', `a lead's ${type} field`, { custom_fields: { [key]: value } }, header, cell);

const articles = { lead: 'a', opportunity: 'an', task: 'a' } as const;

const created = (
  entity: ListedEntity,
  makeBody: (leadId: number) => object,
  header: string,
  cell: SheetCell,
): Check => ({
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

const newDeal = (lead_id: number) => ({ lead_id, stage_id: 22, value: 900 });

export const crmToSheet: readonly Check[] = [
  edited('lead', "a lead's title", { title: 'Renamed in the CRM' }, 'Title', 'Renamed in the CRM'),
  edited('lead', "a lead's status", { status_name: 'lost' }, 'Status', 'Lost'),
  custom('text', 'phone', '+48 22 555 0199', 'Phone', '+48 22 555 0199'),
  custom('number', 'yearly_budget', 98_765.5, 'Yearly budget (€)', 98_765.5),
  custom('boolean', 'newsletter', false, 'Newsletter', false),
  // 2026-01-02 is day 46024 of a sheet.
  custom('date', 'first_contact', '2026-01-02', 'First contact', 46_024),
  custom('select', 'source', 'Cold call', 'Source', 'Cold call'),
  custom('multi-select', 'services', ['Branding', 'SEO'], 'Services', 'Branding, SEO'),
  custom('user-select', 'account_manager', '9002', 'Account manager', 'João Pereira'),
  custom('user-multi-select', 'team', ['9002', '9003'], 'Team', 'João Pereira, Ewa Zielińska'),
  edited('opportunity', "an opportunity's stage", { stage_id: 14 }, 'Stage', 'New business / Won'),
  edited('opportunity', "an opportunity's value", { value: 31_415.93 }, 'Value', 31_415.93),
  edited('task', "a task's status", { status: 2 }, 'Status', 'In progress'),
  edited('task', "a task's due date", { due_date: '2026-01-02' }, 'Due', 46_024),
  created('lead', () => ({ title: '=1+1' }), 'Title', '=1+1'),
  created('lead', () => ({ title: '007' }), 'Title', '007'),
  created('opportunity', newDeal, 'Stage', 'Upsell & renewals / Offer / terms'),
  created('task', (lead_id) => ({ title: 'Made in the CRM', lead_id }), 'Title', 'Made in the CRM'),
];
