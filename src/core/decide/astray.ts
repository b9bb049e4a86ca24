import { type Cell, describeCell, emptyCell, equalCells } from '../cell.ts';
import { idHeader, syncHeader } from '../headers.ts';
import { isSameKept } from '../kept-cell.ts';
import { recordTabs, type TabKind } from '../layout.ts';
import {
  type Mending,
  mayStillLand,
  type OpenWrite,
  type SentDelete,
  type SentSet,
  watchFields,
} from '../open-write.ts';
import { isClaimToken } from '../record.ts';
import type { KeptRow, ObservedRow, RowStep } from '../table.ts';
import type { FieldName } from '../value.ts';
import { createAloneSearch } from './alone.ts';
import type { DecideInput, TabContext } from './context.ts';
import type { Draft } from './draft.ts';
import {
  blankCells,
  byDistance,
  createWholeLikeness,
  fieldsTypedOver,
  findHitRows,
  hasWrongId,
  isLeft,
  isRetyped,
  leftFields,
  rowsShowing,
  showsWritten,
  withId,
} from './hit-rows.ts';
import { journalEntry } from './journal-entry.ts';
import type { Plan } from './plan.ts';
import { isMarkedCopy } from './sync-text.ts';

/** A step that makes good what our own write did to another row, because rows moved between a read and the write planned from it. */
export interface Repair {
  readonly write: RowStep;
  readonly mends: Mending;
  /** The row that is mended, where it is there. */
  readonly row?: ObservedRow;
  /** The share of its cells that it has as they were before it was hit, or after. */
  readonly likeness?: number;
  /** The ID that belongs to it. */
  readonly id: Cell;
}

/** What mending a tab needs to know: one of records, or that of the questions. */
export type MendingContext = Pick<TabContext, 'draft' | 'input' | 'tab'> & { readonly entity: TabKind };

