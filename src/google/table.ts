import { isSyncError } from '../core/errors.ts';
import { finishInTurns } from '../core/slices.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import type { Layout, TabKind } from '../sheet/port/layout.ts';
import type { Table } from '../sheet/port/port.ts';
import type { ObservedTab, ObservedTable, RowStep } from '../sheet/port/table.ts';
import { rowRange } from './a1.ts';
import type { Choose } from './chosen-tabs.ts';
import { createSheetsClient, type Request, type SheetsClient, type SheetsClientOptions } from './client.ts';
import { type ColumnLooks, lookFields, lookRows, readColumnLooks } from './column-look.ts';
import type { Grid } from './grid.ts';
import { filledTabs, planLayOut, tabsToRead } from './layout.ts';
import { writeLeadList } from './lead-list.ts';
import { mapKnown } from './map-known.ts';
import { createSigner, marksIn } from './marks.ts';
import type { ReadOrder, RowsByTab } from './poll/kept-tabs.ts';
import { type Answers, answersBy } from './probes/answers.ts';
import { type BoundTab, observeTabs, type TabReading } from './read.ts';
import { Reader } from './reader.ts';
import { checkRoom } from './room.ts';
import { findStranger, type Owner, type TaggedSpreadsheet } from './tabs.ts';
import { placeOfRefusal } from './write/batch.ts';
import { findShadow } from './write/shadow.ts';
import { Writer } from './write/writer.ts';

export interface GoogleSheetOptions extends SheetsClientOptions {
  /** Names the CRM account, so that the spreadsheet of another one is never written. */
  readonly account: string;
  /** How Google is known to behave; the safest way where absent. */
  readonly answers?: Answers;
  /** In which time every row is read in full once, where the tabs are too large for that to be done each time. */
  readonly fullReadMs?: number;
  /** Cells up to which it is done each time. */
  readonly wholeCellsMax?: number;
}

type TableOptions = Pick<
  GoogleSheetOptions,
  'spreadsheetId' | 'account' | 'answers' | 'clock' | 'fullReadMs' | 'log' | 'wholeCellsMax'
> &
  Partial<Pick<GoogleSheetOptions, 'timeoutMs'>>;

/** A Google spreadsheet as a table, over HTTP. */
export const createGoogleSheetTable = (options: GoogleSheetOptions): Table =>
  createSheetTable(createSheetsClient(options), options);

/**
 * A spreadsheet as a table: one tab per entity. Which tab and which column is which is written in the
 * spreadsheet itself, so that it outlives renames and restarts. Positions of a write are those of the read
 * before it, or of the confirmed write after that read.
 */
export function createSheetTable(
  client: SheetsClient,
  { spreadsheetId, account, log, answers = answersBy(), timeoutMs, ...depth }: TableOptions,
): Table {
  const owner: Owner = { spreadsheetId, account };
  const reader = new Reader(client, log, { ...answers, timeoutMs }, depth);
  let last: Read | undefined;
  const writer = new Writer(client, log, answers, (choose) => reader.readChosen(last?.layout ?? [], choose));
  const signer = createSigner(client);

  async function take(layout: Layout, order: ReadOrder): Promise<ObservedTable> {
    const spreadsheet = await reader.read(layout, order);
    const circumstances = JSON.stringify([layout, reader.otherCells]);
    if (last?.spreadsheet !== spreadsheet || last.circumstances !== circumstances) {
      const before = last && { readings: last.readings, isAlike: last.circumstances === circumstances };
      const work = observeTabs(spreadsheet, layout, owner, reader.otherCells, before);
      const readings = await finishInTurns(work, depth.clock);
      last = { layout, spreadsheet, circumstances, readings, table: tableOf(readings, spreadsheet, owner) };
    }
    writer.start(boundTabs(last.readings), findShadow(spreadsheet), spreadsheet.lastWrite);
    signer.start(spreadsheet.marks);
    return last.table;
  }

  return {
    identity: spreadsheetId,

    read: (layout, isWhole = false) => take(layout, { isWhole }),

    async look(layout, steps) {
      if (!last) return take(layout, { isWhole: true });
      // New rows reach none that is there.
      if (!reader.keepsTabs || steps.every(({ kind }) => kind === 'append')) return last.table;
      return take(layout, { isWhole: true, rows: rowsOf(steps, last.readings) });
    },

    prepare: (steps, run, open) => writer.prepare(steps, run, open),
    async write(receipt, keep, mark) {
      // Also where no answer came: it may be done.
      reader.expectWrite();
      return writer.write(receipt, keep, mark && signer.renew(mark));
    },
    recover(receipt, keep, mayLand) {
      reader.expectWrite();
      return writer.recover(receipt, keep, mayLand);
    },
    sign(changes) {
      reader.expectWrite();
      return signer.sign(changes);
    },

    offerLeads: (names, before) =>
      writeLeadList(client, boundTabs(last?.readings ?? new Map()).values(), names, before),

    async layOut(layout, mode, consent = {}) {
      const choose: Choose = (found) => tabsToRead({ layout, consent, spreadsheet: found });
      const spreadsheet = await reader.readChosen(layout, choose);
      const looks = await readLooks(client, filledTabs({ layout, consent, spreadsheet }));
      const { parts, ...laidOut } = planLayOut({ layout, mode, consent, owner, spreadsheet, looks });
      const requests = parts.flat();
      if (requests.length === 0) return laidOut;
      checkRoom(spreadsheet.grids, requests);
      // Also where no answer comes: it may be done.
      reader.expectLayOut(mode === 'create');
      await sendLayOut(client, mode === 'create' ? [requests] : parts, spreadsheet.grids);
      log.info('sheet.laid_out', { requests: requests.length });
      return laidOut;
    },
  };
}

