import { type Cell, withValue } from '../cell.ts';
import { columnIndex, columnLetters } from './a1.ts';
import type { Block } from './ranges.ts';

/** A text or a tab's name in quotes, or a reference such as `B2`, `$B$2`, `B:B` or `2:2`; a name as in `LOG10(` is none. */
const PARTS =
  /"(?:[^"]|"")*"|'(?:[^']|'')*'|(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)(\d+)(?![\w(.])|(?<![\w.$])(\$?)([A-Z]{1,3}):(\$?)([A-Z]{1,3})(?![\w(.])|(?<![\w.$])(\$?)(\d+):(\$?)(\d+)(?![\w.])/gi;

/** A cell as it reads where it is copied to: what its formula refers to moves along. */
export function followed(cell: Cell | undefined, down: number, right: number): Cell | undefined {
  const formula = cell?.userEnteredValue?.formulaValue;
  if (formula === undefined) return cell;
  return withValue(cell, { formulaValue: shiftReferences(formula, down, right) });
}

/** Copies of cells as they read so many rows further down and columns further right. */
export function copiesOf(block: Block, down: number, right: number): Block {
  return block.map((cells) => cells.map((cell) => followed(cell, down, right)));
}

/** A formula as it reads when its cell is copied so many rows down and columns to the right; what `$` pins stays. */
function shiftReferences(formula: string, down: number, right: number): string {
  const column = (pin: string, letters: string) => {
    const index = columnIndex(letters) + (pin ? 0 : right);
    return index < 0 ? undefined : pin + columnLetters(index);
  };
  const row = (pin: string, digits: string) => {
    const number = Number(digits) + (pin ? 0 : down);
    return number < 1 ? undefined : pin + number;
  };
  return formula.replace(PARTS, (whole, ...groups: (string | undefined)[]) => {
    const [pin = '', letters, rowPin = '', digits, fromPin = '', from, toPin = '', to] = groups;
    const [topPin = '', top, bottomPin = '', bottom] = groups.slice(8);
    if (letters && digits) return joined('', column(pin, letters), row(rowPin, digits));
    if (from && to) return joined(':', column(fromPin, from), column(toPin, to));
    if (top && bottom) return joined(':', row(topPin, top), row(bottomPin, bottom));
    return whole;
  });
}

/** A reference that would lie outside of the grid is lost, as in Google Sheets. */
function joined(separator: string, first: string | undefined, second: string | undefined): string {
  return first === undefined || second === undefined ? '#REF!' : first + separator + second;
}
