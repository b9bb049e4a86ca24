import type { Log } from '../core/ports.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import type { Range, SheetsClient, Spreadsheet } from './client.ts';
import { isTooMuch } from './errors.ts';
import { type Grid, type GridPart, gridFields, readParts, sizeFields, toGrid } from './grid.ts';
import { metadataFields } from './metadata.ts';
import {
  areInOne,
  firstPace,
  type KnownOfReads,
  largestOf,
  paceFor,
  rowsAtOnce,
  slowDown,
  speedUp,
  windowsOf,
} from './read-pace.ts';
import { readSpreadsheetTags, readTagged, type TaggedSpreadsheet } from './tabs.ts';

/** Names those tabs whose cells are wanted, once the names and sizes of all of them are known. */
export type Choose = (spreadsheet: TaggedSpreadsheet) => readonly Grid[];

/** Field mask of where tabs are and how large, without any cell. */
export const tabFields = `properties.timeZone,${metadataFields},sheets.${sizeFields}`;

/** Tabs as they were read. */
export interface ReadTabs {
  readonly spreadsheet: TaggedSpreadsheet;
  /** Not where they took several requests: users may have changed rows in between. */
  readonly isOfOneMoment: boolean;
}

/** Reads tabs by their numeric ids, as many rows at a time as Google has answers for. */
export function createChosenTabs(client: SheetsClient, parts: Parts, log: Log, known: KnownOfReads) {
  let pace = firstPace;
  /** Where the time of a cell is known, the sizes of the tabs say how to begin. */
  let isPaceChosen = !known.cellMicros;
  /** By how many rows the requests of the tabs begin that were chosen last. */
  let largest: number | undefined;
  /** Whether whole tabs are read in one request. */
  const areWhole = () => isPaceChosen && pace.halvings === 0;

  return {
    areWhole,
    /** Rows that one request may bring. */
    rowsAtOnce: () => rowsAtOnce(largest, pace),
    /** Does a read, and asks for fewer rows at a time once Google had no answer again and again. */
    async paced<Result>(read: () => Promise<Result>): Promise<Result> {
      const before = pace;
      try {
        const result = await read();
        pace = { ...pace, failures: 0 };
        return result;
      } catch (error) {
        // How long the tabs are is looked up with each read in parts, and may have changed since where none was.
        if (isTooMuch(error)) pace = slowDown(pace, areWhole() ? undefined : largest);
        throw error;
      } finally {
        if (pace.halvings !== before.halvings) log.info('sheet.read_size', { halvings: pace.halvings });
      }
    },
    /** All tabs there are, and the cells of those that are chosen. */
    async read(choose: Choose): Promise<ReadTabs> {
      const look = await expectPart(parts.get(tabFields));
      const chosen = choose(readTagged(look));
      largest = largestOf(chosen);
      if (!isPaceChosen && chosen.length > 0) pace = paceFor(chosen, known);
      isPaceChosen ||= chosen.length > 0;
      if (chosen.length === 0) return { spreadsheet: parts.join([look]), isOfOneMoment: true };
      if (areWhole() && areInOne(chosen)) {
        const ranges = chosen.map(({ sheetId }) => ({ sheetId }));
        const cells = await expectPart(parts.get(gridFields, ranges));
        return { spreadsheet: parts.join([look, cells]), isOfOneMoment: true };
      }
      const windows: GridPart[] = [];
      const requests = windowsOf(chosen, pace);
      for (const ranges of requests)
        windows.push(...readParts(await expectPart(client.get(gridFields, ranges))));
      pace = speedUp(pace);
      const grids = joinParts(readParts(look), windows);
      return { spreadsheet: { ...readSpreadsheetTags(look), grids }, isOfOneMoment: requests.length === 1 };
    },
  };
}

async function expectPart(part: Promise<Spreadsheet | undefined>): Promise<Spreadsheet> {
  const found = await part;
  if (found) return found;
  throw newSheetError('SHEET_UNREACHABLE', 'A tab was removed while the spreadsheet was read.');
}

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

/** What several windows reach is said with each. Of a table that grew in between counts where it ended last. */
const distinct = <Item>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [JSON.stringify({ ...item, endRow: undefined }), item])).values(),
];

/** Reads a spreadsheet in one request or two; while their answers stay the same, so does the object that comes of them. */
export function createParts(client: SheetsClient) {
  let watches = new Map<string, ReturnType<typeof client.watch<Spreadsheet>>>();
  let used: typeof watches = new Map();
  let last: { readonly parts: readonly Spreadsheet[]; readonly made: TaggedSpreadsheet } | undefined;

  return {
    /** A part, or `undefined` when one of the ranges names no tab. */
    get(fields: string, ranges: readonly Range[] = []): Promise<Spreadsheet | undefined> {
      const key = JSON.stringify([fields, ranges]);
      const watch = watches.get(key) ?? used.get(key) ?? client.watch(fields, ranges, (found) => found);
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
