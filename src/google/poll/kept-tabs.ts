import type { Clock } from '../../core/ports.ts';
import { newSheetError } from '../../sheet/port/errors.ts';
import { quoteTitle } from '../a1.ts';
import type { SheetsClient, Spreadsheet } from '../client.ts';
import { type Grid, gridFields, readParts } from '../grid.ts';
import { mapKnown } from '../map-known.ts';
import { areInOne } from '../read-pace.ts';
import type { TaggedSpreadsheet } from '../tabs.ts';
import type { Hidden, RowSpan } from './mend.ts';
import { type Kept, type KeptTab, type Look, mendTabs, noHidden } from './mend-tabs.ts';
import { nothingNew, Poll, type PolledTab } from './poll.ts';
import { requestsFor, requestsMax } from './row-requests.ts';
import { type MovedRows, Turns } from './turns.ts';

/** Rows to be read in full, by the numeric id of their tab. */
export type RowsByTab = ReadonlyMap<number, readonly number[]>;

export interface ReadOrder {
  /** Whether what the spreadsheet says of itself must be of this moment. */
  readonly isWhole: boolean;
  readonly rows?: RowsByTab;
}

/** Of a tab which rows are hidden, and nothing of its cells. */
const hiddenFields =
  'sheets(properties(sheetId,title,gridProperties(rowCount,columnCount)),data(startRow,rowMetadata(hiddenByFilter,hiddenByUser)))';
/** How often a look is begun anew because rows moved in the middle of it. */
const attemptsMax = 3;

/**
 * Keeps tabs the same as they are at Google, at a cost that follows what changes. The values of all rows are polled; rows in which one is
 * another than before are read in full, with formulas and formats, and with what is said of the tab. What a poll cannot show, as a new
 * format of the same number, a column of people's own, or a row that a filter hides, is found when the turn comes to its rows, and in rows
 * that are about to be written, with all that is hidden in their tab, before that.
 */
export class KeptTabs {
  readonly #client: SheetsClient;
  readonly #poll: Poll;
  readonly #turns: Turns;
  readonly #rowsAtOnce: () => number;
  #kept: Kept | undefined;
  #isChangeExpected = false;
  /** Asks what is hidden in the tabs that were written last. */
  #hidden: { readonly ranges: string; readonly ask: () => Promise<Look['hidden'] | undefined> } | undefined;

  /** In `fullReadMs` every row is read in full once. */
  constructor(client: SheetsClient, clock: Clock, fullReadMs: number, rowsAtOnce: () => number) {
    this.#client = client;
    this.#rowsAtOnce = rowsAtOnce;
    this.#poll = new Poll(client, clock);
    this.#turns = new Turns(clock, fullReadMs);
  }

  /** What is kept, as it was last read; `undefined` where nothing is. */
  get spreadsheet(): TaggedSpreadsheet | undefined {
    return this.#kept?.spreadsheet;
  }

