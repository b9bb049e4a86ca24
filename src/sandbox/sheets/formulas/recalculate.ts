import type { Cell, Row } from '../cell.ts';
import { defaultPattern } from '../display/number-format.ts';
import { regionalOf } from '../display/regional.ts';
import { numberFormatOf } from '../people/typed-input.ts';
import { cellAt, type Sheet, type Spreadsheet, setCell, sheetByTitle } from '../spreadsheet.ts';
import { computeFormulas, type ResultBlock } from './engine.ts';
import { type FormulaResult, isFromElsewhere, loading } from './formula.ts';
import { type Reference, type ResultFormat, resultFormat } from './result-format.ts';

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
  const isElsewhere = (place: Place) => isFromElsewhere(formulaAt(place));
  const computed = formulas.filter((place) => !isElsewhere(place));
  const blocks = computeFormulas(draft, formulas.some(isDependent) ? () => true : isFormula, computed);
  for (const [index, place] of computed.entries()) keepResults(place, blocks[index] ?? []);
  for (const place of formulas.filter(isElsewhere)) keepResults(place, [[loading]]);
  keepFormats(draft, computed, blocks);
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

/** Spares the engine where it would find only what it has found before. Returns whether every formula is such a one. */
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
  const { computed: _, computedFormat: __, ...rest } = cell ?? {};
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

const formulaAt = ({ sheet, row, column }: Place): string =>
  cellAt(sheet, row, column)?.userEnteredValue?.formulaValue ?? '';

const isFormula = ({ userEnteredValue }: Cell): boolean => userEnteredValue?.formulaValue !== undefined;

/** Whether the result may depend on other cells: every reference and every name has a letter. */
const isDependent = (place: Place): boolean => /\p{L}/u.test(formulaAt(place));

/** Keeps the result of a formula in its cell, and the rest of an array in the cells below and beside. */
function keepResults({ sheet, row, column }: Place, block: ResultBlock): void {
  for (const [down, results] of block.entries()) {
    for (const [right, computed] of results.entries()) {
      const cell = cellAt(sheet, row + down, column + right);
      if (computed && row + down < sheet.rows.length)
        setCell(sheet, row + down, column + right, { ...cell, computed });
    }
  }
}

/** Gives numbers the format of what they are made of, all of an array that of its formula. */
function keepFormats(draft: Spreadsheet, places: readonly Place[], blocks: readonly ResultBlock[]): void {
  const regional = regionalOf(draft.properties.locale);
  const formatAt = formatsOf(draft);
  for (const [index, place] of places.entries()) {
    const found = formatAt(place.sheet, place.row, place.column);
    if (!found) continue;
    const format = { type: found.type, pattern: found.pattern ?? defaultPattern(found.type, regional) };
    for (const [down, results] of (blocks[index] ?? []).entries()) {
      for (const [right, result] of results.entries()) {
        const [row, column] = [place.row + down, place.column + right];
        const cell = cellAt(place.sheet, row, column);
        if (cell && result && 'numberValue' in result)
          setCell(place.sheet, row, column, { ...cell, computedFormat: format });
      }
    }
  }
}

/** Finds the format of any cell: what people chose, else what its formula takes over from others. */
function formatsOf(
  draft: Spreadsheet,
): (sheet: Sheet, row: number, column: number) => ResultFormat | undefined {
  const known = new Map<Cell, ResultFormat | undefined>();
  const formatAt = (sheet: Sheet, row: number, column: number): ResultFormat | undefined => {
    const cell = cellAt(sheet, row, column);
    const type = String(numberFormatOf(cell)?.['type'] ?? '');
    const pattern = numberFormatOf(cell)?.['pattern'];
    if (type !== '')
      return type === 'TEXT' ? undefined : { type, pattern: pattern ? String(pattern) : undefined };
    const formula = cell?.userEnteredValue?.formulaValue;
    if (!cell || formula === undefined || known.has(cell)) return cell && known.get(cell);
    // Who asks for a format on the way to it, in a circle, finds none.
    known.set(cell, undefined);
    const found = resultFormat(formula.slice(1), (reference) => {
      const place = placeOf(draft, sheet, reference);
      return place && formatAt(place.sheet, place.row, place.column);
    });
    known.set(cell, found);
    return found;
  };
  return formatAt;
}

function placeOf(
  draft: Spreadsheet,
  own: Sheet,
  reference: Reference,
): { sheet: Sheet; row: number; column: number } | undefined {
  if (!('name' in reference)) {
    const sheet = reference.tab === undefined ? own : sheetByTitle(draft, reference.tab);
    return sheet && { sheet, row: reference.row, column: reference.column };
  }
  const [range] = draft.namedRanges.find(({ name }) => name === reference.name)?.ranges ?? [];
  const sheet = range && draft.sheets.find(({ sheetId }) => sheetId === (range.sheetId ?? 0));
  return sheet && { sheet, row: range.startRowIndex ?? 0, column: range.startColumnIndex ?? 0 };
}
