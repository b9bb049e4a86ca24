import { z } from 'zod';
import { lineCount, linePropertiesOf } from '../grid/dimensions.ts';
import type { GridRange } from '../grid/grid-range.ts';
import { dimensionGroupsOf } from '../overlay-json.ts';
import { type Dimension, type NextId, type Overlay, type Sheet, sheetById } from '../spreadsheet.ts';
import { invalidArgument } from '../wire/google-error.ts';
import { withoutDefaults } from '../wire/json.ts';
import { type RequestKind, requestKind, requiredMask } from './request-kind.ts';
import { dimensionRange, fields } from './request-shapes.ts';

/** A sheet nests groups no deeper. */
const MAX_DEPTH = 8;

type DimensionRange = z.infer<typeof dimensionRange>;

/**
 * Groups are nothing but a depth of every row or column: where a new one covers a part of an old one the two become
 * the union of both and, one deeper, what they share.
 */
const addDimensionGroup = requestKind(z.object({ range: dimensionRange }), (draft, { range }, nextId) =>
  changeDepths(sheetById(draft, range.sheetId), range, 1, nextId),
);

const deleteDimensionGroup = requestKind(z.object({ range: dimensionRange }), (draft, { range }, nextId) =>
  changeDepths(sheetById(draft, range.sheetId), range, -1, nextId),
);

function changeDepths(sheet: Sheet, range: DimensionRange, by: 1 | -1, nextId: NextId) {
  const { startIndex = 0, endIndex = lineCount(sheet, range.dimension) } = range;
  const depths = depthsOf(sheet, range.dimension);
  for (let line = startIndex; line < endIndex; line += 1) {
    const depth = (depths[line] ?? 0) + by;
    if (depth > MAX_DEPTH) throw invalidArgument(`Groups cannot be nested deeper than ${MAX_DEPTH} levels.`);
    if (depth < 0) throw invalidArgument('There is no group over the range.');
    depths[line] = depth;
  }
  const [name, control] =
    range.dimension === 'ROWS'
      ? (['rowGroups', 'rowGroupControlAfter'] as const)
      : (['columnGroups', 'columnGroupControlAfter'] as const);
  sheet.gridProperties = { ...sheet.gridProperties, [control]: true };
  sheet[name] = groupsOfDepths(sheet, range.dimension, depths, nextId);
  const dimensionGroups = dimensionGroupsOf(sheet, range.dimension);
  return dimensionGroups.length > 0 ? { dimensionGroups } : {};
}

function groupListOf(sheet: Sheet, dimensionName: Dimension): Overlay[] {
  return dimensionName === 'ROWS' ? sheet.rowGroups : sheet.columnGroups;
}

function spanOf(group: Overlay, dimensionName: Dimension): { start: number; end: number } {
  const [range = {}] = group.ranges;
  return dimensionName === 'ROWS'
    ? { start: range.startRowIndex ?? 0, end: range.endRowIndex ?? 0 }
    : { start: range.startColumnIndex ?? 0, end: range.endColumnIndex ?? 0 };
}

function depthsOf(sheet: Sheet, dimensionName: Dimension): number[] {
  const spans = groupListOf(sheet, dimensionName).map((group) => spanOf(group, dimensionName));
  return Array.from(
    { length: lineCount(sheet, dimensionName) },
    (_, line) => spans.filter(({ start, end }) => line >= start && line < end).length,
  );
}

/** Every run of lines at least so deep is a group of that depth; one that was there before keeps its state. */
function groupsOfDepths(
  sheet: Sheet,
  dimensionName: Dimension,
  depths: readonly number[],
  nextId: NextId,
): Overlay[] {
  const before = groupListOf(sheet, dimensionName);
  const groups: Overlay[] = [];
  for (let depth = 1; depth <= Math.max(0, ...depths); depth += 1) {
    let start: number | undefined;
    for (let line = 0; line <= depths.length; line += 1) {
      const isDeep = (depths[line] ?? 0) >= depth;
      if (isDeep) start ??= line;
      else if (start !== undefined) {
        const range = rangeOfLines(sheet.sheetId, dimensionName, start, line);
        const isSame = (group: Overlay) => JSON.stringify(group.ranges) === JSON.stringify([range]);
        const isUsed = (group: Overlay) => groups.includes(group);
        const old = before.find((group) => isSame(group) && !isUsed(group));
        groups.push(old ?? { id: nextId(), ranges: [range] });
        start = undefined;
      }
    }
  }
  return groups;
}

function rangeOfLines(sheetId: number, dimensionName: Dimension, start: number, end: number): GridRange {
  return dimensionName === 'ROWS'
    ? { sheetId, startRowIndex: start, endRowIndex: end }
    : { sheetId, startColumnIndex: start, endColumnIndex: end };
}

/** Collapses a group and hides its lines, or opens it and shows them. */
const updateDimensionGroup = requestKind(
  z.object({
    dimensionGroup: z.object({
      range: dimensionRange,
      depth: z.number().int().default(0),
      collapsed: z.boolean().default(false),
    }),
    fields,
  }),
  (draft, { dimensionGroup: { range, depth, collapsed }, fields: maskText }) => {
    requiredMask(maskText);
    const sheet = sheetById(draft, range.sheetId);
    const list = groupListOf(sheet, range.dimension);
    const shown = dimensionGroupsOf(sheet, range.dimension);
    const index = list.findIndex((group, position) => {
      const { start, end } = spanOf(group, range.dimension);
      return start === range.startIndex && end === range.endIndex && shown[position]?.['depth'] === depth;
    });
    const group = list[index];
    if (!group) throw invalidArgument('There is no group over the range at that depth.');
    list[index] = { ...group, collapsed };
    const lines = linePropertiesOf(sheet, range.dimension);
    const { start, end } = spanOf(group, range.dimension);
    for (let line = start; line < end; line += 1) {
      lines[line] = withoutDefaults({ ...lines[line], hiddenByUser: collapsed });
    }
    return undefined;
  },
);

export const DIMENSION_GROUP_REQUESTS: Record<string, RequestKind> = {
  addDimensionGroup,
  deleteDimensionGroup,
  updateDimensionGroup,
};
