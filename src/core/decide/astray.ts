import { type Cell, describeCell, emptyCell, equalCells } from '../cell.ts';
import { isSameKept } from '../kept-cell.ts';
import type { TabKind } from '../layout.ts';
import type { Mending, OpenWrite, SentDelete, SentSet } from '../open-write.ts';
import { isClaimToken } from '../record.ts';
import type { KeptRow, ObservedRow, RowStep } from '../table.ts';
import type { FieldName } from '../value.ts';
import { equalRows } from './bind.ts';
import type { TabContext } from './context.ts';

/** A step that makes good what our own write did to another row, because rows moved between a read and the write planned from it. */
export interface Repair {
  readonly write: RowStep;
  readonly mends: Mending;
  /** The row that is mended, where it is there. */
  readonly row?: ObservedRow;
  /** The ID that belongs to it. */
  readonly id: Cell;
}

/** What mending a tab needs to know: one of records, or that of the questions. */
export type MendingContext = Pick<TabContext, 'draft' | 'input' | 'tab'> & { readonly entity: TabKind };

/** Finds how to mend what the open writes did, and marks those as needed that still have something to be mended, or may land yet. */
export function findRepairs(context: MendingContext): readonly Repair[] {
  const { draft, input } = context;
  const named = new Set<number>();
  let { tab } = context;
  // The last damage first: what it covers was done before, and is looked for in the rows as they will stand then.
  return input.known.openWrites.toReversed().flatMap((write) => {
    if (write.outcome === 'unknown') {
      if (input.now < write.settlesAt) draft.neededWrites.add(write.id);
      return [];
    }
    const repairs = repairsOf({ ...context, tab }, write);
    if (repairs.length > 0) draft.neededWrites.add(write.id);
    tab = { ...tab, rows: mendedRows(tab.rows, repairs) };
    // Only one step may name a row; what else is wrong with it is mended in the next cycle.
    return repairs.filter(({ row }) => {
      if (!row) return true;
      const isFirst = !named.has(row.position);
      named.add(row.position);
      return isFirst;
    });
  });
}

/** The rows as they stand after repairs. */
function mendedRows(rows: readonly ObservedRow[], repairs: readonly Repair[]): readonly ObservedRow[] {
  const writes = new Map(repairs.map(({ row, write }) => [row, write]));
  return rows.map((row) => {
    const write = writes.get(row);
    if (write?.kind !== 'set') return row;
    const { cells, id = row.id, sync = row.sync } = write;
    return { ...row, id, sync, cells: { ...row.cells, ...cells } };
  });
}

function repairsOf(context: MendingContext, { deletes, id, sets }: OpenWrite): Repair[] {
  const isHere = ({ entity }: { readonly entity: TabKind }) => entity === context.entity;
  return [
    ...sets.filter(isHere).flatMap((sent) => mendSet(context, sent, { write: id, slot: sent.slot })),
    ...deletes.filter(isHere).flatMap((sent) => giveBackRow(context, sent, { write: id, slot: sent.slot })),
  ];
}

/** Puts back what a set replaced, except where somebody has typed over it since. */
function mendSet(context: MendingContext, sent: SentSet, mends: Mending): Repair[] {
  const { entity } = context;
  const { kept } = sent;
  if (!kept) return [];
  const rows = findHitRows(context, sent, kept);
  const nearest = rows.toSorted((one, other) => distance(sent, one) - distance(sent, other))[0];
  return rows.flatMap((row): Repair[] => {
    // What people keep beside equal rows can not be told apart by them.
    const others = row === nearest ? (sent.others ?? []) : [];
    const left = Object.keys(sent.cells).filter((name) =>
      isLeft(row.cells[name], sent.cells[name], kept.cells[name]),
    );
    const hasId = sent.id !== undefined && equalCells(row.id, sent.id) && !equalCells(sent.id, kept.id);
    const hasSync = isLeft(row.sync, sent.sync, kept.sync);
    if (left.length === 0 && others.length === 0 && !hasId && !hasSync) return [];
    const write: RowStep = {
      kind: 'set',
      entity,
      position: row.position,
      idSeen: row.id,
      cells: Object.fromEntries(left.map((name) => [name, kept.cells[name] ?? emptyCell])),
      place: kept.place,
      ...(others.length > 0 ? { others } : {}),
      ...(hasId ? { id: kept.id } : {}),
      ...(hasSync ? { sync: kept.sync } : {}),
    };
    return [{ write, mends, row, id: kept.id }];
  });
}

const distance = (sent: SentSet, { position }: ObservedRow): number => Math.abs(position - sent.position);

/** Whether a cell still shows what was written, and showed something else before. */
const isLeft = (found: Cell | undefined, written: Cell | undefined, before: Cell | undefined): boolean =>
  written !== undefined && isSameKept(found, written) && !isSameKept(written, before);

/**
 * The rows that a set hit, by the ID that stands there since; copies that people made of such a row before it was mended are hit as well.
 * One whose ID it wrote itself, that had none, or whose ID is another one since, is known by the rest.
 */
