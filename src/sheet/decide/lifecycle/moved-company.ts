import { ownerFields } from '../../../core/cascade.ts';
import { findField } from '../../../core/fields/field.ts';
import { findEditFault } from '../../../core/merge.ts';
import { type Entity, type RecordKey, recordKeyText } from '../../../core/record.ts';
import { isToBeSent, type KnownRecord } from '../../../core/state.ts';
import { equalValues, type FieldName } from '../../../core/value.ts';
import type { Decoded } from '../../cells/codec.ts';
import { showWhole } from '../../cells/describe-value.ts';
import { showsValue } from '../../cells/shown.ts';
import { decodeTyped } from '../../cells/typed-cell.ts';
import type { DecideInput } from '../../plans/input.ts';
import { columnOf, tabOf } from '../../port/layout.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';

/**
 * Whether the table says of something that would go with a record that it belongs to another one: `moving` where that is to be sent, or waits
 * for an answer of its own, and `stuck` where it can not be, as where the other one is a new row, the row is paused, or the key may not.
 */
export function findMovedCompany(index: TabIndex, key: RecordKey): 'none' | 'moving' | 'stuck' {
  const { known } = index.input;
  const going = index.cascades.goingWith(key);
  const moves = going.flatMap((record) => {
    const row = index.findRow(record.key);
    const shown = row ? ownerFields.flatMap((name) => findOther(index, record, row, name) ?? []) : [];
    return shown.map((seen) => ({ record, seen, isPaused: row?.isPaused === true }));
  });
  if (moves.length === 0) return 'none';
  const idle = new Set(
    known.outbox.filter((item) => !isToBeSent(item)).map((item) => recordKeyText(item.key)),
  );
  const isStuck = moves.some(
    ({ isPaused, record, seen }) =>
      isPaused || seen.kind === 'refused' || idle.has(recordKeyText(record.key)),
  );
  return isStuck ? 'stuck' : 'moving';
}

/** What a row shows in such a field instead of what the CRM has; `undefined` where that is the same. */
function findOther(
  { findAgreement, input, names }: TabIndex,
  { fields, key }: KnownRecord,
  row: ObservedRow,
  name: FieldName,
): Decoded | undefined {
  const tab = tabOf(input.layout, key.entity);
  const column = tab && columnOf(tab, name);
  const field = findField(key.entity, name, input.known.catalog);
  const [cell, value] = [row.cells[name], fields[name] ?? null];
  if (column?.direction !== 'both' || !field || !cell) return undefined;
  const { shown = {} } = findAgreement(key) ?? {};
  if (showsValue(field, value, cell, names, shown[name])) return undefined;
  const seen = decodeTyped(field, cell, names);
  if (seen.kind === 'refused') return seen;
  if (equalValues(seen.value, value)) return undefined;
  if (seen.value === null && mayBeWiped(input, key.entity, row))
    return { kind: 'refused', reason: wipedReason };
  const reason = findEditFault({ rules: column, field }, value, seen.value, (known) =>
    showWhole(field, known, names),
  );
  return reason === undefined ? seen : { kind: 'refused', reason };
}

/** Whether a row lacks what no record can be without: then nothing that is emptied there is sent. */
function mayBeWiped({ known, layout }: DecideInput, entity: Entity, { cells }: ObservedRow): boolean {
  const { columns = [] } = tabOf(layout, entity) ?? {};
  return columns.some(({ direction, field }) => {
    const isNeeded = findField(entity, field, known.catalog)?.isRequired ?? false;
    return isNeeded && direction === 'both' && cells[field]?.kind === 'empty';
  });
}

const wipedReason = 'Its row was wiped.';
