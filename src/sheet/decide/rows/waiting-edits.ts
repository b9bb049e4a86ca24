import { journalEntry } from '../../../core/journal-entry.ts';
import { wantedFields } from '../../../core/merge.ts';
import { hasMoved, type OutboxItem, waitingFields } from '../../../core/state.ts';
import { equalFields, type FieldName, type Fields, pickFields } from '../../../core/value.ts';
import { columnOf } from '../../port/layout.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { BoundRow } from '../identity/bind.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import type { MergedRow } from './merge.ts';
import { writeRow } from './row-write.ts';

/**
 * What of a step its row does not show any more because its column is gone, by what is to become of it. What a column still shows is decided
 * with the row.
 */
export function findHiddenEdits(index: TabIndex, row: ObservedRow, item: OutboxItem | undefined) {
  const { layout, records, tab } = index;
  const typed = waitingFields(item);
  const record = records.get(item?.key.id ?? '');
  const inCrm = record?.fields ?? {};
  const knownColumn = (name: FieldName) => (index.fields.has(name) ? columnOf(layout, name) : undefined);
  const isHeld = (name: FieldName) => index.fields.get(name)?.held !== undefined;
  // The empty cell of a column that is new says nothing either, and gets the value that the CRM has.
  const isNew = (name: FieldName) => tab.fresh?.has(name) && row.cells[name]?.kind === 'empty';
  const hidden = Object.keys(typed).filter((name) => !knownColumn(name) || !row.cells[name] || isNew(name));
  const isKept = (name: FieldName) => {
    const isAsDecided = !record || !hasMoved(pickFields(item?.base ?? {}, [name]), record);
    return knownColumn(name)?.direction === 'both' && !isHeld(name) && !isNew(name) && isAsDecided;
  };
  const isLost = (name: FieldName) =>
    !isKept(name) && !equalFields(pickFields(typed, [name]), pickFields(inCrm, [name]));
  return {
    /** Still to be sent: a column that somebody deleted says nothing about the records. */
    kept: pickFields(typed, hidden.filter(isKept)),
    /** Not to be sent: the settings want nothing from that column any more, or the CRM has another value since and no cell is left to ask at. */
    lost: pickFields(typed, hidden.filter(isLost)),
  };
}

/** What is to go to the CRM from a row: what it shows, and what of its `item` is kept although its column is gone. */
export function wantedOf(index: TabIndex, { decided, row }: MergedRow, item: OutboxItem | undefined) {
  const { kept, lost } = findHiddenEdits(index, row, item);
  const { fields, base } = wantedFields(decided);
  const keptBase = pickFields(item?.base ?? {}, Object.keys(kept));
  return { kept, lost, fields: { ...fields, ...kept }, base: { ...base, ...keptBase } };
}

/** Keeps in the journal what is not to be sent any more and stands in no row, beside what the CRM has instead. */
export function noteLost(index: TabIndex, { key }: OutboxItem, lost: Fields, cause: string): Verdict {
  const names = Object.keys(lost);
  if (names.length === 0) return nothing;
  const record = index.records.get(key.id);
  const after = record?.presence === 'present' ? pickFields(record.fields, names) : {};
  return { journal: [journalEntry(index.input, key, { kind: 'update', before: lost, after, lost, cause })] };
}

/** Lets go of what waits for a row that is left alone. It is decided anew from the row when that goes on, but for what has no column there. */
export function letWaitingGo(index: TabIndex, row: ObservedRow, item: OutboxItem): Verdict {
  const { kept, lost } = findHiddenEdits(index, row, item);
  const cause = 'not sent, because its column is gone and the row is left alone';
  return join(noteLost(index, item, { ...kept, ...lost }, cause), { outboxDropped: [item.key] });
}

/**
 * Leaves a row alone until something changes. What was taken from it before and not sent yet is decided anew when it goes on. What a user
 * takes back is no edit of the row: the CRM gets it now, and the row follows then.
 */
export function leaveAlone(index: TabIndex, { row, id }: BoundRow): Verdict {
  const { entity, outbox } = index;
  const item = outbox.get(id);
  const kept = [{ entity, id }];
  const isLetGo = item?.state === 'waiting' && !item.isUndo;
  return join(isLetGo ? letWaitingGo(index, row, item) : nothing, { kept });
}

/** A row that a user paused, most often with a checkbox: nothing is taken from it and nothing but its Sync cell is written to it. */
export function pauseRow(index: TabIndex, bound: BoundRow): Verdict {
  const state = { kind: 'held', reason: pausedReason(index) } as const;
  return join(leaveAlone(index, bound), writeRow(index, bound.row, bound.id, { state }));
}

export const pausedReason = ({ layout }: TabIndex): string =>
  `paused by its cell in “${layout.pauseHeader ?? ''}”. Untick or clear that to go on.`;
