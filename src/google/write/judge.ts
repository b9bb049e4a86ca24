import { idHeader, syncHeader } from '../../core/fields/headers.ts';
import {
  bareCell,
  type Cell,
  describeCell,
  emptyCell,
  equalCells,
  isFormula,
  isSameKept,
  isUnfilled,
} from '../../sheet/port/cell.ts';
import type { TabKind } from '../../sheet/port/layout.ts';
import type { StepEnd } from '../../sheet/port/table.ts';
import { placesOf } from '../columns.ts';
import { mapKnown } from '../map-known.ts';
import {
  type Batch,
  deletedAbove,
  isSameId,
  keptRows,
  overlay,
  type PlacedCell,
  type PlannedStep,
  type PlannedTab,
  type Row,
} from './planned.ts';
import type { KeptCells } from './shadow.ts';

/** A row that a step reached and that is not as it was to be, in the terms of the grid. */
export interface GridDamage {
  readonly number: number;
  readonly entity: TabKind;
  readonly kind: 'overwritten' | 'deleted' | 'added';
  /** The header row that the step met. */
  readonly headers: Row;
  /** What the managed columns carried then. */
  readonly names: ReadonlyMap<number, string>;
  readonly before: Row;
  /** What the step wrote there; of a deleted row nothing. */
  readonly placed: readonly PlacedCell[];
  /** Where the row is after the batch; -1 for a deleted one. */
  readonly expected: number;
  /** The row of the hidden tab that keeps `before`. */
  readonly source?: number;
  /** The fields of the step's own row that a user edited at that moment: nothing else of it is damage. */
  readonly edited?: readonly string[];
  /** It was the right row to delete, but for what a user typed there at that moment. */
  readonly isOwnRow?: true;
  /**
   * Nothing was kept of the row, which was blank or hidden by a filter. If a row shows this now, it was the right one; of a delete, if none
   * has the ID any more.
   */
  readonly right?: Row;
  /** Of the row that was met only the ID is known; `before` has nothing else. */
  readonly isUnseen?: true;
}

/** What became of the steps of a batch. */
export interface Judgement {
  readonly done: ReadonlyMap<number, StepEnd>;
  readonly damage: readonly GridDamage[];
  /** Steps of which nothing is known. */
  readonly unknown: readonly PlannedStep[];
}

/**
 * What is known of the moment in which a batch landed. A tab whose header row is absent was not reached. A row is empty where a filter hid
 * it, and absent where no copy was tried.
 */
export interface Moment extends KeptCells {
  /** Steps that did not land. */
  readonly refused?: ReadonlyMap<number, unknown>;
  /** Steps of whose row no copy is kept: it is known by how it was afterwards. */
  readonly uncopied?: ReadonlySet<number>;
  /** Cells that other writes without a reply mean to write: found before this one, no user typed them. */
  readonly others: readonly PlannedStep[];
}

/** Judges each step by the row that it met. */
export function judge(batch: Batch, { headers, others, refused, rows, uncopied }: Moment): Judgement {
  const met = mapKnown(headers, (row, kind) => {
    const tab = batch.tabs.get(kind);
    return tab && meetColumns(tab, row);
  });
  const landed = batch.steps.filter(({ entity, number }) => met.has(entity) && !refused?.has(number));
  const sources = keptRows(batch);
  const done = new Map<number, StepEnd>();
  const damage: GridDamage[] = [];
  const unknown: PlannedStep[] = [];
  for (const step of batch.steps) {
    const columns = met.get(step.entity);
    const before = step.kind === 'append' ? [] : rows.get(step.number);
    if (!columns || !before || refused?.has(step.number)) {
      unknown.push(step);
      continue;
    }
    const source = uncopied?.has(step.number) ? undefined : sources.get(step.number);
    const found = judgeStep(step, columns, before, others);
    if (found === 'done') {
      done.set(step.number, { edited: [], ...(step.kind === 'delete' && ownCellsOf(columns, before)) });
      continue;
    }
    const expected = rowAfter(landed, step, batch.tabs.get(step.entity)?.end ?? 0);
    damage.push({ ...found, expected, ...(source === undefined ? {} : { source }) });
  }
  return { done, damage, unknown };
}

