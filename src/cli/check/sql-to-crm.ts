import type { Analyst } from './analyst.ts';
import type { Check } from './check.ts';
import { demand, difference, waitUntil } from './expect.ts';

/** Waits until the edit of such a kind that has these values is done. */
const waitUntilDone = (analyst: Analyst, op: 'U' | 'I', text: string) =>
  waitUntil(async () => {
    const edit = (await analyst.look('edit')).find(
      (row) => row['op'] === op && row['changed']?.includes(text),
    );
    return difference('the edit', edit?.['state'], 'done');
  });

const changed = (analyst: Analyst): Check => ({
  name: "a lead's title changed by SQL arrives in the CRM and in the sheet, and the edit is done",
  async run({ crm, sheet }) {
    const { id } = await crm.take('lead');
    const title = 'Changed by SQL';
    await analyst.run(`UPDATE crm.lead SET title = '${title}' WHERE id = ${id}`);
    await waitUntil(async () =>
      difference(`title of lead ${id}`, (await crm.find('lead', id))?.title, title),
    );
    await waitUntilDone(analyst, 'U', title);
    await waitUntil(async () =>
      difference(`title of lead ${id} in the sheet`, (await sheet.findRow('lead', id))?.['Title'], title),
    );
  },
});

const inserted = (analyst: Analyst): Check => ({
  name: 'a lead inserted by SQL is created in the CRM once, and its row gets its id',
  async run({ crm }) {
    const title = 'Inserted by SQL';
    await analyst.run(`INSERT INTO crm.lead (title) VALUES ('${title}')`);
    await waitUntilDone(analyst, 'I', title);
    const made = (await crm.look()).leads.filter((lead) => lead.title === title);
    demand('leads with the title', made.length, 1);
    const rows = (await analyst.look('lead')).filter((row) => row['title'] === title);
    demand('ids of the rows', rows.map((row) => row['id']).join(), String(made[0]?.id));
  },
});

const refused = (analyst: Analyst): Check => ({
  name: 'what the CRM would refuse is refused in the session of who writes SQL',
  async run({ crm }) {
    const { id } = await crm.take('opportunity');
    const words = await analyst.run(`UPDATE crm.opportunity SET stage_id = 999 WHERE id = ${id}`).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
    demand('the refusal', words, 'The CRM has no stage 999.');
  },
});

/** What is edited by SQL, seen in the CRM and in the sheet. */
export const sqlToCrm = (analyst: Analyst): readonly Check[] => [
  changed(analyst),
  inserted(analyst),
  refused(analyst),
];
