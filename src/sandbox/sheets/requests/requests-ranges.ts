import { z } from 'zod';
import { type Cell, mergeCell, withValue } from '../cell.ts';
import { textWithChips } from '../display/chips.ts';
import { effectiveValue, formattedValue } from '../display/display.ts';
import { isHiddenByFilter } from '../grid/filtering.ts';
import { type Area, areaOf, cellsOf } from '../grid/grid-range.ts';
import { type ResolvedRange, resolveCoordinate, resolveGridRange } from '../grid/range-reference.ts';
import { type Block, cellsIn, clearCells, putCells, sortArea, transpose } from '../grid/ranges.ts';
import { copiesOf } from '../grid/relative-references.ts';
import {
  cellAt,
  type Dimension,
  growColumns,
  growRows,
  type Sheet,
  type Spreadsheet,
  setCell,
  sizeOf,
} from '../spreadsheet.ts';
import { nameBlankColumns } from '../tables.ts';
import { type FieldMask, parseFieldMask } from '../wire/field-mask.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { shiftOverlays } from './band-shift.ts';
import { type RequestKind, requestKind } from './request-kind.ts';
import { dimension, gridCoordinate, gridRange, jsonObject } from './request-shapes.ts';

const PASTE_MASKS: Record<string, FieldMask> = {
  PASTE_NORMAL: parseFieldMask('*'),
  PASTE_VALUES: parseFieldMask('userEnteredValue'),
  PASTE_FORMULA: parseFieldMask('userEnteredValue'),
  PASTE_FORMAT: parseFieldMask('userEnteredFormat,textFormatRuns'),
  PASTE_DATA_VALIDATION: parseFieldMask('dataValidation'),
  PASTE_NO_BORDERS: parseFieldMask('*'),
};

export const pasteType = z.string().default('PASTE_NORMAL');

function pasteMask(type: string): FieldMask {
  const mask = PASTE_MASKS[type];
  if (!mask) throw invalidArgument(`Unsupported pasteType: ${type}`);
  return mask;
}

/** Pastes a block over a larger area again and again, as far as whole copies fit. */
const copyPaste = requestKind(
  z.object({
    source: gridRange,
    destination: gridRange,
    pasteType,
    pasteOrientation: z.enum(['NORMAL', 'TRANSPOSE']).default('NORMAL'),
  }),
  (draft, request) => {
    const from = resolveGridRange(draft, request.source);
    const to = resolveGridRange(draft, request.destination);
    const { hiddenRowCopy } = draft.choices;
    const isHidden = hiddenIn(draft.choices);
    const copied =
      hiddenRowCopy === 'skipAndTile' ? visibleCells(from, isHidden) : cellsIn(from.sheet, from.area);
    if (copied.length === 0) return undefined;
    const isPlain = request.pasteType === 'PASTE_VALUES';
    const isText = isPlain || request.pasteType === 'PASTE_FORMULA';
    const isTransposed = request.pasteOrientation === 'TRANSPOSE';
    const turned = isTransposed ? transpose(copied) : copied;
    const block = isText ? turned.map((line) => line.map(withoutChips)) : turned;
    const height = block.length;
    const width = block[0]?.length ?? 0;
    const down = Math.max(1, Math.floor((to.area.endRow - to.area.startRow) / height));
    const right = Math.max(1, Math.floor((to.area.endColumn - to.area.startColumn) / width));
    if (hiddenRowCopy === 'refused') refuseHidden(from, to, down * height, isHidden);
    const isLeftOut = ({ row, column }: Place) =>
      hiddenRowCopy === 'nothing' && isHidden(from.sheet, from.area.startRow + (isTransposed ? column : row));
    for (const copy of cellsOf({ startRow: 0, endRow: down, startColumn: 0, endColumn: right })) {
      const row = to.area.startRow + copy.row * height;
      const column = to.area.startColumn + copy.column * width;
      const [below, beside] = [row - from.area.startRow, column - from.area.startColumn];
      const cells = isPlain ? block.map((line) => line.map(computed)) : copiesOf(block, below, beside);
      if (hiddenRowCopy === 'skipAndTile')
        pasteBlock(to.sheet, row, column, cells, request.pasteType, isHidden);
      else pasteInPlace(draft, to.sheet, { row, column }, cells, request.pasteType, isLeftOut);
    }
    return undefined;
  },
);

