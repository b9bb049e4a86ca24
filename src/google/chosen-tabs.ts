import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { Log } from '../core/ports.ts';
import { equalCells } from '../sheet/port/cell.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import type { Layout } from '../sheet/port/layout.ts';
import type { Range, SheetsClient, Spreadsheet } from './client.ts';
import { bindColumns } from './columns.ts';
import { isTooMuch } from './errors.ts';
import {
  cellAt,
  cellFields,
  type Grid,
  type GridPart,
  gridFields,
  readParts,
  sizeFields,
  toGrid,
} from './grid.ts';
import { metadataFields } from './metadata.ts';
import type { Answers } from './probes/answers.ts';
import { countCells } from './room.ts';
import { placeTab, readSpreadsheetTags, readTagged, type TaggedSpreadsheet } from './tabs.ts';

/** Names those tabs whose cells are wanted, once the names and sizes of all of them are known. */
export type Choose = (spreadsheet: TaggedSpreadsheet) => readonly Grid[];

/** Field mask of where tabs are and how large, without any cell. */
export const tabFields = `properties.timeZone,${metadataFields},sheets.${sizeFields}`;

/** Tabs of more rows together are read in several requests: an answer of all of them would keep everything else waiting while it is read. */
export const wholeRowsMax = 5_000;
const windowMax = 2_000;

const areInOne = (grids: readonly Pick<Grid, 'rowCount'>[]): boolean =>
  grids.reduce((sum, { rowCount }) => sum + rowCount, 0) <= wholeRowsMax;

/** How often tabs are read in several requests until nobody moves a row meanwhile. */
const attemptsMax = 3;

/** Reads tabs by their numeric ids, as many rows at a time as Google has answers for. */
export function createChosenTabs(client: SheetsClient, parts: Parts, log: Log, known: KnownOfReads) {
  let pace = firstPace;
  /** Where the time of a cell is known, the sizes of the tabs say how to begin. */
  let isPaceChosen = !known.cellMicros;
  /** Rows of the longest tab that was chosen last. */
  let longest: number | undefined;
  /** Whether whole tabs are read in one request. */
  const areWhole = () => isPaceChosen && pace.halvings === 0;

  return {
    areWhole,
    /** Does a read, and asks for fewer rows at a time once Google had no answer again and again, and for more once it had. */
    async paced<Result>(read: () => Promise<Result>): Promise<Result> {
      const before = pace;
      try {
        const result = await read();
        pace = speedUp(pace);
        return result;
      } catch (error) {
        // How long the tabs are is looked up with each read in parts, and may have changed since where none was.
        if (isTooMuch(error)) pace = slowDown(pace, areWhole() ? undefined : longest);
        throw error;
      } finally {
        if (pace.halvings !== before.halvings) log.info('sheet.read_size', { halvings: pace.halvings });
      }
    },
    /** All tabs there are, and the cells of those that are chosen. */
    async read(layout: Layout, choose: Choose): Promise<TaggedSpreadsheet> {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const look = await expectPart(parts.get(tabFields));
        const chosen = choose(readTagged(look));
        longest = longestOf(chosen);
        if (!isPaceChosen && chosen.length > 0) pace = paceFor(chosen, known);
        isPaceChosen ||= chosen.length > 0;
        if (chosen.length === 0) return parts.join([look]);
        if (areWhole() && areInOne(chosen)) {
          const ranges = chosen.map(({ sheetId }) => ({ sheetId }));
          return parts.join([look, await expectPart(parts.get(gridFields, ranges))]);
        }
        const windows: GridPart[] = [];
        for (const ranges of windowsOf(chosen, pace))
          windows.push(...readParts(await expectPart(client.get(gridFields, ranges))));
        const tagged = { ...readSpreadsheetTags(look), grids: joinParts(readParts(look), windows) };
        if (await isStill(client, tagged, layout, known)) return tagged;
      }
      throw newSheetError('SHEET_UNREACHABLE', 'Rows were moved while the spreadsheet was read in parts.');
    },
  };
}

/** What was found out about reads, and how long one may take; absent where that is not known. */
export interface KnownOfReads extends Pick<Answers, 'tagsByRange' | 'cellMicros'> {
  readonly timeoutMs: number | undefined;
}

async function expectPart(part: Promise<Spreadsheet | undefined>): Promise<Spreadsheet> {
  const found = await part;
  if (found) return found;
  throw newSheetError('SHEET_UNREACHABLE', 'A tab was removed while the spreadsheet was read.');
}

