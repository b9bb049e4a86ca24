import { listedEntities } from '../../core/record.ts';
import type { Check, Sides } from './check.ts';
import { recordsOf, valueAt } from './crm-person.ts';
import { demand, difference, waitUntil } from './expect.ts';
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
    // It is written down once the write that the cell shows already is confirmed.
    await waitUntil(async () => {
      const { latest } = await daemon.status();
      const lost = latest.filter(({ key }) => key.id === String(id)).map((entry) => entry.lost['title']);
      if (lost.includes(inSheet)) return undefined;
      return `The journal has no entry that lost “${inSheet}”: ${JSON.stringify(lost)}`;
    });
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

export const deletedRow: Check = {
  name: 'a row deleted in the sheet is held, not deleted in the CRM, and comes back when restored',
  async run({ sheet, crm, daemon }) {
    // Its lead may be renamed meanwhile: then its row would rightly come back with another text.
    const { id } = await crm.take('task', (task) => task.lead_id === null);
    const before = await crm.find('task', id);
    const rowBefore = await sheet.findRow('task', id);
    const scope = `vanished:task-${id}`;
    await sheet.deleteRow('task', id);
    await waitUntil(async () => {
      const { holds } = await daemon.status();
      return holds.some(({ decision }) => decision === scope)
        ? undefined
        : `The daemon does not hold ${scope}`;
    });
    demand(`task ${id} in the CRM`, await crm.find('task', id), before);
    demand(`row of task ${id}`, await sheet.findRow('task', id), undefined);
    await daemon.answer(scope, 'restore');
    await waitUntil(async () => {
      const row = await sheet.findRow('task', id);
      // Its Sync cell speaks of now.
      return difference(`row of task ${id}`, row && { ...row, Sync: '' }, { ...rowBefore, Sync: '' });
    });
    demand(`task ${id} in the CRM`, await crm.find('task', id), before);
  },
};

/**
 * Moves a lead with its dependents, an opportunity and a task to the trash. Returns the check that their rows go.
 */
export async function trashRecords({ sheet, crm }: Sides): Promise<Check> {
  const before = await crm.look();
  for (const entity of listedEntities) {
    const { id } = await crm.take(entity);
    await crm.trash(entity, id);
  }
  const after = await crm.look();
  const gone = listedEntities.map((entity) => {
    const left = new Set(recordsOf(after, entity).map(({ id }) => id));
    return [entity, recordsOf(before, entity).flatMap(({ id }) => (left.has(id) ? [] : [id]))] as const;
  });
  const counts = gone.map(([entity, ids]) => `${ids.length} × ${entity}`).join(', ');
  return {
    name: `the rows of ${counts} trashed in the CRM go`,
    run: () =>
      waitUntil(async () => {
        const tabs = await sheet.look();
        const left = gone.map(([entity, ids]) =>
          tabs[entity].rows.filter((row) => ids.includes(Number(row['ID']))),
        );
        return difference(
          'rows of trashed records',
          left.map((rows) => rows.length),
          [0, 0, 0],
        );
      }),
  };
}
