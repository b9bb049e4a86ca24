import type { FieldDefinition } from './fields/field.ts';
import { findFault, isMissing } from './fields/validate.ts';
import { quoteText } from './text/cut-text.ts';
import { equalValues, type FieldName, type Fields, type Value } from './value.ts';
import type { SideAnswer, TypedAnswer } from './waiting/typed-answer.ts';

/** Which way a field goes: both ways, only from the CRM to the side, or not at all. */
export type Direction = 'both' | 'toTable' | 'off';

/** Who wins when both ends changed one field differently; `ask` waits for a user. */
export type ConflictPolicy = 'crm' | 'table' | 'ask';

/** What an emptied value means: nothing, so that the CRM's value comes back; that the CRM's value goes too; or a mistake, which is refused. */
export type BlankRule = 'leave' | 'clear' | 'refuse';

/** The rules for one field. */
export interface FieldRules {
  readonly direction: Exclude<Direction, 'off'>;
  readonly conflict: ConflictPolicy;
  /** `clear` where absent. */
  readonly blank?: BlankRule;
}

/** One field of one record at both ends. `undefined` means not known. */
export interface MergeView {
  readonly rules: FieldRules;
  readonly field: FieldDefinition;
  readonly crm: Value | undefined;
  readonly agreed: Value | undefined;
  /** Value on its way to the side, not seen there yet. */
  readonly offered: Value | undefined;
  /** With what a user settled the conflict that was here, if it was a value of their own. */
  readonly typed?: TypedAnswer | undefined;
  /** What waits to be sent of the field: the side has shown it. */
  readonly waiting?: Value | undefined;
  /** What is wrong with its value in the CRM, where that cannot be understood. */
  readonly unread?: string | undefined;
  /** What the CRM made of the agreed value when it was sent: no user's edit, even before the side shows it. */
  readonly answered?: Value | undefined;
}

/** What a side shows that cannot be sent. */
export interface RefusedValue {
  readonly kind: 'refused';
  readonly reason: string;
  /** A user emptied what no record can be without. */
  readonly isNeeded?: true;
  /** What a user put there and is not sent, where it can be read. */
  readonly typed?: Value;
}

/**
 * What to do about one field.
 * - `same`: both ends have `value`
 * - `toTable`, `toCrm`: one end changed, or won; `lost` is the value that was overruled
 * - `conflict`: a user must choose
 * - `typed`: a user chose a value that neither end has; the side gets it first, and from there it is sent
 * - `refused`: the side shows nothing that can be sent; it is left as it is
 * - `unknown`: the CRM's value is not known, or it takes none now, and the side is as it was; nothing is done
 */
export type Outcome =
  | { readonly kind: 'same'; readonly value: Value }
  | {
      readonly kind: 'toTable';
      readonly value: Value;
      readonly before: Value;
      readonly lost: Value | undefined;
      /** A user emptied what is not to be emptied: its value comes back once they are done. */
      readonly isUndone?: true;
    }
  | { readonly kind: 'toCrm'; readonly value: Value; readonly base: Value; readonly lost: Value | undefined }
  | { readonly kind: 'conflict'; readonly crm: Value; readonly table: Value; readonly agreed: Value }
  | { readonly kind: 'typed'; readonly value: Value; readonly before: Value }
  | RefusedValue
  | { readonly kind: 'unknown'; readonly reason?: string };

/** What to do about a field in which the ends differ, or that is not known. */
export type Difference = Exclude<Outcome, { readonly kind: 'same' }>;