/** Field mask of what shows whether rows stayed where they were. */
const stillFields = `${metadataFields},sheets(${sizeFields},data(startRow,startColumn,rowData.values(${cellFields})))`;

/**
 * Whether the tabs of a spreadsheet that was read in parts have their rows where they were, and no write of ours has landed meanwhile: what
 * people type in the meantime is of one moment in each cell.
 */
async function isStill(
  client: SheetsClient,
  tagged: TaggedSpreadsheet,
  layout: Layout,
  { tagsByRange }: KnownOfReads,
): Promise<boolean> {
  const tabs = layout.flatMap((tab) => {
    const { grid } = placeTab(tagged, tab);
    const binding = grid && bindColumns(grid, tab);
    return grid && binding?.state === 'bound' ? [{ ...grid, id: binding.columns.id }] : [];
  });
  const ranges = tabs.flatMap(({ id, rowCount, sheetId }) => [
    { sheetId, startRowIndex: 0, endRowIndex: 1 },
    ...(rowCount > 1 ? [{ sheetId, startRowIndex: 1, startColumnIndex: id, endColumnIndex: id + 1 }] : []),
  ]);
  if (ranges.length === 0) return true;
  const now = readTagged(await expectPart(client.get(stillFields, ranges)));
  const { lastWrite } = tagsByRange === 'brought' ? now : readTagged((await client.get(tabFields)) ?? {});
  if (lastWrite && lastWrite.run !== tagged.lastWrite?.run) return false;
  return tabs.every(({ id, ...tab }) => {
    const grid = now.grids.find(({ sheetId }) => sheetId === tab.sheetId);
    if (grid?.rowCount !== tab.rowCount || grid.columnCount !== tab.columnCount) return false;
    const isSame = (row: number, column: number) =>
      equalCells(cellAt(grid.rows, row, column), cellAt(tab.rows, row, column));
    const width = Math.max(tab.rows[0]?.length ?? 0, grid.rows[0]?.length ?? 0);
    const height = Math.max(tab.rows.length, grid.rows.length);
    return (
      Array.from({ length: width }, (_, column) => isSame(0, column)).every(Boolean) &&
      Array.from({ length: height }, (_, row) => isSame(row, id)).every(Boolean)
    );
  });
}

/**
 * How small the requests of a read are. Google says that a spreadsheet is too complex with the words with which it says that it is down, so
 * that a read that failed for it once more asks for fewer rows at a time.
 */
export interface Pace {
  /** How often the rows of the longest tab are halved; none where all tabs go in one request. */
  readonly halvings: number;
  /** Failures since the last success. */
  readonly failures: number;
  /** Successes since the last change. */
  readonly successes: number;
}

export const firstPace: Pace = { halvings: 0, failures: 0, successes: 0 };

/** A read that takes as long as it was measured to is to take half of what it may. */
const shareMax = 0.5;

/** The pace at the start: where all in one request is too much by what was measured, as many rows as are not. */
export function paceFor(
  grids: readonly Pick<Grid, 'rowCount' | 'columnCount'>[],
  { cellMicros, timeoutMs }: Pick<KnownOfReads, 'cellMicros' | 'timeoutMs'>,
): Pace {
  if (!cellMicros || timeoutMs === undefined) return firstPace;
  const cellsMax = (timeoutMs * shareMax * 1_000) / cellMicros;
  const isWhole = areInOne(grids);
  if (isWhole && countCells(grids) <= cellsMax) return firstPace;
  const widest = grids.reduce((width, { columnCount }) => Math.max(width, columnCount), 1);
  const longest = longestOf(grids);
  let halvings = isWhole ? 1 : 0;
  const rows = () => Math.min(windowMax, longest / 2 ** halvings);
  while (rows() > rowsMin && rows() * widest > cellsMax && halvings < halvingsMax) halvings += 1;
  return { ...firstPace, halvings };
}

/** The first failure may be a short break. */
const failuresMin = 2;
/** Fewer rows in a request spare Google nothing. */
const rowsMin = 500;
/** So many successes in a row, and a request may be twice as large again. */
const successesMin = 30;

/** The pace after a read for which Google had no answer; `longest` is the number of rows of the longest tab, where that is known. */
export function slowDown({ failures, halvings }: Pace, longest = Number.POSITIVE_INFINITY): Pace {
  const isLasting = failures + 1 >= failuresMin || halvings > 0;
  const canHalve = longest / 2 ** halvings > rowsMin && halvings < halvingsMax;
  return { halvings: halvings + (isLasting && canHalve ? 1 : 0), failures: failures + 1, successes: 0 };
}

