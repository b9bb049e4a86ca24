import { quoteText } from '../../../core/cut-text.ts';
import { formatSerial } from '../../../core/dates.ts';
import type { FieldDefinition } from '../../../core/field.ts';
import type { FieldKind } from '../../../core/field-kind.ts';
import type { ShownForm } from '../../../core/state.ts';
import type { SideAnswer, TypedAnswer } from '../../../core/typed-answer.ts';
import { findFault, isMissing } from '../../../core/validate.ts';
import { equalValues, type FieldName, type Fields, type Value } from '../../../core/value.ts';
import { type Decoded, encode, isEditOfCut, type Names, refusedCut } from '../../cells/codec.ts';
import { holdsAsShown, isShownKept, showsFormerly } from '../../cells/shown.ts';
import { decodeTyped } from '../../cells/typed-cell.ts';
import { bareCell, type Cell, describeCell, equalCells, isShownAsPercent } from '../../port/cell.ts';
import type { Column } from '../../port/layout.ts';
import { showWhole } from './describe-value.ts';
import { describeUnread } from './unread.ts';

/** One field of one record on both sides. `undefined` means not known. */
export interface FieldView {
  readonly column: Column;
  readonly field: FieldDefinition;
  readonly crm: Value | undefined;
  readonly agreed: Value | undefined;
  /** Value on its way to the table, not seen there yet. */
  readonly offered: Value | undefined;
  readonly cell: Cell;
  /** What the cell held when it was known to show these values; absent where nothing was kept yet. */
  readonly shown?: readonly ShownForm[] | undefined;
  /** The type of its column decides how the cell looks: the daemon can not change that. */
  readonly hasType?: boolean | undefined;
  /** Its column is boxed: empty cells were filled with boxes that nobody has ticked. */
  readonly isBoxed?: boolean | undefined;
  /** With what a person settled the conflict that was here, if it was a value of their own. */
  readonly typed?: TypedAnswer | undefined;
  /** What waits to be sent of the field: the cell has shown it. */
  readonly waiting?: Value | undefined;
  /** What is wrong with its value in the CRM, where that cannot be understood. */
  readonly unread?: string | undefined;
  /** What the CRM made of the agreed value when it was sent: no edit of anybody, also before the cell shows it. */
  readonly answered?: Value | undefined;
}

/**
 * What to do about one field.
 * - `same`: both sides have `value`; `rewrite` when the cell should show it in its usual form
 * - `toTable`, `toCrm`: one side changed, or won; `lost` is the value that was overruled
 * - `conflict`: a person must choose
 * - `typed`: a person chose a value that neither side has; the cell gets it first, and from there it is sent
 * - `refused`: the cell holds nothing that can be sent; it is left as it is
 * - `unknown`: the CRM's value is not known, or it takes none now, and the cell is as it was; nothing is done
 */
export type FieldOutcome =
  | { readonly kind: 'same'; readonly value: Value; readonly rewrite: boolean }
  | {
      readonly kind: 'toTable';
      readonly value: Value;
      readonly before: Value;
      readonly lost: Value | undefined;
      /** A person emptied a cell that is not to be emptied: its value comes back once they are done. */
      readonly isUndone?: true;
    }
  | { readonly kind: 'toCrm'; readonly value: Value; readonly base: Value; readonly lost: Value | undefined }
  | { readonly kind: 'conflict'; readonly crm: Value; readonly table: Value; readonly agreed: Value }
  | { readonly kind: 'typed'; readonly value: Value; readonly before: Value }
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** A person emptied what no record can be without. */
      readonly isNeeded?: true;
      /** What a person put there and is not sent, where it can be read. */
      readonly typed?: Value;
    }
  | { readonly kind: 'unknown'; readonly reason?: string };

/** The value that a cell was taken for; `undefined` where that is not known. */
export function seenValue(outcome: FieldOutcome): Value | undefined {
  switch (outcome.kind) {
    case 'same':
    case 'toCrm':
      return outcome.value;
    case 'toTable':
    case 'typed':
      return outcome.before;
    case 'conflict':
      return outcome.table;
    default:
      return undefined;
  }
}

