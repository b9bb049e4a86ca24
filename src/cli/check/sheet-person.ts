import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ListedEntity } from '../../core/record.ts';
import type { PersonActionInput } from '../../sandbox/sheets/person-shapes.ts';
import { shareRead } from './shared-read.ts';

/** A cell as the Sheets API shows it unformatted: a date is a serial number, an empty cell an empty text. */
export type SheetCell = string | number | boolean;

/** A row below the header, its cells by header. */
export type SheetRow = Readonly<Record<string, SheetCell>>;

export interface SheetTab {
  readonly headers: readonly string[];
  readonly rows: readonly SheetRow[];
}

export type SheetTabs = Readonly<Record<ListedEntity, SheetTab>>;

const titles = { lead: 'Leads', opportunity: 'Opportunities', task: 'Tasks' } as const;

const gridShape = z.object({
  revision: z.number(),
  sheets: z.array(
    z.object({
      title: z.string(),
      moves: z.number(),
      rows: z.array(z.array(z.object({ text: z.string() }).nullable())),
    }),
  ),
});
const valuesShape = z.object({
  valueRanges: z.array(
    z.object({ values: z.array(z.array(z.union([z.string(), z.number(), z.boolean()]))).default([]) }),
  ),
});
const zoneShape = z.object({ properties: z.object({ timeZone: z.string() }) });

/** A user of its own: Google counts its reads apart from the daemon's. */
const quotaUser = 'check';

/** One user may read 60 times a minute. */
const readEveryMs = 2_000;

/** Somebody at the sheet: reads, types, sorts and deletes. Rows are found by their ID each time: they move. */
export interface SheetPerson {
  look(): Promise<SheetTabs>;
  findRow(entity: ListedEntity, id: number): Promise<SheetRow | undefined>;
  /** Types into cells of a row, by header. */
  type(entity: ListedEntity, id: number, texts: Readonly<Record<string, string>>): Promise<void>;
  /** Types a new row below the last one, by header. */
  typeRow(entity: ListedEntity, texts: Readonly<Record<string, string>>): Promise<void>;
  sort(entity: ListedEntity, header: string): Promise<void>;
  deleteRow(entity: ListedEntity, id: number): Promise<void>;
  readTimeZone(): Promise<string>;
}

/** Takes a seat at the spreadsheet of a sandbox. */
export function sitAtSheet(rootUrl: string, spreadsheetId: string): SheetPerson {
  const api = `${rootUrl}/v4/spreadsheets/${spreadsheetId}`;
  let seen: { readonly revision: number; readonly at: number; readonly tabs: SheetTabs } | undefined;

  /** What stands in the grid now; `undefined` when it is still what `revision` names. */
  async function readGrid(revision?: number) {
    const response = await fetch(`${rootUrl}/__sandbox/grid?since=${revision ?? ''}`);
    return response.status === 204 ? undefined : gridShape.parse(await response.json());
  }

  const look = shareRead(async () => {
    const grid = await readGrid(seen?.revision);
    if (!grid && seen) return seen.tabs;
    await sleep(Math.max(0, (seen?.at ?? 0) + readEveryMs - Date.now()));
    const tabs = await readTabs(api);
    // Should the grid have changed between the two reads, its older revision makes the next look read again.
    seen = { revision: grid?.revision ?? 0, at: Date.now(), tabs };
    return tabs;
  });

  async function act(actions: readonly PersonActionInput[]): Promise<void> {
    const response = await fetch(`${rootUrl}/__sandbox/person`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(actions),
    });
    if (!response.ok) throw new Error(`The sheet did not allow that: ${await response.text()}`);
  }

  /** Actions of one person follow each other: where to act is looked up when the one before is done. */
  let before: Promise<void> = Promise.resolve();
  function actInTurn(entity: ListedEntity, choose: (texts: readonly string[][]) => PersonActionInput[]) {
    const turn = before.then(async () => {
      const sheet = (await readGrid())?.sheets.find(({ title }) => title === titles[entity]);
      const actions = choose((sheet?.rows ?? []).map((row) => row.map((cell) => cell?.text ?? '')));
      // The daemon may move rows before the action arrives; a person's hands stay on the row that they saw.
      await act(actions.map((action) => ({ ...action, movesSeen: sheet?.moves })));
    });
    before = turn.catch(() => undefined);
    return turn;
  }

  type Texts = Readonly<Record<string, string>>;
  const edit = (entity: ListedEntity, row: number, texts: Texts): PersonActionInput[] =>
    Object.entries(texts).map(([column, text]) => ({
      kind: 'edit',
      sheet: titles[entity],
      row,
      column,
      text,
    }));

  return {
    look,
    findRow: async (entity, id) => (await look())[entity].rows.find((row) => row['ID'] === id),
    type: (entity, id, texts) => actInTurn(entity, (rows) => edit(entity, rowOf(rows, id), texts)),
    typeRow: (entity, texts) =>
      actInTurn(entity, (rows) =>
        edit(entity, rows.findLastIndex((row) => row.some((cell) => cell !== '')) + 1, texts),
      ),
    sort: (entity, header) =>
      actInTurn(entity, () => [{ kind: 'sort', sheet: titles[entity], column: header }]),
    deleteRow: (entity, id) =>
      actInTurn(entity, (rows) => [{ kind: 'deleteRows', sheet: titles[entity], row: rowOf(rows, id) }]),
    async readTimeZone() {
      const response = await fetch(`${api}?fields=properties.timeZone&quotaUser=${quotaUser}`);
      return zoneShape.parse(await response.json()).properties.timeZone;
    },
  };
}

function rowOf(rows: readonly (readonly string[])[], id: number): number {
  const column = rows[0]?.indexOf('ID') ?? -1;
  const row = rows.findIndex((cells) => cells[column] === String(id));
  if (row < 1) throw new Error(`The sheet has no row with the ID ${id}.`);
  return row;
}

async function readTabs(api: string): Promise<SheetTabs> {
  const query = new URLSearchParams({
    valueRenderOption: 'UNFORMATTED_VALUE',
    dateTimeRenderOption: 'SERIAL_NUMBER',
    quotaUser,
  });
  for (const title of Object.values(titles)) query.append('ranges', title);
  const response = await fetch(`${api}/values:batchGet?${query}`);
  if (!response.ok) throw new Error(`The sheet could not be read: ${await response.text()}`);
  const [leads, opportunities, tasks] = valuesShape.parse(await response.json()).valueRanges;
  return {
    lead: toTab(leads?.values ?? []),
    opportunity: toTab(opportunities?.values ?? []),
    task: toTab(tasks?.values ?? []),
  };
}

function toTab([first = [], ...others]: readonly (readonly SheetCell[])[]): SheetTab {
  const headers = first.map(String);
  const rows = others.map((cells) =>
    Object.fromEntries(headers.map((header, column) => [header, cells[column] ?? ''])),
  );
  return { headers, rows: rows.filter((row) => Object.values(row).some((cell) => cell !== '')) };
}
