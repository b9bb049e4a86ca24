import { idHeader, syncHeader } from '../../../core/fields/headers.ts';
import { isSameKept } from '../../port/cell.ts';
import type { Damage, DamagedCell } from '../../port/damage.ts';
import type { ObservedRow, ReadTab, RowStep } from '../../port/table.ts';
import { hasThisId, hasWrittenId, isAdded, isBack, wipesId } from './shown.ts';

/** A step that puts back what was there, and the row where it does. */
export interface Restore {
  readonly row?: ObservedRow;
  readonly write: RowStep;
}

/** Finds how to put back what was there, in the `rows` that may be damaged; nothing where nothing of it is left. */
export function findRestores(tab: ReadTab, damage: Damage, rows: readonly ObservedRow[]): readonly Restore[] {
  const { entity, id, kind } = damage;
  if (kind === 'deleted') {
    if (isBack(tab, damage)) return [];
    const cells = pickBefore(damage, (name, { before }) => tab.fields.has(name) && before.kind !== 'empty');
    const write = { kind: 'append', entity, cells, ...ownOf(damage) } as const;
    return [{ write: id.kind === 'empty' ? write : { ...write, id } }];
  }
  if (kind === 'overwritten') return findOverwritten(damage, rows).flatMap((row) => restoreRow(damage, row));
  return rows
    .filter((row) => isAdded(row, damage))
    .map((row) => ({ row, write: { kind: 'delete', entity, position: row.position, idSeen: row.id } }));
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
  const cells = pickBefore(
    damage,
    (name, { written }) => name in row.cells && isSameKept(row.cells[name], written),
  );
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

const pickBefore = (
  { cells }: Damage,
  isWanted: (name: string, cell: DamagedCell) => boolean,
): RowStepCells =>
  Object.fromEntries(
    Object.entries(cells)
      .filter(([name, cell]) => isWanted(name, cell))
      .map(([name, { before }]) => [name, before]),
  );

type RowStepCells = Extract<RowStep, { kind: 'append' }>['cells'];

const ownOf = ({ own }: Damage): Partial<Pick<Damage, 'own'>> => (Object.keys(own).length > 0 ? { own } : {});
