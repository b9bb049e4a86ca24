import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedEntity } from '../../core/record.ts';
import type { PersonActionInput } from '../../sandbox/sheets/people/person-shapes.ts';
import { shareRead } from './expect.ts';

/** A cell as the Sheets API shows it unformatted: a date is a serial number, an empty cell an empty text. */
export type SheetCell = string | number | boolean;

/** A row below the header, its cells by header. */
export type SheetRow = Readonly<Record<string, SheetCell>>;

export interface SheetTab {
  readonly headers: readonly string[];
  readonly rows: readonly SheetRow[];
}

type Texts = Readonly<Record<string, string>>;

export type SheetTabs = Readonly<Record<ListedEntity, SheetTab>>;

const titles = { lead: 'Leads', opportunity: 'Opportunities', task: 'Tasks' } as const;

interface Grid {
  readonly revision: number;
  readonly sheets: readonly {
    readonly title: string;
    readonly moves: number;
    readonly rows: readonly (readonly ({ readonly text: string } | null)[])[];
  }[];
}

/** A user of its own: Google counts its reads apart from the daemon's. */
const quotaUser = 'check';

/** One user may read 60 times a minute. */
const readEveryMs = 2_000;

/** Somebody at the sheet: reads, types, sorts and deletes. Rows are found by their ID each time: they move. */
export type SheetPerson = ReturnType<typeof sitAtSheet>;

/** Takes a seat at the spreadsheet of a sandbox. */
export function sitAtSheet(rootUrl: string, spreadsheetId: string) {
  const api = `${rootUrl}/v4/spreadsheets/${spreadsheetId}`;
  let seen: { readonly revision: number; readonly at: number; readonly tabs: SheetTabs } | undefined;

  /** What stands in the grid now; `undefined` when it is still what `revision` names. */
  async function readGrid(revision?: number) {
    const response = await fetch(`${rootUrl}/__sandbox/grid?since=${revision ?? ''}`);
    return response.status === 204 ? undefined : ((await response.json()) as Grid);
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

  return {
    look,
    findRow: async (entity: ListedEntity, id: number): Promise<SheetRow | undefined> =>
      (await look())[entity].rows.find((row) => row['ID'] === id),
    /** Types into cells of a row, by header. */
    type: (entity: ListedEntity, id: number, texts: Texts): Promise<void> =>
      actInTurn(entity, (rows) => edit(entity, rowOf(rows, id), texts)),
    /** Types a new row below the last one, by header. */
    typeRow: (entity: ListedEntity, texts: Texts): Promise<void> =>
      actInTurn(entity, (rows) =>
        edit(entity, rows.findLastIndex((row) => row.some((cell) => cell !== '')) + 1, texts),
      ),
    sort: (entity: ListedEntity, header: string): Promise<void> =>
      actInTurn(entity, () => [{ kind: 'sort', sheet: titles[entity], column: header }]),
    deleteRow: (entity: ListedEntity, id: number): Promise<void> =>
      actInTurn(entity, (rows) => [{ kind: 'deleteRows', sheet: titles[entity], row: rowOf(rows, id) }]),
    async readTimeZone(): Promise<string> {
      const response = await fetch(`${api}?fields=properties.timeZone&quotaUser=${quotaUser}`);
      const { properties } = (await response.json()) as { properties: { timeZone: string } };
      return properties.timeZone;
    },
  };
}

const edit = (entity: ListedEntity, row: number, texts: Texts): PersonActionInput[] =>
  Object.entries(texts).map(([column, text]) => ({
    kind: 'edit',
    sheet: titles[entity],
    row,
    column,
    text,
  }));

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
  const { valueRanges } = (await response.json()) as { valueRanges: { values?: SheetCell[][] }[] };
  const [lead, opportunity, task] = valueRanges.map(({ values }) => toTab(values ?? []));
  if (!lead || !opportunity || !task) throw new Error('The sheet did not answer with all of its tabs.');
  return { lead, opportunity, task };
}

function toTab([first = [], ...others]: readonly (readonly SheetCell[])[]): SheetTab {
  const headers = first.map(String);
  const rows = others.map((cells) =>
    Object.fromEntries(headers.map((header, column) => [header, cells[column] ?? ''])),
  );
  return { headers, rows: rows.filter((row) => Object.values(row).some((cell) => cell !== '')) };
}
