import { journalEntry } from '../../../core/journal-entry.ts';
import type { RecordId, RecordKey } from '../../../core/record.ts';
import type { JournalEntry } from '../../../core/state.ts';
import type { FieldName, Fields } from '../../../core/value.ts';
import { idCell } from '../../cells/shown.ts';
import { type RowState, syncText } from '../../cells/sync-text.ts';
import { type Cell, describeCell, equalCells, textCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { BoundRow } from '../identity/bind.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';

/** An ID for a row that does not show it: of a record that was just created, or one that the row had lost, with what the journal says of that. */
export interface GivenId {
  readonly id: RecordId;
  readonly cause?: string | undefined;
}

/** Leaves a row alone and says why; `decision` is the scope under which a person may answer. */
export function holdRow(index: TabIndex, { row, id }: BoundRow, reason: string, decision?: string): Verdict {
  const { entity } = index;
  const hold = { entity, id, position: row.position, reason, ...(decision ? { decision } : {}) };
  return join({ holds: [hold] }, writeRow(index, row, id, { state: { kind: 'held', reason } }));
}

/** What to write into a row that exists. */
interface RowWrite {
  readonly state: RowState;
  readonly given?: GivenId | undefined;
  readonly cells?: Readonly<Record<FieldName, Cell>>;
  readonly offers?: Fields;
  readonly notice?: string;
  readonly noticed?: readonly FieldName[] | undefined;
  /** Values that a person put in place of both sides' own: nothing is agreed of them yet. */
  readonly typed?: Fields | undefined;
  readonly replaced?: Fields;
  readonly lost?: Fields;
  /** What stood in cells that only show the CRM's value: the CRM never had it, and nothing was decided about it. */
  readonly covered?: Fields;
  /** Why, where that is not plain from the rest. */
  readonly cause?: string | undefined;
  /** Values of the record that will be created from the row. */
  readonly creates?: Fields;
}

/** Plans the write of a row: only what differs, and nothing at all when nothing does. */
export function writeRow(index: TabIndex, row: ObservedRow, id: RecordId, write: RowWrite): Verdict {
  const { entity, names, tab } = index;
  const key = { entity, id };
  const sync = textCell(syncText(write.state, names.timeZone));
  const hasNewSync = tab.hasSync && !equalCells(row.sync, sync);
  const cells = write.cells ?? {};
  if (!hasNewSync && !write.given && Object.keys(cells).length === 0) return nothing;
  const step = {
    write: {
      kind: 'set' as const,
      entity,
      position: row.position,
      idSeen: row.id,
      cells,
      ...(hasNewSync ? { sync } : {}),
      ...(write.given ? { id: idCell(write.given.id) } : {}),
    },
    key,
    offers: write.offers ?? {},
    notice: write.notice ?? '',
    ...(write.noticed ? { noticed: write.noticed } : {}),
    ...(write.creates ? { creates: write.creates } : {}),
    ...(write.replaced || write.given?.cause ? { journal: entryOf(index, key, write) } : {}),
  };
  return { table: [step] };
}

function entryOf({ input }: TabIndex, key: RecordKey, write: RowWrite): JournalEntry {
  const { covered, given, lost = {}, offers = {}, replaced = {}, typed } = write;
  const change = Object.keys(lost).length > 0 ? 'conflict: the CRM wins' : 'changed in the CRM';
  return journalEntry(input, key, {
    kind: given?.cause ? 'repair' : 'update',
    before: replaced,
    after: { ...offers, ...typed },
    lost: { ...covered, ...lost },
    cause: given?.cause ?? write.cause ?? (typed ? 'conflict: another value was chosen' : change),
  });
}

/** Said at a row that was just claimed. */
export const creating = { kind: 'pending', what: 'to be created in the CRM' } as const;

/** Claims a row for the record that is to be created from it: a fresh token stands for its ID until it has one. */
export function claimRow(index: TabIndex, row: ObservedRow, creates: Fields): Verdict {
  const id = index.input.newToken();
  return writeRow(index, row, id, { given: { id }, state: creating, creates });
}

/** Says that a row is decided once it rests, because a user may still be typing there; `undefined` where it rests. */
export const findUnsettled = ({ entity, input }: TabIndex, row: ObservedRow): Verdict | undefined =>
  input.isRestless(entity, row) ? { unsettled: [describeCell(row.id)] } : undefined;
