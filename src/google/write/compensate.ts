import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import { bareCell, type Cell, emptyCell, isComputed, isSameKept, isUnfilled } from '../../sheet/port/cell.ts';
import type { Damage, DamagedCell } from '../../sheet/port/damage.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import type { StepEnd } from '../../sheet/port/table.ts';
import { type GridDamage, headerOf, idOf, isBlank, ownCellsOf } from './judge.ts';
import {
  fromLeft,
  isSameId,
  isSameRow,
  overlay,
  type PlacedCell,
  type PlannedStep,
  type Row,
} from './planned.ts';
import type { Ends } from './receipt.ts';
import { type Seen, type SeenTab, seeTabs } from './seen-tab.ts';

/** How damage is undone. Steps of the write that turn out to have done what they should are done, and damage of which nothing is left is undone. */
export interface Compensation extends Ends {
  readonly steps: readonly PlannedStep[];
  /** By the number of each of these steps. */
  readonly damageOf: ReadonlyMap<number, GridDamage>;
}

/** Plans how to undo damage in the tabs as they are now. `hasCopies`: the hidden tab that keeps the rows is there. */
export function compensate(
  damage: readonly GridDamage[],
  tabs: ReadonlyMap<TabKind, SeenTab>,
  hasCopies: boolean,
): Compensation {
  const steps: PlannedStep[] = [];
  const damageOf = new Map<number, GridDamage>();
  const done = new Map<number, StepEnd>();
  const undone: GridDamage[] = [];
  const escalated: Damage[] = [];
  const see = seeTabs(tabs);
  const named = damage.flatMap((one) => {
    const seen = see(one);
    return seen ? nameTaken(nameMet(one, seen), damage, seen) : one;
  });
  for (const each of named) {
    const seen = see(each);
    const way = seen && !each.isUnseen ? findWay(each, seen, hasCopies, damage) : 'lost';
    if (way === 'lost') escalated.push(toDamage(each));
    else if (way === 'right') done.set(each.number, doneAs(each));
    else if (way === 'nothing left') undone.push(each);
    else {
      const { left, ...step } = way;
      const number = steps.length;
      damageOf.set(number, each);
      const placed = fromLeft(step.placed);
      steps.push({ number, entity: each.entity, restores: true, ...step, placed });
      if (left) escalated.push(left);
    }
  }
  return { steps, damageOf, done, undone, escalated };
}

/** The end of a step that did what it should. What a row had that no copy was made of is as it was read. */
const doneAs = (one: GridDamage): StepEnd => ({
  edited: [],
  ...(one.kind === 'deleted' && one.right && ownCellsOf(one, one.right)),
});

/**
 * A delete of which nothing was kept, and that has left its own row, took another one that a filter hid: one that was read before and is
 * gone, and that no delete was meant for. Returns these rows as damage, or the delete as it is where none is missing.
 */
function nameTaken(one: GridDamage, damage: readonly GridDamage[], seen: Seen): GridDamage[] {
  // What is in its place in the hidden tab is no copy of it.
  const { right, source: _, ...rest } = one;
  if (one.kind !== 'deleted' || !right) return [one];
  const meant = damage.flatMap((other) =>
    other.kind === 'deleted' && other.entity === one.entity && other.right ? [other] : [],
  );
  // Of several such deletes the first one names the rows for all.
  if (!seen.has(right) || meant[0] !== one) return [one];
  const isMeant = (row: Row) =>
    meant.some(({ names, right: own = [] }) => isSameId(idOf(own, names), idOf(row, names)));
  const { isPlanned = () => false, unseen = [] } = seen.tab;
  const missing = unseen.filter(
    (row) => !row.every(isUnfilled) && !seen.has(row) && !isMeant(row) && !isPlanned(row),
  );
  return missing.length === 0 ? [one] : missing.map((before) => ({ ...rest, before }));
}

/**
 * Names the row that a set has met while a filter hid it: the one in its place, if that shows what was written and has another ID than the
 * right row, which may show the same because of another write. Returns the damage with that ID, or as it is where no row is named.
 */
