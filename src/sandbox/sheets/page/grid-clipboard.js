import { coversHidden, rangeOf } from '/grid-commands.js';
import { parseTable, repeatedOver, tableText } from '/tsv.js';

/** The texts of the selected cells that are shown, as other programs get them. */
function textsOf(sheet, { row, column, height, width }) {
  const hidden = new Set(sheet.hiddenRows);
  const rows = Array.from({ length: height }, (_, down) => row + down).filter((index) => !hidden.has(index));
  const columns = Array.from({ length: width }, (_, right) => column + right).filter(
    (index) => sheet.columns[index]?.hiddenByUser !== true,
  );
  return rows.map((index) => columns.map((at) => sheet.rows[index]?.[at]?.text ?? ''));
}

/**
 * What was copied or cut here: its text for the clipboard, and the cells it came from, so that pasting in this page keeps
 * formulas, formats and rules. Where something hidden lies between, only the texts are pasted.
 */
export function copyCells(sheet, area, cut) {
  const { sheetId, moves } = sheet;
  const source = { sheet: sheetId, movesSeen: moves, range: rangeOf(area) };
  const text = tableText(textsOf(sheet, area));
  return { text, cut, ...(!coversHidden(area, sheet) && { source }) };
}

/** The action that pastes: the cells that were copied here when the clipboard still holds their text, else its texts. */
export function pasteAction(copied, text, area, isValuesOnly) {
  const isOwn = copied?.source && copied.text === text.replaceAll('\r\n', '\n');
  if (isOwn && !isValuesOnly) {
    return { kind: 'pasteCells', range: rangeOf(area), source: copied.source, cut: copied.cut };
  }
  const rows = repeatedOver(parseTable(text), area);
  return { kind: 'paste', row: area.row, column: area.column, rows };
}