/** One field of a row with what was decided for it. Its header is the one people see. */
export interface DecidedField {
  readonly field: FieldDefinition;
  readonly outcome: FieldOutcome;
}

/**
 * What of a row is to go to the CRM, and what the CRM has there. Whoever empties what no record can be without may have wiped the row to be
 * rid of it: until that is filled nothing else is taken away. Wiped boxes are not ticked.
 */
export function wantedFields(decided: readonly DecidedField[]): {
  readonly fields: Fields;
  readonly base: Fields;
} {
  const fields: Record<FieldName, Value> = {};
  const base: Record<FieldName, Value> = {};
  const mayBeWiped = decided.some(({ outcome }) => outcome.kind === 'refused' && outcome.isNeeded);
  for (const { field, outcome } of decided) {
    if (outcome.kind !== 'toCrm') continue;
    if (mayBeWiped && (outcome.value === null || outcome.value === false)) continue;
    fields[field.name] = outcome.value;
    base[field.name] = outcome.base;
  }
  return { fields, base };
}

/** The side that a person chose in a conflict; `undefined` while nobody has. */
export type ChosenSide = SideAnswer['side'] | undefined;

/**
 * Decides one field: the three-way merge of agreed, CRM and cell. `choose` is asked only when both sides changed it, and told what they have.
 */
export function mergeField(
  view: FieldView,
  names: Names,
  choose: (crm: Value, table: Value) => ChosenSide,
): FieldOutcome {
  const { column, field, crm, cell } = view;
  if (crm === undefined || field.held !== undefined) return mergeUntold(view, names);
  const seen = readCell(view, names);
  if (column.direction === 'toTable') return mergeShown(view, crm, seen, names);
  if (seen.kind === 'refused') return seen;
  const table = seen.value;
  const agreed = landed(view, table);
  if (equalValues(crm, table)) {
    const isUsual = seen.isUsual && seen.value === crm;
    const isBound = view.hasType && cell.kind === 'number';
    const rewrite = !isUsual && !isBound && !equalCells(cell, encode(field, crm, names));
    return { kind: 'same', value: crm, rewrite };
  }
  if (view.typed && isTypedAnswerMeant(view, crm, table)) {
    // Asked for only so that the answer stays in use until it is carried out.
    choose(crm, table);
    return settleTyped(view, view.typed, table, names);
  }
  if (agreed !== undefined && equalValues(table, agreed))
    return { kind: 'toTable', value: crm, before: table, lost: undefined };
  // An empty side says nothing about a field that was never agreed.
  if (agreed === undefined && table === null)
    return { kind: 'toTable', value: crm, before: null, lost: undefined };
  if (table === null && column.blank === 'leave')
    return { kind: 'toTable', value: crm, before: null, lost: undefined, isUndone: true };
  const fault = findEditFault(view, crm, table, names);
  const isAnswer = view.answered !== undefined && equalValues(crm, view.answered);
  if (isAnswer || equalValues(crm, agreed ?? null)) {
    return fault
      ? refuseEdit(field, table, fault)
      : { kind: 'toCrm', value: table, base: crm, lost: undefined };
  }
  // Two values that were never agreed about met here first: neither is an edit of the other, so no rule may let one of them go.
  const winner = choose(crm, table) ?? (agreed === undefined ? 'ask' : column.conflict);
  const conflict = { kind: 'conflict', crm, table, agreed: agreed ?? null } as const;
  return winner === 'ask' ? conflict : settleAs(winner, view, conflict, names);
}

const refuseEdit = (field: FieldDefinition, table: Value, reason: string): FieldOutcome => ({
  kind: 'refused',
  reason,
  ...(isMissing(field, table) ? { isNeeded: true } : {}),
});

