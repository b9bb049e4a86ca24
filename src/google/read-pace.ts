import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { Grid } from './grid.ts';
import type { Answers } from './probes/answers.ts';
import { countCells } from './room.ts';

/** What was found out about reads, and how long one may take; absent where that is not known. */
export interface KnownOfReads extends Pick<Answers, 'cellMicros'> {
  readonly timeoutMs: number | undefined;
}

/** Tabs of more rows together are read in several requests: an answer of all of them would keep everything else waiting while it is read. */
export const wholeRowsMax = 5_000;
/** No request brings more rows of one tab. */
export const windowMax = 2_000;

/** Whether tabs are short enough for one request. */
export const areInOne = (grids: readonly Pick<Grid, 'rowCount'>[]): boolean =>
  grids.reduce((sum, { rowCount }) => sum + rowCount, 0) <= wholeRowsMax;

/**
 * How small the requests of a read are. Google says that a spreadsheet is too complex with the words with which it says that it is down, so
 * that a read that failed for it once more asks for fewer rows at a time.
 */
export interface Pace {
  /** How often the rows of the largest request are halved ({@link largestOf}); none where all tabs go in one request. */
  readonly halvings: number;
  /** Failures since the last success. */
  readonly failures: number;
  /** Successes since the last change. */
  readonly successes: number;
}

export const firstPace: Pace = { halvings: 0, failures: 0, successes: 0 };

/** Rows of one tab that a request brings where nothing is halved. */
export function largestOf(grids: readonly Pick<Grid, 'rowCount'>[]): number {
  const longest = grids.reduce((rows, { rowCount }) => Math.max(rows, rowCount), 0);
  return areInOne(grids) ? longest : Math.min(windowMax, longest);
}

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
  const largest = largestOf(grids);
  let halvings = isWhole ? 1 : 0;
  const rows = () => Math.min(windowMax, largest / 2 ** halvings);
  while (rows() > rowsMin && rows() * widest > cellsMax) halvings += 1;
  return { ...firstPace, halvings };
}

/** The first failure may be a short break. */
const failuresMin = 2;
/** Fewer rows in a request spare Google nothing. */
export const rowsMin = 500;
/** So many successes in a row, and a request may be twice as large again. */
const successesMin = 30;

/** The pace after a read for which Google had no answer; `largest` is by how many rows it begins. Where that is not known, it is halved once. */
export function slowDown({ failures, halvings }: Pace, largest = 2 * rowsMin): Pace {
  const isLasting = failures + 1 >= failuresMin || halvings > 0;
  const canHalve = largest / 2 ** halvings > rowsMin;
  return { halvings: halvings + (isLasting && canHalve ? 1 : 0), failures: failures + 1, successes: 0 };
}

export const speedUp = ({ halvings, successes }: Pace): Pace =>
  halvings > 0 && successes + 1 >= successesMin
    ? { halvings: halvings - 1, failures: 0, successes: 0 }
    : { halvings, failures: 0, successes: successes + 1 };

/** Rows that a request brings, by how many it begins. */
export const rowsAtOnce = (largest = windowMax, { halvings }: Pace = firstPace): number =>
  Math.max(rowsMin, Math.min(windowMax, Math.ceil(largest / 2 ** halvings)));

/** The ranges in which the tabs are read, each list in a request of its own: short ones share one. */
export function windowsOf(
  grids: readonly Pick<Grid, 'sheetId' | 'rowCount'>[],
  pace: Pace,
): sheets_v4.Schema$GridRange[][] {
  const height = rowsAtOnce(largestOf(grids), pace);
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
