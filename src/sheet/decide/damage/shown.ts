import { idHeader, syncHeader } from '../../../core/fields/headers.ts';
import type { FieldName, Fields, Value } from '../../../core/value.ts';
import { encode } from '../../cells/codec.ts';
import { showsValue } from '../../cells/shown.ts';
import { type Cell, describeCell, emptyCell, isSameKept, isUnfilled } from '../../port/cell.ts';
import type { Damage, DamagedCell } from '../../port/damage.ts';
import type { ObservedRow, ReadTab, RowStep } from '../../port/table.ts';
import { isLike } from '../identity/likeness.ts';
import type { TabIndex } from '../tab-index.ts';

/** Whether a row has this ID, which is one. */
const hasThisId = ({ id }: ObservedRow, other: Cell = emptyCell): boolean =>
  other.kind !== 'empty' && id.kind !== 'empty' && describeCell(id) === describeCell(other);

/** Whether a row has the ID that the write put there. */
const hasWrittenId = (row: ObservedRow, { cells }: Pick<Damage, 'cells'>): boolean =>
  hasThisId(row, cells[idHeader]?.written);

/** Whether a row may be one that the write damaged: by its ID, or by all that was written where it has none. */
export function isDamaged(tab: ReadTab, row: ObservedRow, damage: Damage): boolean {
  if (damage.kind === 'deleted') return false;
  return (
    hasThisId(row, damage.id) ||
    hasWrittenId(row, damage) ||
    (row.id.kind === 'empty' && showsSync(tab, row, damage) && showsFields(row, damage, 'written'))
  );
}

/**
 * Finds the row whose ID the write emptied while a copy of it has that still: it looks like its record. Where no row has the ID, the row is
 * found as any other that lost its ID.
 */
export function createLostSearch(index: TabIndex, damage: Damage): (row: ObservedRow) => boolean {
  const hasCopy = wipesId(damage) && index.tab.rows.some((row) => hasThisId(row, damage.id));
  const agreement = hasCopy ? index.agreements.get(describeCell(damage.id)) : undefined;
  return (row) => agreement !== undefined && row.id.kind === 'empty' && isLike(index, row, agreement);
}

/** Whether the write emptied the ID cell. */
const wipesId = ({ cells, id }: Damage): boolean =>
  id.kind !== 'empty' && cells[idHeader]?.written.kind === 'empty';

function showsSync({ hasSync }: ReadTab, { sync }: ObservedRow, { cells }: Damage): boolean {
  const { [syncHeader]: damaged } = cells;
  return !hasSync || damaged === undefined || isSameKept(sync, damaged.written);
}

/** Whether a row shows what was in all of its fields after the write, or before it. Empty cells alone are nothing to know it by. */
function showsFields({ cells }: ObservedRow, damage: Damage, side: 'before' | 'written'): boolean {
  const known = Object.entries(damage.cells).filter(([name]) => name in cells);
  return (
    known.some(([, cell]) => cell[side].kind !== 'empty') &&
    known.every(([name, cell]) => isSameKept(cells[name], cell[side]))
  );
}

/** Whether a row shows again what was undone there, as after a user's own undo, and neither side has that by right. */
export function showsAgain(index: TabIndex, row: ObservedRow, { cells, id, kind }: Damage): boolean {
  if (kind !== 'overwritten') return false;
  // Another row that is like this one is a new one of a user.
  if (row.id.kind === 'empty') return id.kind === 'empty';
  return wrongFields(index, row, { cells }).length > 0;
}

/** The fields of a row that show what was written there, and neither side has that by right. */
function wrongFields(index: TabIndex, row: ObservedRow, { cells }: Pick<Damage, 'cells'>): FieldName[] {
  const { agreed, created, inCrm = {}, offered, shown } = knownOf(index, row);
  return Object.entries(cells).flatMap(([name, { written }]) => {
    const [field, cell] = [index.fields.get(name), row.cells[name]];
    // A user's chip or array formula has replaced what was written.
    if (!field || !cell || !isSameKept(written, cell)) return [];
    const isRight = (value: Value | undefined) =>
      value !== undefined &&
      (showsValue(field, value, cell, index.names, shown[name]) ||
        // A box that is not ticked says no, or nothing.
        (isUnfilled(cell) && (value === null || value === false)));
    return [agreed, offered, inCrm, created].some((side) => isRight(side[name])) ? [] : [name];
  });
}

