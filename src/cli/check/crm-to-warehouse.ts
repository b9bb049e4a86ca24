import type { RecordTable } from '../../sandbox/postgres/shown-tables.ts';
import type { Analyst } from './analyst.ts';
import type { Check } from './check.ts';
import { demand, difference, waitUntil } from './expect.ts';

/** Fails unless the version before ended when the newest was first seen, and the change has a bound on either side. */
async function demandHistory(
  analyst: Analyst,
  table: RecordTable,
  id: number,
  change: { readonly column: string; readonly before: string | null; readonly after: string },
): Promise<void> {
  const [now, before, ...others] = await analyst.readHistory(table, id);
  const what = `history of ${table} ${id}`;
  demand(`versions in the ${what}`, [now, before, ...others].filter(Boolean).length, 2);
  demand(`the change in the ${what}`, now?.changes, [change]);
  demand(`the end of the newest version in the ${what}`, now?.validUntil, null);
  demand(`the end of the version before in the ${what}`, before?.ended, 'changed');
  demand(`when the version before ended in the ${what}`, before?.validUntil, now?.validFrom);
  if (!(Date.parse(now?.validAfter ?? '') < Date.parse(now?.validFrom ?? '')))
    throw new Error(`The ${what} does not say after what the change was: ${JSON.stringify(now)}`);
}

const changed = (analyst: Analyst): Check => ({
  name: "a lead's title edited in the CRM arrives in its row, and its history keeps the one before",
  async run({ crm }) {
    const { id, title } = await crm.take('lead');
    const after = 'Renamed for the warehouse';
    await crm.update('lead', id, { title: after });
    await waitUntil(async () =>
      difference(`title of lead ${id}`, (await analyst.findRow('lead', id))?.['title'], after),
    );
    await demandHistory(analyst, 'lead', id, { column: 'title', before: title, after });
  },
});

const movedStage = 13;

const moved = (analyst: Analyst): Check => ({
  name: 'a stage changed in the CRM is a visit of its own in stage_history',
  async run({ crm }) {
    const { id, stage_id } = await crm.take('opportunity', (deal) => deal.stage_id !== movedStage);
    await crm.update('opportunity', id, { stage_id: movedStage });
    await waitUntil(async () => {
      const visits = (await analyst.look('stage_history')).filter(
        (row) => row['opportunity_id'] === String(id),
      );
      const [now, before] = visits;
      return (
        difference(
          `stages of opportunity ${id}`,
          visits.map((row) => row['stage_id']),
          [movedStage, stage_id].map(String),
        ) ?? difference(`when opportunity ${id} moved`, before?.['left_at'], now?.['entered_at'])
      );
    });
  },
});

const created = (analyst: Analyst): Check => ({
  name: 'a lead created in the CRM gets a row in the warehouse',
  async run({ crm }) {
    const title = `'); DROP TABLE crm.lead; --`;
    const id = await crm.create('lead', { title });
    await waitUntil(async () =>
      difference(`title of lead ${id}`, (await analyst.findRow('lead', id))?.['title'], title),
    );
  },
});

const throughCrm = (analyst: Analyst): Check => ({
  name: "a lead's city edited in the sheet arrives in the warehouse, through the CRM",
  async run({ sheet, crm }) {
    const after = 'Gdańsk';
    const lead = await crm.take('lead', ({ custom_fields }) => custom_fields['city'] !== after);
    const before = (await analyst.findRow('lead', lead.id))?.['cf_city'] ?? null;
    await sheet.type('lead', lead.id, { City: after });
    await waitUntil(async () =>
      difference(
        `city of lead ${lead.id} in the warehouse`,
        (await analyst.findRow('lead', lead.id))?.['cf_city'],
        after,
      ),
    );
    demand(
      `city of lead ${lead.id} in the CRM`,
      (await crm.find('lead', lead.id))?.custom_fields['city'],
      after,
    );
    await demandHistory(analyst, 'lead', lead.id, { column: 'cf_city', before, after });
    const [now] = await analyst.readHistory('lead', lead.id);
    demand(`who changed lead ${lead.id}`, now?.madeBy, 'sheet');
  },
});

/** What people do in the CRM and the sheet, seen in the warehouse. */
export const crmToWarehouse = (analyst: Analyst): readonly Check[] => [
  changed(analyst),
  moved(analyst),
  created(analyst),
  throughCrm(analyst),
];

/** Its record counts as gone after two complete reads without it. */
export const trashedRow = (analyst: Analyst): Check => ({
  name: 'a task trashed in the CRM leaves the warehouse, and its history says until when it was',
  async run({ crm }) {
    const { id } = await crm.take('task');
    const row = await analyst.findRow('task', id);
    await crm.trash('task', id);
    await waitUntil(async () =>
      difference(`row of task ${id}`, await analyst.findRow('task', id), undefined),
    );
    const [last] = await analyst.readHistory('task', id);
    demand(`first seen of task ${id}`, last?.validFrom, row?.['valid_from']);
    if (!last?.validUntil || last.ended === 'changed')
      throw new Error(`The history of task ${id} does not end: ${JSON.stringify(last)}`);
  },
});
