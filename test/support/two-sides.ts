import { z } from 'zod';

/**
 * Reads both sides without any of the daemon's own code, and says what the sheet has to show for what the CRM holds. The wording of
 * cells follows the description of the tabs: names instead of ids, days as serial numbers, text as text.
 */
export interface Sides {
  /** What every row has to show, by tab, ordered by ID. */
  readonly expected: Tabs;
  /** What every row shows. */
  readonly shown: Tabs;
}

export type Tabs = Readonly<Record<string, readonly Row[]>>;

/** The managed cells of a row by header, empty ones left out. */
export type Row = Readonly<Record<string, string | number | boolean>>;

export interface SideAddresses {
  /** Of the sandbox CRM, with the slash at its end. */
  readonly crmUrl: string;
  readonly sheetsUrl: string;
  readonly spreadsheetId: string;
  /** Those that the configuration names. */
  readonly users?: UserNames;
}

/** By id. */
type UserNames = Readonly<Record<string, string>>;

const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish();

const snapshotShape = z.object({
  leads: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      status_name: optional(z.string()),
      meta_data: optional(
        z.object({
          about: optional(z.object({ description: optional(z.string()), url: optional(z.string()) })),
        }),
      ),
      custom_fields: optional(z.record(z.string(), z.unknown())),
      created_at: z.string(),
    }),
  ),
  opportunities: z.array(
    z.object({
      id: z.number(),
      lead_id: z.number(),
      stage_id: z.number(),
      value: optional(z.number()),
      confidence: optional(z.number()),
      expected_close_date: optional(z.string()),
      note: optional(z.string()),
      created_at: z.string(),
    }),
  ),
  tasks: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      description: optional(z.string()),
      status: z.number(),
      priority: z.number(),
      start_date: optional(z.string()),
      due_date: optional(z.string()),
      lead_id: optional(z.number()),
      parent_task_id: optional(z.number()),
      created_at: z.string(),
    }),
  ),
  leadStatuses: z.array(z.object({ name: z.string(), label: z.string() })),
  pipelines: z.array(
    z.object({ name: z.string(), stages: z.array(z.object({ id: z.number(), name: z.string() })) }),
  ),
  customFields: z.array(
    z.object({ name: z.string(), field_key: z.string(), type: z.string(), is_active: z.boolean() }),
  ),
});

/** Everything the sandbox CRM holds, as far as the sheet shows it. */
export type Snapshot = z.output<typeof snapshotShape>;

export async function readCrm(crmUrl: string): Promise<Snapshot> {
  return snapshotShape.parse(await (await fetch(`${crmUrl}__sandbox/records`)).json());
}

/** Reads both sides, one right after the other. */
export async function readSides(addresses: SideAddresses): Promise<Sides> {
  const sheet = await readSheet(addresses);
  const ordered = Object.entries(sheet).map(([title, rows]) => [title, rows.toSorted(byId)]);
  return {
    shown: Object.fromEntries(ordered),
    expected: expectedTabs(await readCrm(addresses.crmUrl), addresses.users),
  };
}

const byId = (left: Row, right: Row) => Number(left['ID'] ?? 0) - Number(right['ID'] ?? 0);

const taskStatuses = ['', 'Todo', 'In progress', 'Completed', 'In review'];
const taskPriorities = ['', 'Low', 'Medium', 'High'];

