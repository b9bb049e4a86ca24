import { equalCells } from '../cell.ts';
import { decode, encode, showsFormerly } from '../codec.ts';
import type { KnownRecord } from '../state.ts';
import type { ObservedRow } from '../table.ts';
import { equalValues, type Value } from '../value.ts';
import type { TabContext } from './context.ts';
import { holdRow } from './row-write.ts';
import { findHiddenEdits, letWaitingGo } from './waiting-edits.ts';

/** A record that is proven gone from the CRM: its row goes, unless somebody edited it since, because a delete never beats an edit. */
export function decideGoneRecord(context: TabContext, row: ObservedRow, record: KnownRecord): void {
  const { draft, input, entity } = context;
  const { key } = record;
  const { fields: agreed = {}, offered = {} } = context.agreements.get(key.id) ?? {};
  const isEdited = context.layout.columns.some(({ blank, field: name, direction }) => {
    const [field, cell] = [context.fields.get(name), row.cells[name]];
    if (!field || !cell || direction === 'toTable') return false;
    // What we wrote and no reply has confirmed is nobody's edit.
    const ours = [offered[name], agreed[name]].filter((value) => value !== undefined);
    const isShown = (value: Value) =>
      equalCells(cell, encode(field, value, context.names)) ||
      showsFormerly(field, value, cell, context.names);
    if (ours.some(isShown)) return false;
    const seen = decode(field, cell, context.names);
    if (seen.kind === 'refused') return true;
    const expected = ours.length > 0 ? ours : [null];
    return (
      !expected.some((value) => equalValues(seen.value, value)) && !(seen.value === null && blank === 'leave')
    );
  });
  if (isEdited) {
    const item = context.outbox.get(key.id);
    // Should the record come back, its row is decided anew: what the CRM refused because it was gone would else stay refused.
    if (item?.kind === 'update' && !item.isUndo && item.state !== 'sending') letWaitingGo(context, row, item);
    return holdRow(context, row, key.id, context.cascades.isGoneWith(record) ? goneWithOwner : goneButEdited);
  }
  if (input.isRestless(entity, row)) {
    draft.restlessRows += 1;
    return;
  }
  const { kept, lost } = findHiddenEdits(context, row, context.outbox.get(key.id));
  draft.table.push({
    write: { kind: 'delete', entity, position: row.position, idSeen: row.id },
    key,
    offers: {},
    notice: '',
    forgets: true,
    journal: {
      at: input.now,
      run: input.run,
      key,
      kind: 'delete',
      side: 'table',
      before: agreed,
      after: {},
      lost: { ...kept, ...lost },
      cause: 'deleted in the CRM',
    },
  });
}

const goneButEdited =
  'The record was deleted in the CRM, but this row was edited since. Clear the ID to create it again, or delete the row.';

const goneWithOwner =
  'The record went to the trash of the CRM with the one it belongs to, but this row was edited since. Restore it there, or delete the row.';
