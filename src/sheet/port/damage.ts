import { idHeader } from '../../core/fields/headers.ts';
import type { Suspect as KeptSuspect } from '../../core/open-write.ts';
import type { RecordId } from '../../core/record.ts';
import type { FieldName } from '../../core/value.ts';
import { type Cell, describeCell, emptyCell } from './cell.ts';
import type { TabKind } from './layout.ts';

/** A cell that a write reached by mistake. */
export interface DamagedCell {
  readonly written: Cell;
  readonly before: Cell;
}

/** What a misdirected write did to one row, because a user moved rows or columns between the read and the write planned from it. */
export interface Damage {
  readonly entity: TabKind;
  /**
   * `overwritten`: cells of a row that is not the write's own, or under other columns. `deleted`: a row that was not meant, or that a user
   * edited at that moment; `written` is empty in all of its cells. `added`: a new row of ours under other columns; `before` is empty.
   */
  readonly kind: 'overwritten' | 'deleted' | 'added';
  /** The ID cell of the row before the write: it says whose row it is. */
  readonly id: Cell;
  /** By field, and by their headers those of the ID and the Sync cell. */
  readonly cells: Readonly<Record<FieldName, DamagedCell>>;
  /** By the header of a column that is a user's own. */
  readonly own: Readonly<Record<string, DamagedCell>>;
  /** A filter hid the row, so that only its ID is known: `before` is empty in all cells. */
  readonly isUnseen?: true;
}

/** A damage that deciding has to know of. */
export interface Suspect extends KeptSuspect {
  readonly damage: Damage;
}

/** The IDs by which rows of a tab are found that writes may have damaged. */
export const suspectIds = (suspects: readonly Suspect[], tab: TabKind): ReadonlySet<RecordId> =>
  new Set(suspects.flatMap(({ damage }) => (damage.entity === tab ? idsIn(damage) : [])));

const idsIn = ({ cells, id }: Damage): RecordId[] =>
  [id, cells[idHeader]?.before, cells[idHeader]?.written].flatMap((cell = emptyCell) =>
    cell.kind === 'empty' ? [] : describeCell(cell),
  );

/** Whether any row, also one with another ID, may show that the damage is over: what a deleted row without an ID had may be there since. */
export const mayShowInAnyRow = ({ id, kind }: Damage): boolean => kind === 'deleted' && id.kind === 'empty';

/** For how long after an undo a user's own undo may bring the damage back. */
export const watchMs = 180_000;
