import { formattedValue } from './display/display.ts';
import { type Area, areaOf, areasOverlap } from './grid/grid-range.ts';
import { rangeJson } from './overlay-json.ts';
import {
  cellAt,
  type Dimension,
  type Overlay,
  type Sheet,
  type Spreadsheet,
  setCell,
  sizeOf,
} from './spreadsheet.ts';
import { invalidArgument } from './wire/google-error.ts';
import { isJsonObject, type JsonObject } from './wire/json.ts';

/** What Google gives a table that comes without colours: a green header over white and grey rows. */
const DEFAULT_ROWS: JsonObject = {
  headerColorStyle: { rgbColor: { red: 0.20784314, green: 0.40784314, blue: 0.32941177 } },
  firstBandColorStyle: { rgbColor: { red: 1, green: 1, blue: 1 } },
  secondBandColorStyle: { rgbColor: { red: 0.9647059, green: 0.972549, blue: 0.9764706 } },
};

/** The rectangle of a table, its header row first. */
export function areaOfTable(sheet: Sheet, table: Overlay): Area {
  return areaOf(table.ranges[0] ?? {}, sizeOf(sheet));
}

export function tableIdOf(table: Overlay): string {
  return String(table['tableId'] ?? table.id);
}

/** @throws GoogleError 400 when no tab has the table. */
export function tableById(spreadsheet: Spreadsheet, tableId: string): { sheet: Sheet; table: Overlay } {
  for (const sheet of spreadsheet.sheets) {
    const table = sheet.tables.find((candidate) => tableIdOf(candidate) === tableId);
    if (table) return { sheet, table };
  }
  throw invalidArgument(`No table with id: ${tableId}`);
}

/**
 * A table as Google shows it. Its columns are named by the cells of the header row; types are kept at those cells, so that
 * they move along with them.
 */
export function tableJson(sheet: Sheet, table: Overlay): JsonObject {
  const area = areaOfTable(sheet, table);
  const columnProperties: JsonObject[] = [];
  for (let column = area.startColumn; column < area.endColumn; column += 1) {
    const columnIndex = column - area.startColumn;
    const typed = sheet.tableColumns.find(({ ranges: [range] }) => isHeader(range, area.startRow, column));
    const { id: _, ranges: __, ...type } = typed ?? { id: 0, ranges: [] };
    columnProperties.push({
      ...(columnIndex > 0 && { columnIndex }),
      columnName: formattedValue(cellAt(sheet, area.startRow, column)),
      ...type,
    });
  }
  return {
    tableId: tableIdOf(table),
    name: table['name'],
    range: rangeJson(table.ranges[0] ?? {}),
    rowsProperties: rowsPropertiesOf(table),
    columnProperties,
  };
}

/** The stripes of a table, which Google lists among the banded ranges under the table's id. */
export function tableBandJson(table: Overlay): JsonObject {
  const bandedRangeId = Number(tableIdOf(table));
  return { bandedRangeId, range: rangeJson(table.ranges[0] ?? {}), rowProperties: rowsPropertiesOf(table) };
}

function rowsPropertiesOf(table: Overlay): JsonObject {
  const sent = table['rowsProperties'];
  return { ...DEFAULT_ROWS, ...(isJsonObject(sent) && sent) };
}

/** Whether a cell stands below the header of a column that has a type, which decides what its cells look like and take. */
export function isTyped(sheet: Sheet, row: number, column: number): boolean {
  return sheet.tables.some((table) => {
    const { startRow, endRow } = areaOfTable(sheet, table);
    const isInBody = row > startRow && row < endRow - Number(hasFooter(table));
    return isInBody && sheet.tableColumns.some(({ ranges: [header] }) => isHeader(header, startRow, column));
  });
}

export function hasFooter(table: Overlay): boolean {
  const sent = table['rowsProperties'];
  return isJsonObject(sent) && isJsonObject(sent['footerColorStyle']);
}

function isHeader(range: Overlay['ranges'][number] | undefined, row: number, column: number): boolean {
  return range?.startRowIndex === row && range.startColumnIndex === column;
}

/** Gives every column of a table that has no header the first free of the names `Column 1`, `Column 2` and so on. */
export function nameBlankColumns(sheet: Sheet): void {
  for (const table of sheet.tables) {
    const { startRow, startColumn, endColumn } = areaOfTable(sheet, table);
    const header = sheet.rows[startRow] ?? [];
    const taken = new Set(header.slice(startColumn, endColumn).map((cell) => formattedValue(cell)));
    for (let column = startColumn; column < endColumn; column += 1) {
      const cell = cellAt(sheet, startRow, column);
      if (formattedValue(cell) !== '') continue;
      let number = 1;
      while (taken.has(`Column ${number}`)) number += 1;
      taken.add(`Column ${number}`);
      setCell(sheet, startRow, column, { ...cell, userEnteredValue: { stringValue: `Column ${number}` } });
    }
  }
}

/** The ids of the tables whose last row or column stands before a line. */
export function tablesEndingAt(sheet: Sheet, dimension: Dimension, line: number): number[] {
  const end = dimension === 'ROWS' ? 'endRow' : 'endColumn';
  return sheet.tables.filter((table) => areaOfTable(sheet, table)[end] === line).map(({ id }) => id);
}

/** Moves the end of some tables. */
export function extendTables(sheet: Sheet, ids: readonly number[], dimension: Dimension, end: number): void {
  const name = dimension === 'ROWS' ? 'endRowIndex' : 'endColumnIndex';
  sheet.tables = sheet.tables.map((table) => {
    const ranges = table.ranges.map((range) => ({ ...range, [name]: end }));
    return ids.includes(table.id) ? { ...table, ranges } : table;
  });
}

/** @throws GoogleError 400 when the rectangle covers cells of another table. */
export function refuseOverlap(sheet: Sheet, area: Area, except?: Overlay): void {
  const isTaken = sheet.tables.some(
    (other) => other !== except && areasOverlap(areaOfTable(sheet, other), area),
  );
  if (isTaken) throw invalidArgument('A table cannot overlap another table.');
}
