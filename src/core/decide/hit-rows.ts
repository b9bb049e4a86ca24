import { type Cell, describeCell, emptyCell, equalCells, isUnfilled, spilledCell } from '../cell.ts';
import { isMostlyAlike, isSameKept, keptText } from '../kept-cell.ts';
import type { SentSet } from '../open-write.ts';
import { isClaimToken, type RecordId } from '../record.ts';
import type { KeptRow, ObservedRow } from '../table.ts';
import type { FieldName } from '../value.ts';
import { equalRows } from './bind.ts';
import type { TabContext } from './context.ts';

type Tab = TabContext['tab'];

/**
 * The rows that a set hit, by the ID that stands there since; copies that people made of such a row before it was mended are hit as well.
 * One whose ID it wrote itself, that had none, or whose ID is another one since, is known by the rest.
 */
export function findHitRows(tab: Tab, sent: SentSet, kept: KeptRow): readonly ObservedRow[] {
  if (sent.id === undefined && kept.id.kind !== 'empty') return findByOwnId(tab, sent, kept);
  // One that was blank looks like any row of which little is filled.
  const isBlank = Object.values(kept.cells).every((cell) => isSameKept(cell));
  if (isBlank && hasReachedOwn(tab, sent)) return [];
  const own = isBlank ? findOwnRow(tab, sent) : undefined;
  return own ? [own] : findByLooks(tab, sent, kept);
}

/**
 * Whether a set of which a blank row was kept has reached the row that it was meant for all the same: of a row that somebody hid by a filter
 * in that moment nothing is kept either. Where the set wrote the ID itself, the ID proves nothing, so the rest of the row has to fit, or no
 * row may have the ID any more that stood there. Where no filter hides anything by now, the row may show the same because of another write:
 * if a row has what was written and nothing else, this set hit that one.
 */
function hasReachedOwn(tab: Tab, sent: SentSet): boolean {
  const { cells, id, idSeen, was = {} } = sent;
  const own = id ?? idSeen;
  const leftAlone = Object.fromEntries(Object.entries(was).filter(([name]) => !(name in cells)));
  const isTold = id === undefined || (idSeen.kind !== 'empty' && withId(tab, idSeen).length === 0);
  const isOwn = (row: ObservedRow) =>
    showsWritten(row, sent) && (isTold || isMostlyAlike(leftAlone, row.cells));
  const rows = own.kind === 'empty' ? [] : withId(tab, own).filter(isOwn);
  const isHit = (row: ObservedRow) =>
    !rows.includes(row) &&
    equalCells(row.id, id ?? emptyCell) &&
    Object.entries(row.cells).every(([name, cell]) => name in cells || isSameKept(cell));
  return rows.length > 0 && (tab.isFiltered === true || !rowsShowing(tab.rows, sent).some(isHit));
}

/** Rows with the ID that the row had and still has, unless somebody took it away or exchanged the IDs since. */
function findByOwnId(tab: Tab, sent: SentSet, kept: KeptRow): readonly ObservedRow[] {
  const named = withId(tab, kept.id);
  if (named.length === 0) return findByLooks(tab, sent, kept);
  const likeness = createLikeness(sent, kept);
  // Of several rows with the ID one may show by right what was written into another.
  const mayBeHit = (row: ObservedRow) => named.length === 1 || likeness(row) > alikeMin;
  const showing = named.filter((row) => showsWritten(row, sent) && mayBeHit(row));
  if (showing.length > 0) return mostAlike(showing, likeness);
  // A row with another ID is the one that was hit only where IDs were exchanged, so that the row with its ID shows something else. One that
  // stands where it was hit has its ID still, whatever somebody has typed into it since.
  const isAtHome = named.some((row) => row.position === sent.position || likeness(row) === 1);
  const hasCells = Object.keys(sent.cells).length > 0;
  const underOtherId = isAtHome || hasCells ? [] : rowsEqualTo(tab, sent, kept);
  if (underOtherId.length > 0) return nearestOf(underOtherId, sent);
  const mayBeElsewhere = !isAtHome || withId(tab, emptyCell).length > 0;
  const isCopy = (row: ObservedRow) => row.id.kind === 'empty' && !mayBeMeantRow(tab, row, sent);
  const elsewhere = (mayBeElsewhere ? rowsShowing(tab.rows, sent) : []).filter(
    (row) => (!isAtHome || isCopy(row)) && likeness(row) === 1 && !isMeantRow(row, sent, kept),
  );
  return [...nearestOf(mostAlike(named, likeness), sent), ...elsewhere];
}

