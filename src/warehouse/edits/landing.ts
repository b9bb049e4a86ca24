import type { Mirror } from '../../core/mirror.ts';
import { once } from '../../core/once.ts';
import { claimToken, type Entity, type RecordKey, recordKeyText } from '../../core/record.ts';
import { isUnanswered, type OutboxItem } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import type { FieldName } from '../../core/value.ts';
import type { TableLayout } from '../port/layout.ts';
import type { DecidedEdits, LeftRow, RowId, RowValues } from '../port/port.ts';
import { rowIdOf, strayKey } from '../rows.ts';

/** What a write to the tables has to know of edits. */
export interface Editing {
  /** Edits of which the database is told in this write. */
  readonly untold: readonly TakenEdit[];
  /** What the database has to know of edits where the rows of these records are written. */
  decidedFor(keys: readonly RecordKey[]): DecidedEdits;
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
  const findCreates = once(() =>
    mirror.readOutbox().filter((item) => item.kind === 'create' && isUnanswered(item)),
  );
  const knownOf = (key: RecordKey, row: RowId) => [
    ...mirror.edits.findOpen(key),
    ...mirror.edits.findOpenOfRow(key.entity, row),
  ];
  return {
    untold,
    decidedFor(keys) {
      const made = untold.filter(({ newId }) => newId !== undefined);
      const known = [
        ...untold,
        ...keys.flatMap((key) => knownOf(key, rowIdOf(key))),
        ...made.flatMap(({ key, row }) => knownOf(key, row)),
      ];
      return {
        known: [...new Set(known.map(({ editId }) => editId))],
        outcomes: untold.map(outcomeOf),
        renames: made.map(({ editId, key, row }) => ({
          editId,
          entity: key.entity,
          from: row,
          to: rowIdOf(key),
        })),
      };
    },
    mayShow(key) {
      const seenAt = mirror.findRecord(key)?.firstSeenAt;
      return !findCreates().some(
        ({ key: { entity }, sentAt = 0 }) =>
          entity === key.entity && seenAt !== undefined && seenAt >= sentAt,
      );
    },
    isDeleted: (key) => mirror.edits.findOpen(key).at(-1)?.kind === 'delete',
    withoutOpen(key, values, { columns }) {
      const own = new Set(mirror.edits.findOpen(key).flatMap(openFields));
      if (own.size === 0) return values;
      const kept = new Set(columns.filter(({ field }) => own.has(field)).map(({ name }) => name));
      return Object.fromEntries(Object.entries(values).filter(([name]) => !kept.has(name)));
    },
  };
}

/** The fields that an edit has changed, and of which nothing has come. */
const openFields = ({ after, ended, kind }: TakenEdit): readonly FieldName[] =>
  kind === 'update' ? Object.keys(after).filter((name) => ended[name] === undefined) : [];

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
  // From now on edits of the row have a base of their own.
  for (const { key, newId } of told)
    if (newId !== undefined && mirror.edits.findOpen(key).length === 0) mirror.dropAgreement(key);
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
