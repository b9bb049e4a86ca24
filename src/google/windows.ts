import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { Grid } from './grid.ts';

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
  const height = Math.max(rowsMin, Math.ceil(longestOf(grids) / 2 ** halvings));
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

export const longestOf = (grids: readonly Pick<Grid, 'rowCount'>[]): number =>
  grids.reduce((longest, { rowCount }) => Math.max(longest, rowCount), 0);