/** Why the CRM may not get what a person typed, or `undefined`. */
export function findEditFault(
  { column, field }: Pick<FieldView, 'column' | 'field'>,
  crm: Value,
  table: Value,
  names: Names,
): string | undefined {
  if (field.isFixed) return fixedFault(field, crm, names);
  const fault = findFault(field, table);
  if (table !== null && !isMissing(field, table)) return fault;
  const isRefused = column.blank === 'refuse';
  const emptied = fault ?? (isRefused ? `${field.header} can not be emptied here.` : undefined);
  return emptied && `${emptied} ${blankAdvice(field, crm, names)}`;
}

/** What a conflict comes to once a user chose a side. */
export const settleAs = (
  side: SideAnswer['side'],
  view: Pick<FieldView, 'column' | 'field'>,
  { crm, table }: Extract<FieldOutcome, { kind: 'conflict' }>,
  names: Names,
): FieldOutcome => {
  if (side === 'crm') return { kind: 'toTable', value: crm, before: table, lost: table };
  const fault = findEditFault(view, crm, table, names);
  return fault === undefined
    ? { kind: 'toCrm', value: table, base: crm, lost: crm }
    : refuseEdit(view.field, table, fault);
};

/** Most of what is to be put back is shorter: it has to be whole to be of use. */
const advisedLengthMax = 500;

/** Who emptied a cell by mistake may not know any more what stood there. */
const blankAdvice = (field: FieldDefinition, crm: Value, names: Names): string =>
  `Put ${quoteText(showWhole(field, crm, names), advisedLengthMax)} back, or type another value.`;

const fixedFault = (field: FieldDefinition, crm: Value, names: Names): string =>
  `${field.header} is fixed once the record exists. Put ${quoteText(showWhole(field, crm, names), advisedLengthMax)} back, or add a row of its own.`;

/** A field whose value in the CRM is not known cannot be compared, so an edit of it is refused rather than sent blindly. */
function mergeUntold(view: FieldView, names: Names): FieldOutcome {
  const { agreed = null, column, crm, field, offered, unread } = view;
  const seen = readCell(view, names);
  const known = [agreed, offered, crm];
  const isUntouched =
    seen.kind === 'value' && known.some((value) => value !== undefined && equalValues(seen.value, value));
  if (isUntouched || column.direction === 'toTable')
    return {
      kind: 'unknown',
      ...(unread === undefined ? {} : { reason: describeUnread(field.header, unread) }),
    };
  return { kind: 'refused', reason: untoldReason(field, unread) };
}

function untoldReason({ header, held }: FieldDefinition, unread: string | undefined): string {
  if (held !== undefined)
    return `${header} is left alone, because ${held}. What was typed there is not sent before the field is back.`;
  return unread === undefined
    ? `The CRM does not show ${header}, so it can not be edited here.`
    : `${describeUnread(header, unread)} What was typed is not sent.`;
}

/**
 * Whether the person's own value is for what both sides have, or stands in the cell already. Whoever takes it out of there again, as where the
 * CRM refused it, has thought better of it.
 */
export function isTypedAnswerMeant({ typed, waiting }: FieldView, crm: Value, table: Value): boolean {
  if (typed === undefined || !equalValues(crm, typed.crm)) return false;
  const wasShown = waiting !== undefined && equalValues(waiting, typed.value);
  return equalValues(table, typed.value) || (equalValues(table, typed.table) && !wasShown);
}

/** The cell comes first: so a value that the CRM refuses stands where a person can correct it. */
function settleTyped(view: FieldView, { value, crm }: TypedAnswer, table: Value, names: Names): FieldOutcome {
  const fault = findEditFault(view, crm, value, names);
  if (fault !== undefined) return { kind: 'refused', reason: fault };
  return equalValues(table, value)
    ? { kind: 'toCrm', value, base: crm, lost: crm }
    : { kind: 'typed', value, before: table };
}