/** Finds how to mend what the open writes did, and marks the tab where there is any of that. */
export function findRepairs(context: MendingContext): readonly Repair[] {
  const { draft, input } = context;
  const named = new Set<number>();
  let { tab } = context;
  // The last damage first: what it covers was done before, and is looked for in the rows as they will stand then.
  return lastFirst(input.known.openWrites).flatMap((write) => {
    if (write.outcome !== 'answered') return [];
    const repairs = onePerRow(repairsOf({ ...context, tab }, write));
    if (repairs.length > 0) draft.mendedTabs.add(context.entity);
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

/**
 * The writes from the one that landed last on. They are known in the order in which their replies came, and one whose reply was lost may
 * have landed before another that was answered at once.
 */
function lastFirst(writes: readonly OpenWrite[]): readonly OpenWrite[] {
  const ordered: OpenWrite[] = [];
  for (const write of writes) {
    const covering = ordered.findIndex((other) => covers(other, write) && !covers(write, other));
    ordered.splice(covering < 0 ? ordered.length : covering, 0, write);
  }
  return ordered.toReversed();
}

/** Whether a write found in a row what the earlier one had put there. */
function covers(later: OpenWrite, earlier: OpenWrite): boolean {
  const found = Map.groupBy(later.sets, ({ entity }) => entity);
  const rows = new Map([...found].map(([entity, sets]) => [entity, sets.flatMap(({ kept }) => kept ?? [])]));
  return earlier.sets.some(
    (sent) =>
      sent.kept &&
      !showsWritten(sent.kept, sent) &&
      rowsShowing(rows.get(sent.entity) ?? [], sent).length > 0,
  );
}

/**
 * Of the repairs that name the same row, the one whose own row it looks most like: of the rows that one write hit, some may be gone since.
 * Of several rows that look the same each is that of another step.
 */
function onePerRow(repairs: readonly Repair[]): readonly Repair[] {
  const byRow = Map.groupBy(repairs, (repair) => repair.row ?? repair);
  const taken = new Set<number>();
  const isBetter = (rival: Repair, best: Repair) => {
    const [likeness, most] = [rival.likeness ?? 0, best.likeness ?? 0];
    return likeness === most ? taken.has(best.mends.slot) && !taken.has(rival.mends.slot) : likeness > most;
  };
  return [...byRow.values()].map((rivals) => {
    const chosen = rivals.reduce((best, rival) => (isBetter(rival, best) ? rival : best));
    taken.add(chosen.mends.slot);
    return chosen;
  });
}

/** The rows as they stand after repairs. */
function mendedRows(rows: readonly ObservedRow[], repairs: readonly Repair[]): readonly ObservedRow[] {
  const writes = new Map(repairs.flatMap(({ row, write }) => (row ? [[row, write]] : [])));
  // A blank row is not among those that were read.
  const all = new Set([...rows, ...writes.keys()]);
  return [...all].map((row) => {
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
  const kept = rowBefore(context, sent);
  if (!kept) return [];
  const rows = findHitRows(context.tab, sent, kept);
  const nearest = rows.toSorted(byDistance(sent))[0];
  const typedOver = nearest ? fieldsTypedOver(nearest, sent, kept) : [];
  const { watchedSets } = context.draft;
  watchedSets.set(mends.write, [...(watchedSets.get(mends.write) ?? []), ...watchFields(sent, typedOver)]);
  const likeness = createWholeLikeness(sent, kept);
  return rows.flatMap((row): Repair[] => {
    // What people keep beside equal rows can not be told apart by them; beside a new row nothing stood.
    const others = row === nearest || sent.position < 0 ? (sent.others ?? []) : [];
    // A table puts a box there again.
    const isBox = (name: FieldName) =>
      context.tab.boxed?.has(name) && isSameKept(row.cells[name], kept.cells[name]);
    const left = leftFields(row, sent, kept).filter((name) => !isBox(name));
    const hasId = hasWrongId(row, sent, kept);
    // Whoever was told that this is a copy, and made it another row, would write to the original.
    const isTakenForCopy = isMarkedCopy(row) && isRetyped(row, kept);
    const hasSync = context.tab.hasSync && !isTakenForCopy && isLeft(row.sync, sent.sync, kept.sync);
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
    return [{ write, mends, row, likeness: likeness(row), id: kept.id }];
  });
}

/**
 * What the row of a set is to show again. A new row that came under columns that had moved is written anew where it stands, unless the record
 * has got its row another time meanwhile: then nothing stood there.
 */
function rowBefore({ tab }: MendingContext, { id, kept, position }: SentSet): KeptRow | undefined {
  const isNew = position < 0 && id !== undefined;
  if (!kept || !isNew || kept.id.kind === 'empty' || equalCells(id, kept.id)) return kept;
  if (withId(tab, kept.id).length === 0) return kept;
  const { columns, headers } = kept.place;
  return { id: emptyCell, sync: emptyCell, cells: {}, place: { columns, headers, cells: [] } };
}

/** Brings a row back that a delete took although it was another one, or had been edited in that moment. */
function giveBackRow(
  { entity, tab }: MendingContext,
  { kept, sentBackBeside }: SentDelete,
  mends: Mending,
): Repair[] {
  if (!kept) return [];
  const { cells, id, place } = kept;
  const showsSame = (row: ObservedRow) =>
    Object.entries(row.cells).every(([name, cell]) => isSameKept(cell, cells[name]));
  const isThere = (row: ObservedRow) => equalCells(row.id, id) && (id.kind !== 'empty' || showsSame(row));
  const beside = tab.rows.filter(isThere).length;
  if (sentBackBeside !== undefined && beside > sentBackBeside) return [];
  const write: RowStep = { kind: 'append', entity, cells, place, ...(id.kind === 'empty' ? {} : { id }) };
  return [{ write, mends: { ...mends, beside }, id }];
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
        journal: journalEntry(
          input,
          { entity, id: describeCell(id) },
          { kind: 'repair', cause: causeOf(write) },
        ),
      }),
    });
  }
}

function causeOf(write: RowStep): string {
  if (write.kind !== 'set') return 'rows moved while one of them was deleted';
  const mended = [
    ...(write.id ? [idHeader] : []),
    ...Object.keys(write.cells),
    ...(write.sync ? [syncHeader] : []),
    ...(write.others ? ['cells of people’s own'] : []),
  ];
  return `somebody moved rows or columns, or typed, while they were written: ${mended.join(', ')}`;
}

/** Notes what the rows of the planned steps show, so that it can be told whether they still did when they were written. */
export function keepBefore({ draft, entity, tab }: TabContext): void {
  const rows = new Map(tab.rows.map((row) => [row.position, row]));
  const counts = countIds(tab.rows);
  const isUnlikeOthers = createAloneSearch(tab.rows);
  for (const { write } of draft.table) {
    if (write.entity !== entity || write.kind === 'append') continue;
    const row = rows.get(write.position);
    if (row) {
      const isShared = (counts.get(describeCell(row.id)) ?? 0) > 1;
      const isNamed = row.id.kind !== 'empty' && !isShared;
      const isAlone = !isNamed && isGivenBack(write) && isUnlikeOthers(row);
      draft.before.set(write, { cells: row.cells, isShared, isAlone });
    } else if (write.kind === 'set') {
      draft.before.set(write, { cells: blankCells(tab.fields), isShared: false });
    }
  }
}

/** Whether the row gets back the ID that it has lost; a new row may still become anything. */
const isGivenBack = (write: RowStep): boolean =>
  write.kind === 'set' && write.id !== undefined && !isClaimToken(describeCell(write.id));

function countIds(rows: readonly ObservedRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of rows) counts.set(describeCell(id), (counts.get(describeCell(id)) ?? 0) + 1);
  return counts;
}

