import { ROBOT } from './accounts.ts';
import type { GridRange } from './grid/grid-range.ts';
import { mayEdit } from './protection.ts';
import type { Dimension, Overlay, Sheet } from './spreadsheet.ts';
import type { JsonObject } from './wire/json.ts';

/** The first tab's id is zero and therefore left out; the other zeros are sent. */
export function rangeJson({ sheetId, ...edges }: GridRange): JsonObject {
  return { ...(sheetId && { sheetId }), ...edges };
}

/** An overlay as sent, with its range or ranges back in place and its id under the given name. */
export function overlayJson(overlay: Overlay, idName?: string): JsonObject {
  const { id, ranges, ...rest } = overlay;
  const isRule = 'booleanRule' in rest || 'gradientRule' in rest;
  const place: JsonObject = isRule
    ? { ranges: ranges.map(rangeJson) }
    : { range: rangeJson(ranges[0] ?? {}) };
  return { ...(idName && { [idName]: id }), ...place, ...rest };
}

export function filterJson(overlay: Overlay): JsonObject {
  return overlayJson(overlay, 'filterViewId');
}

export function namedRangeJson(overlay: Overlay): JsonObject {
  const { id, ranges, name, namedRangeId } = overlay;
  return { namedRangeId: namedRangeId ?? String(id), name: name ?? '', range: rangeJson(ranges[0] ?? {}) };
}

/** A protection as the service account sees it: who else may edit is told only to those who may. */
export function protectedRangeJson(overlay: Overlay): JsonObject {
  const { editors, ...shown } = overlayJson(overlay, 'protectedRangeId');
  if (!mayEdit(overlay, ROBOT)) return shown;
  const isWarning = overlay['warningOnly'] === true;
  return { ...shown, requestingUserCanEdit: true, ...(!isWarning && editors !== undefined && { editors }) };
}

/** The groups of a tab as the API shows them, outer ones first; depth counts the groups around. */
export function dimensionGroupsOf(sheet: Sheet, dimension: Dimension): JsonObject[] {
  const isRows = dimension === 'ROWS';
  const spans = (isRows ? sheet.rowGroups : sheet.columnGroups).flatMap(({ ranges, collapsed }) =>
    ranges.map((range) => ({
      collapsed: collapsed === true,
      startIndex: (isRows ? range.startRowIndex : range.startColumnIndex) ?? 0,
      endIndex: (isRows ? range.endRowIndex : range.endColumnIndex) ?? 0,
    })),
  );
  return spans.map(({ startIndex, endIndex, collapsed }) => ({
    range: { ...(sheet.sheetId && { sheetId: sheet.sheetId }), dimension, startIndex, endIndex },
    depth: spans.filter((other) => other.startIndex <= startIndex && other.endIndex >= endIndex).length,
    ...(collapsed && { collapsed }),
  }));
}