function judgeStep(
  step: PlannedStep,
  columns: MetColumns,
  before: Row,
  others: Moment['others'],
): Omit<GridDamage, 'expected' | 'source'> | 'done' {
  const { entity, kind, number, placed, read } = step;
  const { headers, names, oldIndexes } = columns;
  const damage = { number, entity, headers, names, before, placed };
  const isMoved = placed.some(({ column }) => (oldIndexes[column] ?? column) !== column);
  if (kind === 'append') return isMoved ? { ...damage, kind: 'added' } : 'done';
  if (isBlank(before) && !isBlank(read))
    return { ...damage, kind: kind === 'set' ? 'overwritten' : 'deleted', right: overlay(read, placed) };
  const isMeant = isMeantRow(step, columns, before);
  // A choice for a question that is no longer asked goes with it.
  const mayBeEdited = isMeant && !isMoved && !(kind === 'delete' && entity === 'question');
  const edited = mayBeEdited ? editedIn(step, columns, before, others) : [];
  if (kind === 'delete' && isMeant)
    return edited.length === 0 ? 'done' : { ...damage, kind: 'deleted', isOwnRow: true };
  if (kind === 'delete') return { ...damage, kind: 'deleted' };
  if (!isMeant || isMoved) return { ...damage, kind: 'overwritten' };
  if (edited.length === 0) return 'done';
  const isTyped = ({ column }: PlacedCell) => edited.includes(column);
  const typed = placed.filter(isTyped);
  const right = placed.filter((cell) => !isTyped(cell));
  return {
    ...damage,
    kind: 'overwritten',
    // All else that was written there is right.
    before: overlay(before, right),
    placed: typed,
    edited: typed.flatMap(({ column }) => names.get(column) ?? []),
  };
}

export const isBlank = (row: Row): boolean => row.every(isUnfilled);

/** Whether a step met the row that it was planned for: by its ID or, where that is none or not alone, by all of its managed cells. */
function isMeantRow({ isShared, read, restores }: PlannedStep, columns: MetColumns, before: Row): boolean {
  const { id, names, oldIndexes } = columns;
  const readAt = (column: number): Cell => read[oldIndexes[column] ?? column] ?? emptyCell;
  if (id !== undefined) {
    const [found, planned] = [bareCell(before[id] ?? emptyCell), bareCell(readAt(id))];
    if (isSameId(found, planned) && !isShared) return true;
    if (!equalCells(found, planned)) return false;
  } else if (!restores) return false;
  const compared = restores ? before.keys() : names.keys();
  return [...compared].every(
    (column) => names.get(column) === syncHeader || isSameKept(readAt(column), before[column]),
  );
}

/** The columns in which a user had typed since the read: of a set those that it wrote, of a delete any that carries a field. */
function editedIn(
  step: PlannedStep,
  { names, oldIndexes }: MetColumns,
  before: Row,
  others: readonly PlannedStep[],
): number[] {
  const { kind, placed, read, restores } = step;
  const isValue = (column: number) => {
    const name = names.get(column);
    return restores ? name !== syncHeader : name !== undefined && name !== idHeader && name !== syncHeader;
  };
  const all = restores ? [...before.keys()] : [...names.keys()];
  const columns = kind === 'set' ? placed.map(({ column }) => column) : all;
  const isOurs = (column: number) =>
    others.some(
      (other) =>
        other.entity === step.entity &&
        isSameRowId(other, step, names) &&
        other.placed.some((cell) => cell.column === column && isSameKept(cell.cell, before[column])),
    );
  // A formula is there for every row, and its result is nobody's note.
  const isNote = (column: number) =>
    !names.has(column) && !isUnfilled(before[column] ?? emptyCell) && !isFormula(before[column] ?? emptyCell);
  const notes = step.sparesOwn ? [...before.keys()].filter(isNote) : [];
  return [...columns.filter(isValue), ...notes].filter(
    (column) => !isSameKept(read[oldIndexes[column] ?? column], before[column]) && !isOurs(column),
  );
}

const isSameRowId = (one: PlannedStep, other: PlannedStep, names: MetColumns['names']): boolean =>
  isSameId(idOf(overlay(one.read, one.placed), names), idOf(overlay(other.read, other.placed), names));

