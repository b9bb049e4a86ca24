import type { FieldDefinition } from '../../core/fields/field.ts';
import type { FieldKind } from '../../core/fields/field-kind.ts';
import { refuseUserName } from '../../core/fields/users.ts';
import type { MergeView } from '../../core/merge.ts';
import type { ShownForm } from '../../core/state.ts';
import type { Value } from '../../core/value.ts';
import { bareCell, type Cell, equalCells, isShownAsPercent } from '../port/cell.ts';
import { type Decoded, decode, encode, isEditOfCut, type Names, refusedCut } from './codec.ts';
import { holdsAsShown, isShownKept, showsFormerly } from './shown.ts';

/** The cell of a field, with what is known of the field and of its column. */
export interface FieldCell extends Pick<MergeView, 'agreed' | 'crm' | 'offered'> {
  readonly field: FieldDefinition;
  readonly cell: Cell;
  /** What the cell held when it was known to show these values; absent where nothing was kept yet. */
  readonly shown?: readonly ShownForm[] | undefined;
  /** The type of its column decides how the cell looks: the daemon can not change that. */
  readonly hasType?: boolean | undefined;
  /** Its column is boxed: empty cells were filled with boxes that nobody has ticked. */
  readonly isBoxed?: boolean | undefined;
}

export type Seen =
  /** `isUsual`: the cell is known to show the value in its usual form. */
  | { readonly kind: 'value'; readonly value: Value; readonly isUsual?: boolean }
  | Extract<Decoded, { kind: 'refused' }>;

/**
 * The value of a cell. A cell that holds what it was last seen to hold for a known value, or that shows exactly what such a value looks
 * like, holds that value: so a cut text, a label that two things share, or an option with a comma in its name never reads as an edit, nor
 * does a name that means something else by now, or nothing. Where it was not kept how the cell showed the value, the names count that it
 * had before. A boxed column has no empty cells: unless a user ticks a box, it says no.
 */
export function readCell(view: FieldCell, names: Names): Seen {
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
const dressedKinds: ReadonlySet<FieldKind> = new Set(['number', 'integer', 'date', 'instant']);

/** Shown as a percentage, 0 and 1 are what a person types with 0% and 100%; a larger number was there and got a format. */
const isPartOfOne = (cell: Cell): boolean => cell.kind === 'number' && Math.abs(cell.number) <= 1;

/**
 * What a cell means that a person filled: as `decode`, with what people may type instead of an id, and without what the CRM may hold and
 * nobody types there. A value of the CRM does not come here, because its cell is known by what it shows, unless nothing is agreed about it any
 * more: then it `mayBeOfCrm`.
 */
export function decodeTyped(
  field: FieldDefinition,
  cell: Cell,
  names: Names,
  { mayBeOfCrm }: { readonly mayBeOfCrm: boolean } = { mayBeOfCrm: false },
): Decoded {
  const read = decode(field, cell, names);
  if (mayBeOfCrm) return read;
  switch (field.kind) {
    case 'text':
      return isFormulaText(cell) ? refusedFormula(field, read) : read;
    case 'user':
    case 'users':
      return isFormulaText(cell) ? refusedFormula(field, read) : refuseUsers(field, read, names);
    default:
      return read.kind === 'refused' && isFormulaText(cell) ? refusedFormula(field, read) : read;
  }
}

/**
 * Whether a text is a formula that the format plain text kept from being computed. No sheet computes `==`, `=>` or a lone `=`; nor what begins
 * with `+`, `-` or `@` in such a cell, as phone numbers do.
 */
const isFormulaText = (cell: Cell): boolean => cell.kind === 'text' && /^=\s*[^\s=<>)]/.test(cell.text);

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;

function refusedFormula({ header, kind }: FieldDefinition, read: Decoded): Decoded {
  const said = `${header} holds a formula. Formulas are not sent to the CRM: put its result there as a value.`;
  const reason = kind === 'text' ? `${said} If it is meant as a text, type it in the CRM.` : said;
  return read.kind === 'value' ? { ...refused(reason), typed: read.value } : refused(reason);
}

function refuseUsers({ header }: FieldDefinition, read: Decoded, { userIds, users }: Names): Decoded {
  if (read.kind === 'refused' || read.value === null) return read;
  const typed = typeof read.value === 'object' ? read.value : [String(read.value)];
  return refuseUserName(typed, header, users, userIds?.() ?? []) ?? read;
}
