import { type Dimension, OVERLAY_LISTS, type Overlay, type Sheet, type Spreadsheet } from '../spreadsheet.ts';
import type { JsonObject } from '../wire/json.ts';
import type { GridRange } from './grid-range.ts';
import type { LineMove } from './line-moves.ts';

/** A run of rows or columns: `count` of them from `start`. */
export interface Lines {
  dimension: Dimension;
  start: number;
  count: number;
}

export function lineCount(sheet: Sheet, dimension: Dimension): number {
  return dimension === 'ROWS' ? sheet.rows.length : sheet.columnProperties.length;
}

export function linePropertiesOf(sheet: Sheet, dimension: Dimension): (JsonObject | undefined)[] {
  return dimension === 'ROWS' ? sheet.rowProperties : sheet.columnProperties;
}

/**
 * Makes room for empty lines before `start`; what lies behind moves along, what spans it grows. `restored` is the deletion
 * that is taken back by it.
 */
export function insertLines(draft: Spreadsheet, sheet: Sheet, lines: Lines, restored?: LineMove): void {
  const { dimension, start, count } = lines;
  const move = restored ? ({ kind: 'restore', of: restored } as const) : ({ kind: 'insert' } as const);
  sheet.moves = [...sheet.moves, { ...move, ...lines }];
  const added = Array.from({ length: count }, () => undefined);
  linePropertiesOf(sheet, dimension).splice(start, 0, ...added);
  if (dimension === 'ROWS') sheet.rows.splice(start, 0, ...added.map(() => []));
  else sheet.rows = sheet.rows.map((row) => (row.length > start ? row.toSpliced(start, 0, ...added) : row));
  const shift = {
    start: (edge: number) => (edge >= start ? edge + count : edge),
    end: (edge: number) => (edge > start ? edge + count : edge),
  };
  moveOverlays(draft, sheet, dimension, (range) => shiftEdges(range, dimension, shift.start, shift.end));
  moveMetadata(draft, sheet, dimension, shift.start);
  moveFrozenEdge(sheet, dimension, shift.end);
}

/** Takes lines out; overlays shrink, and those that lay only there are gone. */
export function deleteLines(draft: Spreadsheet, sheet: Sheet, lines: Lines): void {
  const { dimension, start, count } = lines;
  sheet.moves = [...sheet.moves, { kind: 'delete', ...lines }];
  linePropertiesOf(sheet, dimension).splice(start, count);
  if (dimension === 'ROWS') sheet.rows.splice(start, count);
  else sheet.rows = sheet.rows.map((row) => (row.length > start ? row.toSpliced(start, count) : row));
  const shift = (edge: number) => (edge <= start ? edge : Math.max(start, edge - count));
  moveOverlays(draft, sheet, dimension, (range) => shiftEdges(range, dimension, shift, shift));
  moveMetadata(draft, sheet, dimension, (index) =>
    index >= start && index < start + count ? undefined : shift(index),
  );
  moveFrozenEdge(sheet, dimension, shift);
}

/** A line inserted among the frozen ones is frozen too, a deleted one no longer counts. */
function moveFrozenEdge(sheet: Sheet, dimension: Dimension, shift: (edge: number) => number): void {
  const name = dimension === 'ROWS' ? 'frozenRowCount' : 'frozenColumnCount';
  const { [name]: frozen, ...others } = sheet.gridProperties;
  if (typeof frozen !== 'number') return;
  const shifted = shift(frozen);
  sheet.gridProperties = { ...others, ...(shifted > 0 && { [name]: shifted }) };
}

