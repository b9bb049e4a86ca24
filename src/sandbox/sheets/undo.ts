import { deleteLines, insertLines } from './dimensions.ts';
import type { GridAction } from './person.ts';
import { sheetOf } from './person.ts';
import type { Sheet, Spreadsheet } from './spreadsheet.ts';
import { draftOf, draftOfSheet, setCell } from './spreadsheet.ts';

/** One thing a person did, with the spreadsheet before and after it; both share what did not change. */
export interface DoneAction {
  action: GridAction;
  before: Spreadsheet;
  after: Spreadsheet;
}

/**
 * Takes a person's action back and leaves what others wrote since elsewhere: inserted rows go, deleted rows come
 * back with all they held, changed cells get their old content. Changes of columns and tabs bring back the
 * whole tab as it was, which also reverts what was written into it since.
 */
export function undoAction(current: Spreadsheet, done: DoneAction): Spreadsheet {
  const { action, before, after } = done;
  const draft = draftOf(current);
  switch (action.kind) {
    case 'addTab':
    case 'duplicateTab':
    case 'deleteTab':
    case 'renameTab':
    case 'insertColumns':
    case 'deleteColumns':
    case 'moveColumns':
      draft.sheets = restoredSheets(current, before, after);
      return draft;
    default: {
      const old = sheetOf(before, action.sheet);
      const sheet = draft.sheets.find(({ sheetId }) => sheetId === old.sheetId);
      if (sheet) undoRows(draft, sheet, old, sheetOf(after, action.sheet), action);
      return draft;
    }
  }
}

function undoRows(draft: Spreadsheet, sheet: Sheet, old: Sheet, changed: Sheet, action: GridAction): void {
  if (action.kind === 'insertRows' || (action.kind === 'copyRow' && action.inserts)) {
    const start = action.kind === 'insertRows' ? action.row : action.to;
    const count = action.kind === 'insertRows' ? action.count : 1;
    deleteLines(draft, sheet, { dimension: 'ROWS', start, count });
  } else if (action.kind === 'deleteRows') {
    insertLines(draft, sheet, { dimension: 'ROWS', start: action.row, count: action.count });
    for (let row = action.row; row < action.row + action.count; row += 1)
      sheet.rows[row] = old.rows[row] ?? [];
  } else restoreCells(sheet, old, changed);
}

/** Gives every cell the action changed its old content. */
function restoreCells(sheet: Sheet, old: Sheet, changed: Sheet): void {
  for (const [row, cells] of changed.rows.entries()) {
    const oldCells = old.rows[row] ?? [];
    if (cells === oldCells) continue;
    const width = Math.max(cells.length, oldCells.length);
    for (let column = 0; column < width; column += 1) {
      if (cells[column] !== oldCells[column]) setCell(sheet, row, column, oldCells[column]);
    }
  }
}

/** The tabs as they are, save those the action changed, added or took away. */
function restoredSheets(current: Spreadsheet, before: Spreadsheet, after: Spreadsheet): Sheet[] {
  const sameId = (sheet: Sheet) => (other: Sheet) => other.sheetId === sheet.sheetId;
  const isAdded = (sheet: Sheet) => after.sheets.some(sameId(sheet)) && !before.sheets.some(sameId(sheet));
  const isTouched = (sheet: Sheet) => {
    const changed = after.sheets.find(sameId(sheet));
    return (
      !changed ||
      changed.title !== sheet.title ||
      changed.columnProperties.length !== sheet.columnProperties.length ||
      changed.rows.some((row, index) => row !== sheet.rows[index])
    );
  };
  const kept = current.sheets.filter((sheet) => !isAdded(sheet));
  const restored = before.sheets
    .filter((sheet) => isTouched(sheet) || kept.some(sameId(sheet)))
    .map((sheet) => (isTouched(sheet) ? draftOfSheet(sheet) : (kept.find(sameId(sheet)) ?? sheet)));
  return [...restored, ...kept.filter((sheet) => !before.sheets.some(sameId(sheet)))];
}
