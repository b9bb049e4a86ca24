import { type ListedEntity, listedEntities } from '../../core/record.ts';
import type { Sides } from './check.ts';
import { type CrmContents, recordsOf } from './crm-person.ts';
import { difference, waitUntil } from './expect.ts';
import type { SheetCell, SheetRow, SheetTab, SheetTabs } from './sheet-person.ts';

/*
 * What the sheet has to show for the CRM's records, written down without any code of the daemon: two who agree
 * because they share their mistakes would prove nothing.
 */

const dayMs = 86_400_000;
/** Day 0 of a sheet: https://developers.google.com/workspace/sheets/api/guides/formats */
const dayZeroMs = Date.UTC(1899, 11, 30);

const daySerial = (day: string | null): SheetCell =>
  day === null ? '' : (Date.parse(`${day}T00:00:00Z`) - dayZeroMs) / dayMs;

/** The wall clock's time in the sheet's zone, to the second. */
function instantSerial(instant: string, timeZone: string): SheetCell {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const wall = clock.format(Date.parse(instant)).replace(' ', 'T');
  return (Date.parse(`${wall}Z`) - dayZeroMs) / dayMs;
}

const taskStatuses = ['', 'Todo', 'In progress', 'Completed', 'In review'];
const taskPriorities = ['', 'Low', 'Medium', 'High'];

function titleText(
  records: readonly { readonly id: number; readonly title: string }[],
  id: number | null,
): SheetCell {
  if (id === null) return '';
  return `${records.find((record) => record.id === id)?.title} (#${id})`;
}

function stageText(contents: CrmContents, id: number): SheetCell {
  const pipeline = contents.pipelines.find(({ stages }) => stages.some((stage) => stage.id === id));
  return `${pipeline?.name} / ${pipeline?.stages.find((stage) => stage.id === id)?.name}`;
}

/** No two of the demo's users have one name. */
const nameOf = (contents: CrmContents, userId: unknown): string =>
  contents.members.find(({ id }) => id === userId)?.name ?? String(userId);

function customCell(type: string, value: unknown, contents: CrmContents): SheetCell {
  if (value === undefined || value === null) return '';
  if (type === 'user-select') return nameOf(contents, value);
  if (type === 'user-multi-select' && Array.isArray(value))
    return value.map((id) => nameOf(contents, id)).join(', ');
  if (Array.isArray(value)) return value.join(', ');
  if (type === 'date') return daySerial(String(value));
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value);
}

function leadRow(lead: CrmContents['leads'][number], contents: CrmContents): SheetRow {
  const status = contents.leadStatuses.find(({ name }) => name === lead.status_name);
  const custom = contents.customFields
    .filter((field) => field.is_active)
    .map((field) => [field.name, customCell(field.type, lead.custom_fields[field.field_key], contents)]);
  return {
    Title: lead.title,
    Status: status?.label ?? '',
    About: lead.meta_data?.about?.description ?? '',
    Website: lead.meta_data?.about?.url ?? '',
    ...Object.fromEntries(custom),
  };
}

const opportunityRow = (deal: CrmContents['opportunities'][number], contents: CrmContents): SheetRow => ({
  Lead: titleText(contents.leads, deal.lead_id),
  Stage: stageText(contents, deal.stage_id),
  Value: deal.value,
  Confidence: deal.confidence,
  'Expected close': daySerial(deal.expected_close_date),
  Note: deal.note ?? '',
});

const taskRow = (task: CrmContents['tasks'][number], contents: CrmContents): SheetRow => ({
  Title: task.title,
  Description: task.description ?? '',
  Status: taskStatuses[task.status] ?? '',
  Priority: taskPriorities[task.priority] ?? '',
  Start: daySerial(task.start_date),
  Due: daySerial(task.due_date),
  Lead: titleText(contents.leads, task.lead_id),
  'Parent task': titleText(contents.tasks, task.parent_task_id),
});

/** All rows a tab has to show, in the order of the CRM. */
function expectedRows(entity: ListedEntity, contents: CrmContents, timeZone: string): SheetRow[] {
  const rows = {
    lead: () => contents.leads.map((lead) => leadRow(lead, contents)),
    opportunity: () => contents.opportunities.map((deal) => opportunityRow(deal, contents)),
    task: () => contents.tasks.map((task) => taskRow(task, contents)),
  }[entity]();
  return recordsOf(contents, entity).map((record, index) => ({
    ID: record.id,
    ...rows[index],
    Created: instantSerial(record.created_at, timeZone),
  }));
}

/** Everything in which the sheet is not what the CRM's records say, in words; empty when nothing is. */
function compareSides(tabs: SheetTabs, contents: CrmContents, timeZone: string): string[] {
  return listedEntities.flatMap((entity) =>
    compareTab(entity, tabs[entity], expectedRows(entity, contents, timeZone)),
  );
}

function compareTab(
  entity: ListedEntity,
  { headers, rows }: SheetTab,
  expected: readonly SheetRow[],
): string[] {
  const rowsById = Map.groupBy(rows, (row) => row['ID']);
  const headersExpected = [...Object.keys(expected[0] ?? {}), 'Sync'];
  const differences = [
    difference(`columns of ${entity}`, headers.toSorted(), headersExpected.toSorted()),
    difference(`rows of ${entity}`, rows.length, expected.length),
    ...expected.flatMap((row) => {
      const what = `${entity} ${row['ID']}`;
      const [shown, second] = rowsById.get(row['ID'] ?? '') ?? [];
      if (!shown || second) return [difference(`rows of ${what}`, shown ? 'several' : 'none', 'one')];
      const isSynced = /^(?:(?:Changed by|Replaced in) the CRM: .+\. )?Synced /.test(String(shown['Sync']));
      return [
        ...Object.entries(row).map(([header, cell]) =>
          difference(`${header} of ${what}`, shown[header], cell),
        ),
        isSynced ? undefined : `Sync of ${what}: expected “Synced …”, found “${shown['Sync']}”`,
      ];
    }),
  ];
  return differences.filter((wrong) => wrong !== undefined);
}

const shownMax = 5;

/** Waits until every cell of every row is what the CRM's records say, and every record has its one row. */
export async function waitUntilSidesAgree({ sheet, crm }: Sides): Promise<void> {
  const timeZone = await sheet.readTimeZone();
  await waitUntil(async () => {
    const differences = compareSides(await sheet.look(), await crm.look(), timeZone);
    if (differences.length === 0) return undefined;
    const shown = differences.slice(0, shownMax).join('\n    ');
    return `${differences.length} differences between the sides, the first:\n    ${shown}\n   `;
  });
}