/**
 * The open writes that are over, and those of which less is left. A step stays open in a tab that is held or being mended, where its row is
 * gone since, and where it wrote an ID that another write may have covered. Of a step that is mended only those fields are watched on that
 * somebody typed over, as long as they may undo it. Everything else is closed, because its cells may come to show by right what was written
 * there by mistake; so are these as soon as the plan itself puts that there.
 */
export function settleWrites(
  { known, layout, now, table }: DecideInput,
  draft: Draft,
): Pick<Plan, 'writesOver' | 'writesWatched'> {
  const laidOut = recordTabs(layout).map(({ entity }) => entity);
  const held = new Set<TabKind>(laidOut.filter((entity) => table.tabs[entity].state === 'held'));
  const isUnanswered = (write: OpenWrite) => mayStillLand(write, now);
  const told = new Set(draft.toldWrites.map(({ id }) => id));
  const untold = known.openWrites.filter(({ id }) => !told.has(id));
  const settled = [...untold, ...draft.toldWrites].filter((write) => !isUnanswered(write));
  // An ID that was put into a wrong row does not show there where another one has landed over it, of which nothing is known yet.
  const covering = new Set<TabKind>(
    known.openWrites
      .filter(isUnanswered)
      .flatMap(({ sets }) => sets.filter(hasId).map(({ entity }) => entity)),
  );
  const isInOpenTab = ({ entity }: { readonly entity: TabKind }) =>
    held.has(entity) || draft.mendedTabs.has(entity);
  const right = findRight(draft);
  const isOpen = (sent: SentSet) =>
    isInOpenTab(sent) ||
    (hasId(sent) && covering.has(sent.entity)) ||
    (draft.missedSets.has(sent) && !right.isRestored(sent));
  const left = settled.flatMap((write) => {
    const open = write.sets.filter(isOpen);
    // Those that a read had to tell of are told now.
    const deletes = write.deletes.filter((sent) =>
      write.outcome === 'landed' ? held.has(sent.entity) : isInOpenTab(sent),
    );
    const typedOver = now < write.settlesAt ? (draft.watchedSets.get(write.id) ?? []) : [];
    const slots = new Set(open.map(({ slot }) => slot));
    const watched = typedOver.filter(({ slot }) => !slots.has(slot)).flatMap(right.withoutWritten);
    const sets = [...open, ...watched];
    return sets.length + deletes.length > 0 ? [{ ...write, sets, deletes }] : [];
  });
  const landed = settled.filter(({ outcome }) => outcome === 'landed');
  // Where nothing is kept of a row that was deleted, it is known only now that it was the right one.
  for (const { confirms, entity, idSeen } of landed.flatMap(({ deletes }) => deletes)) {
    const tab = table.tabs[entity];
    const isGone = tab?.state === 'read' && withId(tab, idSeen).length === 0;
    if (isGone && confirms?.journal) draft.journal.push(confirms.journal);
  }
  const leftIds = new Set(left.map(({ id }) => id));
  const sizes = new Map(known.openWrites.map((write) => [write.id, sizeOf(write)]));
  return {
    writesOver: settled.map(({ id }) => id).filter((id) => !leftIds.has(id)),
    writesWatched: left.filter(({ id, ...write }) => told.has(id) || sizeOf(write) < (sizes.get(id) ?? 0)),
  };
}

const hasId = ({ id }: SentSet): boolean => id !== undefined;

/** What the plan itself puts into the rows of records: from then on it stands there by right. */
function findRight({ table }: Draft) {
  const rowName = (entity: TabKind, id: Cell = emptyCell) => `${entity} ${describeCell(id)}`;
  const steps = table.flatMap(({ mends, write }) => (mends || write.kind === 'delete' ? [] : [write]));
  const byRow = Map.groupBy(steps, (step) =>
    rowName(step.entity, step.kind === 'set' ? step.idSeen : step.id),
  );
  const stepsOf = ({ entity, kept }: SentSet) => byRow.get(rowName(entity, kept?.id)) ?? [];
  return {
    /** Whether the record that has lost its row gets a new one. */
    isRestored: (sent: SentSet) => stepsOf(sent).some(({ kind }) => kind === 'append'),
    withoutWritten(sent: SentSet) {
      const isWritten = (name: FieldName) =>
        stepsOf(sent).some(({ cells }) => name in cells && isSameKept(sent.cells[name], cells[name]));
      return watchFields(
        sent,
        Object.keys(sent.cells).filter((name) => !isWritten(name)),
      );
    },
  };
}

/** How many cells and rows of a write are to be looked at. */
const sizeOf = ({ deletes, sets }: Pick<OpenWrite, 'deletes' | 'sets'>): number =>
  deletes.length + sets.reduce((sum, { cells }) => sum + 1 + Object.keys(cells).length, 0);
