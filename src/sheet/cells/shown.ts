import type { FieldDefinition } from '../../core/fields/field.ts';
import type { FieldKind } from '../../core/fields/field-kind.ts';
import { readMembers } from '../../core/fields/members.ts';
import { isClaimToken, type RecordId } from '../../core/record.ts';
import type { Agreement, Shown, ShownForm } from '../../core/state.ts';
import { dateToSerial } from '../../core/text/dates.ts';
import { equalValues, type FieldName, type Fields, type Value } from '../../core/value.ts';
import { bareCell, type Cell, equalCells, numberCell, textCell } from '../port/cell.ts';
import { choicesOf, encode, type Names, optionsOf } from './codec.ts';

/** Kinds of field whose cells show names of what the CRM lists, or of other records. */
const namingKinds: ReadonlySet<FieldKind> = new Set([
  'select',
  'multi-select',
  'user',
  'users',
  'lead',
  'task',
  'stage',
  'lead-status',
  'task-status',
  'task-priority',
]);

/** Whether cells of a field show names of what has ids. */
export const hasNames = ({ kind }: FieldDefinition): boolean => namingKinds.has(kind);

const contentOf = (cell: Cell): string | number | undefined => {
  if (cell.kind === 'text') return cell.text;
  return cell.kind === 'number' ? cell.number : undefined;
};

/** Whether it is known how a cell showed the value. */
export const isShownKept = (shown: readonly ShownForm[] | undefined, value: Value): boolean =>
  shown?.some(([, known]) => equalValues(known, value)) ?? false;

/** Whether a cell holds the same as when it was known to show the value: then it is untouched. */
export function holdsAsShown(cell: Cell, shown: readonly ShownForm[] | undefined, value: Value): boolean {
  const content = contentOf(cell);
  return shown?.some(([known, meant]) => known === content && equalValues(meant, value)) ?? false;
}

/**
 * Whether the cell shows the value as it was written before the CRM changed the field: under a label that is another one since, as a list of
 * the same members, or, where the field was of another kind, as a day. Then it is untouched, whatever it would mean now.
 */
export function showsFormerly(field: FieldDefinition, value: Value, cell: Cell, names: Names): boolean {
  if (cell.kind === 'number') return typeof value === 'string' && dateToSerial(value) === cell.number;
  if (cell.kind !== 'text' || value === null || typeof value === 'boolean') return false;
  if (typeof value === 'object') return isListOf(value, cell.text);
  // The id of a user is shown until the user has a name.
  if (field.kind === 'user' && cell.text === value) return true;
  return choicesOf(field, names)?.mayShow(value, cell.text) ?? false;
}

/** Whether a text may list the members of a list and nothing else, in any form that was understood when the field took them. */
function isListOf(list: readonly string[], text: string): boolean {
  if (list.join(', ') === text) return true;
  const read = readMembers(text, optionsOf({ options: list }));
  const readings = read.kind === 'members' ? [read.members] : read.kind === 'ambiguous' ? read.readings : [];
  return readings.some((members) => equalValues(members, list));
}

/** Whether a cell holds a value in its usual form. Of most texts that is the text itself, which is quick to tell. */
export const isUsualForm = (field: FieldDefinition, value: Value, cell: Cell, names: Names): boolean =>
  (cell.kind === 'text' && cell.text === value && (field.kind === 'text' || field.kind === 'select')) ||
  equalCells(cell, encode(field, value, names));

/** Whether a cell shows the value as it did before, or in its usual form: then it is untouched. */
export const showsValue = (
  field: FieldDefinition,
  value: Value,
  cell: Cell,
  names: Names,
  shown: readonly ShownForm[] | undefined,
): boolean =>
  holdsAsShown(cell, shown, value) ||
  isUsualForm(field, value, bareCell(cell), names) ||
  (!isShownKept(shown, value) && showsFormerly(field, value, cell, names));

/** The cell that showed the value last; `undefined` where that was not kept. */
export function lastShown(shown: readonly ShownForm[] | undefined, value: Value): Cell | undefined {
  const [content] = shown?.findLast(([, meant]) => equalValues(meant, value)) ?? [];
  if (content === undefined) return undefined;
  return typeof content === 'string' ? textCell(content) : numberCell(content);
}