interface Place {
  row: number;
  column: number;
}

/** Pastes every cell exactly where it falls, but those that are left out; whether a hidden row takes one was chosen. */
function pasteInPlace(
  { choices }: Spreadsheet,
  sheet: Sheet,
  { row, column }: Place,
  block: Block,
  type: string,
  isLeftOut: (place: Place) => boolean,
): void {
  const mask = pasteMask(type);
  const isHidden = hiddenIn(choices);
  const { rowCount, columnCount } = sizeOf(sheet);
  for (const [down, cells] of block.entries()) {
    const target = row + down;
    if (target >= rowCount || (choices.hiddenRowCopy === 'nothing' && isHidden(sheet, target))) continue;
    for (const [right, cell] of cells.entries()) {
      if (column + right >= columnCount || isLeftOut({ row: down, column: right })) continue;
      setCell(
        sheet,
        target,
        column + right,
        mergeCell(cellAt(sheet, target, column + right), cell ?? {}, mask),
      );
    }
  }
}

/** @throws GoogleError 400 when a row is hidden that is copied, or one of so many that are pasted to; the words are our own. */
function refuseHidden(from: ResolvedRange, to: ResolvedRange, height: number, isHidden: IsHidden): void {
  const isAnyHidden = ({ sheet, area }: ResolvedRange, rows: number) =>
    Array.from({ length: rows }, (_, index) => area.startRow + index).some((row) => isHidden(sheet, row));
  if (isAnyHidden(from, from.area.endRow - from.area.startRow) || isAnyHidden(to, height))
    throw invalidArgument('This operation is not allowed on rows that are hidden by a filter.');
}

const cutPaste = requestKind(
  z.object({ source: gridRange, destination: gridCoordinate, pasteType }),
  (draft, { source, destination, pasteType: type }) => {
    const from = resolveGridRange(draft, source);
    const to = resolveCoordinate(draft, destination);
    const block = cellsIn(from.sheet, from.area);
    clearCells(from.sheet, from.area);
    pasteBlock(to.sheet, to.row, to.column, block, type);
    return undefined;
  },
);

/** Whether a row is another one for copies than those that are shown. */
type IsHidden = (sheet: Sheet, row: number) => boolean;

const hiddenIn = ({ handHiddenRowCopy }: Spreadsheet['choices']): IsHidden =>
  handHiddenRowCopy === 'copied'
    ? isHiddenByFilter
    : (sheet, row) => isHiddenByFilter(sheet, row) || sheet.rowProperties[row]?.['hiddenByUser'] === true;

/** What is copied of an area: rows that a filter hides are left out, as a person who copies leaves them out. */
function visibleCells({ sheet, area }: ResolvedRange, isHidden: IsHidden): Block {
  return cellsIn(sheet, area).filter((_, index) => !isHidden(sheet, area.startRow + index));
}

/** Pastes a block at a place, as far as the kind of pasting takes its parts over; rows that a filter hides are left out. */
export function pasteBlock(
  sheet: Sheet,
  row: number,
  column: number,
  block: Block,
  type: string,
  isHidden: IsHidden = isHiddenByFilter,
): void {
  const mask = pasteMask(type);
  let target = row;
  for (const cells of block) {
    while (isHidden(sheet, target)) target += 1;
    const below = target;
    const merged = cells.map((cell, right) =>
      mergeCell(cellAt(sheet, below, column + right), cell ?? {}, mask),
    );
    putCells(sheet, below, column, [merged]);
    target += 1;
  }
}

/** A cell with the texts of its chips in their places. */
function withoutChips(cell: Cell | undefined): Cell | undefined {
  const stringValue = textWithChips(cell);
  return stringValue === undefined ? cell : withValue(cell, { stringValue });
}

