import { readFileSync } from 'node:fs';
import { initSync, Model } from '@ironcalc/wasm';
import type { Cell, Row } from './cell.ts';
import { textWithChips } from './display/chips.ts';
import { errorResult, type FormulaResult, isFromElsewhere, loading, toEngine } from './formula.ts';
import { regionalOf } from './regional.ts';
import { cellAt, type Sheet, type Spreadsheet, setCell } from './spreadsheet.ts';

/** Rows are replaced and never changed, so that whether one has to do with formulas is found out once. */
const concerned = new WeakMap<Row, boolean>();

function isConcerned(row: Row): boolean {
  const known = concerned.get(row);
  if (known !== undefined) return known;
  const isFormula = row.some((cell) => cell?.computed || cell?.userEnteredValue?.formulaValue !== undefined);
  concerned.set(row, isFormula);
  return isFormula;
}

interface Place {
  readonly sheet: Sheet;
  readonly tab: number;
  readonly row: number;
  readonly column: number;
}

/**
 * Computes all formulas of a draft anew, as Google does after every change, and keeps in their cells and in those that they fill what
 * came out. A spreadsheet without a formula costs a look at its rows.
 */
export function recalculate(draft: Spreadsheet): void {
  if (!draft.sheets.some(({ rows }) => rows.some(isConcerned))) return;
  if (showConstants(draft)) return;
  for (const sheet of draft.sheets) forget(sheet);
  const formulas = draft.sheets.flatMap(findFormulas);
  if (formulas.length === 0) return;
  const model = loadModel(draft, formulas.some(isDependent) ? () => true : isFormula);
  for (const place of formulas) keepResult(model, place);
  model.free();
  for (const { sheet, row, column } of formulas) {
    const { computed, userEnteredValue } = cellAt(sheet, row, column) ?? {};
    const formula = userEnteredValue?.formulaValue ?? '';
    if (computed && isConstant(formula)) constants.set(nameOf(draft, formula), computed);
  }
}

/** Results of formulas that depend on nothing but their own words, by locale and formula. */
const constants = new Map<string, FormulaResult>();