/** What a look at a cell came to. */
export interface CellLook {
  readonly field: FieldDefinition;
  readonly cell: Cell;
  /** What it means; `undefined` where that is not known. */
  readonly value: Value | undefined;
  /** What is about to be written there, and what that will mean. */
  readonly writes?: { readonly cell: Cell; readonly value: Value } | undefined;
}

/**
 * What is known of the cells of a row after a look at them; what was known before when that is nothing new. `offered` are the values that are
 * on their way to the row now, the agreement says which were before.
 */
export function noteShown(base: Agreement, offered: Fields, looks: readonly CellLook[]): Shown | undefined {
  const { shown = {} } = base;
  let noted: Record<FieldName, readonly ShownForm[]> | undefined;
  for (const look of looks) {
    const { name } = look.field;
    const known = shown[name] ?? noForms;
    const next = noteCell(base, offered, look, known);
    if (areSame(known, next)) continue;
    noted ??= { ...shown };
    if (next.length > 0) noted[name] = next;
    else delete noted[name];
  }
  return noted ?? base.shown;
}

const noForms: readonly ShownForm[] = [];

function noteCell(
  { fields: agreed, offered: offeredBefore }: Agreement,
  offered: Fields,
  { cell, field, value, writes }: CellLook,
  known: readonly ShownForm[],
): readonly ShownForm[] {
  const { name } = field;
  if (!namingKinds.has(field.kind)) return noForms;
  const written = writes ? describeShown(field, writes.cell, writes.value) : noForms;
  // A user who takes back a text that is not understood puts back what was there.
  if (value === undefined) return addNew(known, written);
  const isOf = (other: Value | undefined) => (shown: ShownForm) =>
    other !== undefined && equalValues(shown[1], other);
  const base = agreed[name];
  const before = offeredBefore[name];
  const now = offered[name];
  // A write without an answer may land late, in the words that it was sent with.
  const isStillOffered = before !== undefined && now !== undefined && equalValues(before, now);
  const isEdited = base !== undefined && !equalValues(value, base);
  const ofBase = isEdited ? known.filter(isOf(base)) : noForms;
  const ofOffer = isStillOffered ? known.filter(isOf(now)) : noForms;
  return [ofBase, ofOffer, written].reduce(addNew, describeShown(field, cell, value));
}

/** An option of a choice, or the id of a user, is its own name, and can be compared at any time. */
function describeShown({ kind }: FieldDefinition, cell: Cell, value: Value): ShownForm[] {
  const content = contentOf(cell);
  const ids = kind === 'users' && typeof value === 'object' ? value?.join(', ') : value;
  const isOwnName = (kind === 'select' || kind === 'user' || kind === 'users') && content === ids;
  return content === undefined || value === null || isOwnName ? [] : [[content, value]];
}

const addNew = (known: readonly ShownForm[], more: readonly ShownForm[]): readonly ShownForm[] =>
  more.length === 0
    ? known
    : [...known, ...more.filter((each) => !known.some((other) => isSame(other, each)))];

const isSame = ([content, value]: ShownForm, other: ShownForm): boolean =>
  content === other[0] && equalValues(value, other[1]);

const areSame = (left: readonly ShownForm[], right: readonly ShownForm[]): boolean =>
  left.length === right.length && left.every((each, index) => isSame(each, right[index] as ShownForm));

/** What is still to be known of a row once the offered values were seen there: how it showed those before is past. */
export const landShown = (shown: Shown, offered: Fields): Shown =>
  Object.fromEntries(
    Object.entries(shown).flatMap(([name, cells]) => {
      const value = offered[name];
      const left = value === undefined ? cells : cells.filter(([, meant]) => equalValues(meant, value));
      return left.length > 0 ? [[name, left] as const] : [];
    }),
  );

/** The ID cell of a record's row: a number where the id is one, so that the column sorts well. */
export function idCell(id: RecordId): Cell {
  const number = Number(id);
  return !isClaimToken(id) && Number.isSafeInteger(number) && String(number) === id
    ? { kind: 'number', number }
    : textCell(id);
}
