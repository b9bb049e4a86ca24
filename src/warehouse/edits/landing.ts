import type { Mirror } from '../../core/mirror.ts';
import { claimToken, type Entity, type RecordKey, recordKeyText } from '../../core/record.ts';
import { isUnanswered, type OutboxItem } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import type { FieldName } from '../../core/value.ts';
import type { TableLayout } from '../port/layout.ts';
import type { DecidedEdits, LeftRow, RowValues } from '../port/port.ts';
import { rowIdOf, strayKey } from '../rows.ts';

/** What a write to the tables has to know of edits. */
export interface Editing {
  /** Edits of which the database is told in this write. */
  readonly untold: readonly TakenEdit[];
  readonly decided: DecidedEdits;
  /** Whether a row of the record may be written: it may be the one that a create made of which nobody knows so far. */
  mayShow(key: RecordKey): boolean;
  /** Whether its row was deleted, and that is open. */
  isDeleted(key: RecordKey): boolean;
  /** What of a row is to be written: columns whose edits are open stay as they are. */
  withoutOpen(key: RecordKey, values: RowValues, table: TableLayout): RowValues;
}

/** Returns what is known of edits for a write to these tables; at most `limit` of them are told. */
export function editingOf(mirror: Mirror, entities: readonly Entity[], limit: number): Editing {
  const isReady = ({ key, newId }: TakenEdit) => newId === undefined || entities.includes(key.entity);
  const untold = mirror.edits.readUntold(limit).filter(isReady);
  const open = mirror.edits.readOpen();
  const fields = new Map<string, Set<FieldName>>();
  const deleted = new Set<string>();
  for (const { after, ended, key, kind } of open) {
    const text = recordKeyText(key);
    if (kind === 'delete') deleted.add(text);
    else deleted.delete(text);
    const names = Object.keys(kind === 'update' ? after : {}).filter((name) => ended[name] === undefined);
    fields.set(text, new Set([...(fields.get(text) ?? []), ...names]));
  }
  const creates = mirror.readOutbox().filter((item) => item.kind === 'create' && isUnanswered(item));
  return {
    untold,
    decided: {
      known: [...new Set([...open, ...untold].map(({ editId }) => editId))],
      outcomes: untold.map(outcomeOf),
      renames: untold.flatMap(({ editId, key, newId, row }) =>
        newId === undefined ? [] : [{ editId, entity: key.entity, from: row, to: rowIdOf(key) }],
      ),
    },
    mayShow(key) {
      const seenAt = mirror.findRecord(key)?.firstSeenAt;
      return !creates.some(
        ({ key: { entity }, sentAt = 0 }) =>
          entity === key.entity && seenAt !== undefined && seenAt >= sentAt,
      );
    },
    isDeleted: (key) => deleted.has(recordKeyText(key)),
    withoutOpen(key, values, { columns }) {
      const own = fields.get(recordKeyText(key));
      if (!own || own.size === 0) return values;
      const kept = new Set(columns.filter(({ field }) => own.has(field)).map(({ name }) => name));
      return Object.fromEntries(Object.entries(values).filter(([name]) => !kept.has(name)));
    },
  };
}

const outcomeOf = ({ editId, key, newId, note, state }: TakenEdit): DecidedEdits['outcomes'][number] => ({
  editId,
  state,
  ...(note === '' ? {} : { note }),
  ...(newId === undefined ? {} : { newId: rowIdOf(key) }),
});

/**
 * Whether a step may be sent as far as its edit is concerned: a create not before the database knows that it was taken. With a mirror that was lost
 * meanwhile, or put back, nobody else could tell that it may have been sent.
 */
export function isNoted(mirror: Mirror, { key, kind }: OutboxItem): boolean {
  return kind !== 'create' || mirror.edits.find(key.id.slice(claimToken('').length))?.isTold === true;
}

/** Notes that the database knows what came of these edits, unless the row of one was left. Returns those. To be called in a transaction. `now` is epoch ms. */
export function noteTold(
  mirror: Mirror,
  { untold }: Editing,
  left: readonly LeftRow[],
  now: number,
): readonly TakenEdit[] {
  const isLeft = ({ key, newId, row }: TakenEdit) =>
    newId !== undefined && left.some(({ entity, id }) => entity === key.entity && id === row);
  const told = untold.filter((edit) => !isLeft(edit));
  for (const edit of told) mirror.edits.save({ ...edit, isTold: true, toldAt: now });
  // From now on edits of the row tell their own base.
  const open = new Set(mirror.edits.readOpen().map(({ key }) => recordKeyText(key)));
  for (const { key, newId } of told)
    if (newId !== undefined && !open.has(recordKeyText(key))) mirror.dropAgreement(key);
  return told;
}

/** Tells of a row, by the key it is found under, whether it shows an edit that is open, or one whose outcome is not there so far. */
export function editedOf(mirror: Mirror): (key: RecordKey) => boolean {
  const shown = [...mirror.edits.readOpen(), ...mirror.edits.readUntold(Number.MAX_SAFE_INTEGER)];
  const keys = new Set(
    shown.flatMap(({ key, row }) => [recordKeyText(key), recordKeyText(strayKey(key.entity, row))]),
  );
  const rows = new Set(shown.map(({ key, row }) => `${key.entity} ${row}`));
  return (key) => keys.has(recordKeyText(key)) || rows.has(`${key.entity} ${rowIdOf(key)}`);
}
