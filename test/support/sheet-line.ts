import type { Table } from '../../src/core/ports.ts';
import { createSheetProbe, type SheetProbe } from '../../src/sheets/probe.ts';
import { createGoogleSheetTable } from '../../src/sheets/table.ts';
import { type CrmLine, type LineRequest, openCrmLine } from './crm-line.ts';
import type { SandboxSheet } from './sandbox-sheet.ts';

/** A request to Google and the text that came back. */
export interface HeardRequest extends LineRequest {
  readonly answer: string;
}

/** An emulated spreadsheet behind a line on which all requests are heard. */
export interface HeardSheet extends AsyncDisposable {
  readonly line: CrmLine;
  readonly table: Table;
  readonly probe: SheetProbe;
  /** Everything that went over the line since this was called last. */
  takeRequests(): readonly HeardRequest[];
}

export async function hearSheet({ options }: SandboxSheet): Promise<HeardSheet> {
  const line = await openCrmLine({ target: `${options.rootUrl}/`, now: () => 0 });
  const own = { ...options, rootUrl: line.baseUrl, readsPerMinute: 10_000, writesPerMinute: 10_000 };
  let heard: HeardRequest[] = [];
  line.intercept(/./, async (asked, passOn) => {
    const answer = await passOn();
    heard.push({ ...asked, answer: answer?.text ?? '' });
    return answer;
  });
  return {
    line,
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