/** The rows that are all as the one was of which a set hit nothing but columns of people: it has got another ID since. */
function rowsEqualTo(tab: Tab, sent: SentSet, kept: KeptRow): readonly ObservedRow[] {
  const likeness = createLikeness(sent, kept);
  return rowsShowing(tab.rows, { ...sent, cells: kept.cells }).filter(
    (row) => likeness(row) === 1 && !isMeantRow(row, sent, kept),
  );
}

/** The row that is nearest to the place of a set, and those that show the same: its copies. */
function nearestOf(rows: readonly ObservedRow[], sent: SentSet): readonly ObservedRow[] {
  const [nearest] = rows.toSorted(byDistance(sent));
  return nearest ? rows.filter((row) => equalRows(row, nearest)) : [];
}

/** Rows that were hit, by what they show. */
function findByLooks(tab: Tab, sent: SentSet, kept: KeptRow): readonly ObservedRow[] {
  const isIdWritten = writesId(sent);
  const likeness = createWholeLikeness(sent, kept);
  const all = rowsToSearch(tab, sent, kept).filter(
    (row) => !isMeantRow(row, sent, kept) && !isAnother(row, sent, kept),
  );
  // The token of a create is written once only; the ID of a record may have come back in another row since.
  const isCertain = sent.id !== undefined && isClaimToken(describeCell(sent.id));
  const hasTrace = (row: ObservedRow) =>
    isIdWritten ? leftFields(row, sent, kept).length > 0 : hasLeft(row, sent, kept);
  const candidates = sent.position < 0 ? all.filter((row) => isCertain || hasTrace(row)) : all;
  const showing = candidates.filter((row) => showsWritten(row, sent));
  const atHome = kept.id.kind === 'empty' ? [] : withId(tab, kept.id);
  // A row is not the one for its place alone where another one has the ID of that and is more like it.
  const isMostLikely = (row: ObservedRow) =>
    mayStandAt(row, sent) && !atHome.some((other) => likeness(other) > likeness(row));
  const isHit = (row: ObservedRow) =>
    isCertain || likeness(row) > alikeMin || (isMostLikely(row) && showing.includes(row));
  const hits = mostAlike(showing.length > 0 ? showing : candidates, likeness)
    .filter(isHit)
    .toSorted(byDistance(sent));
  // Only an ID that it wrote tells copies of the row from others that look the same.
  const found = isIdWritten ? hits : hits.slice(0, 1);
  return found.length === 0 && mayBeBlank(sent) ? findBlankRow(tab, sent) : found;
}

/**
 * The rows among which a hit one is looked for by what it shows: those with the ID that the set wrote or, if it wrote none, with the one
 * that the row had. If there are none, somebody may have taken away the ID that was written; where none was, it may be any row.
 */
function rowsToSearch(tab: Tab, sent: SentSet, kept: KeptRow): readonly ObservedRow[] {
  const named = withId(tab, sent.id ?? kept.id);
  if (named.length > 0) return named;
  if (!writesId(sent)) return tab.rows;
  // Cells of people’s own columns are not read: a row that has its ID back may still lack them.
  const mayLackOwn = kept.id.kind !== 'empty' && (sent.others ?? []).length > 0;
  return withId(tab, kept.id).filter((row) => mayLackOwn || hasLeft(row, sent, kept));
}

