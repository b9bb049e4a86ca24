import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { expect } from 'vitest';
import type { Fence } from '../../src/core/ports.ts';
import type { Entity } from '../../src/core/record.ts';
import { createSheetProbe } from '../../src/google/probe.ts';
import { createGoogleSheetTable, type GoogleSheetOptions } from '../../src/google/table.ts';
import type { ChoicesInput } from '../../src/sandbox/sheets/control/choices.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import {
  type SandboxSheets,
  type SandboxSheetsOptions,
  startSandboxSheets,
} from '../../src/sandbox/sheets/server.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import type { RowStep, WriteResult } from '../../src/sheet/port/table.ts';
import { createRecordingLog } from './recording-log.ts';
import { appendStep, sheetLayout, textIn, titled, writeSteps } from './table-steps.ts';
import { areAllWanted } from './variants.ts';

/** A clock that sleeps by moving on, so that nobody waits. */
function createHurryingClock() {
  let time = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => time,
    monotonicMs: () => time,
    async sleep(durationMs: number) {
      slept.push(durationMs);
      time += durationMs;
    },
  };
}

export type WholeSpreadsheet = sheets_v4.Schema$Spreadsheet;

export type SandboxSheet = Awaited<ReturnType<typeof openSandboxSheet>>;

/**
 * What Google may answer where no document says it: what becomes of copies of rows that a filter hides, what happens to the metadata of rows
 * that are sorted, and how a chip reads. They do not depend on each other, so each has its turn. Which inserts make a Table larger only the
 * tests of Tables can see.
 */
const everyAnswer: readonly { readonly name: string; readonly choices: ChoicesInput }[] = [
  { name: 'leaves hidden rows out of copies and tiles the rest', choices: {} },
  {
    name: 'copies nothing of hidden rows',
    choices: { '*': { hiddenRowCopy: 'nothing', sortedRowMetadata: 'stays' } },
  },
  {
    name: 'copies hidden rows like all others',
    choices: { '*': { hiddenRowCopy: 'copied', chipText: 'shown' } },
  },
  { name: 'refuses copies of hidden rows', choices: { '*': { hiddenRowCopy: 'refused' } } },
];

/** What the emulator does by itself; in the long tests the others as well. */
export const answersOfGoogle = areAllWanted ? everyAnswer : everyAnswer.slice(0, 1);

/** How much of a spreadsheet is read each time. */
export type Depth = Pick<GoogleSheetOptions, 'fullReadMs' | 'wholeCellsMax'>;

/** As if no tab were small enough to be read as a whole each time. */
export const polled: Depth = { wholeCellsMax: 0 };

/** An emulated spreadsheet, a table on it, and the hands of a person. */
export async function openSandboxSheet(options: SandboxSheetsOptions = {}, depth: Depth = {}) {
  const sandbox = await startSandboxSheets(options);
  const clock = createHurryingClock();
  const log = createRecordingLog();
  const optionsOf = (spreadsheetId = sandbox.spreadsheetId, account = 'account-1') => ({
    spreadsheetId,
    account,
    rootUrl: sandbox.rootUrl,
    readsPerMinute: 60,
    writesPerMinute: 60,
    timeoutMs: 30_000,
    clock,
    random: () => 0.5,
    log,
    ...depth,
  });
  const openTable = (spreadsheetId?: string, account?: string, fence?: Fence): Table =>
    createGoogleSheetTable({ ...optionsOf(spreadsheetId, account), ...(fence ? { fence } : {}) });
  const table = openTable();

  const readTab = async (entity: Entity = 'lead') => {
    const tab = (await table.read(sheetLayout)).tabs[entity];
    if (tab.state === 'held') throw new Error(tab.reason);
    return tab;
  };

  return {
    table,
    clock,
    log,
    /** What a table or a look at the spreadsheet is opened with. */
    options: optionsOf(),
    /** Another table, as after a restart; on the same spreadsheet and account unless they are named. */
    openTable,
    /** What doctor looks at the spreadsheet with. */
    openProbe: () => createSheetProbe(optionsOf()),
    /** Copies the whole file, as a person does in Google Drive; answers the id of the copy. */
    async copySpreadsheet() {
      const url = `${sandbox.rootUrl}/drive/v3/files/${sandbox.spreadsheetId}/copy`;
      const copy = (await (await fetch(url, { method: 'POST', body: '{}' })).json()) as { id: string };
      return copy.id;
    },
    /** Applies requests as another program would. */
    async batch(...requests: object[]) {
      const url = `${sandbox.rootUrl}/v4/spreadsheets/${sandbox.spreadsheetId}:batchUpdate`;
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ requests }) });
      expect(await answer.json()).not.toHaveProperty('error');
    },
    /** The whole spreadsheet with all its cells, as spreadsheets.get gives it. */
    async readEverything() {
      const path = `/v4/spreadsheets/${sandbox.spreadsheetId}?includeGridData=true`;
      return (await fetch(`${sandbox.rootUrl}${path}`)).json() as Promise<WholeSpreadsheet>;
    },
    /** Applies requests as the owner of the spreadsheet, who may edit what is protected. */
    asOwner: (...requests: object[]) => post(sandbox, 'owner', { requests }),
    person: (...actions: PersonActionInput[]) => post(sandbox, 'person', actions),
    setFaults: (faults: FaultsInput) => post(sandbox, 'faults', faults),
    /** Has spreadsheets do what no document says; `*` for all of them. */
    choose: (choices: ChoicesInput) => post(sandbox, 'choices', choices),
    countRequests: () => countRequests(sandbox),
    readTab,
    /** Values of a range as Google's values.get gives them. */
    async readValues(range: string, render?: 'FORMULA'): Promise<unknown> {
      const path = `/v4/spreadsheets/${sandbox.spreadsheetId}/values/${range}`;
      const answer = await fetch(`${sandbox.rootUrl}${path}${render ? `?valueRenderOption=${render}` : ''}`);
      return answer.json();
    },
    /** Lays out the tabs and appends leads called `Title <id>`. */
    async fill(...ids: string[]) {
      await table.layOut(sheetLayout, 'create');
      await table.read(sheetLayout);
      await writeSteps(
        table,
        ids.map((id) => appendStep(id, titled(`Title ${id}`))),
        'filled',
      );
    },
    async titlesById(): Promise<Record<string, string>> {
      const { rows } = await readTab();
      return Object.fromEntries(rows.map(({ id, cells }) => [textIn(id), textIn(cells['title'])]));
    },
    close: () => sandbox.close(),
  };
}

async function post({ rootUrl }: SandboxSheets, path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${rootUrl}/__sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}

async function countRequests({ rootUrl }: SandboxSheets): Promise<{ reads: number; writes: number }> {
  const answer = await fetch(`${rootUrl}/__sandbox/usage`);
  const usage = (await answer.json()) as Record<'read' | 'write', { total: number }>;
  return { reads: usage.read.total, writes: usage.write.total };
}

/** Writes the steps after a read and what users do then. */
export async function writeAfter(
  sheet: SandboxSheet,
  actions: PersonActionInput[],
  steps: readonly RowStep[],
): Promise<WriteResult> {
  await sheet.table.read(sheetLayout);
  await sheet.setFaults({ beforeNextWrite: actions });
  return writeSteps(sheet.table, steps);
}

/** What a read says of the leads. */
export const leadsOf = async (table: Table) => (await table.read(sheetLayout)).tabs.lead;

/** Why the leads are held. */
export const reasonOf = async (table: Table) => {
  const lead = await leadsOf(table);
  return lead.state === 'held' ? lead.reason : 'it is read';
};
