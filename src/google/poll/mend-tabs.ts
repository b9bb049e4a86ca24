import { quoteTitle, rowRange } from '../a1.ts';
import type { Spreadsheet } from '../client.ts';
import { type Grid, readParts, toGrid } from '../grid.ts';
import { mapKnown } from '../map-known.ts';
import { readSpreadsheetTags, type TaggedSpreadsheet } from '../tabs.ts';
import { type Hidden, mendGrid } from './mend.ts';
import type { TabNews } from './poll.ts';
import type { Spans } from './row-requests.ts';

/** A tab that is kept, and where its managed columns are; none where it cannot be used. */
export interface KeptTab {
  readonly sheetId: number;
  readonly columns: readonly number[];
  readonly idColumn: number;
}

/** What is kept between two reads: tabs, and the hidden tab of which only its size matters. */
export interface Kept {
  readonly spreadsheet: TaggedSpreadsheet;
  readonly tabs: readonly KeptTab[];
}

/** What was asked for, and found, by the numeric ids of tabs. */
export interface Look {
  readonly news: ReadonlyMap<number, TabNews>;
  readonly spans: Spans;
  readonly hidden: ReadonlyMap<number, Hidden>;
}

export const noHidden: Look['hidden'] = new Map();

/** Once the first part is read, rows are where they are now. */
const withoutOrigins = (news: Look['news']): Look['news'] =>
  mapKnown(news, ({ changed, ...own }) => ({ ...own, changed: changed && { rows: changed.rows } }));

/** The tabs as they are now, and in which of their columns the next poll has to look at all. */
interface MendedTabs {
  readonly spreadsheet: TaggedSpreadsheet;
  readonly doubtful: ReadonlyMap<number, ReadonlySet<number>>;
}

/** Reads what each of the requests is for, under the header that is read with it: columns may move in between. */
export async function mendTabs(
  kept: Kept,
  requests: readonly Spans[],
  look: Pick<Look, 'hidden' | 'news'>,
  ask: (ranges: readonly string[]) => Promise<Spreadsheet | undefined>,
): Promise<MendedTabs | 'moved' | undefined> {
  let { spreadsheet } = kept;
  let left = look;
  const doubtful = new Map<number, ReadonlySet<number>>();
  for (const spans of requests) {
    const now = { ...kept, spreadsheet };
    const part = await ask(rangesOf(now, spans));
    const mended = part && mendPart(now, part, { ...left, spans });
    if (!mended || mended === 'moved') return mended;
    ({ spreadsheet } = mended);
    for (const [sheetId, columns] of mended.doubtful)
      doubtful.set(sheetId, columns.union(doubtful.get(sheetId) ?? new Set()));
    left = { hidden: noHidden, news: withoutOrigins(look.news) };
  }
  return { spreadsheet, doubtful };
}

function mendPart(
  { spreadsheet, tabs }: Kept,
  part: Spreadsheet,
  { hidden, news, spans }: Look,
): MendedTabs | 'moved' | undefined {
  const tags = readSpreadsheetTags(part);
  if (JSON.stringify(tags.link) !== JSON.stringify(spreadsheet.link)) return undefined;
  const parts = readParts(part);
  const grids: Grid[] = [];
  const doubtful = new Map<number, ReadonlySet<number>>();
  for (const kept of spreadsheet.grids) {
    const own = parts.find(({ sheetId }) => sheetId === kept.sheetId);
    if (!own) return undefined;
    const tab = tabs.find(({ sheetId }) => sheetId === kept.sheetId);
    if (!tab) {
      const grid = toGrid(own);
      grids.push(isOfSameSize(grid, kept) ? kept : grid);
      continue;
    }
    const { changed, valueAt = () => undefined } = news.get(kept.sheetId) ?? {};
    const asked = { spans: spans.get(kept.sheetId) ?? [], origins: changed?.origins };
    const found = { part: own, hidden: hidden.get(kept.sheetId), valueAt };
    const mended = mendGrid(kept, { ...asked, ...found, ...tab });
    if (mended === 'moved') return mended;
    if (mended === 'doubt') return undefined;
    grids.push(mended.grid);
    doubtful.set(tab.sheetId, mended.doubtful);
  }
  const { grids: before, ...tagsBefore } = spreadsheet;
  const isSame =
    grids.every((grid, place) => grid === before[place]) &&
    JSON.stringify(tags) === JSON.stringify(tagsBefore);
  return { spreadsheet: isSame ? spreadsheet : { ...tags, grids }, doubtful };
}

const isOfSameSize = (one: Grid, other: Grid): boolean =>
  one.title === other.title && one.rowCount === other.rowCount && one.columnCount === other.columnCount;

/** Of each tab the header first, which the columns are read with, and the rows that name the columns of a table. */
const rangesOf = (kept: Kept, spans: Spans): string[] =>
  kept.spreadsheet.grids.flatMap(({ sheetId, tables, title }) => {
    if (!kept.tabs.some((tab) => tab.sheetId === sheetId)) return [`${quoteTitle(title)}!A1`];
    return [
      rowRange(title, 0, 1),
      ...tables.flatMap(({ startRow }) => (startRow > 1 ? [rowRange(title, startRow - 1, startRow)] : [])),
      ...(spans.get(sheetId) ?? []).map(({ end, from }) => rowRange(title, from, end)),
    ];
  });
