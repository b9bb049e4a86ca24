import { isDeepStrictEqual } from 'node:util';
import type { ListedEntity } from '../../core/record.ts';
import type { Check, Sides } from './check.ts';
import { type CrmRecord, recordsOf, valueAt } from './crm-person.ts';
import { demand, difference, waitUntil } from './expect.ts';

/** What a person types under a header, and what the CRM then has to hold at a path of the record. */
interface CellEdit {
  readonly what: string;
  readonly entity: ListedEntity;
  readonly header: string;
  readonly typed: string;
  readonly path: string;
  readonly value: unknown;
}

const leadEdit = (what: string, header: string, typed: string, path: string, value: unknown): CellEdit => ({
  what: `a lead's ${what}`,
  entity: 'lead',
  header,
  typed,
  path,
  value,
});

const customEdit = (type: string, header: string, typed: string, key: string, value: unknown): CellEdit =>
  leadEdit(`${type} field`, header, typed, `custom_fields.${key}`, value);

const edits: readonly CellEdit[] = [
  leadEdit('title', 'Title', 'Harbour Café & Söhne', 'title', 'Harbour Café & Söhne'),
  leadEdit('title that looks like a number', 'Title', '007', 'title', '007'),
  leadEdit('status', 'Status', 'in negotiation', 'status_name', 'in-negotiation'),
  customEdit('text', 'City', 'Łódź', 'city', 'Łódź'),
  customEdit('number', 'Yearly budget (€)', '12500.75', 'yearly_budget', 12_500.75),
  customEdit('boolean', 'Newsletter', 'TRUE', 'newsletter', true),
  customEdit('date', 'First contact', '2025-12-24', 'first_contact', '2025-12-24'),
  customEdit('select', 'Source', 'trade fair', 'source', 'Trade fair'),
  customEdit('multi-select', 'Services', 'SEO, Print, packaging', 'services', ['SEO', 'Print, packaging']),
  customEdit('user-select', 'Account manager', '9003', 'account_manager', '9003'),
  customEdit('user-multi-select', 'Team', '9001, 9004', 'team', ['9001', '9004']),
  {
    what: "an opportunity's stage (by pipeline and name)",
    entity: 'opportunity',
    header: 'Stage',
    typed: 'Upsell & renewals / Won',
    path: 'stage_id',
    value: 23,
  },
  {
    what: "an opportunity's stage (by a name that only one has)",
    entity: 'opportunity',
    header: 'Stage',
    typed: 'Erstgespräch',
    path: 'stage_id',
    value: 31,
  },
  {
    what: "a task's status",
    entity: 'task',
    header: 'Status',
    typed: 'In review',
    path: 'status',
    value: 4,
  },
  {
    what: "a task's due date",
    entity: 'task',
    header: 'Due',
    typed: '2027-02-28',
    path: 'due_date',
    value: '2027-02-28',
  },
];

/** The cell is edited in the sheet, the CRM has to follow. */
const checkEdit = ({ what, entity, header, typed, path, value }: CellEdit): Check => ({
  name: `${what} edited in the sheet arrives in the CRM`,
  async run({ sheet, crm }) {
    const differs = (record: CrmRecord) => !isDeepStrictEqual(valueAt(record, path), value);
    const { id } = await crm.take(entity, differs);
    await sheet.type(entity, id, { [header]: typed });
    await waitUntil(async () =>
      difference(`${path} of ${entity} ${id} in the CRM`, valueAt(await crm.find(entity, id), path), value),
    );
  },
});

/** Waits until exactly one record has the value, and its row the record's id. Answers the record. */
async function waitForNewRecord(
  { sheet, crm }: Sides,
  entity: ListedEntity,
  header: string,
  path: string,
  text: string,
): Promise<CrmRecord> {
  const findMade = async () =>
    recordsOf(await crm.look(), entity).filter((record) => valueAt(record, path) === text);
  await waitUntil(async () => {
    const ids = (await findMade()).map(({ id }) => id);
    const rows = (await sheet.look())[entity].rows.filter((row) => row[header] === text);
    if (ids.length !== 1) return difference(`records with “${text}” in the CRM`, ids.length, 1);
    return difference(
      `IDs of the rows with “${text}”`,
      rows.map((row) => row['ID']),
      ids,
    );
  });
  const [made] = await findMade();
  if (!made) throw new Error(`The ${entity} “${text}” is gone from the CRM again.`);
  return made;
}

const newTitle = 'Typed in the sheet GmbH';
const newNote = 'Typed in the sheet, for a lead by its title';

const newLead: Check = {
  name: 'a new lead row becomes one record in the CRM and gets its id',
  async run(sides) {
    await sides.sheet.typeRow('lead', { Title: newTitle, Status: 'Customer', Phone: '+49 40 555 0101' });
    const lead = await waitForNewRecord(sides, 'lead', 'Title', 'title', newTitle);
    demand('its status in the CRM', valueAt(lead, 'status_name'), 'customer');
    demand('its phone in the CRM', valueAt(lead, 'custom_fields.phone'), '+49 40 555 0101');
  },
};

const newOpportunity: Check = {
  name: 'a new opportunity row that names its lead by title arrives at that lead',
  async run(sides) {
    const { leads } = await sides.crm.look();
    const lead = await sides.crm.take('lead', (candidate) => {
      const title = valueAt(candidate, 'title');
      return leads.filter((other) => other.title === title).length === 1;
    });
    await sides.sheet.typeRow('opportunity', {
      Lead: String(valueAt(lead, 'title')),
      Stage: 'New business / Negotiation',
      Value: '4200',
      Note: newNote,
    });
    const deal = await waitForNewRecord(sides, 'opportunity', 'Note', 'note', newNote);
    demand('its lead in the CRM', valueAt(deal, 'lead_id'), lead.id);
    demand('its stage in the CRM', valueAt(deal, 'stage_id'), 13);
    demand('its value in the CRM', valueAt(deal, 'value'), 4200);
  },
};

export const sheetToCrm: readonly Check[] = [...edits.map(checkEdit), newLead, newOpportunity];

export const createdOnce: Check = {
  name: 'no new row was created twice',
  async run({ crm }) {
    const { leads, opportunities } = await crm.look();
    demand('leads of that title', leads.filter(({ title }) => title === newTitle).length, 1);
    demand('opportunities of that note', opportunities.filter(({ note }) => note === newNote).length, 1);
  },
};