function nameMet(one: GridDamage, seen: Seen): GridDamage {
  const { expected, kind, names, placed, right } = one;
  if (kind !== 'overwritten' || !right || expected < 1) return one;
  // A row that has nothing but what was written was blank before, and is the one that was met.
  const after = overlay(one.before, placed);
  if (!isBlank(after) && isShown(after, seen)) return one;
  const row = seen.rowAt(expected);
  const [id, ownId] = [idOf(row, names), idOf(right, names)];
  const fields = placed.filter(({ column }) => names.get(column) !== syncHeader);
  const showsAll = fields.length > 0 && fields.every(({ cell, column }) => isSameKept(cell, row[column]));
  if (!showsAll || id.kind === 'empty' || isSameId(id, ownId)) return one;
  const before = row.map((_, column) => (names.get(column) === idHeader ? id : emptyCell));
  return { ...one, before, isUnseen: true };
}

/** Whether a row holds the same in all columns. */
const isShown = (wanted: Row, { find }: Seen): boolean =>
  find(wanted, (row) => isSameRow(wanted, row)).length > 0;

/** An inverse step, and what it leaves as it is. */
type Way = Pick<PlannedStep, 'kind' | 'position' | 'placed' | 'read' | 'isShared'> & {
  readonly left?: Damage;
};

/**
 * `lost`: no row, or more than one, may be the damaged one, or a user has worked in a new one. `right`: the step has reached its own row.
 * `nothing left`: a user has changed all of it since.
 */
function findWay(
  damage: GridDamage,
  seen: Seen,
  hasCopies: boolean,
  all: readonly GridDamage[],
): Way | 'lost' | 'right' | 'nothing left' {
  const { columnNow, rowAt, tab } = seen;
  // Another step may have taken the right row by mistake: it comes back.
  const comesBack = ({ before, kind, right }: GridDamage) =>
    kind === 'deleted' && !right && isSameRow(before, damage.right ?? []);
  if (damage.kind === 'deleted' && damage.right && all.some(comesBack)) return 'nothing left';
  if (damage.kind === 'deleted') return insertAgain(damage, seen, hasCopies);
  const { right } = damage;
  const after = overlay(damage.before, damage.placed);
  // The right row may show the same because of another write: then a blank row has nothing but what was written, if anything was.
  const isBlankHit = right !== undefined && isShown(after, seen);
  if (right && (isBlank(after) || !isBlankHit) && isShown(right, seen)) return 'right';
  const position = locate(damage, after, seen);
  if (position === undefined) return damage.kind === 'added' ? 'nothing left' : 'lost';
  // A row that a filter hid had more than what is known of it.
  if (right && !isBlankHit) return 'lost';
  const row = rowAt(position);
  const read = tab.rows[position] ?? [];
  // What a user has put beside it since stays, in a row of its own.
  if (damage.kind === 'added' && isSameButSync(after, row, damage))
    return { kind: 'delete', position, placed: [], read };
  // Without its ID what a user typed there would pass for a new record.
  if (damage.kind === 'added' && isTypedInto(row, after, damage)) return 'lost';
  const left = damage.placed.filter(
    ({ cell, column }) => isSameKept(row[column], cell) && !isSameCell(cell, damage.before[column]),
  );
  const isHidden = tab.hiddenRows.has(position);
  const source = isHidden || !hasCopies ? undefined : damage.source;
  const canRestore = ({ column }: PlacedCell) =>
    columnNow(column) >= 0 && (source !== undefined || !isComputed(damage.before[column] ?? emptyCell));
  const placed = left.filter(canRestore).map((cell) => restored(cell.column, damage, tab, columnNow, source));
  const lost = left.filter((cell) => !canRestore(cell));
  if (placed.length === 0) return lost.length > 0 ? 'lost' : 'nothing left';
  return {
    kind: 'set',
    position,
    placed,
    read,
    ...(lost.length > 0 ? { left: toDamage({ ...damage, placed: lost }) } : {}),
  };
}