/** Such as `=1+2`: without a letter nothing is referred to, and without a brace nothing is spilled. */
const isConstant = (formula: string): boolean => !/[\p{L}{]/u.test(formula);

const nameOf = ({ properties }: Spreadsheet, formula: string): string => `${properties.locale} ${formula}`;

/** Spares the engine where it would find only what it has found before. Answers whether every formula is such a one. */
function showConstants(draft: Spreadsheet): boolean {
  const formulaOf = (cell: Cell | undefined) => cell?.userEnteredValue?.formulaValue;
  const resultFor = (cell: Cell | undefined) => {
    const formula = formulaOf(cell);
    return formula === undefined ? undefined : constants.get(nameOf(draft, formula));
  };
  const rows = draft.sheets.flatMap((sheet) => sheet.rows.filter(isConcerned));
  const isUnknown = (cell: Cell | undefined) => formulaOf(cell) !== undefined && !resultFor(cell);
  if (rows.some((row) => row.some(isUnknown))) return false;
  for (const sheet of draft.sheets) {
    sheet.rows = sheet.rows.map((row) => {
      if (!isConcerned(row) || row.every((cell) => resultFor(cell) === cell?.computed)) return row;
      return row.map((cell) => withResult(cell, resultFor(cell)));
    });
  }
  return true;
}

/** Takes out what was computed before. */
function forget(sheet: Sheet): void {
  sheet.rows = sheet.rows.map((row) =>
    isConcerned(row) ? row.map((cell) => (cell?.computed ? withResult(cell, undefined) : cell)) : row,
  );
}

function withResult(cell: Cell | undefined, result: FormulaResult | undefined): Cell | undefined {
  const { computed: _, ...rest } = cell ?? {};
  if (result) return { ...rest, computed: result };
  return Object.keys(rest).length > 0 ? rest : undefined;
}

function findFormulas(sheet: Sheet, tab: number): Place[] {
  return sheet.rows.flatMap((cells, row) => {
    if (!isConcerned(cells)) return [];
    return cells.flatMap((cell, column) =>
      cell?.userEnteredValue?.formulaValue === undefined ? [] : { sheet, tab, row, column },
    );
  });
}

const isFormula = ({ userEnteredValue }: Cell): boolean => userEnteredValue?.formulaValue !== undefined;

/** Whether the result may depend on other cells: every reference and every name has a letter. */
const isDependent = ({ sheet, row, column }: Place): boolean =>
  /\p{L}/u.test(cellAt(sheet, row, column)?.userEnteredValue?.formulaValue ?? '');

let isReady = false;

/** The engine with the wanted cells of the spreadsheet in it, evaluated. Its rows and columns count from 1. */
function loadModel({ sheets, properties }: Spreadsheet, isWanted: (cell: Cell) => boolean): Model {
  // The first formula loads the engine, not the start: most sheets have none.
  if (!isReady)
    initSync({ module: readFileSync(new URL(import.meta.resolve('@ironcalc/wasm/wasm_bg.wasm'))) });
  isReady = true;
  const model = new Model('sandbox', 'en', 'UTC', 'en');
  model.pauseEvaluation();
  const { decimal } = regionalOf(properties.locale);
  for (const [tab, { title }] of sheets.entries()) {
    if (tab > 0) model.newSheet();
    renameTab(model, tab, title);
  }
  for (const [tab, { rows }] of sheets.entries()) {
    for (const [row, cells] of rows.entries()) {
      for (const [column, cell] of cells.entries()) {
        const input = cell && isWanted(cell) ? inputOf(cell, rows.length, decimal) : undefined;
        if (input !== undefined) model.setUserInput(tab, row + 1, column + 1, input);
      }
    }
  }
  model.resumeEvaluation();
  model.evaluate();
  return model;
}

/** A title that Excel would not have keeps a name of its own: references to that tab are lost then. */
function renameTab(model: Model, tab: number, title: string): void {
  try {
    model.renameSheet(tab, title);
  } catch {
    model.renameSheet(tab, `Tab ${tab}`);
  }
}

function inputOf(cell: Cell, rowCount: number, decimal: string): string | undefined {
  const { numberValue, stringValue, boolValue, formulaValue } = cell.userEnteredValue ?? {};
  if (formulaValue !== undefined) return toEngine(formulaValue, rowCount, decimal);
  if (numberValue !== undefined) return String(numberValue);
  if (boolValue !== undefined) return boolValue ? 'TRUE' : 'FALSE';
  return stringValue === undefined ? undefined : `'${textWithChips(cell) ?? stringValue}`;
}

/** Keeps the result of a formula in its cell, and the rest of an array in the cells below and beside. */
function keepResult(model: Model, { sheet, tab, row, column }: Place): void {
  const own = cellAt(sheet, row, column);
  const formula = own?.userEnteredValue?.formulaValue ?? '';
  if (isFromElsewhere(formula)) {
    setCell(sheet, row, column, { ...own, computed: loading });
    return;
  }
  const structure = model.getCellArrayStructure(tab, row + 1, column + 1);
  const [width, height] =
    typeof structure === 'object' && 'DynamicAnchor' in structure ? structure.DynamicAnchor : [1, 1];
  for (let down = 0; down < height; down += 1) {
    for (let right = 0; right < width; right += 1) {
      const computed = resultOf(model, tab, row + down + 1, column + right + 1);
      const cell = cellAt(sheet, row + down, column + right);
      if (computed && row + down < sheet.rows.length)
        setCell(sheet, row + down, column + right, { ...cell, computed });
    }
  }
}

/** The engine's kinds of values. */
const CELL_TYPES = { number: 1, text: 2, boolean: 4, error: 16 } as const;

/** The engine tells numbers only as texts, and the last of 15 digits is not always right. */
const EXACT = '0.00000000000000E+00';
const SURE_DIGITS = 13;

function resultOf(model: Model, sheet: number, row: number, column: number): FormulaResult | undefined {
  const type = model.getCellType(sheet, row, column);
  const shown = model.getFormattedCellValue(sheet, row, column);
  if (type === CELL_TYPES.text) return { stringValue: shown };
  if (type === CELL_TYPES.boolean) return { boolValue: shown === 'TRUE' };
  if (type === CELL_TYPES.error) return errorResult(shown);
  model.updateRangeStyle({ sheet, row, column, width: 1, height: 1 }, 'num_fmt', EXACT);
  const number = Number(model.getFormattedCellValue(sheet, row, column));
  return { numberValue: Number(number.toPrecision(SURE_DIGITS)) };
}
