import { once } from '../../../core/once.ts';
import type { RecordId } from '../../../core/record.ts';
import type { Agreement } from '../../../core/state.ts';
import type { FieldName } from '../../../core/value.ts';
import { type Cell, describeCell, emptyCell, equalCells } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { MergedRow } from '../rows/merge.ts';
import {
  type Cells,
  expectedCell,
  lookAlike,
  lookOf,
  lookOfValues,
  showsValues,
} from '../rows/row-values.ts';
import type { TabIndex } from '../tab-index.ts';
import type { BoundRow } from './bind.ts';
import {
  createLikeSearch,
  groupByLook,
  isLike,
  isShownOnly,
  type OwnCells,
  showsPart,
  showsRare,
  traitsIn,
} from './likeness.ts';

/** A row that does not show what is agreed for its record. */
interface DisplacedRow extends OwnCells {
  readonly row: ObservedRow;
  /** What it shows where it would show something else of its record. */
  readonly changed: Cells;
  /** Everything that it shows, and what it would show of its record, each as one text. */
  readonly look: () => string;
  readonly ownLook: () => string;
}

/** What a displaced row has to do with another record. */
export interface Swap {
  readonly other: RecordId;
  /**
   * `exchanged`: the IDs of both rows changed places, and surely nothing else did. `shows`: the row shows the other record's values.
   * `shown`: the other record's row shows the values of this one, and nobody knows what this one shows. `left`: a row that belongs to
   * no record shows the values of this one, and this one nothing of them; there is no other record.
   */
  readonly sign: 'exchanged' | 'shows' | 'shown' | 'left';
}

/**
 * Rows whose ID may be that of another record. Nobody can tell what was meant, so nothing is written for them, unless it is certain:
 * - a row that shows the values of a record whose own row does not: their IDs changed places, or their values did, perhaps with edits on top;
 * - a row that shows exactly what a record without a row has, or that looks like such a record and like its own no more;
 * - a row in which none of its record's values is left, while they stand in one of the `others`, which have no record.
 */
export function findSwaps(
  index: TabIndex,
  records: readonly BoundRow[],
  merges: ReadonlyMap<ObservedRow, MergedRow>,
  others: readonly ObservedRow[],
): ReadonlyMap<RecordId, Swap> {
  const displaced = records.flatMap((bound) => findDisplaced(index, bound, merges.get(bound.row)) ?? []);
  const swaps = new Map<RecordId, Swap>();
  const [first] = displaced;
  if (!first) return swaps;
  const bound = new Set(records.map(({ id }) => id));
  const rowless = index
    .candidates()
    .filter(({ key, fields }) => !bound.has(key.id) && Object.keys(fields).length > 0);
  const changedFields = new Set(displaced.flatMap(({ changed }) => Object.keys(changed)));
  // To compare all columns is costly: only cells that are alike in those that were changed can be alike in all.
  const partOf: PartOf = (cells) =>
    Object.fromEntries([...changedFields].map((name) => [name, cells[name] ?? emptyCell]));
  const rows = displaced.map(({ row }) => row);
  const findOwner = createOwnerSearch(index, partOf, displaced, groupByLook(index, first.row, rows, rowless));
  const isForeign = ({ id, row }: DisplacedRow) => {
    const own = index.agreements.get(id);
    return own !== undefined && !isLike(index, row, own);
  };
  const search = createSearch(index, partOf, displaced, swaps, isForeign);
  const searchRowless = createLikeSearch(index, rowless);
  /** The record without a row which the row looks like, where it does not look like its own any more. */
  const findRowless = (one: DisplacedRow) =>
    rowless.length > 0 && isForeign(one) ? searchRowless(one.row)[0]?.key.id : undefined;
  // Where IDs went round among several rows, what is known of one tells of the next.
  let known: number;
  do {
    known = swaps.size;
    for (const one of displaced.filter(({ id }) => !swaps.has(id))) {
      const other = findOwner(one) ?? search(one) ?? findRowless(one);
      if (other !== undefined) swaps.set(one.id, { other, sign: 'shows' });
    }
  } while (known < swaps.size);
  for (const one of others.length > 0 ? displaced : []) {
    const { id, own, ownLook } = one;
    // A row with the same ID is a copy, and its Sync cell says so. Of a row without any some cells may have been edited since.
    const isShownIn = (other: ObservedRow) =>
      lookOf(index, other) === ownLook()
        ? describeCell(other.id) !== id
        : other.id.kind === 'empty' && showsPart(index, other.cells, { id, own });
    const isShown = () => others.some(isShownIn);
    if (!swaps.has(id) && isForeign(one) && isShown()) swaps.set(id, { other: id, sign: 'left' });
  }
  const byId = new Map(displaced.map((each) => [each.id, each]));
  for (const [id, { other }] of [...swaps]) {
    const [one, partner] = [byId.get(id), byId.get(other)];
    if (!one || !partner) continue;
    if (areExchanged(index, one, partner)) swaps.set(id, { other, sign: 'exchanged' });
    else if (!swaps.has(other)) swaps.set(other, { other: id, sign: 'shown' });
  }
  return swaps;
}

/**
 * The row as a displaced one; `undefined` where it shows what is agreed for its record. Where its fields were merged, only those that did not plainly
 * agree are looked at again.
 */
