import { ask } from '/grid-dialog.js';

const WRITES_CELLS = new Set(['edit', 'paste', 'pasteCells', 'clear', 'fillDown']);

/** Asks before cells are changed that carry a warning, as Google Sheets does; resolves with whether to go on. */
export async function isMeant(action, sheet) {
  if (!WRITES_CELLS.has(action.kind)) return true;
  const touched = sheet.warnings.find((area) => overlap(area, writtenArea(action)));
  if (!touched) return true;
  const text = 'You are about to change a part of this sheet that should not be changed by accident.';
  const lines = [text, touched.description].filter(Boolean);
  return (await ask({ title: 'Heads up!', text: lines.join('\n'), confirm: 'Change it anyway' })) === true;
}

function writtenArea({ range, source, row, column, rows = [['']] }) {
  if (!range) {
    const width = Math.max(...rows.map((texts) => texts.length));
    return { startRow: row, endRow: row + rows.length, startColumn: column, endColumn: column + width };
  }
  const { startRow, startColumn } = range;
  const copied = source?.range ?? range;
  return {
    startRow,
    endRow: Math.max(range.endRow, startRow + copied.endRow - copied.startRow),
    startColumn,
    endColumn: Math.max(range.endColumn, startColumn + copied.endColumn - copied.startColumn),
  };
}

function overlap(one, other) {
  const inRows = one.startRow < other.endRow && other.startRow < one.endRow;
  return inRows && one.startColumn < other.endColumn && other.startColumn < one.endColumn;
}
