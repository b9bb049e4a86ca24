import { isDeepStrictEqual } from 'node:util';
import type { ListedEntity } from '../../core/record.ts';
import type { Check, Sides } from './check.ts';
import { type CrmRecord, recordsOf, valueAt } from './crm-person.ts';
import { demand, difference, waitUntil } from './expect.ts';

/** A person types under a header, and the CRM then has to hold the value at a path of the record. */
const typed = (
  entity: ListedEntity,
  what: string,
  header: string,
  text: string,
  path: string,
  value: unknown,
): Check => ({
  name: `${what} edited in the sheet arrives in the CRM`,
  async run({ sheet, crm }) {
    const differs = (record: CrmRecord) => !isDeepStrictEqual(valueAt(record, path), value);
    const { id } = await crm.take(entity, differs);
    await sheet.type(entity, id, { [header]: text });
    await waitUntil(async () =>
      difference(`${path} of ${entity} ${id} in the CRM`, valueAt(await crm.find(entity, id), path), value),
    );
  },
});

const custom = (type: string, header: string, text: string, key: string, value: unknown): Check =>
  typed('lead', `a lead's ${type} field`, header, text, `custom_fields.${key}`, value);

const byName = "an opportunity's stage (by pipeline and name)";
const byOnlyName = "an opportunity's stage (by a name that only one has)";

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
    const isOnlyOne = ({ title }: CrmRecord<'lead'>) =>
      leads.filter((other) => other.title === title).length === 1;
    const lead = await sides.crm.take('lead', isOnlyOne);
    await sides.sheet.typeRow('opportunity', {
      Lead: lead.title,
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

export const sheetToCrm: readonly Check[] = [
  typed('lead', "a lead's title", 'Title', 'Harbour Café & Söhne', 'title', 'Harbour Café & Söhne'),
  typed('lead', "a lead's title that looks like a number", 'Title', '007', 'title', '007'),
  typed('lead', "a lead's status", 'Status', 'in negotiation', 'status_name', 'in-negotiation'),
  custom('text', 'City', 'Łódź', 'city', 'Łódź'),
  custom('number', 'Yearly budget (€)', '12500.75', 'yearly_budget', 12_500.75),
  custom('boolean', 'Newsletter', 'TRUE', 'newsletter', true),
  custom('date', 'First contact', '2025-12-24', 'first_contact', '2025-12-24'),
  custom('select', 'Source', 'trade fair', 'source', 'Trade fair'),
  custom('multi-select', 'Services', 'SEO, Print, packaging', 'services', ['SEO', 'Print, packaging']),
  custom('user-select', 'Account manager', 'Ewa Zielińska', 'account_manager', '9003'),
  custom('user-multi-select', 'Team', 'Mara Stein, 9004', 'team', ['9001', '9004']),
  typed('opportunity', byName, 'Stage', 'Upsell & renewals / Won', 'stage_id', 23),
  typed('opportunity', byOnlyName, 'Stage', 'Erstgespräch', 'stage_id', 31),
  typed('task', "a task's status", 'Status', 'In review', 'status', 4),
  typed('task', "a task's due date", 'Due', '2027-02-28', 'due_date', '2027-02-28'),
  newLead,
  newOpportunity,
];

export const createdOnce: Check = {
  name: 'no new row was created twice',
  async run({ crm }) {
    const { leads, opportunities } = await crm.look();
    demand('leads of that title', leads.filter(({ title }) => title === newTitle).length, 1);
    demand('opportunities of that note', opportunities.filter(({ note }) => note === newNote).length, 1);
  },
};

/** A value that cannot be stored, words that have to be part of what the Sync cell says, and a value that can. */
const mistakes = [
  {
    name: 'a website that the CRM refuses is told beside its row, until it is corrected',
    header: 'Website',
    typed: 'no address',
    words: /^Error: The CRM does not accept this Website: /,
    corrected: 'https://www.example.com/corrected',
    path: 'meta_data.about.url',
    value: 'https://www.example.com/corrected',
  },
  {
    name: 'a status that does not exist is told beside its row, until it is corrected',
    header: 'Status',
    typed: 'Nonsense',
    words: /^Error: “Nonsense” is not known\. Status takes New, Contacted/,
    corrected: 'Qualified',
    path: 'status_name',
    value: 'qualified',
  },
  {
    name: 'a formula typed over a title is told beside its row and never sent, until there is a value',
    header: 'Title',
    typed: '\'=HYPERLINK("https://example.com")',
    words: /^Error: Title holds a formula\. Formulas are not sent to the CRM/,
    corrected: 'Linked GmbH',
    path: 'title',
    value: 'Linked GmbH',
  },
];

const checkMistake = ({ name, header, path, ...told }: (typeof mistakes)[number]): Check => ({
  name,
  async run({ sheet, crm }) {
    const lead = await crm.take('lead', (record) => valueAt(record, path) !== told.value);
    const waitForSync = (expected: RegExp) =>
      waitUntil(async () => {
        const sync = String((await sheet.findRow('lead', lead.id))?.['Sync']);
        return expected.test(sync)
          ? undefined
          : `Sync of lead ${lead.id}: expected ${expected}, found “${sync}”`;
      });
    const waitForCrm = (value: unknown) =>
      waitUntil(async () =>
        difference(`${path} in the CRM`, valueAt(await crm.find('lead', lead.id), path), value),
      );
    await sheet.type('lead', lead.id, { [header]: told.typed });
    await waitForSync(told.words);
    await waitForCrm(valueAt(lead, path));
    await sheet.type('lead', lead.id, { [header]: told.corrected });
    await waitForCrm(told.value);
    await waitForSync(/^Synced /);
  },
});

export const refusals: readonly Check[] = mistakes.map(checkMistake);