function expectedTabs(crm: Snapshot, users: UserNames = {}): Tabs {
  const statuses = new Map(crm.leadStatuses.map(({ name, label }) => [name, label]));
  const leads = new Map(crm.leads.map(({ id, title }) => [id, `${title} (#${id})`]));
  const tasks = new Map(crm.tasks.map(({ id, title }) => [id, `${title} (#${id})`]));
  const stages = new Map(
    crm.pipelines.flatMap(({ name, stages: ofPipeline }) =>
      ofPipeline.map((stage) => [stage.id, `${name} / ${stage.name}`] as const),
    ),
  );
  return {
    Leads: crm.leads.map((lead) =>
      showRow({
        ID: lead.id,
        Title: lead.title,
        Status: statuses.get(lead.status_name ?? ''),
        About: lead.meta_data?.about?.description,
        Website: lead.meta_data?.about?.url,
        ...showCustomFields(crm, lead.custom_fields ?? {}, users),
        Created: toSerial(lead.created_at),
      }),
    ),
    Opportunities: crm.opportunities.map((opportunity) =>
      showRow({
        ID: opportunity.id,
        Lead: leads.get(opportunity.lead_id),
        Stage: stages.get(opportunity.stage_id),
        Value: opportunity.value,
        Confidence: opportunity.confidence,
        'Expected close': toSerial(opportunity.expected_close_date),
        Note: opportunity.note,
        Created: toSerial(opportunity.created_at),
      }),
    ),
    Tasks: crm.tasks.map((task) =>
      showRow({
        ID: task.id,
        Title: task.title,
        Description: task.description,
        Status: taskStatuses[task.status],
        Priority: taskPriorities[task.priority],
        Start: toSerial(task.start_date),
        Due: toSerial(task.due_date),
        Lead: task.lead_id ? leads.get(task.lead_id) : null,
        'Parent task': task.parent_task_id ? tasks.get(task.parent_task_id) : null,
        Created: toSerial(task.created_at),
      }),
    ),
  };
}

function showCustomFields(
  crm: Snapshot,
  values: Readonly<Record<string, unknown>>,
  users: UserNames,
): Record<string, unknown> {
  const nameUser = (id: unknown) => users[String(id)] ?? id;
  const show = (type: string, value: unknown) => {
    if (type === 'date') return toSerial(value);
    if (!type.startsWith('user-')) return value;
    return Array.isArray(value) ? value.map(nameUser) : nameUser(value);
  };
  const active = crm.customFields.filter((field) => field.is_active);
  return Object.fromEntries(active.map(({ name, field_key: key, type }) => [name, show(type, values[key])]));
}

/** Day zero of spreadsheets: https://developers.google.com/workspace/sheets/api/guides/formats#about_date_time_values */
const dayZero = Date.UTC(1899, 11, 30);

const dayMs = 86_400_000;

/** Serial number of a day, or of an instant in whole seconds; the sheet's time zone is UTC. */
const toSerial = (date: unknown) =>
  typeof date === 'string' ? Math.floor((Date.parse(date) - dayZero) / 1000) / (dayMs / 1000) : undefined;

/** Fractions of a day are compared to the second, because floating point holds no more for certain. */
const showNumber = (value: number) => Math.round(value * (dayMs / 1000)) / (dayMs / 1000);

function showRow(values: Readonly<Record<string, unknown>>): Row {
  const row: Record<string, string | number | boolean> = {};
  for (const [header, value] of Object.entries(values)) {
    const cell = Array.isArray(value) ? value.join(', ') : value;
    if (typeof cell === 'number') row[header] = showNumber(cell);
    else if (typeof cell === 'boolean') row[header] = cell;
    else if (typeof cell === 'string' && cell !== '') row[header] = cell;
  }
  return row;
}

const valuesShape = z.object({
  valueRanges: z.array(z.object({ values: z.array(z.array(z.unknown())).default([]) })),
});

/** Of the tabs, in their order. */
export const titles = ['Leads', 'Opportunities', 'Tasks'];

/** What tabs have beside the values of the CRM that are compared, where they are told to. */
const notCompared = ['Sync', 'Link', 'Updated', 'Changed by', 'Contacts'];

/** All rows with anything in a managed cell, from the top down; the words in `Sync` are another matter. */
export async function readSheet(addresses: SideAddresses): Promise<Tabs> {
  const tabs = await readCells(addresses, titles);
  return Object.fromEntries(titles.map((title, index) => [title, readRows(tabs[index] ?? [], notCompared)]));
}

