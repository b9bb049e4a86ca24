import { readFileSync } from 'node:fs';
import { initSync, Model } from '@ironcalc/wasm';
import type { Cell } from '../cell.ts';
import { textWithChips } from '../display/chips.ts';
import { regionalOf } from '../display/regional.ts';
import { columnLetters } from '../grid/a1.ts';
import { areaOf } from '../grid/grid-range.ts';
import { type Spreadsheet, sizeOf } from '../spreadsheet.ts';
import { errorResult, type FormulaResult, toEngine } from './formula.ts';

/** A cell by the number of its tab, its row and its column, all from 0. */
export interface EnginePlace {
  readonly tab: number;
  readonly row: number;
  readonly column: number;
}

/** What a formula came to: a block of results that begins in its own cell. */
export type ResultBlock = readonly (readonly (FormulaResult | undefined)[])[];

let isReady = false;

/** Computes the formulas at some places, from those cells of the spreadsheet that are wanted. */
export function computeFormulas(
  spreadsheet: Spreadsheet,
  isWanted: (cell: Cell) => boolean,
  places: readonly EnginePlace[],
): ResultBlock[] {
  // The first formula loads the engine, not the start: most sheets have none.
  if (!isReady)
    initSync({ module: readFileSync(new URL(import.meta.resolve('@ironcalc/wasm/wasm_bg.wasm'))) });
  isReady = true;
  const model = newModel(spreadsheet.properties.timeZone);
  model.pauseEvaluation();
  const names = spreadsheet.sheets.map(({ title }, tab) => nameTab(model, tab, title));
  nameRanges(model, spreadsheet, names);
  fillTabs(model, spreadsheet, isWanted);
  model.resumeEvaluation();
  model.evaluate();
  const blocks = places.map((place) => blockAt(model, place));
  const numberAt = exactNumbers(model, names, blocks.flat(2));
  const results = blocks.map((rows) =>
    rows.map((cells) => cells.map((cell) => resultAt(model, cell, numberAt))),
  );
  model.free();
  return results;
}

/** Days begin where the spreadsheet is; a zone that the engine does not know is left out. */
function newModel(timeZone: string): Model {
  try {
    return new Model('sandbox', 'en', timeZone, 'en');
  } catch {
    return new Model('sandbox', 'en', 'UTC', 'en');
  }
}

/** A title that Excel would not have keeps a name of its own: references to that tab are lost then. */
function nameTab(model: Model, tab: number, title: string): string {
  if (tab > 0) model.newSheet();
  try {
    model.renameSheet(tab, title);
    return title;
  } catch {
    model.renameSheet(tab, `Tab ${tab}`);
    return `Tab ${tab}`;
  }
}

const quoted = (name: string): string => `'${name.replaceAll("'", "''")}'`;

/** Makes the names of ranges known to formulas. */
function nameRanges(model: Model, { namedRanges, sheets }: Spreadsheet, names: readonly string[]): void {
  for (const { name, ranges } of namedRanges) {
    const [range = {}] = ranges;
    const tab = sheets.findIndex(({ sheetId }) => sheetId === (range.sheetId ?? 0));
    const sheet = sheets[tab];
    if (!sheet) continue;
    const { startRow, startColumn, endRow, endColumn } = areaOf(range, sizeOf(sheet));
    const first = `$${columnLetters(startColumn)}$${startRow + 1}`;
    const last = `$${columnLetters(endColumn - 1)}$${endRow}`;
    const area = first === last ? first : `${first}:${last}`;
    try {
      model.newDefinedName(String(name), null, `${quoted(names[tab] ?? '')}!${area}`);
    } catch {
      // Excel would not have such a name; a formula that uses it shows #NAME?.
    }
  }
}

function fillTabs(
  model: Model,
  { sheets, properties }: Spreadsheet,
  isWanted: (cell: Cell) => boolean,
): void {
  const { decimal } = regionalOf(properties.locale);
  for (const [tab, { rows }] of sheets.entries()) {
    for (const [row, cells] of rows.entries()) {
      for (const [column, cell] of cells.entries()) {
        const input = cell && isWanted(cell) ? inputOf(cell, rows.length, decimal) : undefined;
        if (input !== undefined) model.setUserInput(tab, row + 1, column + 1, input);
      }
    }
  }
}

function inputOf(cell: Cell, rowCount: number, decimal: string): string | undefined {
  const { numberValue, stringValue, boolValue, formulaValue } = cell.userEnteredValue ?? {};
  if (formulaValue !== undefined) return toEngine(formulaValue, rowCount, decimal);
  if (numberValue !== undefined) return String(numberValue);
  if (boolValue !== undefined) return boolValue ? 'TRUE' : 'FALSE';
  return stringValue === undefined ? undefined : `'${textWithChips(cell) ?? stringValue}`;
}

/** The cells that the formula of a place fills, its own first. */
function blockAt(model: Model, { tab, row, column }: EnginePlace): EnginePlace[][] {
  const structure = model.getCellArrayStructure(tab, row + 1, column + 1);
  const [width, height] =
    typeof structure === 'object' && 'DynamicAnchor' in structure ? structure.DynamicAnchor : [1, 1];
  return Array.from({ length: height }, (_, down) =>
    Array.from({ length: width }, (__, right) => ({ tab, row: row + down, column: column + right })),
  );
}

/** The engine's kinds of values. */
const CELL_TYPES = { number: 1, text: 2, boolean: 4, error: 16 } as const;

const typeAt = (model: Model, { tab, row, column }: EnginePlace): number =>
  model.getCellType(tab, row + 1, column + 1);

const shownAt = (model: Model, { tab, row, column }: EnginePlace): string =>
  model.getFormattedCellValue(tab, row + 1, column + 1);

/** The engine shows numbers rounded; all their digits are found in a text that is made of them, on a tab behind all others. */
function exactNumbers(
  model: Model,
  names: readonly string[],
  cells: readonly EnginePlace[],
): ReadonlyMap<EnginePlace, number> {
  const numbers = cells.filter((cell) => typeAt(model, cell) === CELL_TYPES.number);
  if (numbers.length === 0) return new Map();
  model.newSheet();
  for (const [index, { tab, row, column }] of numbers.entries()) {
    const reference = `${quoted(names[tab] ?? '')}!${columnLetters(column)}${row + 1}`;
    model.setUserInput(names.length, index + 1, 1, `=${reference}&""`);
  }
  model.evaluate();
  const exact = (index: number) => Number(shownAt(model, { tab: names.length, row: index, column: 0 }));
  return new Map(numbers.map((cell, index) => [cell, exact(index)]));
}

function resultAt(
  model: Model,
  cell: EnginePlace,
  numberAt: ReadonlyMap<EnginePlace, number>,
): FormulaResult | undefined {
  const shown = shownAt(model, cell);
  const type = typeAt(model, cell);
  if (type === CELL_TYPES.text) return { stringValue: shown };
  if (type === CELL_TYPES.boolean) return { boolValue: shown === 'TRUE' };
  if (type === CELL_TYPES.error) return errorResult(shown);
  return { numberValue: numberAt.get(cell) ?? Number(shown) };
}
