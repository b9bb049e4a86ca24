import { type Area, areaAt } from '../grid/grid-range.ts';
import { followMoves, type LineMove, type Place } from '../grid/line-moves.ts';
import type { Spreadsheet } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { sheetOf } from './person-places.ts';
import type { GridAction } from './person-shapes.ts';

type Axis = 'row' | 'column';

const MOVED =
  'Rows or columns were moved, inserted or deleted there meanwhile, so nothing was changed. Look again and repeat it.';

/**
 * The action with its rows and columns where they stand now, if it says how many moves the person had seen.
 * @throws GoogleError 400 in words for the person when its place is gone or its lines no longer stand together.
 */
export function followedAction(spreadsheet: Spreadsheet, action: GridAction): GridAction {
  if (!('sheet' in action)) return action;
  const followed = followedPart(spreadsheet, action);
  if (followed.kind !== 'pasteCells') return followed;
  return { ...followed, source: followedPart(spreadsheet, followed.source) };
}

type Part = Partial<Record<'row' | 'to', number>> & {
  kind?: GridAction['kind'];
  sheet: string | number;
  movesSeen?: number | undefined;
  column?: string | number;
  count?: number;
  inserts?: boolean;
  rows?: string[][];
  range?: Area | undefined;
};

function followedPart<Parts extends Part>(spreadsheet: Spreadsheet, part: Parts): Parts {
  if (part.movesSeen === undefined) return part;
  const moves = sheetOf(spreadsheet, part.sheet).moves.slice(part.movesSeen);
  if (moves.length === 0) return part;
  const { kind, row, column, count = 1, to, inserts = true, rows, range } = part;
  const isInsertion = kind === 'insertRows' || kind === 'insertColumns';
  const find = isInsertion ? followEdge : followRun;
  const followed: Part = { ...part };
  if (range) followed.range = followArea(range, moves);
  if (row !== undefined && typeof column === 'number') {
    const { startRow, startColumn } = followArea(areaOfTexts(row, column, rows), moves);
    Object.assign(followed, { row: startRow, column: startColumn });
  } else if (row !== undefined) followed.row = find('row', row, count, moves);
  else if (typeof column === 'number') followed.column = find('column', column, count, moves);
  // A copy belongs right below its row, whatever came between them.
  if (kind === 'copyRow' && inserts && row !== undefined && to === row + 1)
    followed.to = (followed.row ?? row) + 1;
  else if (to !== undefined) {
    const axis = column === undefined ? 'row' : 'column';
    followed.to = inserts ? followEdge(axis, to, 0, moves) : followRun(axis, to, 1, moves);
  }
  return followed as Parts;
}

function areaOfTexts(row: number, column: number, rows: readonly string[][] = [['']]): Area {
  return areaAt(row, column, rows.length, Math.max(1, ...rows.map((texts) => texts.length)));
}

function found(place: Place, moves: readonly LineMove[]): Place {
  const now = followMoves(place, moves);
  if (!now) throw invalidArgument(MOVED);
  return now;
}

/** Every cell has to stand where it stood within the rectangle. */
function followArea(area: Area, moves: readonly LineMove[]): Area {
  const { row: startRow = 0, column: startColumn = 0 } = found(
    { row: area.startRow, column: area.startColumn },
    moves,
  );
  const [height, width] = [area.endRow - area.startRow, area.endColumn - area.startColumn];
  for (let down = 0; down < height; down += 1) {
    for (let right = 0; right < width; right += 1) {
      const now = found({ row: area.startRow + down, column: area.startColumn + right }, moves);
      const isTogether = now.row === startRow + down && now.column === startColumn + right;
      if (!isTogether) throw invalidArgument(MOVED);
    }
  }
  return areaAt(startRow, startColumn, height, width);
}

/** Whole lines have to stand together still. */
function followRun(axis: Axis, start: number, count: number, moves: readonly LineMove[]): number {
  const indexes = Array.from(
    { length: count },
    (_, offset) => found({ [axis]: start + offset }, moves)[axis],
  );
  const [first = start] = indexes;
  if (indexes.some((index, offset) => index !== first + offset)) throw invalidArgument(MOVED);
  return first;
}

/** A place between two lines stays before the line it was before, else behind the one it was behind. */
function followEdge(axis: Axis, edge: number, _count: number, moves: readonly LineMove[]): number {
  const after = followMoves({ [axis]: edge }, moves)?.[axis];
  const before = edge > 0 ? followMoves({ [axis]: edge - 1 }, moves)?.[axis] : undefined;
  if (after === undefined && before === undefined) throw invalidArgument(MOVED);
  return after ?? (before ?? 0) + 1;
}