/** The rows that steps are about to reach, by the numeric id of their tab. */
function rowsOf(steps: readonly RowStep[], readings: Read['readings']): RowsByTab {
  const reaching = steps.flatMap((step) => (step.kind === 'append' ? [] : [step]));
  const byTab = Map.groupBy(reaching, ({ entity }) => readings.get(entity)?.bound?.sheetId ?? -1);
  return mapKnown(byTab, (own) => own.map(({ position }) => position));
}

/** What a read came to, and of what: of the same it comes to the same. */
interface Read {
  readonly layout: Layout;
  readonly spreadsheet: TaggedSpreadsheet;
  readonly circumstances: string;
  readonly readings: ReadonlyMap<TabKind, TabReading>;
  readonly table: ObservedTable;
}

function tableOf(readings: Read['readings'], spreadsheet: TaggedSpreadsheet, owner: Owner): ObservedTable {
  const { lastWrite, marks } = spreadsheet;
  // Where nothing can be written there is nothing to keep others from; the marks in a copy are of the daemon of the other spreadsheet.
  const canWrite = marks.keepers.length > 0 || boundTabs(readings).size > 0;
  const isSigned = canWrite && findStranger(spreadsheet, owner) === undefined;
  const observed = (entity: TabKind): ObservedTab => readings.get(entity)?.observed ?? notLaidOut;
  return {
    tabs: {
      lead: observed('lead'),
      opportunity: observed('opportunity'),
      task: observed('task'),
      contact: observed('contact'),
      ...(readings.has('question') && { question: observed('question') }),
    },
    timeZone: timeZoneOf(spreadsheet),
    ...(lastWrite?.run ? { lastWrite: lastWrite.run } : {}),
    ...(isSigned ? { marks: marksIn(marks) } : {}),
  };
}

const notLaidOut: ObservedTab = { state: 'held', reason: 'It is not part of the layout.' };

const boundTabs = (readings: Read['readings']): Map<TabKind, BoundTab> =>
  mapKnown(readings, ({ bound }) => bound);

function timeZoneOf({ timeZone }: TaggedSpreadsheet): string {
  if (timeZone) return timeZone;
  throw newSheetError('SHEET_UNREADABLE', 'The spreadsheet does not say its time zone.');
}

/** In one batch. What Google refuses of it is sent part by part, so that a tab that somebody protects is refused alone, and fails all the same. */
async function sendLayOut(
  client: SheetsClient,
  parts: readonly (readonly Request[])[],
  grids: readonly Grid[],
): Promise<void> {
  const send = (requests: readonly Request[]) =>
    client.batchUpdate(requests, 'sheets.properties.sheetId', []).then(
      () => undefined,
      (error: unknown) => {
        if (!isSyncError(error, 'SHEET_REFUSED')) throw error;
        const { sheetId } = placeOfRefusal(error, requests);
        const tab = grids.find((grid) => grid.sheetId === sheetId);
        return tab ? error.reworded(`${error.message} It is about “${tab.title}”.`) : error;
      },
    );
  const refusal = await send(parts.flat());
  if (!refusal) return;
  if (parts.length > 1) for (const part of parts) await send(part);
  throw refusal;
}

/** Dropdowns and header notes by sheet id. */
async function readLooks(
  client: SheetsClient,
  grids: readonly Grid[],
): Promise<ReadonlyMap<number, ColumnLooks>> {
  const ranges = grids.map(({ title, rowCount }) => rowRange(title, 0, Math.min(lookRows, rowCount)));
  const { sheets = [] } = (ranges.length > 0 ? await client.get(lookFields, ranges) : undefined) ?? {};
  return new Map(
    sheets.map(({ properties, data }) => [properties?.sheetId ?? 0, readColumnLooks(data?.[0])]),
  );
}