/** A column that only shows: the CRM's value is put back over whatever is there, except over a formula and a smart chip. */
function mergeShown(view: FieldView, crm: Value, seen: Seen, names: Names): FieldOutcome {
  const isUsual = seen.kind === 'value' && seen.isUsual && seen.value === crm;
  if (isUsual || equalCells(view.cell, encode(view.field, crm, names)))
    return { kind: 'same', value: crm, rewrite: false };
  const isKept =
    view.cell.kind === 'formula' ||
    view.cell.kind === 'chip' ||
    (view.cell.kind === 'error' && view.cell.formula !== undefined);
  if (isKept && seen.kind === 'refused') return seen;
  const before = seen.kind === 'value' ? seen.value : shownText(view);
  return { kind: 'toTable', value: crm, before, lost: undefined };
}

/** What people saw in a cell that holds no value of its field, for the history: an older list may have kept days there, for example. */
function shownText({ cell, field }: FieldView): Value {
  const day = field.kind === 'instant' && cell.kind === 'number' ? formatSerial(cell.number) : undefined;
  return day ?? (cell.kind === 'empty' ? null : describeCell(cell));
}

type Seen =
  /** `isUsual`: the cell is known to show the value in its usual form. */
  | { readonly kind: 'value'; readonly value: Value; readonly isUsual?: boolean }
  | Extract<Decoded, { kind: 'refused' }>;

/**
 * The value of a cell. A cell that holds what it was last seen to hold for a known value, or that shows exactly what such a value looks
 * like, holds that value: so a cut text, a label that two things share, or an option with a comma in its name never reads as an edit, nor
 * does a name that means something else by now, or nothing. Where it was not kept how the cell showed the value, the names count that it
 * had before. A boxed column has no empty cells: unless a user ticks a box, it says no.
 */
function readCell(view: FieldView, names: Names): Seen {
  const { cell, field, shown } = view;
  for (const known of [view.offered, view.agreed]) {
    if (known !== undefined && holdsAsShown(cell, shown, known))
      return { kind: 'value', value: known, isUsual: equalCells(cell, encode(field, known, names)) };
  }
  const isUnticked = view.isBoxed && view.cell.kind === 'boolean' && !view.cell.boolean;
  for (const known of [view.offered, view.agreed, view.crm ?? null]) {
    if (known === undefined) continue;
    if (known === null && isUnticked) return { kind: 'value', value: null, isUsual: true };
    const usual = encode(view.field, known, names);
    const isOurs =
      known === view.offered ||
      (view.hasType && known === view.agreed) ||
      !(view.field.kind === 'integer' && isShownAsPercent(view.cell) && isPartOfOne(usual));
    const bare = bareCell(view.cell);
    const isLookKept = view.hasType || !dressedKinds.has(view.field.kind);
    if (equalCells(isOurs ? bare : view.cell, usual))
      return { kind: 'value', value: known, isUsual: equalCells(isLookKept ? bare : view.cell, usual) };
  }
  for (const known of [view.offered, view.agreed]) {
    if (known === undefined) continue;
    if (!isShownKept(shown, known) && showsFormerly(field, known, cell, names))
      return { kind: 'value', value: known };
    if (isEditOfCut(view.cell, encode(view.field, known, names))) return refusedCut(view.field);
  }
  return decodeTyped(view.field, view.cell, names, { mayBeOfCrm: view.agreed === undefined });
}

/** Kinds of field whose cells get a format with their value, because a wrong one misleads. All other cells keep the format that people gave them. */
const dressedKinds: ReadonlySet<FieldKind> = new Set(['number', 'integer', 'task', 'date', 'instant']);

/** Shown as a percentage, 0 and 1 are what a person types with 0% and 100%; a larger number was there and got a format. */
const isPartOfOne = (cell: Cell): boolean => cell.kind === 'number' && Math.abs(cell.number) <= 1;

/** The agreed value, or the one we wrote once the table shows it: then our write has landed, even late or without an answer. */
function landed(view: FieldView, table: Value): Value | undefined {
  return view.offered !== undefined && equalValues(table, view.offered) ? view.offered : view.agreed;
}
