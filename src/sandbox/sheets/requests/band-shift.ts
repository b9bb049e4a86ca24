import { type Area, areaOf, type GridRange } from '../grid/grid-range.ts';
import {
  type Dimension,
  OVERLAY_LISTS,
  type Overlay,
  type Sheet,
  type Spreadsheet,
  sizeOf,
} from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';

/** The sides of an area along the direction in which cells are shifted, and across it. */
const SIDES = {
  ROWS: { from: 'startRow', to: 'endRow', left: 'startColumn', right: 'endColumn' },
  COLUMNS: { from: 'startColumn', to: 'endColumn', left: 'startRow', right: 'endRow' },
} as const;

const EDGES = {
  ROWS: { start: 'startRowIndex', end: 'endRowIndex' },
  COLUMNS: { start: 'startColumnIndex', end: 'endColumnIndex' },
} as const;

/**
 * Lets what lies over cells follow when the cells of `area` are inserted (`by` 1) or deleted (`by` -1) and those behind them,
 * in the same rows or columns only, move. What reaches beyond that band stays where it is.
 * @throws GoogleError 400 when a table would be torn.
 */
export function shiftOverlays(
  draft: Spreadsheet,
  sheet: Sheet,
  area: Area,
  dimension: Dimension,
  by: 1 | -1,
): void {
  refuseTornTables(sheet, area, dimension, by);
  const { from, to } = SIDES[dimension];
  const at = area[from];
  const count = area[to] - at;
  const shift = {
    start: (edge: number) => shifted(edge, at, count, by, edge >= at),
    end: (edge: number) => shifted(edge, at, count, by, edge > at),
  };
  const { start, end } = EDGES[dimension];
  const moved = (overlay: Overlay): Overlay[] => {
    const ranges = overlay.ranges.flatMap((range): GridRange[] => {
      const isHere = (range.sheetId ?? 0) === sheet.sheetId;
      if (!isHere || !isAffected(sheet, range, area, dimension)) return [range];
      const place = { ...range };
      if (range[start] !== undefined) place[start] = shift.start(range[start]);
      if (range[end] !== undefined) place[end] = shift.end(range[end]);
      return (place[start] ?? 0) < (place[end] ?? Number.POSITIVE_INFINITY) ? [place] : [];
    });
    return ranges.length > 0 ? [{ ...overlay, ranges }] : [];
  };
  for (const list of OVERLAY_LISTS) {
    if (list !== 'rowGroups' && list !== 'columnGroups') sheet[list] = sheet[list].flatMap(moved);
  }
  draft.namedRanges = draft.namedRanges.flatMap(moved);
}

function shifted(edge: number, at: number, count: number, by: 1 | -1, isBehind: boolean): number {
  if (by > 0) return isBehind ? edge + count : edge;
  return edge <= at ? edge : Math.max(at, edge - count);
}

/** Whether a range lies within the band and reaches to where the cells move. */
function isAffected(sheet: Sheet, range: GridRange, area: Area, dimension: Dimension): boolean {
  const place = areaOf(range, sizeOf(sheet));
  const { from, to, left, right } = SIDES[dimension];
  return place[to] > area[from] && place[left] >= area[left] && place[right] <= area[right];
}

function refuseTornTables(sheet: Sheet, area: Area, dimension: Dimension, by: 1 | -1): void {
  const { from, to, left, right } = SIDES[dimension];
  for (const { ranges } of sheet.tables) {
    const table = areaOf(ranges[0] ?? {}, sizeOf(sheet));
    const isMet = table[to] > area[from] && table[left] < area[right] && area[left] < table[right];
    if (!isMet) continue;
    const isWithin = table[left] >= area[left] && table[right] <= area[right];
    const losesHeader = by < 0 && dimension === 'ROWS' && area.startRow <= table.startRow;
    const isWhole = area.endRow >= table.endRow || area.endRow <= table.startRow;
    if (isWithin && !(losesHeader && !isWhole)) continue;
    throw invalidArgument('You cannot insert or delete cells over part of a table.');
  }
}