  /** Goes on with the same tabs, of which other columns may be managed from now on. */
  bind(tabs: readonly KeptTab[]): void {
    if (!this.#kept || JSON.stringify(this.#kept.tabs) === JSON.stringify(tabs)) return;
    this.#kept = { ...this.#kept, tabs };
    this.#poll.start(polledTabs(this.#kept));
  }

  /** Where the tabs are not of one moment (`isOfOneMoment`), the next read makes them so. */
  start(kept: Kept, isOfOneMoment: boolean): void {
    this.#kept = kept;
    this.#isChangeExpected ||= !isOfOneMoment;
    this.#poll.start(polledTabs(kept));
    this.#turns.start();
  }

  forget(): void {
    this.#kept = undefined;
  }

  /** The next read asks again what the spreadsheet says of itself: it was written to. */
  expectChange(): void {
    this.#isChangeExpected = true;
  }

  /**
   * Returns the tabs as they are now, the same object where nothing changed; `undefined` where they have to be read as a whole. Where rows are
   * moved in the middle of each look, that helps only if one request brings all of them: else it fails, and the next read looks again.
   */
  async read(order: ReadOrder): Promise<TaggedSpreadsheet | undefined> {
    if (!this.#kept) return undefined;
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      // Rows that are about to be written were polled just now, unless they have moved since.
      const isPolled = order.rows !== undefined && attempt === 1;
      const read = await this.#look(this.#kept, order, isPolled);
      if (read !== 'moved') return read;
      // What was polled counts for nothing.
      this.#poll.start(polledTabs(this.#kept));
    }
    if (areInOne(gridsOf(this.#kept))) return undefined;
    throw newSheetError('SHEET_UNREACHABLE', 'Rows were moved while the spreadsheet was read.');
  }

  async #look(
    kept: Kept,
    { isWhole, rows }: ReadOrder,
    isPolled: boolean,
  ): Promise<TaggedSpreadsheet | 'moved' | undefined> {
    const polled = isPolled ? nothingNew : await this.#poll.look();
    if (!polled || [...polled.news.values()].some(({ changed }) => !changed)) return undefined;
    const { accept, news } = polled;
    const grids = gridsOf(kept);
    const moved = movedIn(news);
    const turn = this.#turns.due(grids, moved, rows !== undefined || news.size > 0);
    if (!turn && !isWhole && !rows && news.size === 0 && !this.#isChangeExpected) {
      accept();
      return kept.spreadsheet;
    }
    const hidden = rows ? await this.#hiddenIn(kept, rows) : noHidden;
    if (!hidden) return undefined;
    const spans = new Map(
      grids.map(({ sheetId }) => [
        sheetId,
        [...wantedIn(sheetId, { hidden, news, rows }), ...(turn?.spans.get(sheetId) ?? [])],
      ]),
    );
    const requests = requestsFor(spans, this.#rowsAtOnce());
    if (requests.length > requestsMax) return undefined;
    const ask = (ranges: readonly string[]) => this.#client.get(gridFields, ranges);
    const mended = await mendTabs(kept, requests, { hidden, news }, (ranges) =>
      turn ? this.#turns.read(grids, () => ask(ranges)) : ask(ranges),
    );
    if (!mended || mended === 'moved') return mended;
    const { doubtful, spreadsheet } = mended;
    // Rows that were read one by one may have come from elsewhere in the middle of it, and then another one would be missed.
    if (spreadsheet.grids.some((grid, place) => grid.rows !== kept.spreadsheet.grids[place]?.rows))
      if (!(await this.#poll.areIdsThere())) return 'moved';
    if (turn) this.#turns.end(turn);
    else this.#turns.move(moved);
    this.#isChangeExpected = false;
    this.#kept = { ...kept, spreadsheet };
    this.#poll.keep(polledTabs(this.#kept));
    accept();
    for (const [sheetId, columns] of doubtful) this.#poll.doubt(sheetId, columns);
    return spreadsheet;
  }

  /**
   * The hidden rows of tabs in which something is about to be written: Google makes no copies of those that a filter hides, wherever in the
   * tab they are.
   */
  async #hiddenIn(kept: Kept, rows: RowsByTab): Promise<Look['hidden'] | undefined> {
    const ranges = gridsOf(kept).flatMap(({ rowCount, sheetId, title }) =>
      rows.has(sheetId) ? [`${quoteTitle(title)}!A1:A${rowCount}`] : [],
    );
    // Without a range the answer would be of all tabs.
    if (ranges.length === 0) return noHidden;
    const name = ranges.join();
    if (this.#hidden?.ranges !== name)
      this.#hidden = { ranges: name, ask: this.#client.watch(hiddenFields, ranges, hiddenBySheet) };
    return this.#hidden.ask();
  }
}

const gridsOf = ({ spreadsheet, tabs }: Kept): Grid[] =>
  spreadsheet.grids.filter(({ sheetId }) => tabs.some((tab) => tab.sheetId === sheetId));

const movedIn = (news: Look['news']): MovedRows => mapKnown(news, ({ changed }) => changed?.origins);

const toSpan = (row: number): RowSpan => ({ from: row, end: row + 1 });

function polledTabs({ spreadsheet, tabs }: Kept): PolledTab[] {
  return tabs.flatMap((tab) => {
    const grid = spreadsheet.grids.find(({ sheetId }) => sheetId === tab.sheetId);
    return grid && tab.columns.length > 0 ? [{ ...tab, rows: grid.rows }] : [];
  });
}

/** The rows of a tab that are to be read in full whether it is their turn or not. */
function wantedIn(
  sheetId: number,
  { hidden, news, rows }: Pick<Look, 'hidden' | 'news'> & { readonly rows: RowsByTab | undefined },
): RowSpan[] {
  const [{ changed } = {}, written = []] = [news.get(sheetId), rows?.get(sheetId)];
  return [...(changed?.rows ?? []), ...written, ...hiddenNear(written, hidden.get(sheetId))].map(toSpan);
}

const hiddenBySheet = (spreadsheet: Spreadsheet): Look['hidden'] =>
  new Map(readParts(spreadsheet).map((part) => [part.sheetId, part]));

/** A write that rows moved away from meets one of so many beside its own. */
const nearRows = 5;

/** The rows near those that are written of which Google makes no copy: what is in all of their columns is what can be given back. */
const hiddenNear = (written: readonly number[], { hiddenRows = new Set() }: Partial<Hidden> = {}): number[] =>
  written.flatMap((row) =>
    Array.from({ length: 2 * nearRows + 1 }, (_, place) => row - nearRows + place).filter((near) =>
      hiddenRows.has(near),
    ),
  );