/** Where the row of a step is after its batch. */
function rowAfter(landed: readonly PlannedStep[], step: PlannedStep, end: number): number {
  if (step.kind === 'delete') return -1;
  const own = landed.filter(({ entity }) => entity === step.entity);
  const appends = own.filter(({ kind }) => kind === 'append');
  if (step.kind === 'append')
    return end + appends.indexOf(step) - deletedAbove(own, { ...step, position: end });
  const pushed = step.position >= end ? appends.length : 0;
  return step.position + pushed - deletedAbove(own, step);
}

/** What a deleted row had under users' own columns. */
export function ownCellsOf(
  { headers, names }: Pick<MetColumns, 'headers' | 'names'>,
  before: Row,
): Pick<StepEnd, 'own'> {
  const own = before.flatMap((cell, column) =>
    isUnfilled(cell) || names.has(column) ? [] : [[headerOf(headers, column), bareCell(cell)] as const],
  );
  return own.length === 0 ? {} : { own: Object.fromEntries(own) };
}

/** The ID in a row, by what its columns carry. */
export function idOf(row: Row, names: ReadonlyMap<number, string>): Cell {
  const [column = -1] = [...names].find(([, name]) => name === idHeader) ?? [];
  return bareCell(row[column] ?? emptyCell);
}

/** Where the columns of a tab were when a write reached it. */
export interface MetColumns {
  readonly headers: Row;
  /** The column of the plan that each of them was; -1 for a new one. */
  readonly oldIndexes: readonly number[];
  /** The ID column; `undefined` where it was gone. */
  readonly id: number | undefined;
  /** What each managed column carries: a field, or the header of the ID and the Sync column. */
  readonly names: ReadonlyMap<number, string>;
}

/** Finds the columns of a tab, as it was planned from, under another header row. */
export function meetColumns(
  { columns, headers: planned }: Pick<PlannedTab, 'columns' | 'headers'>,
  headers: Row,
): MetColumns {
  const oldIndexes = findOldIndexes(planned, headers);
  const names = new Map(
    [...placesOf(columns)].flatMap(([name, index]) => {
      const column = oldIndexes.indexOf(index);
      return column < 0 ? [] : [[column, name] as const];
    }),
  );
  const id = columns.id < 0 ? -1 : oldIndexes.indexOf(columns.id);
  return { headers, oldIndexes, id: id < 0 ? undefined : id, names };
}

/**
 * A column is known again by its header, one without a header by its place; of several with one header, as where a user calls a managed
 * column like one of people's own, by their order. A header that is new where another one vanished was only rewritten, unless it is above
 * another column too: then that may have been copied, and its copy is where the other column was.
 */
export function findOldIndexes(oldHeaders: Row, headers: Row): number[] {
  const [oldNames, names] = [nameHeaders(oldHeaders), nameHeaders(headers)];
  const hasNone = (list: readonly string[], index: number) => (list[index] ?? '') === '';
  const indexIn = (list: readonly string[], name = '') => (name === '' ? -1 : list.indexOf(name));
  // A row of headers ends with the last one: also behind it there are columns.
  return Array.from({ length: Math.max(headers.length, oldHeaders.length) }, (_, index) => {
    if (hasNone(names, index) && hasNone(oldNames, index)) return index;
    const oldIndex = indexIn(oldNames, names[index]);
    const isVanished = index < oldNames.length && indexIn(names, oldNames[index]) < 0;
    const isRewritten = oldIndex < 0 && isVanished && !isRepeated(names[index]);
    return isRewritten ? index : oldIndex;
  });
}

/** Whether another column with the header is before the one with this name. */
const isRepeated = (name = ''): boolean => name !== '' && !name.startsWith('0 ');

/** A name for each header that no other one has, with how many others with its text are before it, and an empty one where there is none. */
function nameHeaders(headers: Row): string[] {
  const counts = new Map<string, number>();
  return headers.map((header) => {
    if (header.kind === 'empty') return '';
    const text = JSON.stringify(bareCell(header));
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${count} ${text}`;
  });
}

/** What a user calls a column. */
export const headerOf = (headers: Row, column: number): string => {
  const header: Cell | undefined = headers[column];
  return header && header.kind !== 'empty' ? describeCell(header) : `column ${column + 1}`;
};
