import type { RecordKey } from '../../core/record.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { type Fields, pickFields } from '../../core/value.ts';
import type { WarehouseLink } from '../link.ts';
import type { TableLayout } from '../port/layout.ts';
import { rowIdOf } from '../rows.ts';

/** What a row has otherwise than its record; nothing in `lost` where the row is missing. */
export interface Unlogged {
  readonly kind: 'missing' | 'extra' | 'different';
  readonly key: RecordKey;
  /** What the CRM has. */
  readonly after: Fields;
  /** What the row has in its place. */
  readonly lost: Fields;
}

const note = 'What notes edits was off for a time: nobody knows whether a user meant this.';

/** The name of an edit that the database did not note. */
export const unnotedId = (word: string): string =>
  `00000000-0000-4000-8000-${word.replaceAll('-', '').slice(-12).padStart(12, '0')}`;

/**
 * Keeps as edits to be asked about what a table shows otherwise, where edits were not noted for a time. Returns the rest: what no user can
 * change, and rows without a record. To be called in a transaction.
 */
export function keepUnlogged<Drift extends Unlogged>(
  { clock, mirror, newWord }: WarehouseLink,
  { columns }: TableLayout,
  drifts: readonly Drift[],
): readonly Drift[] {
  const editable = columns.filter(({ editing }) => editing && !editing.isFixed);
  const fields = editable.map(({ field }) => field);
  const written = editable.filter(({ editing }) => !editing?.isReadOnly).map(({ field }) => field);
  return drifts.filter(({ after, key, kind, lost }) => {
    const changed = pickFields(lost, written);
    if (kind === 'extra' || (kind === 'different' && Object.keys(changed).length === 0)) return true;
    const edit: TakenEdit = {
      editId: unnotedId(newWord()),
      key,
      row: rowIdOf(key),
      kind: kind === 'missing' ? 'delete' : 'update',
      before: pickFields(after, kind === 'missing' ? fields : Object.keys(changed)),
      after: kind === 'missing' ? {} : changed,
      ended: {},
      by: '',
      at: clock.now(),
      state: 'held',
      note,
      isMeant: false,
      isUnlogged: true,
      isTold: true,
    };
    mirror.edits.save(edit);
    return false;
  });
}