/** What a cell shows, without the formula that computes it. */
function computed(cell: Cell | undefined): Cell | undefined {
  const value = cell?.userEnteredValue?.formulaValue === undefined ? undefined : effectiveValue(cell);
  if (!value) return cell;
  return withValue(cell, 'errorValue' in value ? { stringValue: formattedValue(cell) } : value);
}

const sortRange = requestKind(
  z.object({ range: gridRange, sortSpecs: z.array(jsonObject).default([]) }),
  (draft, { range, sortSpecs }) => {
    const { sheet, area } = resolveGridRange(draft, range);
    sortArea(draft, sheet, area, sortKeysOf(sortSpecs));
    return undefined;
  },
);

export function sortKeysOf(sortSpecs: readonly z.infer<typeof jsonObject>[]) {
  return sortSpecs.map((spec) => ({
    column: Number(spec['dimensionIndex'] ?? 0),
    isDescending: spec['sortOrder'] === 'DESCENDING',
  }));
}

const shiftShape = z.object({ range: gridRange, shiftDimension: dimension });

/** Pushes cells down or right to make room; the grid grows when the last ones hold something. */
const insertRange = requestKind(shiftShape, (draft, { range, shiftDimension }) => {
  const { sheet, area } = resolveGridRange(draft, range);
  const { behind, height, width } = shiftedPart(sheet, area, shiftDimension, 0);
  const block = cellsIn(sheet, behind);
  if (shiftDimension === 'ROWS')
    growRows(sheet, filledEnd(block) + area.startRow + height - sheet.rows.length);
  else growColumns(sheet, filledWidth(block) + area.startColumn + width - sheet.columnProperties.length);
  shiftOverlays(draft, sheet, area, shiftDimension, 1);
  clearCells(sheet, area);
  const [down, right] = shiftDimension === 'ROWS' ? [height, 0] : [0, width];
  putCells(sheet, area.startRow + down, area.startColumn + right, block);
  nameBlankColumns(sheet);
  return undefined;
});

/** Takes cells out and pulls the ones below or right of them in. */
const deleteRange = requestKind(shiftShape, (draft, { range, shiftDimension }) => {
  const { sheet, area } = resolveGridRange(draft, range);
  const { behind, height, width } = shiftedPart(sheet, area, shiftDimension, 1);
  const block = cellsIn(sheet, behind);
  const whole = areaOf(range, sizeOf(sheet));
  shiftOverlays(draft, sheet, area, shiftDimension, -1);
  clearCells(
    sheet,
    shiftDimension === 'ROWS'
      ? { ...whole, endRow: behind.endRow }
      : { ...whole, endColumn: behind.endColumn },
  );
  if (height > 0 && width > 0) putCells(sheet, area.startRow, area.startColumn, block);
  return undefined;
});

/** The cells that move: from the area on (`skip` 0) or from behind it (`skip` 1) to the grid's end. */
function shiftedPart(sheet: Sheet, area: Area, shiftDimension: Dimension, skip: 0 | 1) {
  const { rowCount, columnCount } = sizeOf(sheet);
  const height = area.endRow - area.startRow;
  const width = area.endColumn - area.startColumn;
  const behind =
    shiftDimension === 'ROWS'
      ? { ...area, startRow: area.startRow + skip * height, endRow: rowCount }
      : { ...area, startColumn: area.startColumn + skip * width, endColumn: columnCount };
  return { behind, height, width };
}

function filledEnd(block: Block): number {
  return block.findLastIndex((row) => row.some((cell) => cell !== undefined)) + 1;
}

function filledWidth(block: Block): number {
  return Math.max(0, ...block.map((row) => row.findLastIndex((cell) => cell !== undefined) + 1));
}

export const RANGE_REQUESTS: Record<string, RequestKind> = {
  copyPaste,
  cutPaste,
  sortRange,
  insertRange,
  deleteRange,
};
