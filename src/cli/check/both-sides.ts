import type { Check, Sides } from './check.ts';
import { valueAt } from './crm-person.ts';
import { difference, waitUntil } from './expect.ts';
import { waitUntilSidesAgree } from './expected-rows.ts';

/** Right after a cycle there is the most time until anybody looks at what is done now. */
async function waitForCycle({ daemon }: Sides): Promise<void> {
  const { cycles } = await daemon.status();
  await waitUntil(async () =>
    (await daemon.status()).cycles > cycles ? undefined : 'The daemon does not cycle',
  );
}

export const differentFields: Check = {
  name: 'different fields of one lead edited on both sides at once all survive',
  async run(sides) {
    const { sheet, crm } = sides;
    const { id } = await crm.take('lead');
    await waitForCycle(sides);
    await Promise.all([
      sheet.type('lead', id, { City: 'Porto', About: 'Typed in the sheet' }),
      crm.update('lead', id, { title: 'Both at once', custom_fields: { source: 'Website' } }),
    ]);
    const paths = ['custom_fields.city', 'meta_data.about.description', 'title', 'custom_fields.source'];
    const headers = ['City', 'About', 'Title', 'Source'];
    const expected = ['Porto', 'Typed in the sheet', 'Both at once', 'Website'];
    await waitUntil(async () => {
      const [record, row] = [await crm.find('lead', id), await sheet.findRow('lead', id)];
      const inCrm = paths.map((path) => valueAt(record, path));
      const inSheet = headers.map((header) => row?.[header]);
      return (
        difference(`lead ${id} in the CRM`, inCrm, expected) ??
        difference(`lead ${id} in the sheet`, inSheet, expected)
      );
    });
  },
};

export const sameField: Check = {
  name: 'one field edited on both sides at once: the CRM wins, the loser stays readable',
  async run(sides) {
    const { sheet, crm, daemon } = sides;
    const { id } = await crm.take('lead');
    const [inCrm, inSheet] = ['Said in the CRM', 'Said in the sheet'];
    await waitForCycle(sides);
    await Promise.all([crm.update('lead', id, { title: inCrm }), sheet.type('lead', id, { Title: inSheet })]);
    await waitUntil(async () => {
      if ((await crm.find('lead', id))?.title === inSheet)
        throw new Error(`The title of lead ${id} in the CRM was overwritten with “${inSheet}”.`);
      const row = await sheet.findRow('lead', id);
      const isTold = String(row?.['Sync']).includes(inSheet);
      return (
        difference(`title of lead ${id} in the sheet`, row?.['Title'], inCrm) ??
        (isTold ? undefined : `Sync of lead ${id}: expected the words “${inSheet}”, found “${row?.['Sync']}”`)
      );
    });
    const { latest } = await daemon.status();
    const lost = latest.filter(({ key }) => key.id === String(id)).map((entry) => entry.lost['title']);
    if (!lost.includes(inSheet))
      throw new Error(`The journal has no entry that lost “${inSheet}”: ${JSON.stringify(lost)}`);
  },
};

export const sortedRows: Check = {
  name: 'rows sorted between two edits: every edit reaches its own record, and no other changes',
  async run(sides) {
    const { sheet, crm } = sides;
    const [first, second] = [await crm.take('lead'), await crm.take('lead')];
    const deal = await crm.take('opportunity');
    await waitForCycle(sides);
    await sheet.type('lead', first.id, { City: 'Before the sort' });
    await sheet.type('opportunity', deal.id, { Value: '1234.5' });
    await sheet.sort('lead', 'Title');
    await sheet.sort('opportunity', 'Value');
    await sheet.type('lead', second.id, { City: 'After the sort' });
    await waitUntil(async () => {
      const [before, after] = [await crm.find('lead', first.id), await crm.find('lead', second.id)];
      const cities = [before, after].map((record) => valueAt(record, 'custom_fields.city'));
      const value = (await crm.find('opportunity', deal.id))?.value;
      return (
        difference('cities in the CRM', cities, ['Before the sort', 'After the sort']) ??
        difference('value in the CRM', value, 1234.5)
      );
    });
    await waitUntilSidesAgree(sides);
  },
};