function findHitRows({ tab }: MendingContext, sent: SentSet, kept: KeptRow): readonly ObservedRow[] {
  const { id } = sent;
  const named = tab.rows.filter((row) => equalCells(row.id, id ?? kept.id));
  // An ID that we wrote and that stands nowhere any more was taken away by somebody.
  if (id !== undefined && id.kind !== 'empty' && named.length === 0) return [];
  const likeness = createLikeness(sent, kept);
  const mostAlike = (rows: readonly ObservedRow[]) => {
    const most = Math.max(...rows.map(likeness));
    return rows.filter((row) => likeness(row) === most);
  };
  const shows = (row: ObservedRow) => showsWritten(row, sent);
  if (id === undefined && kept.id.kind !== 'empty' && named.length > 0) {
    // Somebody may have exchanged the IDs since.
    const elsewhere = named.some(shows) ? [] : tab.rows.filter((row) => shows(row) && likeness(row) > 0.5);
    return [...mostAlike(named), ...(elsewhere.length > 0 ? mostAlike(elsewhere) : [])];
  }
  const candidates = named.length > 0 ? named : tab.rows;
  const showing = candidates.filter(shows);
  // The token of a create is written once only.
  const isCertain = id !== undefined && isClaimToken(describeCell(id));
  const isHit = (row: ObservedRow) =>
    isCertain || likeness(row) > 0.5 || (row.position === sent.position && showing.includes(row));
  const found = mostAlike(showing.length > 0 ? showing : candidates)
    .filter(isHit)
    .toSorted((one, other) => distance(sent, one) - distance(sent, other))
    .slice(0, 1);
  return found.length > 0 || Object.values(sent.cells).some(({ kind }) => kind !== 'empty')
    ? found
    : findBlankRow(tab, sent);
}

/** Which share of the cells that a set did not write, and that were kept, a row has like the one that it hit. */
const createLikeness =
  ({ cells }: SentSet, kept: KeptRow) =>
  (row: ObservedRow): number => {
    const names = Object.keys(row.cells).filter((name) => name in kept.cells && !(name in cells));
    const same = names.filter((name) => isSameKept(row.cells[name], kept.cells[name]));
    return names.length === 0 ? 1 : same.length / names.length;
  };

/** Whether a row shows everything that a set wrote into it, which is something. */
function showsWritten(row: ObservedRow, { cells, id }: SentSet): boolean {
  const written = Object.entries(cells).filter(([, { kind }]) => kind !== 'empty');
  const hasId = id !== undefined && id.kind !== 'empty';
  return (hasId || written.length > 0) && written.every(([name, cell]) => isSameKept(row.cells[name], cell));
}

/** A row of which everything was taken is not read any more. It is looked for where it was, and what stands there is judged as always. */
function findBlankRow({ fields, rows }: TabContext['tab'], { position }: SentSet): readonly ObservedRow[] {
  if (position < 1 || rows.some((row) => row.position === position)) return [];
  return [{ position, id: emptyCell, sync: emptyCell, cells: blankCells(fields) }];
}

const blankCells = (fields: ReadonlySet<FieldName>): ObservedRow['cells'] =>
  Object.fromEntries([...fields].map((name) => [name, emptyCell]));

/** Brings a row back that a delete took although it was another one, or had been edited in that moment. */
function giveBackRow(
  { entity, tab }: MendingContext,
  { isSentBack, kept }: SentDelete,
  mends: Mending,
): Repair[] {
  if (!kept) return [];
  const { cells, id, place } = kept;
  const isThere = (row: ObservedRow) => (id.kind === 'empty' ? equalRows(row, kept) : equalCells(row.id, id));
  if (isSentBack && tab.rows.some(isThere)) return [];
  return [
    { write: { kind: 'append', entity, cells, place, ...(id.kind === 'empty' ? {} : { id }) }, mends, id },
  ];
}

/** Plans the repairs, with a line in the journal for each that a record has. */
export function planRepairs({ draft, entity, input }: MendingContext, repairs: readonly Repair[]): void {
  for (const { id, mends, write } of repairs) {
    draft.table.push({
      write,
      offers: {},
      notice: '',
      mends,
      ...(entity !== 'question' && {
        journal: {
          at: input.now,
          run: input.run,
          key: { entity, id: describeCell(id) },
          kind: 'repair',
          side: 'table',
          before: {},
          after: {},
          lost: {},
          cause:
            write.kind === 'set'
              ? `somebody moved rows or columns, or typed, while they were written: ${Object.keys(write.cells).join(', ')}`
              : 'rows moved while one of them was deleted',
        },
      }),
    });
  }
}

/** Notes what the rows of the planned steps show, so that it can be told whether they still did when they were written. */
export function keepBefore({ draft, entity, tab }: TabContext): void {
  const rows = new Map(tab.rows.map((row) => [row.position, row]));
  const counts = countIds(tab.rows);
  for (const { write } of draft.table) {
    if (write.entity !== entity || write.kind === 'append') continue;
    const row = rows.get(write.position);
    if (row) {
      const isShared = (counts.get(describeCell(row.id)) ?? 0) > 1;
      draft.before.set(write, { cells: row.cells, isShared });
    } else if (write.kind === 'set') {
      draft.before.set(write, { cells: blankCells(tab.fields), isShared: false });
    }
  }
}

function countIds(rows: readonly ObservedRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of rows) counts.set(describeCell(id), (counts.get(describeCell(id)) ?? 0) + 1);
  return counts;
}
