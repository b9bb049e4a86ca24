import { shadowTitle } from '../../src/google/write/shadow.ts';
import type { Row } from '../../src/sandbox/sheets/cell.ts';
import { formattedValue } from '../../src/sandbox/sheets/display/display.ts';
import type { Sheet, Spreadsheet } from '../../src/sandbox/sheets/spreadsheet.ts';
import { describeCell } from '../../src/sheet/port/cell.ts';
import type { Suspect } from '../../src/sheet/port/damage.ts';
import { sheetIds } from './spreadsheet.ts';
import { formulaHeader, ourWords, ownerHeader } from './tab-view.ts';

type Counts = ReadonlyMap<string, number>;

/** The formula that stands in the own column of an owner's row. */
export const formulaOf = (owner: string): string => `=1+${owner.slice(1)}`;

/** The text of a cell by the name under which it is counted. */
const textIn = (name: string): string => name.replace(/^\d+ /, '');

/** Whose row an own cell stands in. */
const ownerOfCell = (text: string): string => text.replace(/^=1\+/, 'R');

/** What people keep in columns and tabs of their own: only people change it, and a delete that they know of takes it along. */
export class OwnCells {
  #expected = new Map<string, number>();
  /** What went with rows whose record is gone. */
  readonly #taken = new Map<string, number>();
  /** What stands covered by a write and is not expected back: people copied it so, or nobody knows of it any more. */
  readonly #copied = new Map<string, number>();
  readonly #excused = new Set<string>();

