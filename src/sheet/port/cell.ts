import { labelKey } from '../../core/text/label-key.ts';
import { plainText } from '../../core/text/plain-text.ts';

/**
 * What one cell of a table holds, typed, never parsed. A formula, an error and a smart chip are kinds of their own,
 * because none is a value that a person typed: they are read, never sent and never overwritten.
 */
export type Cell =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'number';
      readonly number: number;
      /**
       * What people see instead of the bare number, where that says more: `50%` of 0.5, `2026-12-31` of a day's serial number. In a column
       * of days it is said where they see no day.
       */
      readonly shown?: string;
    }
  | { readonly kind: 'boolean'; readonly boolean: boolean }
  | {
      readonly kind: 'formula';
      /** Empty where the array formula of another cell fills this one. */
      readonly formula: string;
      /** What people see, only in the cells of a table as they were read: it changes by itself. */
      readonly shown?: string;
    }
  | { readonly kind: 'error'; readonly message: string; readonly formula?: string }
  | {
      /** A person or a file, which a table shows by a name of its own; its text may be `@`, and a text written over it takes it away. */
      readonly kind: 'chip';
      /** What people see, only in the cells of a table as they were read: it changes by itself. */
      readonly shown?: string;
    };

/** What the array formula of another cell fills in. */
export const spilledCell: Cell = { kind: 'formula', formula: '' };
export const emptyCell: Cell = { kind: 'empty' };
export const chipCell: Cell = { kind: 'chip' };
export const textCell = (text: string): Cell => (text === '' ? emptyCell : { kind: 'text', text });
export const numberCell = (number: number): Cell => ({ kind: 'number', number });
export const booleanCell = (boolean: boolean): Cell => ({ kind: 'boolean', boolean });

/** Whether the array formula of another cell fills it. */
export const isSpilled = (cell: Cell): boolean => 'formula' in cell && cell.formula === '';

/** Whether nobody typed what stands there. */
export const isComputed = ({ kind }: Cell): boolean =>
  kind === 'formula' || kind === 'error' || kind === 'chip';

/** Whether it shows what a formula comes to, or fails with. */
export const isFormula = (cell: Cell): boolean =>
  cell.kind === 'formula' || (cell.kind === 'error' && cell.formula !== undefined);

/** Whether nobody has filled it: a checkbox without a tick is FALSE, not empty, and a column of them makes no rows. */
export const isUnfilled = (cell: Cell): boolean =>
  cell.kind === 'empty' || (cell.kind === 'boolean' && !cell.boolean);

/** The cell without what its format makes of its number, and without what its formula comes to. */
export function bareCell(cell: Cell): Cell {
  if (cell.kind === 'number') return numberCell(cell.number);
  if (cell.kind === 'chip') return chipCell;
  return cell.kind === 'formula' ? { kind: 'formula', formula: cell.formula } : cell;
}

/** Whether the cell's format shows its number as a percentage; some countries put the sign in front. */
export const isShownAsPercent = (cell: Cell): boolean =>
  cell.kind === 'number' && cell.shown !== undefined && /^-?%|%$/.test(plainText(cell.shown));

/** Whether two cells hold exactly the same. */
export function equalCells(left: Cell, right: Cell): boolean {
  if (left === right) return true;
  switch (left.kind) {
    case 'empty':
      return right.kind === 'empty';
    case 'text':
      return right.kind === 'text' && left.text === right.text;
    case 'number':
      return right.kind === 'number' && left.number === right.number && left.shown === right.shown;
    case 'boolean':
      return right.kind === 'boolean' && left.boolean === right.boolean;
    case 'formula':
      return right.kind === 'formula' && left.formula === right.formula;
    case 'error':
      return right.kind === 'error' && left.message === right.message && left.formula === right.formula;
    case 'chip':
      return right.kind === 'chip';
  }
}

/** Whether two cells hold the same and look alike, with what formulas come to. */
export const isSameCell = (one: Cell, other: Cell): boolean =>
  equalCells(one, other) && shownOf(one) === shownOf(other);

const shownOf = (cell: Cell): string | undefined => ('shown' in cell ? cell.shown : undefined);

/** The cell as a person would write it in a sentence. */
export function describeCell(cell: Cell): string {
  switch (cell.kind) {
    case 'empty':
      return '(empty)';
    case 'text':
      return cell.text;
    case 'number':
      return cell.shown ?? String(cell.number);
    case 'boolean':
      return cell.boolean ? 'TRUE' : 'FALSE';
    case 'formula':
      return cell.formula;
    case 'error':
      return cell.message;
    case 'chip':
      return cell.shown ?? '@';
  }
}

const withoutTick = (cell: Cell): Cell => (isUnfilled(cell) ? emptyCell : cell);

/**
 * Whether a cell that a table kept as a copy may be the one that was read. A formula moved when it was copied, a number lost its format,
 * and a checkbox that nobody has ticked counts for nothing.
 */
export function isSameKept(read: Cell = emptyCell, kept: Cell = emptyCell): boolean {
  // Whether a copy of a smart chip is one, or a text, no document says.
  if (read.kind === 'chip') return kept.kind !== 'empty';
  // What an array formula fills in is not copied with its cell.
  if (isComputed(read)) return isComputed(kept) || isSpilled(read);
  return equalCells(withoutTick(bareCell(read)), withoutTick(bareCell(kept)));
}

const yes = 'true yes y 1 x ✓ ✔ ☑ on ja oui si sí sì sim wahr vrai verdadero verdadeiro vero'.split(' ');
const no = 'false no n 0 off ☐ nein non nej nei nee não nao falsch faux falso'.split(' ');

/** Words for yes and no that mean the same wherever they are used. */
const truths: ReadonlyMap<string, boolean> = new Map([
  ...yes.map((word) => [word, true] as const),
  ...no.map((word) => [word, false] as const),
]);

/** What a cell says as yes or no; `undefined` where it says neither. */
export const readTypedTruth = (cell: Cell): boolean | undefined =>
  truths.get(labelKey(cell.kind === 'number' ? String(cell.number) : describeCell(cell)));
