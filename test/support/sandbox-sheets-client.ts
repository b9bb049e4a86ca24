import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { onTestFinished } from 'vitest';
import type { ChoicesInput } from '../../src/sandbox/sheets/control/choices.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { type SandboxSheetsOptions, startSandboxSheets } from '../../src/sandbox/sheets/server.ts';

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/** Starts an emulator that ends with the test, and Google's own client for it. */
export async function startEmulator(options: SandboxSheetsOptions = {}) {
  const { rootUrl, spreadsheetId, gridUrl, close } = await startSandboxSheets(options);
  onTestFinished(close);
  const api = sheets({ version: 'v4', rootUrl, retry: false });
  const post = (path: string, body: unknown) =>
    fetch(rootUrl + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  return {
    api,
    rootUrl,
    spreadsheetId,
    gridUrl,
    batch: async (requests: sheets_v4.Schema$Request[], more: object = {}) => {
      const requestBody = { requests, ...more };
      return (await api.spreadsheets.batchUpdate({ spreadsheetId, requestBody })).data;
    },
    /** Puts texts, numbers and booleans into Sheet1 from A1 on, unparsed. */
    fill: async (values: unknown[][]) => {
      const request = { spreadsheetId, range: 'Sheet1!A1', valueInputOption: 'RAW', requestBody: { values } };
      await api.spreadsheets.values.update(request);
    },
    /** What `values.get` shows. */
    read: async (
      range: string,
      more: Partial<sheets_v4.Params$Resource$Spreadsheets$Values$Get> = {},
    ): Promise<unknown[][] | undefined> => {
      const { data } = await api.spreadsheets.values.get({ spreadsheetId, range, ...more });
      return data.values ?? undefined;
    },
    person: (...actions: PersonActionInput[]) => post('/__sandbox/person', actions),
    setFaults: (faults: FaultsInput) => post('/__sandbox/faults', faults),
    /** Has spreadsheets do what no document says; `*` for all of them. */
    choose: (choices: ChoicesInput) => post('/__sandbox/choices', choices),
    /** The counts of reads and writes as the emulator reports them. */
    usage: async (): Promise<unknown> => (await fetch(`${rootUrl}/__sandbox/usage`)).json(),
  };
}

/** A cell that holds a text as it is. */
export function text(stringValue: string): sheets_v4.Schema$CellData {
  return { userEnteredValue: { stringValue } };
}

/** The code and message of a refused call; fails when the call goes through. */
export async function refusalOf(call: Promise<unknown>): Promise<{ code: number; message: string }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && 'status' in error)
      return { code: Number(error.status), message: error.message };
    throw error;
  }
  throw new Error('The call was not refused.');
}
