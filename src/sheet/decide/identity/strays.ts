import { once } from '../../../core/once.ts';
import { isClaimToken, type RecordId } from '../../../core/record.ts';
import type { Agreement } from '../../../core/state.ts';
import { digest } from '../../../core/text/digest.ts';
import { copyScope } from '../../../core/waiting/scopes.ts';
import { copyMark, isMarkedCopy } from '../../cells/sync-text.ts';
import { describeCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import { mergeRow } from '../rows/merge.ts';
import { decideRow } from '../rows/row.ts';
import { type Cells, lookOf, readRowValues } from '../rows/row-values.ts';
import { claimRow, findUnsettled, holdRow, writeRow } from '../rows/row-write.ts';
import { pausedReason } from '../rows/waiting-edits.ts';
import type { TabIndex } from '../tab-index.ts';
import { answerTo, join, nothing, type Verdict } from '../verdict.ts';
import type { BoundRow, CopiedRow } from './bind.ts';
import { createLikeSearch, groupByLook, isLike, suspectReason } from './likeness.ts';

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
  findRowless: () => readonly Agreement[],
): BoundRow[] {
  const { template } = index;
  if (!template) return [];
  const byId = Map.groupBy(rows, (row) => describeCell(row.id));
  const mayBeAstray = (row: ObservedRow) => {
    const id = describeCell(row.id);
    return row.id.kind === 'empty' || (byId.get(id)?.length ?? 0) > 1 || !isOfThisTab(index, id);
  };
  const astray = rows.filter(mayBeAstray);
  if (astray.length === 0) return [];
  const lost = new Set(findRowless().map(({ key }) => key.id));
  if (lost.size === 0) return [];
  const shown = findShown(index, rows, template);
  /** The row and all whose IDs it needs, if the last of them is the row of a record that has none. */
  const follow = (row: ObservedRow, before: readonly BoundRow[]): readonly BoundRow[] => {
    const id = shown.get(row);
    if (id === undefined || before.some((stray) => stray.row === row)) return [];
    const strays = [...before, { row, id }];
    const [next, ...others] = byId.get(id) ?? [];
    if (lost.has(id)) return strays;
    return next && others.length === 0 ? follow(next, strays) : [];
  };
  const strays = astray.flatMap((row) => follow(row, []));
  return [...new Map(strays.map((stray) => [stray.row, stray])).values()];
}

/** By row, the record whose values it shows exactly, where that is unique on both sides and its ID is another one. */
function findShown(index: TabIndex, rows: readonly ObservedRow[], template: ObservedRow) {
  const owners = groupByLook(index, template, rows, index.candidates());
  const taken = looksInStep(index, rows, template);
  const shown = new Map<ObservedRow, RecordId>();
  for (const [look, [row, ...others]] of Map.groupBy(rows, (each) => lookOf(index, each))) {
    const [owner, ...rivals] = owners.get(look) ?? [];
    const isUnique = others.length + rivals.length === 0 && !taken.has(look);
    if (row && owner && isUnique && owner.key.id !== describeCell(row.id)) shown.set(row, owner.key.id);
  }
  return shown;
}

/**
 * The looks of the rows that are in step and show the same as one of these. What such a row shows is what its record has, so the look is
 * neither a row's nor a record's alone. A row that waits to be written may show a former name of something: then both looks are taken.
 */
function looksInStep(
  index: TabIndex,
  rows: readonly ObservedRow[],
  template: ObservedRow,
): ReadonlySet<string> {
  const [{ field: naming } = { field: '' }] = index.layout.columns;
  // To compare all columns is costly: only rows that are alike in the first one can be alike in all.
  const firstOf = ({ [naming]: cell }: Cells) => ({ cells: cell ? { [naming]: cell } : {} });
  const firsts = new Set(rows.map(({ cells }) => lookOf(index, firstOf(cells))));
  const looks = [...index.inStep.values()].flatMap((row) =>
    firsts.has(lookOf(index, firstOf(row.cells))) ? [lookOf(index, row)] : [],
  );
  const waiting = [...index.waiting].flatMap((id) => index.agreements.get(id) ?? []);
  return new Set([...looks, ...groupByLook(index, template, rows, waiting).keys()]);
}

/** The row of a record that is gone goes too: what stands beside its ID later may be any. */
const isOfThisTab = (index: TabIndex, id: RecordId): boolean =>
  isClaimToken(id) || index.records.get(id)?.presence === 'present';