  /**
   * Somebody did something: what changed by it was meant, also where it took away a cell over which a write went by mistake. Of such a
   * cell and its copies one is mended: whoever takes away the others takes away nothing. A row that an undo brings back is theirs with what
   * was covered in it, but not with our word that covers it.
   */
  notePerson(before: Spreadsheet, after: Spreadsheet, isUndo = false): void {
    const [left, right] = [countCells(before), countCells(after)];
    const [leftMeant, rightMeant] = [countCells(before, true), countCells(after, true)];
    for (const text of new Set([left, right, leftMeant, rightMeant].flatMap((each) => [...each.keys()]))) {
      const shown = (right.get(text) ?? 0) - (left.get(text) ?? 0);
      const meant = (rightMeant.get(text) ?? 0) - (leftMeant.get(text) ?? 0);
      const covered = leftMeant.has(text) ? meant - shown : 0;
      const copied = this.#copied.get(text) ?? 0;
      if (isUndo && shown > 0 && ourWords.test(textIn(text))) continue;
      if (isUndo && shown === 0 && !leftMeant.has(text)) {
        this.#add(text, meant);
        continue;
      }
      // A row that came back twice is in surplus: whoever takes away one of both takes away nothing.
      const surplus = Math.max(0, (left.get(text) ?? 0) - (this.#expected.get(text) ?? 0));
      const change = (shown < 0 ? Math.min(0, shown + surplus) : shown) + Math.min(0, covered + copied);
      this.#copied.set(text, Math.max(0, copied + covered));
      // What they take away that is not theirs counts for nothing.
      this.#add(text, Math.max(change, -(this.#expected.get(text) ?? 0)));
    }
  }

  /** The daemon wrote. A row may go whose owner `mayGo`, because its record is gone; it may come back as it was. */
  noteDaemon(before: Spreadsheet, after: Spreadsheet, mayGo: (owner: string) => boolean): void {
    const [was, is] = [countCells(before), countCells(after)];
    for (const text of new Set([...was.keys(), ...is.keys()])) {
      const [left, expected] = [is.get(text) ?? 0, this.#expected.get(text) ?? 0];
      // What people did not put there, like a new row under columns that moved, is no loss.
      const lost = Math.min(was.get(text) ?? 0, expected) - left;
      const taken = this.#taken.get(text) ?? 0;
      const change =
        lost > 0 && mayGo(ownerOfCell(text.split(' ')[1] ?? ''))
          ? -lost
          : Math.min(taken, Math.max(0, left - expected));
      this.#add(text, change);
      this.#taken.set(text, taken - change);
    }
  }

  /** A question names what a write did to these cells: people may put them right, and need not. */
  excuse({ damage: { own } }: Suspect): void {
    for (const { before, written } of Object.values(own))
      for (const cell of [before, written]) this.#excused.add(describeCell(cell));
  }

  /** What is other than people left it. */
  differences(now: Spreadsheet): string[] {
    const found = countCells(now);
    const all = new Set([...found.keys(), ...this.#expected.keys()]);
    return [...all].flatMap((text) => {
      const [is, was] = [found.get(text) ?? 0, this.#expected.get(text) ?? 0];
      const isExcused = this.#excused.has(text.replace(/^\d+ | \{.*\}$/g, ''));
      return is === was || isExcused ? [] : [`${text}: ${was} before, ${is} now`];
    });
  }

  /** Nobody knows any more what writes have replaced: people take what stands there now for theirs. */
  accept(now: Spreadsheet): void {
    this.#expected = new Map(countCells(now));
    this.#taken.clear();
    this.#copied.clear();
    // What is covered is not expected: whoever takes it away takes away nothing.
    for (const [text, meant] of countCells(now, true)) {
      this.#copied.set(text, Math.max(0, meant - (this.#expected.get(text) ?? 0)));
    }
  }

  #add(text: string, count: number): void {
    this.#expected.set(text, (this.#expected.get(text) ?? 0) + count);
  }
}

const counted = { shown: new WeakMap<Spreadsheet, Counts>(), meant: new WeakMap<Spreadsheet, Counts>() };

/** How often each own cell stands there; or as it would, had no write ever gone over one of both that people keep in a row. */
function countCells(spreadsheet: Spreadsheet, isMeant = false): Counts {
  const known = counted[isMeant ? 'meant' : 'shown'];
  // A spreadsheet is never changed, only replaced.
  const counts = known.get(spreadsheet) ?? countAnew(spreadsheet, isMeant);
  known.set(spreadsheet, counts);
  return counts;
}

function countAnew({ sheets }: Spreadsheet, isMeant: boolean): Counts {
  const counts = new Map<string, number>();
  for (const sheet of sheets) {
    // The hidden tab keeps copies, which are nobody's.
    if (sheet.title === shadowTitle) continue;
    const columns = ownColumns(sheet);
    for (const row of sheet.rows) {
      for (const column of columns) {
        const shown = textOf(row[column]);
        const text = isMeant
          ? meantText(
              shown,
              columns.map((each) => textOf(row[each])),
            )
          : shown;
        if (text === '') continue;
        // A write that went over it brought its own format.
        const format = text === shown ? (row[column]?.userEnteredFormat ?? {}) : {};
        const name = `${sheet.sheetId} ${text} ${JSON.stringify(format)}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** Whose rows have the formula of an owner, where an undo took back that alone of what made a copy a row of its own. */
export function ownersBeside({ sheets }: Spreadsheet, owner: string): string[] {
  return sheets.flatMap((sheet) => {
    const columns = sheet.title === shadowTitle ? [] : ownColumns(sheet);
    return sheet.rows.flatMap((row) => {
      const texts = columns.map((column) => textOf(row[column]));
      return texts.includes(formulaOf(owner)) ? texts.filter((text) => /^R\d+$/.test(text)) : [];
    });
  });
}

/** An emptied cell keeps nothing, whatever its format. */
function textOf(cell: Row[number]): string {
  const { formulaValue, numberValue, stringValue } = cell?.userEnteredValue ?? {};
  // In a tab with a rule the owner is told by a formula, because a row with anything else of users' own never leaves.
  const told = /^="(R\d+)"$/.exec(formulaValue ?? '')?.[1];
  return told ?? formulaValue ?? stringValue ?? numberValue?.toString() ?? '';
}

/** What people had put there where another own cell of the row tells it. */
function meantText(shown: string, ofRow: readonly string[]): string {
  if (shown === '' || /^(R|=1\+)\d+$/.test(shown)) return shown;
  const other = ofRow.find((text) => /^(R|=1\+)\d+$/.test(text));
  if (other === undefined) return shown;
  return other.startsWith('R') ? formulaOf(other) : ownerOfCell(other);
}

function ownColumns({ sheetId, rows, columnProperties }: Sheet): number[] {
  const all = Array.from(columnProperties.keys());
  if (sheetId === sheetIds.other) return all;
  const headers = rows[0] ?? [];
  return all.filter((column) => [ownerHeader, formulaHeader].includes(formattedValue(headers[column])));
}