/** All rows of one tab, with the words in `Sync`. */
export async function readTab(addresses: SideAddresses, title: string): Promise<readonly Row[]> {
  const [cells = []] = await readCells(addresses, [title]);
  return readRows(cells, []);
}

async function readCells(
  { sheetsUrl, spreadsheetId }: SideAddresses,
  tabs: readonly string[],
): Promise<unknown[][][]> {
  const query = new URLSearchParams({
    valueRenderOption: 'UNFORMATTED_VALUE',
    dateTimeRenderOption: 'SERIAL_NUMBER',
  });
  for (const title of tabs) query.append('ranges', title);
  const answer = await fetch(`${sheetsUrl}/v4/spreadsheets/${spreadsheetId}/values:batchGet?${query}`);
  const { valueRanges } = valuesShape.parse(await answer.json());
  return valueRanges.map(({ values }) => values);
}

function readRows(
  [headers = [], ...rows]: readonly (readonly unknown[])[],
  hidden: readonly string[],
): Row[] {
  const shown = rows.map((cells) => {
    const named = headers.map((header, column) => [String(header), cells[column]]);
    return showRow(Object.fromEntries(named.filter(([header]) => !hidden.includes(String(header)))));
  });
  // A checkbox comes with every new row of its column, and nobody has said anything with it.
  return shown.filter((row) => Object.values(row).some((value) => value !== false));
}

const titleOf = {
  lead: 'Leads',
  opportunity: 'Opportunities',
  task: 'Tasks',
  question: 'Conflicts',
} as const;

/** What the rows of a tab carry. */
export type ShownKind = keyof typeof titleOf;

/** The cells of a row by header, as people see them. */
export type ShownRow = Readonly<Record<string, string>>;

const textsShape = z.object({ values: z.array(z.array(z.string())).default([]) });

/** The first row that shows these texts, with its Sync cell; `undefined` when there is none. */
export async function findRow(
  addresses: SideAddresses,
  entity: ShownKind,
  texts: ShownRow,
): Promise<ShownRow | undefined> {
  const [headers = [], ...cells] = await readTexts(addresses, entity);
  const rows = cells.map((row) =>
    Object.fromEntries(headers.map((header, column) => [header, row[column] ?? ''])),
  );
  return rows.find((row) => Object.entries(texts).every(([header, text]) => row[header] === text));
}

/** The zero-based grid row that shows the ID. */
export async function findPosition(
  addresses: SideAddresses,
  entity: ShownKind,
  id: number | string,
): Promise<number> {
  const [headers = [], ...rows] = await readTexts(addresses, entity);
  const column = headers.indexOf('ID');
  const index = rows.findIndex((row) => row[column] === String(id));
  if (index < 0) throw new Error(`${titleOf[entity]} has no row with the ID ${id}.`);
  return index + 1;
}

async function readTexts({ sheetsUrl, spreadsheetId }: SideAddresses, entity: ShownKind) {
  const answer = await fetch(`${sheetsUrl}/v4/spreadsheets/${spreadsheetId}/values/${titleOf[entity]}`);
  return textsShape.parse(await answer.json()).values;
}

const shownDifferences = 5;

/** What one side shows and the other does not, row by row; the first few of each. */
export function describeDifference({ expected, shown }: Sides): string {
  const missing = (from: Sides['expected'], than: Sides['expected']) =>
    Object.entries(from).flatMap(([tab, rows]) => {
      const others = new Set((than[tab] ?? []).map((row) => JSON.stringify(row)));
      return rows.map((row) => JSON.stringify(row)).filter((row) => !others.has(row));
    });
  const [absent, surplus] = [missing(expected, shown), missing(shown, expected)];
  return [
    `${absent.length} rows are missing:`,
    ...absent.slice(0, shownDifferences),
    `${surplus.length} rows are too many:`,
    ...surplus.slice(0, shownDifferences),
  ].join('\n');
}
