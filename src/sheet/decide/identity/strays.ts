import { isClaimToken, type RecordId } from '../../../core/record.ts';
import type { Agreement } from '../../../core/state.ts';
import { isMarkedCopy } from '../../cells/sync-text.ts';
import { describeCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import { mergeRow } from '../rows/merge.ts';
import { decideRow } from '../rows/row.ts';
import { lookOf, lookOfValues } from '../rows/row-values.ts';
import { findUnsettled, writeRow } from '../rows/row-write.ts';
import type { TabIndex } from '../tab-index.ts';
import { nothing, type Verdict } from '../verdict.ts';
import type { BoundRow } from './bind.ts';
import { baseOf, createLikeSearch, isLike } from './likeness.ts';

/** Records whose ID stands in rows alone that are marked as copies: if their own row is there, it lacks its ID. */
export function findOrphans({ agreements }: TabIndex, rows: readonly ObservedRow[]): Agreement[] {
  const marked = new Set(rows.filter(isMarkedCopy).map((row) => describeCell(row.id)));
  for (const row of rows) if (!isMarkedCopy(row)) marked.delete(describeCell(row.id));
  return [...marked].flatMap((id) => agreements.get(id) ?? []);
}

/**
 * Rows that surely lost their ID, with the record they carry. Such a row shows exactly what is agreed for a record that has no row, and its
 * ID cell is blank, or holds what is no ID, or the ID of another row or of a record that is gone. It is certain only where it is unique on
 * both sides: no other row shows the same, and no other record has it. If the ID of that record stands in a row which shows exactly what a
 * third record has, that row has lost its own ID as well, and so on, as long as the last record in the chain has no row.
 */
export function findStrays(
  index: TabIndex,
  rows: readonly ObservedRow[],
  rowless: readonly Agreement[],
): BoundRow[] {
  const [first] = rows;
  if (!first || rowless.length === 0) return [];
  const byId = Map.groupBy(rows, (row) => describeCell(row.id));
  const shown = findShown(index, rows, first);
  const lost = new Set(rowless.map(({ key }) => key.id));
  const mayBeAstray = (row: ObservedRow) => {
    const id = describeCell(row.id);
    return row.id.kind === 'empty' || (byId.get(id)?.length ?? 0) > 1 || !isOfThisTab(index, id);
  };
  /** The row and all whose IDs it needs, if the last of them is the row of a record that has none. */
  const follow = (row: ObservedRow, before: readonly BoundRow[]): readonly BoundRow[] => {
    const id = shown.get(row);
    if (id === undefined || before.some((stray) => stray.row === row)) return [];
    const strays = [...before, { row, id }];
    const [next, ...others] = byId.get(id) ?? [];
    if (lost.has(id)) return strays;
    return next && others.length === 0 ? follow(next, strays) : [];
  };
  const strays = rows.filter(mayBeAstray).flatMap((row) => follow(row, []));
  return [...new Map(strays.map((stray) => [stray.row, stray])).values()];
}

/** By row, the record whose values it shows exactly, where that is unique on both sides and its ID is another one. */
function findShown(
  index: TabIndex,
  rows: readonly ObservedRow[],
  first: ObservedRow,
): ReadonlyMap<ObservedRow, RecordId> {
  const owners = Map.groupBy(index.agreements.values(), (agreement) =>
    lookOfValues(index, first, baseOf(index, agreement), agreement.shown),
  );
  const shown = new Map<ObservedRow, RecordId>();
  for (const [look, [row, ...others]] of Map.groupBy(rows, (each) => lookOf(index, each))) {
    const [owner, ...rivals] = owners.get(look) ?? [];
    const isUnique = others.length + rivals.length === 0;
    if (row && owner && isUnique && owner.key.id !== describeCell(row.id)) shown.set(row, owner.key.id);
  }
  return shown;
}

/** The row of a record that is gone goes too: what stands beside its ID later may be any. */
const isOfThisTab = (index: TabIndex, id: RecordId): boolean =>
  isClaimToken(id) || index.records.get(id)?.presence === 'present';

/** Writes the ID back once the row rests, with all that the row is to get besides. A row that is to go gets its ID first all the same. */
export function decideStray(index: TabIndex, { row, id }: BoundRow): Verdict {
  const { entity, records } = index;
  const unsettled = findUnsettled(index, row);
  if (unsettled) return unsettled;
  const given = { id, cause: 'its ID was lost, and found again by what the row shows' };
  const record = records.get(id);
  if (!record) return nothing;
  if (record.presence !== 'gone') return decideRow(index, row, record, mergeRow(index, row, id), given);
  const state = { kind: 'pending', what: 'deleted in the CRM' } as const;
  return writeRow(index, row, { entity, id }, { given, state });
}

/**
 * Finds lost records whose row this may be: it looks like them, but not for certain. They have not vanished as long as it stands there. A
 * row that looks like the record whose ID it has is a copy of that one.
 */
export function createSuspectSearch(
  index: TabIndex,
  lost: readonly Agreement[],
): (row: ObservedRow) => RecordId[] {
  const search = createLikeSearch(index, lost);
  return (row) => {
    const own = lost.length > 0 ? index.agreements.get(describeCell(row.id)) : undefined;
    return own && isLike(index, row, own) ? [] : search(row).map(({ key }) => key.id);
  };
}
