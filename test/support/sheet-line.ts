import { createSheetProbe, type SheetProbe } from '../../src/google/probe.ts';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { type Interception, type LineRequest, openCrmLine } from './crm-line.ts';
import { openSandboxSheet, polled, type SandboxSheet } from './sandbox-sheet.ts';

/** A request to Google and the text that came back. */
export interface HeardRequest extends LineRequest {
  readonly answer: string;
}

/** An emulated spreadsheet behind a line on which all requests are heard. */
export interface HeardSheet extends AsyncDisposable {
  /** Lets this decide about all requests from now on, as on any line. */
  intercept(interception: Interception): void;
  /** What a table on this line is opened with. */
  readonly options: SandboxSheet['options'];
  readonly table: Table;
  readonly probe: SheetProbe;
  /** Everything that went over the line since this was called last. */
  takeRequests(): readonly HeardRequest[];
}

export async function hearSheet({ options }: SandboxSheet): Promise<HeardSheet> {
  const line = await openCrmLine({ target: `${options.rootUrl}/`, now: () => 0 });
  const own = { ...options, rootUrl: line.baseUrl, readsPerMinute: 10_000, writesPerMinute: 10_000 };
  let heard: HeardRequest[] = [];
  let decide: Interception = (_asked, passOn) => passOn();
  line.intercept(/./, async (asked, passOn) => {
    const answer = await decide(asked, passOn);
    heard.push({ ...asked, answer: answer?.text ?? '' });
    return answer;
  });
  return {
    intercept(interception) {
      decide = interception;
    },
    options: own,
    table: createGoogleSheetTable(own),
    probe: createSheetProbe(own),
    takeRequests() {
      const taken = heard;
      heard = [];
      return taken;
    },
    [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
  };
}

/** An emulated spreadsheet with leads of these ids, which is polled however short it is, behind a line. */
export async function openHeardPolled(...ids: string[]) {
  const sheet = await openSandboxSheet({}, polled);
  await sheet.fill(...ids);
  const line = await hearSheet(sheet);
  const close = async () => {
    await line[Symbol.asyncDispose]();
    await sheet.close();
  };
  return { sheet, line, close };
}

/** Whether any of the requests brought a cell with this text in full, and not only its value. */
export const bringInFull = (requests: readonly HeardRequest[], text: string): boolean =>
  requests.some(({ answer }) => answer.includes(`"stringValue":"${text}"`));