/** Moves lines so that they stand before the line that is at `destination` now. */
export function moveLines(draft: Spreadsheet, sheet: Sheet, lines: Lines, destination: number): void {
  const { dimension, start, count } = lines;
  const target = destination > start ? destination - count : destination;
  const move = <Line>(list: readonly Line[]): Line[] => {
    const moved = list.slice(start, start + count);
    return list.toSpliced(start, count).toSpliced(target, 0, ...moved);
  };
  const order = move(Array.from({ length: lineCount(sheet, dimension) }, (_, index) => index));
  sheet.moves = [...sheet.moves, { kind: 'move', dimension, start: 0, order }];
  const newIndexes = new Map(order.map((oldIndex, newIndex) => [oldIndex, newIndex]));
  if (dimension === 'ROWS') {
    sheet.rows = move(sheet.rows);
    sheet.rowProperties = move(sheet.rowProperties);
  } else {
    sheet.rows = sheet.rows.map((row) => order.map((oldIndex) => row[oldIndex]));
    sheet.columnProperties = move(sheet.columnProperties);
  }
  moveOverlays(draft, sheet, dimension, (range) => moveWithin(range, dimension, newIndexes));
  moveMetadata(draft, sheet, dimension, (index) => newIndexes.get(index));
}

const EDGES = {
  ROWS: { start: 'startRowIndex', end: 'endRowIndex' },
  COLUMNS: { start: 'startColumnIndex', end: 'endColumnIndex' },
} as const;

function shiftEdges(
  range: GridRange,
  dimension: Dimension,
  shiftStart: (edge: number) => number,
  shiftEnd: (edge: number) => number,
): GridRange | undefined {
  const { start, end } = EDGES[dimension];
  const shifted = { ...range };
  if (range[start] !== undefined) shifted[start] = shiftStart(range[start]);
  if (range[end] !== undefined) shifted[end] = shiftEnd(range[end]);
  return (shifted[start] ?? 0) < (shifted[end] ?? Number.POSITIVE_INFINITY) ? shifted : undefined;
}

/** A range follows a move when its lines stay together; one that would be torn stays where it is. */
function moveWithin(
  range: GridRange,
  dimension: Dimension,
  newIndexes: ReadonlyMap<number, number>,
): GridRange {
  const { start, end } = EDGES[dimension];
  const [first, last] = [range[start], range[end]];
  if (first === undefined || last === undefined) return range;
  const indexes = Array.from({ length: last - first }, (_, offset) => newIndexes.get(first + offset) ?? -1);
  const lowest = Math.min(...indexes);
  const staysTogether = lowest >= 0 && Math.max(...indexes) - lowest === indexes.length - 1;
  return staysTogether ? { ...range, [start]: lowest, [end]: lowest + indexes.length } : range;
}

/** Gives every overlay of the tab its new ranges and drops those that have none left. */
function moveOverlays(
  draft: Spreadsheet,
  sheet: Sheet,
  dimension: Dimension,
  move: (range: GridRange) => GridRange | undefined,
): void {
  const moved = (overlay: Overlay): Overlay[] => {
    const isHere = (range: GridRange) => (range.sheetId ?? 0) === sheet.sheetId;
    const ranges = overlay.ranges.flatMap((range) => (isHere(range) ? (move(range) ?? []) : range));
    return ranges.length > 0 ? [{ ...overlay, ranges }] : [];
  };
  const groupsAcross = dimension === 'ROWS' ? 'columnGroups' : 'rowGroups';
  for (const list of OVERLAY_LISTS) {
    if (list !== groupsAcross) sheet[list] = sheet[list].flatMap(moved);
  }
  draft.namedRanges = draft.namedRanges.flatMap(moved);
}

/** Gives the metadata of a tab's rows or columns their new places; without one it is gone. */
export function moveMetadata(
  draft: Spreadsheet,
  sheet: Sheet,
  dimension: Dimension,
  move: (index: number) => number | undefined,
): void {
  draft.developerMetadata = draft.developerMetadata.flatMap((metadata) => {
    if (metadata.sheetId !== sheet.sheetId || metadata.line?.dimension !== dimension) return metadata;
    const index = move(metadata.line.index);
    return index === undefined ? [] : { ...metadata, line: { dimension, index } };
  });
}
