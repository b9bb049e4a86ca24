import type { Check } from './check.ts';
import { valueAt } from './crm-person.ts';
import { difference, waitUntil } from './expect.ts';

/** A value that can not be stored, words that have to be part of what the Sync cell says, and a value that can. */
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

const checkMistake = ({
  name,
  header,
  typed,
  words,
  corrected,
  path,
  value,
}: (typeof mistakes)[number]): Check => ({
  name,
  async run({ sheet, crm }) {
    const lead = await crm.take('lead', (record) => valueAt(record, path) !== value);
    const waitForSync = (expected: RegExp) =>
      waitUntil(async () => {
        const sync = String((await sheet.findRow('lead', lead.id))?.['Sync']);
        return expected.test(sync)
          ? undefined
          : `Sync of lead ${lead.id}: expected ${expected}, found “${sync}”`;
      });
    await sheet.type('lead', lead.id, { [header]: typed });
    await waitForSync(words);
    await waitUntil(async () =>
      difference(`${path} in the CRM`, valueAt(await crm.find('lead', lead.id), path), valueAt(lead, path)),
    );
    await sheet.type('lead', lead.id, { [header]: corrected });
    await waitUntil(async () =>
      difference(`${path} in the CRM`, valueAt(await crm.find('lead', lead.id), path), value),
    );
    await waitForSync(/^Synced /);
  },
});

export const refusals: readonly Check[] = mistakes.map(checkMistake);
