import { formattedValue } from '../display/display.ts';
import { cellAt, type Sheet, sizeOf } from '../spreadsheet.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { areaOf } from './grid-range.ts';

/** Whether the basic filter hides a row because of a value that is unticked in it; conditions are not evaluated. */
export function isHiddenByFilter(sheet: Sheet, row: number): boolean {
  const [filter] = sheet.basicFilter;
  if (!filter) return false;
  const area = areaOf(filter.ranges[0] ?? {}, sizeOf(sheet));
  if (row <= area.startRow || row >= area.endRow) return false;
  return criteriaOf(filter).some(({ column, criteria }) => {
    const hidden = criteria['hiddenValues'];
    return Array.isArray(hidden) && hidden.includes(formattedValue(cellAt(sheet, row, column)));
  });
}

/** The criteria of a filter by column, in the older form (by name) and the newer one (a list). */
function criteriaOf(filter: JsonObject): { column: number; criteria: JsonObject }[] {
  const { criteria, filterSpecs } = filter;
  const named = isJsonObject(criteria) ? Object.entries(criteria) : [];
  const listed = Array.isArray(filterSpecs) ? filterSpecs.filter(isJsonObject) : [];
  return [
    ...named.map(([column, sent]) => ({ column: Number(column), criteria: sent })),
    ...listed.map((spec) => ({ column: Number(spec['columnIndex'] ?? 0), criteria: spec['filterCriteria'] })),
  ].flatMap(({ column, criteria: sent }) => (isJsonObject(sent) ? [{ column, criteria: sent }] : []));
}