/** What is known of the record of a row, or of the one that is to be created from it. */
function knownOf({ agreements, outbox, records }: TabIndex, row: ObservedRow) {
  const ownId = describeCell(row.id);
  const item = outbox.get(ownId);
  const recordId = item?.recordId ?? ownId;
  const { fields: agreed = {}, offered = {}, shown = {} } = agreements.get(recordId) ?? {};
  const created = item?.kind === 'create' ? item.fields : {};
  return { agreed, created, inCrm: records.get(recordId)?.fields, offered, shown };
}

/** Whether a read shows nothing of an escalated write. Of users' own columns, and of those that are gone, it shows nothing for certain. */
export function showsNothing(index: TabIndex, rows: readonly ObservedRow[], damage: Damage): boolean {
  const { tab } = index;
  const { id, kind, own } = damage;
  if (kind === 'deleted') return isBack(tab, damage);
  const mayShowOwn = Object.keys(own).length > 0 && (id.kind === 'empty' || rows.length > 0);
  const lacksId = wipesId(damage) && rows.some((row) => row.id.kind === 'empty');
  // A row that is gone for a moment may be cut, and come back. Its Sync cell alone is then written anew.
  const isAway =
    kind === 'overwritten' &&
    id.kind !== 'empty' &&
    !hasOnlySync(damage) &&
    !rows.some((row) => hasThisId(row, id));
  if (!isRead(tab, damage) || mayShowOwn || lacksId || isAway) return false;
  // Of a row under wrong columns some cells may have been put right, and others not. One that was not seen may have had the same by right.
  const isWrong = (row: ObservedRow) => wrongFields(index, row, damage).length > 0;
  if (damage.isUnseen) return !rows.some((row) => hasThisId(row, id) && isWrong(row));
  return !rows.some((row) =>
    kind === 'added' ? isAdded(row, damage) || isWrong(row) : showsAny(row, damage),
  );
}

const hasOnlySync = ({ cells, own }: Damage): boolean =>
  Object.keys(own).length === 0 && Object.keys(cells).every((name) => name === syncHeader);

/** Whether the columns are there in which the damage would show. */
export const isRead = ({ fields }: ReadTab, { cells }: Damage): boolean =>
  Object.keys(cells).every((name) => name === idHeader || name === syncHeader || fields.has(name));

/** Whether a deleted row is there again. */
export const isBack = ({ rows }: ReadTab, damage: Damage): boolean =>
  rows.some((row) =>
    damage.id.kind === 'empty' ? showsFields(row, damage, 'before') : hasThisId(row, damage.id),
  );

/** Whether a row that came under the wrong columns is as it was written. */
export const isAdded = (row: ObservedRow, damage: Damage): boolean =>
  Object.entries(damage.cells).every(
    ([name, { written }]) => !(name in row.cells) || isSameKept(row.cells[name], written),
  );

const showsAny = (row: ObservedRow, damage: Damage): boolean =>
  hasWrittenId(row, damage) ||
  Object.entries(damage.cells).some(([name, cell]) => stillShows(row, name, cell));

const stillShows = ({ cells }: ObservedRow, name: string, { written }: DamagedCell): boolean =>
  name in cells && isSameKept(cells[name], written);

/** The row as it was before the write: what still shows what was written has what was there. */
export function rowBefore(row: ObservedRow, damage: Damage): ObservedRow {
  const { cells, id, isUnseen } = damage;
  if (isUnseen) return row;
  const { [idHeader]: damagedId } = cells;
  const before = pickBefore(damage, (name, cell) => stillShows(row, name, cell));
  const isWrittenId = damagedId !== undefined && isSameKept(row.id, damagedId.written);
  return { ...row, id: isWrittenId ? id : row.id, cells: { ...row.cells, ...before } };
}

/** The row that the write deleted, as it was then; `undefined` where it is there again. */
export function deletedRow(tab: ReadTab, damage: Damage): ObservedRow | undefined {
  if (damage.kind !== 'deleted' || isBack(tab, damage)) return undefined;
  const blank = Object.fromEntries([...tab.fields].map((name) => [name, emptyCell]));
  const cells = { ...blank, ...pickBefore(damage, (name) => tab.fields.has(name)) };
  return { position: -1, id: damage.id, sync: emptyCell, cells };
}

