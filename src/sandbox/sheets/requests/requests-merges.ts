import { z } from 'zod';
import { mergeCell } from '../cell.ts';
import { type Area, areaOf, areasOverlap, cellsOf, rangeOf } from '../grid/grid-range.ts';
import { resolveGridRange } from '../grid/range-reference.ts';
import { cellAt, type Overlay, type Sheet, setCell, sizeOf } from '../spreadsheet.ts';
import { parseFieldMask } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { type RequestKind, requestKind } from './request-kind.ts';
import { gridRange } from './request-shapes.ts';

const mergeCells = requestKind(
  z.object({
    range: gridRange,
    mergeType: z.enum(['MERGE_ALL', 'MERGE_COLUMNS', 'MERGE_ROWS']).default('MERGE_ALL'),
  }),
  (draft, { range, mergeType }, nextId) => {
    const { sheet, area } = resolveGridRange(draft, range);
    for (const part of mergedParts(area, mergeType)) {
      const covered = sheet.merges.filter((merge) => overlayTouches(merge, sheet, part));
      refuseTorn(sheet, covered, part);
      sheet.merges = [
        ...sheet.merges.filter((merge) => !covered.includes(merge)),
        mergeOf(sheet, part, nextId()),
      ];
      keepFirstValue(sheet, part);
    }
    return undefined;
  },
);

const unmergeCells = requestKind(z.object({ range: gridRange }), (draft, { range }) => {
  const { sheet, area } = resolveGridRange(draft, range);
  const touched = sheet.merges.filter((merge) => overlayTouches(merge, sheet, area));
  refuseTorn(sheet, touched, area);
  sheet.merges = sheet.merges.filter((merge) => !touched.includes(merge));
  return undefined;
});

function refuseTorn(sheet: Sheet, merges: readonly Overlay[], area: Area): void {
  const isTorn = merges.some(({ ranges }) =>
    ranges.some((range) => !contains(area, areaOf(range, sizeOf(sheet)))),
  );
  if (isTorn) throw invalidArgument('You must select all cells in a merged range to merge or unmerge them.');
}

function mergedParts(area: Area, mergeType: string): Area[] {
  if (mergeType === 'MERGE_ALL') return [area];
  const { startRow, endRow, startColumn, endColumn } = area;
  return mergeType === 'MERGE_ROWS'
    ? Array.from({ length: endRow - startRow }, (_, down) => ({
        ...area,
        startRow: startRow + down,
        endRow: startRow + down + 1,
      }))
    : Array.from({ length: endColumn - startColumn }, (_, right) => ({
        ...area,
        startColumn: startColumn + right,
        endColumn: startColumn + right + 1,
      }));
}

function mergeOf(sheet: Sheet, area: Area, id: number): Overlay {
  return { id, ranges: [rangeOf(sheet.sheetId, area)] };
}

function overlayTouches(overlay: Overlay, sheet: Sheet, area: Area): boolean {
  return overlay.ranges.some((range) => areasOverlap(areaOf(range, sizeOf(sheet)), area));
}

function contains(outer: Area, inner: Area): boolean {
  return (
    outer.startRow <= inner.startRow &&
    outer.endRow >= inner.endRow &&
    outer.startColumn <= inner.startColumn &&
    outer.endColumn >= inner.endColumn
  );
}

/** A merge keeps the first value it finds, in its top left cell. */
function keepFirstValue(sheet: Sheet, area: Area): void {
  const values = [...cellsOf(area)].map(({ row, column }) => cellAt(sheet, row, column)?.userEnteredValue);
  const first = values.find((value) => value !== undefined);
  const valueOnly = parseFieldMask('userEnteredValue');
  for (const { row, column } of cellsOf(area)) {
    const isAnchor = row === area.startRow && column === area.startColumn;
    const update = isAnchor && first ? { userEnteredValue: first } : {};
    setCell(sheet, row, column, mergeCell(cellAt(sheet, row, column), update, valueOnly));
  }
}

export const MERGE_REQUESTS: Record<string, RequestKind> = { mergeCells, unmergeCells };