const writesId = ({ id }: SentSet): boolean => id !== undefined && id.kind !== 'empty';

/** What writes of ours did to the row of a record instead of the one that was meant, and is not mended there yet. */
export const findSetsAstray = (
  { entity, input }: Pick<TabContext, 'entity' | 'input'>,
  id: RecordId,
): readonly SentSet[] =>
  input.known.openWrites
    .filter(({ outcome }) => outcome === 'answered')
    .flatMap(({ sets }) => sets.filter((sent) => sent.entity === entity && isAstrayIn(sent, id)));

const isAstrayIn = ({ idSeen, kept }: SentSet, id: RecordId): boolean =>
  kept !== undefined && describeCell(kept.id) === id && !equalCells(idSeen, kept.id);

/** Rows by their ID, for as long as they are looked through: a write may have reached tens of thousands of them. */
const rowsById = new WeakMap<readonly ShownRow[], ReadonlyMap<string, readonly ShownRow[]>>();

/** The rows with this ID. */
export function withId<Row extends ShownRow>(
  { rows }: { readonly rows: readonly Row[] },
  id: Cell,
): readonly Row[] {
  // What is kept beside rows are these rows.
  const known = rowsById.get(rows) as ReadonlyMap<string, readonly Row[]> | undefined;
  const groups = known ?? Map.groupBy(rows, (row) => describeCell(row.id));
  rowsById.set(rows, groups);
  return (groups.get(describeCell(id)) ?? []).filter((row) => equalCells(row.id, id));
}

/** Whether it is the row for which the set was meant, and not the one that it hit with the other's ID: it shows what was written by right. */
const isMeantRow = (row: ObservedRow, sent: SentSet, kept: KeptRow): boolean =>
  sent.idSeen.kind !== 'empty' &&
  equalCells(row.id, sent.idSeen) &&
  !equalCells(sent.idSeen, kept.id) &&
  createLikeness(sent, kept)(row) <= Math.max(alikeMin, likenessToMeant(row, sent));

/** Whether no row has the ID for which the set was meant any more, and this one shows all else that was read there: somebody took away its ID. */
const mayBeMeantRow = (tab: Tab, row: ObservedRow, sent: SentSet): boolean =>
  sent.idSeen.kind !== 'empty' && withId(tab, sent.idSeen).length === 0 && likenessToMeant(row, sent) === 1;

/** Which share of the cells that a set did not write a row has like the one for which it was meant. */
const likenessToMeant = (row: ObservedRow, { cells, was = {} }: SentSet): number =>
  shareOf((name) => (name in was && !(name in cells) ? [was[name]] : []))(row);

/** Whether it has another ID or none, and not all of what the set left alone: other rows have much in common with the one that was hit. */
const isAnother = (row: ObservedRow, sent: SentSet, kept: KeptRow): boolean =>
  sent.id === undefined && !equalCells(row.id, kept.id) && createLikeness(sent, kept)(row) < 1;

/** A row that has less in common with the one that was hit may be any. */
const alikeMin = 0.5;

function mostAlike(rows: readonly ObservedRow[], likeness: Likeness): readonly ObservedRow[] {
  const shares = rows.map(likeness);
  // There may be more rows than a call takes arguments.
  const most = shares.reduce((highest, share) => Math.max(highest, share), 0);
  return rows.filter((_, index) => shares[index] === most);
}

type Likeness = (row: ObservedRow) => number;

/**
 * Which share of the cells that a set did not write, and that were kept, a row has like the one that it hit. What it put into a column of
 * people may show in one of its own by now: somebody had copied that column, and kept the copy.
 */
const createLikeness = ({ cells, others = [] }: SentSet, kept: KeptRow): Likeness => {
  const strays = others.map(({ written }) => written).filter(({ kind }) => kind !== 'empty');
  return shareOf((name) => (name in kept.cells && !(name in cells) ? [kept.cells[name], ...strays] : []));
};

