import { bareCell, type Cell, emptyCell, textCell } from '../core/cell.ts';
import type { Damage, DamagedCell } from '../core/damage.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import { isSameKept } from '../core/kept-cell.ts';
import { type TabKind, tabKinds } from '../core/layout.ts';
import type { WriteResult } from '../core/table.ts';
import { rowRange } from './a1.ts';
import { meetColumns } from './met-columns.ts';
import type { PlannedTab, Row } from './planned.ts';
import type { EarlierWrite } from './receipt.ts';
import { keptFields, readMarked } from './shadow.ts';
import { nothing, type Surroundings } from './undo.ts';

/** A row as an earlier version kept it. */
interface KeptRow {
  readonly id: Cell;
  readonly sync: Cell;
  readonly cells: Readonly<Record<string, Cell>>;
  readonly place: { readonly headers: readonly string[]; readonly cells: readonly Cell[] };
}

interface Step {
  readonly slot: number;
  readonly entity: TabKind;
  readonly idSeen: Cell;
  readonly id?: Cell;
  readonly sync?: Cell;
  readonly cells?: Readonly<Record<string, Cell>>;
  readonly was?: Readonly<Record<string, Cell>>;
  readonly others?: readonly { readonly column: number; readonly written: Cell }[];
  readonly kept?: KeptRow;
}

interface Earlier {
  readonly outcome: 'unknown' | 'landed' | 'answered';
  readonly keeping: { readonly run: string; readonly from: number };
  readonly height: number;
  readonly places?: Readonly<
    Partial<Record<TabKind, { headers: string[]; columns: Record<string, number> }>>
  >;
  readonly sets: readonly Step[];
  readonly deletes: readonly Step[];
}

/**
 * Ends a write of an earlier version. What it is known to have done to other rows is escalated; of one without a reply that is found out by
 * what the hidden tab still keeps.
 */
export async function escalateEarlier({ earlier }: EarlierWrite, around: Surroundings): Promise<WriteResult> {
  const write = earlier as Earlier;
  const { deletes, outcome, sets } = write;
  const rows = outcome === 'unknown' ? await readRows(write, around) : new Map<number, KeptRow>();
  const keptOf = (step: Step) => (outcome === 'answered' ? step.kept : rows.get(step.slot));
  const isOwn = (step: Step, kept: KeptRow) => outcome === 'unknown' && isMeant(step, kept);
  const overwritten = sets.flatMap((step) => {
    const kept = keptOf(step);
    return kept && !isOwn(step, kept) ? overwrittenBy(step, kept) : [];
  });
  const deleted = deletes.flatMap((step) => {
    const kept = keptOf(step);
    return kept && !isOwn(step, kept) ? deletedBy(step, kept) : [];
  });
  return { ...nothing, escalated: [...overwritten, ...deleted] };
}

/** Whether a row has the ID that was read or, where that was none, all that was read. */
const isMeant = ({ idSeen, was = {} }: Step, { cells, id }: KeptRow): boolean =>
  isSameKept(idSeen, id) &&
  (idSeen.kind !== 'empty' || Object.entries(was).every(([name, cell]) => isSameKept(cell, cells[name])));

function overwrittenBy({ cells = {}, entity, id, others = [], sync }: Step, kept: KeptRow): Damage[] {
  const written = { ...cells, ...(id ? { [idHeader]: id } : {}), ...(sync ? { [syncHeader]: sync } : {}) };
  const before: Record<string, Cell> = { ...kept.cells, [idHeader]: kept.id, [syncHeader]: kept.sync };
  const damaged = Object.entries(written).map(([name, cell]) => damage(name, cell, before[name]));
  const own = others.map(({ column, written: cell }) =>
    damage(kept.place.headers[column] || `column ${column + 1}`, cell, kept.place.cells[column]),
  );
  const result = { cells: Object.fromEntries(damaged.flat()), own: Object.fromEntries(own.flat()) };
  const isNothing = Object.keys(result.cells).length + Object.keys(result.own).length === 0;
  return isNothing ? [] : [{ entity, kind: 'overwritten', id: kept.id, ...result }];
}

const deletedBy = ({ entity }: Step, { cells, id }: KeptRow): Damage[] => {
  const lost = Object.entries(cells).flatMap(([name, cell]) => damage(name, emptyCell, cell));
  return id.kind === 'empty' && lost.length === 0
    ? []
    : [{ entity, kind: 'deleted', id, cells: Object.fromEntries(lost), own: {} }];
};

const damage = (name: string, written: Cell, before: Cell = emptyCell): [string, DamagedCell][] =>
  isSameKept(written, before) ? [] : [[name, { written: bareCell(written), before: bareCell(before) }]];

/** What the hidden tab keeps of the rows that the write reached, by their numbers. */
async function readRows(
  { deletes, height, keeping, places = {}, sets }: Earlier,
  { client, shadow }: Surroundings,
): Promise<ReadonlyMap<number, KeptRow>> {
  const end = Math.min(keeping.from + height, shadow?.rowCount ?? 0);
  if (!shadow || end <= keeping.from) return new Map();
  const answer = await client.get(keptFields, [rowRange(shadow.title, keeping.from, end)]);
  const rows = readMarked(shadow, keeping.run, answer ?? {});
  return new Map(
    [...sets, ...deletes].flatMap((step) => {
      const place = places[step.entity];
      const headers = rows.get(keeping.from + tabKinds.indexOf(step.entity));
      const cells = rows.get(keeping.from + tabKinds.length + step.slot);
      return place && headers && cells ? [[step.slot, toKept(planned(place), headers, cells)] as const] : [];
    }),
  );
}

function planned({
  columns,
  headers,
}: {
  headers: string[];
  columns: Record<string, number>;
}): Pick<PlannedTab, 'columns' | 'headers'> {
  const { [idHeader]: id = -1, [syncHeader]: sync, ...fields } = columns;
  return {
    headers: headers.map(textCell),
    columns: { id, sync, fields: new Map(Object.entries(fields).map(([name, index]) => [name, { index }])) },
  };
}

function toKept(tab: Pick<PlannedTab, 'columns' | 'headers'>, headers: Row, row: Row): KeptRow {
  const named = new Map(
    [...meetColumns(tab, headers).names].map(([column, name]) => [name, row[column] ?? emptyCell]),
  );
  const { [idHeader]: id = emptyCell, [syncHeader]: sync = emptyCell, ...cells } = Object.fromEntries(named);
  return { id, sync, cells, place: { headers: [], cells: row } };
}