/** A step that puts back what was there, and the row where it does. */
export interface Restore {
  readonly row?: ObservedRow;
  readonly write: RowStep;
  /** What the record of the row has, where the row is to show that. */
  readonly offers?: Fields;
}

/** Finds how to put back what was there, in the `rows` that may be damaged; nothing where nothing of it is left. */
export function findRestores(
  index: TabIndex,
  damage: Damage,
  rows: readonly ObservedRow[],
): readonly Restore[] {
  const { tab } = index;
  const { entity, id, kind } = damage;
  if (kind === 'deleted') {
    if (isBack(tab, damage)) return [];
    const cells = pickBefore(damage, (name, { before }) => tab.fields.has(name) && before.kind !== 'empty');
    const write = { kind: 'append', entity, cells, ...ownOf(damage) } as const;
    return [{ write: id.kind === 'empty' ? write : { ...write, id } }];
  }
  if (kind === 'added') return rows.flatMap((row) => takeBackAdded(index, damage, row));
  const restore = (row: ObservedRow) =>
    damage.isUnseen ? showRecord(index, { ...damage, own: {} }, row) : restoreRow(damage, row);
  return findOverwritten(damage, rows).flatMap(restore);
}

/** Deletes a row that came under the wrong columns. Where a user has worked in it since, it stays. */
function takeBackAdded(index: TabIndex, damage: Damage, row: ObservedRow): Restore[] {
  if (!isAdded(row, damage)) return showRecord(index, damage, row);
  const write = { kind: 'delete', entity: damage.entity, position: row.position, idSeen: row.id } as const;
  return [{ row, write }];
}

/** Shows what the record of a row has in place of what is wrong there: an emptied cell would pass for what a user means. */
function showRecord(index: TabIndex, damage: Damage, row: ObservedRow): Restore[] {
  const { entity } = damage;
  const place = { entity, position: row.position, idSeen: row.id };
  const { created, inCrm = created } = knownOf(index, row);
  const cells: Record<FieldName, Cell> = {};
  const offers: Record<FieldName, Value> = {};
  for (const name of wrongFields(index, row, damage)) {
    const [field, value] = [index.fields.get(name), inCrm[name]];
    cells[name] = field && value !== undefined ? encode(field, value, index.names) : emptyCell;
    if (field && value !== undefined) offers[name] = value;
  }
  const own = ownOf(damage);
  if (Object.keys(cells).length === 0 && !own.own) return [];
  return [{ row, write: { kind: 'set', ...place, cells, ...own }, offers }];
}

/**
 * The rows that were overwritten: by their ID or, where that was none or was overwritten as well, by the rest. Of rows with the ID that was
 * written one may have it by right.
 */
function findOverwritten(damage: Damage, rows: readonly ObservedRow[]): readonly ObservedRow[] {
  const wiped = wipesId(damage) ? rows.filter(({ id }) => id.kind === 'empty') : [];
  if (wiped.length === 1) return wiped;
  const own = rows.filter((row) => hasThisId(row, damage.id));
  if (own.length > 0 || (damage.id.kind !== 'empty' && !damage.cells[idHeader])) return own;
  const given = rows.filter((row) => hasWrittenId(row, damage));
  return rows.filter((row) => !given.includes(row) || given.length === 1);
}

function restoreRow(damage: Damage, row: ObservedRow): Restore[] {
  const { cells: damaged, entity } = damage;
  const { [idHeader]: id, [syncHeader]: sync } = damaged;
  const cells = pickBefore(damage, (name, cell) => stillShows(row, name, cell));
  const rest = {
    cells,
    ...ownOf(damage),
    ...(id && isSameKept(row.id, id.written) ? { id: id.before } : {}),
  };
  if (Object.keys(cells).length === 0 && !('id' in rest) && !('own' in rest)) return [];
  const hasSync = sync !== undefined && isSameKept(row.sync, sync.written);
  const write = { kind: 'set', entity, position: row.position, idSeen: row.id, ...rest } as const;
  return [{ row, write: hasSync ? { ...write, sync: sync.before } : write }];
}

const pickBefore = ({ cells }: Damage, isWanted: (name: string, cell: DamagedCell) => boolean) =>
  Object.fromEntries(
    Object.entries(cells)
      .filter(([name, cell]) => isWanted(name, cell))
      .map(([name, { before }]) => [name, before]),
  );

const ownOf = ({ own }: Damage): Partial<Pick<Damage, 'own'>> => (Object.keys(own).length > 0 ? { own } : {});