/** Whether a user has changed what a row shows of its record. */
const isTypedInto = (row: Row, after: Row, { names }: GridDamage): boolean =>
  [...names].some(([column, name]) => name !== syncHeader && !isSameKept(after[column], row[column]));

/** The cell that was there before, at its place now. */
function restored(
  column: number,
  { before, names }: GridDamage,
  { columns }: SeenTab,
  columnNow: (column: number) => number,
  source: number | undefined,
): PlacedCell {
  const kind = columns.fields.get(names.get(column) ?? '')?.kind;
  return {
    column: columnNow(column),
    cell: bareCell(before[column] ?? emptyCell),
    ...(kind ? { kind } : {}),
    ...(source === undefined ? {} : { from: { row: source, column } }),
  };
}

/**
 * Finds the row that was hit: in its place, where that shows exactly what the write left; else the one row with the ID that it has since, or
 * the one row that shows exactly that.
 */
function locate(damage: GridDamage, after: Row, { find, rowAt }: Seen): number | undefined {
  const { before, expected, names, placed } = damage;
  if (expected > 0 && isSameButSync(after, rowAt(expected), damage)) return expected;
  const id = idOf(after, names);
  const onlyOne = (isWanted: (row: Row) => boolean) => {
    const [found, ...others] = find(after, isWanted);
    return others.length === 0 ? found : undefined;
  };
  const named = onlyOne((row) => isSameId(idOf(row, names), id));
  if (named !== undefined) return named;
  // Blank rows are many, and all the same.
  if (placed.every(({ cell }) => isUnfilled(cell)) && before.every(isUnfilled)) return undefined;
  return onlyOne((row) => isSameButSync(after, row, damage));
}

/** Whether two rows hold the same; a Sync text may have come since. */
export const isSameButSync = (one: Row, other: Row, { names }: GridDamage): boolean => {
  const isSync = (_: Cell, column: number) => names.get(column) !== syncHeader;
  return isSameRow(one.filter(isSync), other.filter(isSync));
};

/** Whether nothing changed: here a no is something else than nothing, and a formula something else than another. */
const isSameCell = (one: Cell, other: Cell = emptyCell): boolean =>
  isExact(one) || isExact(other)
    ? JSON.stringify(bareCell(one)) === JSON.stringify(bareCell(other))
    : isSameKept(one, other);

const isExact = (cell: Cell): boolean => cell.kind === 'boolean' || isComputed(cell);

/** A deleted row comes back below the last one: an insert hits nothing. */
function insertAgain(
  damage: GridDamage,
  { columnNow, has, tab }: Seen,
  hasCopies: boolean,
): Way | 'lost' | 'right' | 'nothing left' {
  const { before, right, source } = damage;
  if (right) return has(right) ? 'nothing left' : 'right';
  const copy = hasCopies ? source : undefined;
  const placed = before.flatMap((cell, column) =>
    cell.kind === 'empty' || columnNow(column) < 0 ? [] : restored(column, damage, tab, columnNow, copy),
  );
  if (copy === undefined && placed.some(({ cell }) => isComputed(cell))) return 'lost';
  return { kind: 'append', position: -1, placed, read: [] };
}

/** Damage in the terms of records and headers. */
export function toDamage(damage: GridDamage): Damage {
  const { before, entity, headers, isUnseen, kind, names, placed } = damage;
  const cells: Record<string, DamagedCell> = {};
  const own: Record<string, DamagedCell> = {};
  const written = new Map(placed.map(({ cell, column }) => [column, cell]));
  const columns = kind === 'deleted' ? before.keys() : written.keys();
  for (const column of columns) {
    const cell = {
      written: bareCell(written.get(column) ?? emptyCell),
      before: bareCell(kind === 'added' ? emptyCell : (before[column] ?? emptyCell)),
    };
    if (!isUnseen && isSameCell(cell.written, cell.before)) continue;
    const name = names.get(column);
    if (name === undefined) own[headerOf(headers, column)] = cell;
    else cells[name] = cell;
  }
  const id = idOf(kind === 'added' ? [] : before, names);
  return { entity, kind, id, cells, own, ...(isUnseen ? { isUnseen } : {}) };
}