/** The value that a side was taken to show; `undefined` where that is not known. */
export function seenValue(outcome: Outcome): Value | undefined {
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

/**
 * Returns what a row is to send to the CRM, and what the CRM has there. A user who empties a required field may have wiped the whole row to
 * get rid of it: until that field is filled, no other value is emptied. Wiped boxes count as emptied.
 */
export function wantedFields(
  decided: readonly { readonly field: FieldDefinition; readonly outcome: Outcome }[],
): { readonly fields: Fields; readonly base: Fields } {
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

/** Shows a value in the words of a side. */
export type ShowValue = (value: Value) => string;

/** The side that a user chose in a conflict; `undefined` before that. */
export type ChosenSide = SideAnswer['side'] | undefined;

/**
 * Merges one field three ways: what is agreed, what the CRM has, and `table`, what the side shows. Calls `choose` with both values, and only
 * when both changed.
 */
export function mergeValue(
  view: MergeView & { readonly crm: Value },
  table: Value,
  show: ShowValue,
  choose: (crm: Value, table: Value) => ChosenSide,
): Outcome {
  const { answered, crm, field, rules, typed } = view;
  const agreed = landed(view, table);
  if (equalValues(crm, table)) return { kind: 'same', value: crm };
  if (typed && isTypedAnswerMeant(view, crm, table)) {
    // The answer stays in use until it is carried out.
    choose(crm, table);
    return settleTyped(view, typed, table, show);
  }
  // An empty side says nothing about a field that was never agreed.
  if (equalValues(table, agreed ?? null))
    return { kind: 'toTable', value: crm, before: table, lost: undefined };
  if (table === null && rules.blank === 'leave')
    return { kind: 'toTable', value: crm, before: null, lost: undefined, isUndone: true };
  const isAnswer = answered !== undefined && equalValues(crm, answered);
  if (isAnswer || equalValues(crm, agreed ?? null)) {
    const fault = findEditFault(view, crm, table, show);
    return fault
      ? refuseEdit(field, table, fault)
      : { kind: 'toCrm', value: table, base: crm, lost: undefined };
  }
  // Two values that were never agreed about met here first: neither is an edit of the other, so no rule may let one of them go.
  const winner = choose(crm, table) ?? (agreed === undefined ? 'ask' : rules.conflict);
  const conflict = { kind: 'conflict', crm, table, agreed: agreed ?? null } as const;
  return winner === 'ask' ? conflict : settleAs(winner, view, conflict, show);
}

/** The agreed value, or the one we wrote once the side shows it: then our write has landed, even late or without an answer. */
const landed = ({ agreed, offered }: MergeView, table: Value): Value | undefined =>
  offered !== undefined && equalValues(table, offered) ? offered : agreed;

/** A field whose value in the CRM is not known cannot be compared, so an edit of it is refused rather than sent blindly. */
export function mergeUnknown(view: MergeView, table: Value | undefined): Difference {
  const { agreed = null, crm, field, offered, rules, unread } = view;
  const known = [agreed, offered, crm];
  const isUntouched =
    table !== undefined && known.some((value) => value !== undefined && equalValues(table, value));
  if (!isUntouched && rules.direction !== 'toTable')
    return { kind: 'refused', reason: unknownReason(field, unread) };
  if (unread === undefined) return { kind: 'unknown' };
  return { kind: 'unknown', reason: describeUnread(field.header, unread) };
}

function unknownReason({ header, held }: FieldDefinition, unread: string | undefined): string {
  if (held !== undefined)
    return `${header} is left alone, because ${held}. What was typed there is not sent before the field is back.`;
  return unread === undefined
    ? `The CRM does not show ${header}, so it can not be edited here.`
    : `${describeUnread(header, unread)} What was typed is not sent.`;
}

/** Says why a field is left alone whose value in the CRM cannot be understood. */
export const describeUnread = (header: string, fault: string): string =>
  `What the CRM has for ${header} ${fault}. It is left alone here until it is corrected there.`;

const refuseEdit = (field: FieldDefinition, table: Value, reason: string): RefusedValue => ({
  kind: 'refused',
  reason,
  ...(isMissing(field, table) ? { isNeeded: true } : {}),
});

type EditedField = Pick<MergeView, 'field' | 'rules'>;

/** Why the CRM may not get what a user typed, or `undefined`. */
export function findEditFault(
  { field, rules }: EditedField,
  crm: Value,
  table: Value,
  show: ShowValue,
): string | undefined {
  if (field.isFixed)
    return `${field.header} is fixed once the record exists. Put ${quoteWhole(crm, show)} back, or add a row of its own.`;
  const fault = findFault(field, table);
  if (table !== null && !isMissing(field, table)) return fault;
  const isRefused = rules.blank === 'refuse';
  const emptied = fault ?? (isRefused ? `${field.header} can not be emptied here.` : undefined);
  // A user who emptied it by mistake may no longer know the value.
  return emptied && `${emptied} Put ${quoteWhole(crm, show)} back, or type another value.`;
}

/** Most of what is to be put back is shorter: it has to be whole to be of use. */
const advisedLengthMax = 500;

const quoteWhole = (value: Value, show: ShowValue): string => quoteText(show(value), advisedLengthMax);

/** What a conflict comes to once a user or a rule chose a side. */
export function settleAs(
  side: SideAnswer['side'],
  view: EditedField,
  { crm, table }: Extract<Outcome, { kind: 'conflict' }>,
  show: ShowValue,
): Difference {
  if (side === 'crm') return { kind: 'toTable', value: crm, before: table, lost: table };
  const fault = findEditFault(view, crm, table, show);
  return fault === undefined
    ? { kind: 'toCrm', value: table, base: crm, lost: crm }
    : refuseEdit(view.field, table, fault);
}

/**
 * True if the user's own value is meant for what both ends have, or is already there. A user who takes it out again, for example because the
 * CRM refused it, no longer wants it.
 */
export function isTypedAnswerMeant(
  { typed, waiting }: Pick<MergeView, 'typed' | 'waiting'>,
  crm: Value,
  table: Value,
): boolean {
  if (typed === undefined || !equalValues(crm, typed.crm)) return false;
  const wasShown = waiting !== undefined && equalValues(waiting, typed.value);
  return equalValues(table, typed.value) || (equalValues(table, typed.table) && !wasShown);
}

/** The side gets the value first, so that a user can correct one that the CRM refuses. */
function settleTyped(
  view: EditedField,
  { value, crm }: TypedAnswer,
  table: Value,
  show: ShowValue,
): Difference {
  const fault = findEditFault(view, crm, value, show);
  if (fault !== undefined) return { kind: 'refused', reason: fault };
  return equalValues(table, value)
    ? { kind: 'toCrm', value, base: crm, lost: crm }
    : { kind: 'typed', value, before: table };
}
