import { type ListedEntity, listedEntities } from '../../core/record.ts';
import type { Analyst, WarehouseRow } from './analyst.ts';
import type { Check, Sides } from './check.ts';
import { type CrmContents, recordsOf, valueAt } from './crm-person.ts';
import { difference, waitUntil } from './expect.ts';

/** Columns that are compared, with the paths of their values in a record of the CRM; written down without any code of the daemon. */
const paths: Readonly<Record<ListedEntity, Readonly<Record<string, string>>>> = {
  lead: {
    title: 'title',
    status_name: 'status_name',
    cf_city: 'custom_fields.city',
    cf_source: 'custom_fields.source',
    cf_yearly_budget: 'custom_fields.yearly_budget',
    cf_first_contact: 'custom_fields.first_contact',
  },
  opportunity: {
    lead_id: 'lead_id',
    stage_id: 'stage_id',
    value: 'value',
    confidence: 'confidence',
    expected_close_date: 'expected_close_date',
    note: 'note',
  },
  task: {
    title: 'title',
    status: 'status',
    priority: 'priority',
    due_date: 'due_date',
    lead_id: 'lead_id',
    parent_task_id: 'parent_task_id',
  },
};

const textOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : String(value);

function compareTable(
  entity: ListedEntity,
  rows: readonly WarehouseRow[],
  contents: CrmContents,
): (string | undefined)[] {
  const records = recordsOf(contents, entity);
  const byId = new Map(rows.map((row) => [row['id'], row]));
  return [
    difference(`rows of ${entity}`, rows.length, records.length),
    ...records.flatMap((record) =>
      Object.entries(paths[entity]).map(([column, path]) =>
        difference(
          `${column} of ${entity} ${record.id} in the warehouse`,
          byId.get(String(record.id))?.[column],
          textOf(valueAt(record, path)),
        ),
      ),
    ),
  ];
}

function compareStages(
  rows: readonly WarehouseRow[],
  { opportunities }: CrmContents,
): (string | undefined)[] {
  return rows.map((row) => {
    const inCrm = opportunities.filter(({ stage_id }) => String(stage_id) === row['stage_id']);
    return difference(`opportunities in ${row['stage_name']}`, row['opportunities'], String(inCrm.length));
  });
}

const shownMax = 5;

async function waitUntilWarehouseAgrees(analyst: Analyst, { crm }: Sides): Promise<void> {
  await waitUntil(async () => {
    const contents = await crm.look();
    const compared = await Promise.all(
      listedEntities.map(async (entity) => compareTable(entity, await analyst.look(entity), contents)),
    );
    const stages = compareStages(await analyst.look('pipeline_by_stage'), contents);
    const wrong = [...compared.flat(), ...stages].filter((words) => words !== undefined);
    if (wrong.length === 0) return undefined;
    const shown = wrong.slice(0, shownMax).join('\n    ');
    return `${wrong.length} differences between the CRM and the warehouse, the first:\n    ${shown}\n   `;
  });
}

export const warehouseFilled = (analyst: Analyst): Check => ({
  name: 'an empty database is filled: three tables, every record, and views over them',
  run: (sides) => waitUntilWarehouseAgrees(analyst, sides),
});

export const warehouseSame = (analyst: Analyst): Check => ({
  name: 'after all of it the warehouse is the same as the CRM, and pipeline_by_stage counts right',
  run: (sides) => waitUntilWarehouseAgrees(analyst, sides),
});