function findDisplaced(
  index: TabIndex,
  { row, id }: BoundRow,
  merged: MergedRow | undefined,
): DisplacedRow | undefined {
  const record = index.records.get(id);
  // With a record that we deleted nothing is agreed any more, but its values may still stand in a row that came back.
  const { fields: known, shown } = index.agreements.get(id) ?? {};
  const agreed = known ?? (record?.presence === 'gone' ? record.fields : {});
  const names = merged?.decided.map(({ field }) => field.name) ?? Object.keys(row.cells);
  // Whatever a row shows about which nothing was agreed, nothing has left its place.
  if (!record || Object.keys(agreed).length === 0 || showsValues(index, row, agreed, shown, names))
    return undefined;
  // Of a column that is new nothing is agreed, but another row may show what the CRM has; so may the row itself.
  const own: Record<FieldName, Cell> = { ...row.cells };
  const changed: Record<FieldName, Cell> = {};
  for (const name of names) {
    const { [name]: cell = emptyCell } = row.cells;
    const value = agreed[name] === undefined ? record.fields[name] : agreed[name];
    const expected = expectedCell(index, name, cell, value, shown?.[name]);
    own[name] = expected;
    if (!lookAlike(index, name, cell, expected)) changed[name] = cell;
  }
  if (Object.keys(changed).length === 0) return undefined;
  const [look, ownLook] = [once(() => lookOf(index, row)), once(() => lookOf(index, { cells: own }))];
  return { id, row, own, changed, look, ownLook };
}

/** Finds the record whose row would show exactly what a displaced row shows. That row is displaced as well, or missing. */
function createOwnerSearch(
  index: TabIndex,
  partOf: PartOf,
  displaced: readonly DisplacedRow[],
  rowlessByLook: ReadonlyMap<string, readonly Agreement[]>,
) {
  const partLook = (cells: Cells) => lookOf(index, { cells: partOf(cells) });
  const byPart = new Map(
    [...Map.groupBy(displaced, ({ own }) => partLook(own))].map(
      ([part, alike]) =>
        [part, once(() => new Map(alike.map(({ id, ownLook }) => [ownLook(), id])))] as const,
    ),
  );
  return ({ look, row }: DisplacedRow): RecordId | undefined => {
    const owner = byPart.get(partLook(row.cells))?.().get(look());
    if (owner !== undefined || rowlessByLook.size === 0) return owner;
    return rowlessByLook.get(look())?.at(-1)?.key.id;
  };
}

/** Takes the cells in which any of the rows was changed. */
type PartOf = (cells: Cells) => Cells;

/** Says to a user what is wrong with a row, and what to do. */
export function describeSwap({ other, sign }: Swap): string {
  const right = 'Put each ID beside its own values';
  switch (sign) {
    case 'shown':
      return `The row of record ${other} shows values of this one. ${right}, or approve it if this row is meant as it is.`;
    case 'left':
      return `All values of this record stand in a row without its ID. ${right}, or approve it if this row is meant as it is.`;
    default:
      return `This row shows the values of record ${other} instead of its own. ${right}, or approve it if this is meant.`;
  }
}

/**
 * Whether two rows show exactly what the other one's record had and no third one has, also where people do not type: then their IDs
 * changed places, because whoever exchanges what two records have leaves the columns alone that only show.
 */
function areExchanged(index: TabIndex, one: DisplacedRow, other: DisplacedRow): boolean {
  const looks = [one.ownLook(), other.ownLook()];
  if (one.look() !== other.ownLook() || other.look() !== one.ownLook()) return false;
  const isTold = Object.entries(one.own).some(
    ([name, cell]) => isShownOnly(index, name) && !equalCells(cell, other.own[name] ?? emptyCell),
  );
  const twins = () =>
    [...index.agreements.values()].filter(({ fields, shown }) =>
      looks.includes(lookOfValues(index, one.row, fields, shown)),
    );
  return isTold && twins().length === looks.length;
}

/**
 * Finds the displaced record whose values a displaced row shows, although not all of them; not from columns alone that only show,
 * because those are put right by themselves. Of two rows with nothing of their own left one value suffices that only the other has, or one
 * value of a record whose row is known (`swaps`) to show a third one's.
 */
function createSearch(
  index: TabIndex,
  partOf: PartOf,
  displaced: readonly DisplacedRow[],
  swaps: ReadonlyMap<RecordId, Swap>,
  isForeign: (one: DisplacedRow) => boolean,
) {
  const owners = new Map(
    displaced.flatMap((each) => traitsIn(partOf(each.own)).map((trait) => [trait, each] as const)),
  );
  const isTyped = (name: FieldName) => !isShownOnly(index, name);
  return (one: DisplacedRow): RecordId | undefined => {
    const { changed } = one;
    if (!Object.entries(changed).some(([name, cell]) => cell.kind !== 'empty' && isTyped(name)))
      return undefined;
    const candidates = traitsIn(changed).flatMap((trait) => owners.get(trait) ?? []);
    const isCounterpart = (candidate: DisplacedRow) =>
      showsRare(index, changed, candidate) &&
      (swaps.has(candidate.id) || showsRare(index, candidate.changed, one)) &&
      isForeign(candidate);
    const found =
      candidates.find((candidate) => showsPart(index, changed, candidate)) ??
      (candidates.length > 0 && isForeign(one) ? candidates.find(isCounterpart) : undefined);
    return found?.id;
  };
}
