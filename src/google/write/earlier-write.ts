import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import { bareCell, type Cell, emptyCell, isSameKept, isUnfilled, textCell } from '../../sheet/port/cell.ts';
import type { Damage, DamagedCell } from '../../sheet/port/damage.ts';
import { type TabKind, tabKinds } from '../../sheet/port/layout.ts';
import type { WriteResult } from '../../sheet/port/table.ts';
import { mapKnown } from '../map-known.ts';
import { toDamage } from './compensate.ts';
import { type GridDamage, judge } from './judge.ts';
import { type Batch, overlay, type PlannedStep, type PlannedTab, placeCells } from './planned.ts';
import type { EarlierWrite } from './receipt.ts';
import { fetchMarked } from './shadow.ts';
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
  /** Absent for a new row, as is its position. */
  readonly idSeen?: Cell;
  readonly position?: number;
  readonly id?: Cell;
  readonly sync?: Cell;
  readonly cells?: Readonly<Record<string, Cell>>;
  readonly was?: Readonly<Record<string, Cell>>;
  readonly isShared?: true;
  readonly others?: readonly { readonly column: number; readonly written: Cell }[];
  readonly kept?: KeptRow;
}

/** Where the columns of a tab were. */
interface Place {
  readonly headers: readonly string[];
  readonly columns: Readonly<Record<string, number>>;
  readonly hiddenRows?: readonly number[];
}

interface Earlier {
  readonly outcome: 'unknown' | 'landed' | 'answered';
  readonly keeping: { readonly run: string; readonly from: number };
  readonly height: number;
  readonly places?: Readonly<Partial<Record<TabKind, Place>>>;
  readonly sets: readonly Step[];
  readonly deletes: readonly Step[];
  readonly appends: readonly Step[];
}

/**
 * Ends a write of an earlier version. What it is known to have done to other rows is escalated; of one without a reply that is found out by
 * what the hidden tab still keeps. Returns `undefined` where nothing of it has landed so far.
 */
export async function escalateEarlier(
  { earlier }: EarlierWrite,
  around: Surroundings,
): Promise<WriteResult | undefined> {
  const write = earlier as Earlier;
  const escalated = write.outcome === 'unknown' ? await findDamage(write, around) : answeredDamage(write);
  return escalated && { ...nothing, escalated };
}

/** What an answered write is known to have done to other rows. */
const answeredDamage = ({ deletes, sets }: Earlier): Damage[] => [
  ...sets.flatMap((step) => (step.kept ? overwrittenBy(step, step.kept) : [])),
  ...deletes.flatMap((step) => (step.kept ? deletedBy(step, step.kept) : [])),
];

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

/** What a write without a reply did to other rows, and to what a user typed at that moment; `undefined` where it has not landed. */
async function findDamage(write: Earlier, { client, shadow }: Surroundings): Promise<Damage[] | undefined> {
  const { height, keeping } = write;
  const marked = await fetchMarked(client, shadow, keeping, keeping.from + height);
  if (marked.size === 0) return undefined;
  const batch = toBatch(write);
  const { damage } = judge(batch, {
    headers: mapKnown(
      tabKinds.entries().map(([index, kind]) => [kind, index]),
      (index) => {
        const headers = marked.get(keeping.from + index) ?? [];
        return headers.every(isUnfilled) ? undefined : headers;
      },
    ),
    rows: mapKnown(
      batch.steps.map(({ number }) => [number, keeping.from + tabKinds.length + number]),
      (row, number) => (number >= 0 ? marked.get(row) : undefined),
    ),
    others: [],
  });
  // Nothing is kept of a row that a filter hid.
  const isTold = ({ entity, right }: GridDamage) => !right || batch.tabs.get(entity)?.hiddenRows.size === 0;
  return damage.filter(isTold).map(toDamage);
}

/** The write in the terms of the grid, as far as it was kept in them. */
function toBatch({ appends, deletes, keeping, places = {}, sets }: Earlier): Batch {
  const tabs = mapKnown(
    tabKinds.map((kind) => [kind, places[kind]]),
    (place) => place && planned(place),
  );
  const plan = (kind: PlannedStep['kind'], steps: readonly Step[]) =>
    steps.flatMap((step): PlannedStep | [] => {
      const tab = tabs.get(step.entity);
      return tab ? planStep(kind, step, tab) : [];
    });
  return {
    run: keeping.run,
    from: keeping.from,
    steps: [...plan('set', sets), ...plan('delete', deletes), ...plan('append', appends)],
    tabs,
  };
}

function planStep(kind: PlannedStep['kind'], step: Step, { columns }: PlannedTab): PlannedStep {
  const { cells = {}, entity, id, idSeen, isShared, others = [], position = -1, slot, sync, was = {} } = step;
  const own = others.map(({ column, written }) => ({ column, cell: written }));
  return {
    number: slot,
    kind,
    entity,
    position,
    placed: [...placeCells({ ...(id && { id }), ...(sync && { sync }), cells }, columns), ...own],
    read: idSeen ? overlay([], placeCells({ id: idSeen, cells: was }, columns)) : [],
    ...(isShared ? { isShared } : {}),
  };
}

function planned({ columns, headers, hiddenRows = [] }: Place): PlannedTab {
  const { [idHeader]: id = -1, [syncHeader]: sync, ...fields } = columns;
  return {
    sheetId: -1,
    headers: headers.map((header) => (header === '' ? emptyCell : textCell(header))),
    columns: { id, sync, fields: new Map(Object.entries(fields).map(([name, index]) => [name, { index }])) },
    hiddenRows: new Set(hiddenRows),
    end: -1,
  };
}
