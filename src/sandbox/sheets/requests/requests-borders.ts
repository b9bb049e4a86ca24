import { z } from 'zod';
import { storedColors } from '../display/colors.ts';
import { cellsOf } from '../grid/grid-range.ts';
import { resolveGridRange } from '../grid/range-reference.ts';
import { cellAt, setCell } from '../spreadsheet.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { type RequestKind, requestKind } from './request-kind.ts';
import { gridRange, jsonObject } from './request-shapes.ts';

type Side = 'top' | 'bottom' | 'left' | 'right';

const WIDTHS: Record<string, number> = { SOLID_MEDIUM: 2, SOLID_THICK: 3, DOUBLE: 3 };

/** Draws around and within a range; a side that is not sent stays as it is, the style `NONE` takes it away. */
const updateBorders = requestKind(
  z.object({
    range: gridRange,
    top: jsonObject.optional(),
    bottom: jsonObject.optional(),
    left: jsonObject.optional(),
    right: jsonObject.optional(),
    innerHorizontal: jsonObject.optional(),
    innerVertical: jsonObject.optional(),
  }),
  (draft, { range, innerHorizontal, innerVertical, ...outer }) => {
    const { sheet, area } = resolveGridRange(draft, range);
    for (const { row, column } of cellsOf(area)) {
      const sides: Record<Side, JsonObject | undefined> = {
        top: row === area.startRow ? outer.top : innerHorizontal,
        bottom: row === area.endRow - 1 ? outer.bottom : innerHorizontal,
        left: column === area.startColumn ? outer.left : innerVertical,
        right: column === area.endColumn - 1 ? outer.right : innerVertical,
      };
      const cell = cellAt(sheet, row, column);
      const current = cell?.userEnteredFormat?.['borders'];
      const borders = withSides(isJsonObject(current) ? current : {}, sides);
      if (!borders && !current) continue;
      const { borders: _, ...format } = cell?.userEnteredFormat ?? {};
      setCell(sheet, row, column, { ...cell, userEnteredFormat: { ...format, ...(borders && { borders }) } });
    }
    return undefined;
  },
);

function withSides(current: JsonObject, sides: Record<Side, JsonObject | undefined>): JsonObject | undefined {
  const borders = { ...current };
  for (const [side, sent] of Object.entries(sides)) {
    if (!sent) continue;
    const style = String(sent['style'] ?? 'NONE');
    if (style === 'NONE') delete borders[side];
    else {
      const colored = storedColors(sent);
      const colorStyle = colored['colorStyle'] ?? { rgbColor: {} };
      borders[side] = { style, width: WIDTHS[style] ?? 1, colorStyle };
    }
  }
  return Object.keys(borders).length > 0 ? borders : undefined;
}

export const BORDER_REQUESTS: Record<string, RequestKind> = { updateBorders };
