import type { FieldDefinition } from '../../../core/fields/field.ts';
import {
  type ChosenSide,
  type Difference,
  type MergeView,
  mergeUnknown,
  mergeValue,
} from '../../../core/merge.ts';
import { formatSerial } from '../../../core/text/dates.ts';
import type { Value } from '../../../core/value.ts';
import { encode, type Names } from '../../cells/codec.ts';
import { showWhole } from '../../cells/describe-value.ts';
import { type FieldCell, readCell, type Seen } from '../../cells/read-cell.ts';
import { describeCell, equalCells } from '../../port/cell.ts';
import type { Column } from '../../port/layout.ts';

/** One field of one record in the CRM and in its cell. */
export interface FieldView extends Omit<MergeView, 'rules'>, FieldCell {
  readonly column: Column;
}

/** What to do about one field; `rewrite` where both sides have the value, and the cell should show it in its usual form. */
export type FieldOutcome =
  | Difference
  | { readonly kind: 'same'; readonly value: Value; readonly rewrite: boolean };

/** One field of a row with what was decided for it. Its header is the one people see. */
export interface DecidedField {
  readonly field: FieldDefinition;
  readonly outcome: FieldOutcome;
}

/** Decides one field: reads its cell, and merges what that shows. `choose` is as for {@link mergeValue}. */
export function mergeField(
  view: FieldView,
  names: Names,
  choose: (crm: Value, table: Value) => ChosenSide,
): FieldOutcome {
  const { cell, column, crm, field } = view;
  const seen = readCell(view, names);
  const merged = { ...view, rules: column };
  if (crm === undefined || field.held !== undefined)
    return mergeUnknown(merged, seen.kind === 'value' ? seen.value : undefined);
  if (column.direction === 'toTable') return mergeShown(view, crm, seen, names);
  if (seen.kind === 'refused') return seen;
  const show = (value: Value) => showWhole(field, value, names);
  const outcome = mergeValue({ ...merged, crm }, seen.value, show, choose);
  if (outcome.kind !== 'same') return outcome;
  const isUsual = seen.isUsual && seen.value === crm;
  const isBound = view.hasType && cell.kind === 'number';
  return { ...outcome, rewrite: !isUsual && !isBound && !equalCells(cell, encode(field, crm, names)) };
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