/** Which share of all cells a row has as they were before a set hit them, or after. */
export const createWholeLikeness = ({ cells }: SentSet, kept: KeptRow): Likeness => {
  // Where nothing stood before, what is mended already is empty.
  const before =
    kept.place.row === undefined ? { ...blankCells(Object.keys(cells)), ...kept.cells } : kept.cells;
  return shareOf((name) => [before, cells].flatMap((known) => (name in known ? [known[name]] : [])));
};

/** The share of the fields of which anything is known, of which a row shows that. */
const shareOf =
  (expected: (name: FieldName) => readonly (Cell | undefined)[]): Likeness =>
  (row) => {
    const names = Object.keys(row.cells).filter((name) => expected(name).length > 0);
    const same = names.filter((name) => expected(name).some((cell) => isSameKept(row.cells[name], cell)));
    return names.length === 0 ? alikeMin : same.length / names.length;
  };

/** Whether a row shows everything that a set wrote into its columns, which is something. */
export function showsWritten(row: Pick<ObservedRow, 'cells' | 'id'>, { cells, id }: SentSet): boolean {
  const written = Object.entries(cells).filter(([name, { kind }]) => kind !== 'empty' && name in row.cells);
  const hasId = id !== undefined && id.kind !== 'empty' && equalCells(row.id, id);
  return (hasId || written.length > 0) && written.every(([name, cell]) => isSameKept(row.cells[name], cell));
}

type ShownRow = Pick<ObservedRow, 'cells' | 'id'>;

/** Rows by one of their cells, for as long as they are looked through. */
const rowsByField = new WeakMap<
  readonly ShownRow[],
  Map<FieldName, ReadonlyMap<string, readonly ShownRow[]>>
>();

/**
 * The rows that show everything that a set wrote. They are looked for among those that have its rarest cell: nobody can compare each of the
 * rows of a long tab with each step of a write that reached all of them.
 */
export function rowsShowing<Row extends ShownRow>(rows: readonly Row[], sent: SentSet): readonly Row[] {
  const { cells, id = emptyCell } = sent;
  const written = Object.entries(cells).filter(([, { kind }]) => kind !== 'empty');
  const candidates =
    written.length === 0
      ? withId({ rows }, id)
      : written
          .map(([name, cell]) => withCell(rows, name, cell))
          .reduce((rarest, own) => (own.length < rarest.length ? own : rarest));
  return candidates.filter((row) => showsWritten(row, sent));
}

/** The rows that may have such a cell: they have it, or what a formula makes there, or lack its column. */
function withCell<Row extends ShownRow>(rows: readonly Row[], name: FieldName, cell: Cell): readonly Row[] {
  const ofRows = rowsByField.get(rows) ?? new Map<FieldName, ReadonlyMap<string, readonly ShownRow[]>>();
  rowsByField.set(rows, ofRows);
  const known = ofRows.get(name) as ReadonlyMap<string, readonly Row[]> | undefined;
  const textOf = (found: Cell | undefined) => (found ? keptText(found) : '');
  const groups = known ?? Map.groupBy(rows, ({ cells }) => textOf(cells[name]));
  ofRows.set(name, groups);
  const texts = new Set([keptText(cell), keptText(spilledCell), '']);
  return [...texts].flatMap((text) => groups.get(text) ?? []);
}

/** The fields whose column is there, and was, and of which a row still shows what was written, and showed something else before. */
export const leftFields = (row: ObservedRow, { cells }: SentSet, kept: KeptRow): readonly FieldName[] =>
  Object.keys(cells).filter(
    (name) =>
      name in row.cells &&
      name in kept.place.columns &&
      isLeft(row.cells[name], cells[name], kept.cells[name]),
  );

/**
 * The fields that somebody typed over before they were mended. A row that is not known by an ID of its own may be another one by now, so
 * there are none.
 */