/** A tab has at most 10,000,000 rows: then a request brings fewer than the least that it is asked for. */
const halvingsMax = 15;

export const speedUp = ({ halvings, successes }: Pace): Pace =>
  halvings > 0 && successes + 1 >= successesMin
    ? { halvings: halvings - 1, failures: 0, successes: 0 }
    : { halvings, failures: 0, successes: successes + 1 };

/** The ranges in which the tabs are read, each list in a request of its own: short ones share one. */
export function windowsOf(
  grids: readonly Pick<Grid, 'sheetId' | 'rowCount'>[],
  { halvings }: Pace,
): sheets_v4.Schema$GridRange[][] {
  const height = Math.max(rowsMin, Math.min(windowMax, Math.ceil(longestOf(grids) / 2 ** halvings)));
  const requests: { rows: number; ranges: sheets_v4.Schema$GridRange[] }[] = [];
  for (const { rowCount, sheetId } of grids) {
    for (let startRowIndex = 0; startRowIndex < rowCount; startRowIndex += height) {
      const rows = Math.min(height, rowCount - startRowIndex);
      const range = { sheetId, startRowIndex, endRowIndex: startRowIndex + rows };
      const last = requests.at(-1);
      if (last && last.rows + rows <= height) {
        last.rows += rows;
        last.ranges.push(range);
      } else requests.push({ rows, ranges: [range] });
    }
  }
  return requests.map(({ ranges }) => ranges);
}

const longestOf = (grids: readonly Pick<Grid, 'rowCount'>[]): number =>
  grids.reduce((longest, { rowCount }) => Math.max(longest, rowCount), 0);

/** The windows of each tab as one. Its size is that of the first look, so that a change since then is seen. */
function joinParts(looks: readonly GridPart[], windows: readonly GridPart[]): Grid[] {
  const byTab = Map.groupBy(windows, ({ sheetId }) => sheetId);
  return looks.map((look) => {
    const own = byTab.get(look.sheetId) ?? [];
    const [first] = own;
    if (!first) return toGrid(look);
    return toGrid({
      ...first,
      rowCount: look.rowCount,
      columnCount: look.columnCount,
      blocks: own.flatMap(({ blocks }) => blocks),
      merges: distinct(own.flatMap(({ merges }) => merges)),
      tables: distinct(own.flatMap(({ tables }) => tables)),
      typed: distinct(own.flatMap(({ typed }) => typed)),
      hiddenRows: new Set(own.flatMap(({ hiddenRows }) => [...hiddenRows])),
      handHiddenRows: new Set(own.flatMap(({ handHiddenRows = [] }) => [...handHiddenRows])),
    });
  });
}

/** What several windows reach is said with each. */
const distinct = <Item>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];

/** Reads a spreadsheet in one request or two; while their answers stay the same, so does the object that comes of them. */
export function createParts(client: SheetsClient) {
  let watches = new Map<string, ReturnType<typeof client.watch>>();
  let used: typeof watches = new Map();
  let last: { readonly parts: readonly Spreadsheet[]; readonly made: TaggedSpreadsheet } | undefined;

  return {
    /** A part, or `undefined` when one of the ranges names no tab. */
    get(fields: string, ranges: readonly Range[] = []): Promise<Spreadsheet | undefined> {
      const key = JSON.stringify([fields, ranges]);
      const watch = watches.get(key) ?? used.get(key) ?? client.watch(fields, ranges);
      used.set(key, watch);
      return watch();
    },
    /** The parts as one spreadsheet. What it says of itself, and the order of its tabs, are those of the first part. */
    join(parts: readonly Spreadsheet[]): TaggedSpreadsheet {
      // What was not asked for since the last time is not kept: each holds a whole answer.
      [watches, used] = [used, new Map()];
      const isSame =
        last?.parts.length === parts.length && last.parts.every((part, at) => part === parts[at]);
      if (!last || !isSame) last = { parts, made: joinTagged(parts) };
      return last.made;
    },
    /** Keeps no answer. */
    forget(): void {
      [watches, used, last] = [new Map(), new Map(), undefined];
    },
  };
}

type Parts = ReturnType<typeof createParts>;

function joinTagged([look = {}, ...others]: readonly Spreadsheet[]): TaggedSpreadsheet {
  const looks = readParts(look);
  const tags = readSpreadsheetTags(look);
  return {
    ...tags,
    grids: others.length === 0 ? looks.map(toGrid) : joinParts(looks, others.flatMap(readParts)),
  };
}