/** Writes the ID back once the row rests, with all that the row is to get besides. A row that is to go gets its ID first all the same. */
export function decideStray(index: TabIndex, { row, id }: BoundRow): Verdict {
  const unsettled = findUnsettled(index, row);
  if (unsettled) return unsettled;
  const given = { id, cause: 'its ID was lost, and found again by what the row shows' };
  const record = index.records.get(id);
  if (!record) return nothing;
  if (record.presence !== 'gone')
    return decideRow(index, { row, record, merged: mergeRow(index, row, id) }, given);
  const state = { kind: 'pending', what: 'deleted in the CRM' } as const;
  return writeRow(index, row, id, { given, state });
}

/**
 * Finds lost records whose row this may be: it looks like them, but not for certain. They have not vanished as long as it stands there. A
 * row that looks like the record whose ID it has is a copy of that one.
 */
export function createSuspectSearch(index: TabIndex, findLost: () => readonly Agreement[]) {
  const search = once(() => createLikeSearch(index, findLost()));
  return (row: ObservedRow): RecordId[] => {
    const own = index.agreements.get(describeCell(row.id));
    return own && isLike(index, row, own) ? [] : search()(row).map(({ key }) => key.id);
  };
}

/**
 * Decides a row with the ID of another one. It is never written from; it becomes a record of its own when a person clears its ID, or
 * answers so. `suspects` are missing records that it looks like.
 */
export function decideCopy(index: TabIndex, copy: CopiedRow, suspects: readonly RecordId[]): Verdict {
  const { row, id, rows, hasOriginal } = copy;
  if (suspects.length > 0) {
    const orElse = 'change the row and clear the ID to make it a new record';
    return holdRow(index, copy, suspectReason(`${copyReasonStart}, and it looks like`, suspects, orElse));
  }
  if (!hasOriginal && !isMarkedCopy(row)) return holdRow(index, copy, rivalReason(id));
  const own = hasOriginal ? undefined : index.agreements.get(id);
  // Without its ID it would pass for the lost row of the record.
  if (own && isLike(index, row, own)) return holdRow(index, copy, likeReason(id));
  return offerAsNew(index, copy, rows > 1 || isClaimToken(id) ? copyReason : orphanReason(id));
}

const copyReasonStart = `${copyMark}: its ID stands in another row too`;

/** Said at a row whose ID stands in another row too, and where people answer questions. */
export const copyReason = `${copyReasonStart}. Clear the ID of the copy to make it a new record, or delete the copy.`;

const orphanStart = (id: RecordId) => `${copyMark} of record ${id}, whose own row is gone`;

const orphanReason = (id: RecordId) =>
  `${orphanStart(id)}. Clear the ID of the copy to make it a new record, or its Sync cell to make it the row of record ${id}.`;

const likeReason = (id: RecordId) =>
  `${orphanStart(id)}. Clear its Sync cell to make it the row of record ${id}, or change the row to make it a new record.`;

const rivalReason = (id: RecordId) =>
  `Several rows have the ID ${id}, and none shows what was last known of it. Clear the ID of those that are to be new records.`;

/** Holds a copy until a user wants it to be a new record. Copies that show the same are answered together. */
export function offerAsNew(index: TabIndex, bound: BoundRow, reason: string): Verdict {
  const { row, id } = bound;
  const { answers, entity, questions } = index;
  // Whoever copies a row copies its tick as well. Nothing is asked that could not be done.
  if (row.isPaused) return holdRow(index, bound, `${copyMark}, and ${pausedReason(index)}`);
  const scope = copyScope({ entity, id }, digest(lookOf(index, row)));
  const ask = () => questions.ofHold({ entity, id, reason, decision: scope });
  const { answered, verdict } = answerTo(answers, scope, ask);
  if (answered?.choice !== 'new') return join(verdict, holdRow(index, bound, reason, scope));
  const { faults, fields, missing } = readRowValues(index, row);
  const obstacles = [...faults, ...missing.map((header) => `Fill ${header}.`)];
  if (obstacles.length > 0) {
    const held = `${copyMark}, and can not become a new record yet. ${obstacles.join(' ')}`;
    return join(verdict, holdRow(index, bound, held));
  }
  return join(verdict, findUnsettled(index, row) ?? claimRow(index, row, fields));
}