export const fieldsTypedOver = (
  row: ObservedRow,
  { cells, id }: SentSet,
  kept: KeptRow,
): readonly FieldName[] =>
  id !== undefined || kept.id.kind === 'empty' || !equalCells(row.id, kept.id)
    ? []
    : Object.keys(cells).filter(
        (name) =>
          name in row.cells &&
          !isSameKept(row.cells[name], cells[name]) &&
          !isSameKept(row.cells[name], kept.cells[name]),
      );

/** Whether somebody has made another row of the one that was hit: less than half of it is as it was. */
export const isRetyped = (row: ObservedRow, kept: KeptRow): boolean =>
  shareOf((name) => (name in kept.cells ? [kept.cells[name]] : []))(row) < alikeMin;

const hasLeft = (row: ObservedRow, sent: SentSet, kept: KeptRow): boolean =>
  leftFields(row, sent, kept).length > 0 ||
  isLeft(row.sync, sent.sync, kept.sync) ||
  hasWrongId(row, sent, kept);

/** Whether a row has the ID that a set gave it, or none where it was to have one. */
export const hasWrongId = (row: ObservedRow, { id }: SentSet, kept: KeptRow): boolean =>
  id !== undefined && equalCells(row.id, id) && !equalCells(id, kept.id);

/** Whether a cell still shows what was written, and showed something else before. A no is something else than nothing here. */
export const isLeft = (
  found: Cell | undefined,
  written: Cell | undefined,
  before: Cell | undefined,
): boolean =>
  written !== undefined &&
  isSameKept(found, written) &&
  !isSameAnswer(written, before) &&
  !isSameAnswer(found, before);

const isSameAnswer = (cell: Cell = emptyCell, other: Cell = emptyCell): boolean =>
  cell.kind === 'boolean' || other.kind === 'boolean' ? equalCells(cell, other) : isSameKept(cell, other);

/** Puts the rows that are nearest to the place of a set first. */
export const byDistance = (sent: SentSet) => (one: Placed, other: Placed) =>
  Math.abs(one.position - sent.position) - Math.abs(other.position - sent.position);

type Placed = Pick<ObservedRow, 'position'>;

/** Whether a row stands where a set was to go. Where a new row landed is not known, but all of it was written. */
const mayStandAt = ({ position }: Placed, sent: SentSet): boolean =>
  position === sent.position || sent.position < 0;

/** Whether a set left nothing in the managed cells of the row that it hit. */
const mayBeBlank = ({ cells, id = emptyCell }: SentSet): boolean =>
  [id, ...Object.values(cells)].every(isUnfilled);

/** The nearest row that has nothing but cells of people's own columns, among them all that was written into such. */
function findOwnRow(tab: Tab, sent: SentSet): ObservedRow | undefined {
  const written = (sent.others ?? []).map((other) => other.written).filter(({ kind }) => kind !== 'empty');
  if (written.length === 0 || !mayBeBlank(sent)) return undefined;
  const shows = (cells: readonly Cell[]) =>
    written.every((cell) => cells.some((found) => isSameKept(found, cell)));
  const [nearest] = (tab.ownRows ?? []).filter(({ cells }) => shows(cells)).toSorted(byDistance(sent));
  return nearest && blankRow(tab, nearest);
}

/** A row in which nothing is left is not read any more. So it is looked for in the place where it was, unless another row stands there now. */
function findBlankRow(tab: Tab, { position }: SentSet): readonly ObservedRow[] {
  if (position < 1 || tab.rows.some((row) => row.position === position)) return [];
  return [blankRow(tab, { position })];
}

const blankRow = ({ fields }: Tab, { position }: Placed): ObservedRow => ({
  position,
  id: emptyCell,
  sync: emptyCell,
  cells: blankCells(fields),
});

export const blankCells = (fields: Iterable<FieldName>): ObservedRow['cells'] =>
  Object.fromEntries(Array.from(fields, (name) => [name, emptyCell]));
