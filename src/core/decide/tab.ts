import { describeCell } from '../cell.ts';
import { quoteText } from '../cut-text.ts';
import { isClaimToken, type RecordId } from '../record.ts';
import type { Agreement } from '../state.ts';
import type { ObservedRow } from '../table.ts';
import type { Fields } from '../value.ts';
import { createMeantSearch, keepNotedLosses } from './brakes/approvals.ts';
import { isBraked } from './brakes/tab-brakes.ts';
import { isLeftToRest, keepDecisions, swapScope, type TabContext } from './context.ts';
import { setDamagedApart } from './damage/damaged.ts';
import { type Binding, bindRows, type IdLookup } from './identity/bind.ts';
import { decideCopy } from './identity/copies.ts';
import { isInTable, wasMissing } from './identity/origin.ts';
import {
  createSuspectSearch,
  decideStray,
  findOrphans,
  findStrays,
  suspectReason,
} from './identity/strays.ts';
import { findSwaps, type Swap } from './identity/swaps.ts';
import { decideUnseenRecords, decideVanishedRow, takeBackDeletes } from './lifecycle/absent.ts';
import { decideClaimedRow, decideNewRow, forgetCreates, isBlank } from './lifecycle/new-row.ts';
import { findContestHold } from './rows/contested.ts';
import { leaveAlone, pauseRow } from './rows/paused.ts';
import { decideRow } from './rows/row.ts';
import { showsValues } from './rows/row-values.ts';
import { holdRow } from './rows/row-write.ts';
import { holdUnread } from './rows/unread.ts';

/** Decides one tab: what is damaged is set apart, then the brakes, then every row, then the records that have none. */
export function decideTab(whole: TabContext): void {
  const { draft } = whole;
  draft.holds.push(...holdUnread(whole));
  const damaged = setDamagedApart(whole);
  const { context } = damaged;
  const { rows } = context.tab;
  const present = presentIds(context, [...rows.map(({ id }) => describeCell(id)), ...damaged.present]);
  const named = presentIds(context, damaged.named);
  const isOpenClaim = ({ id }: ObservedRow) => context.input.known.claims.open.has(describeCell(id));
  const settled = rows.filter((row) => !isOpenClaim(row));
  const missing = [...context.agreements.values()].filter(
    (agreement) =>
      isInTable(context, agreement) && !present.has(agreement.key.id) && mayStay(context, agreement.key.id),
  );
  for (const { key } of missing) keepDecisions(context, key);
  for (const id of named) keepDecisions(context, { entity: context.entity, id });
  if (missing.length > 0) keepNotedLosses(context);
  const orphans = findOrphans(context, settled);
  const strays = findStrays(context, settled, [...missing, ...orphans]);
  const [strayRows, strayIds] = [new Set(strays.map(({ row }) => row)), new Set(strays.map(({ id }) => id))];
  const isStillLost = ({ key }: Agreement) => !strayIds.has(key.id);
  const vanished = missing.filter((agreement) => isStillLost(agreement) && !named.has(agreement.key.id));
  const orphaned = orphans.filter(isStillLost);
  const lost = [...missing.filter(isStillLost), ...orphaned];
  const binding = bindRows(
    settled.filter((row) => !strayRows.has(row)),
    createLookup(context, lost),
  );
  const steadilyVanished = vanished.filter((agreement) => wasMissing(context, agreement));
  draft.restlessRows += vanished.length - steadilyVanished.length;
  const steady = { orphaned, vanished: steadilyVanished };
  if (isBraked(context, binding, { orphaned, vanished }, steady)) return;

  damaged.write();
  for (const stray of strays) decideStray(context, stray);
  const swaps = decideRecords(context, binding);
  const found = new Set([...swaps.values()].map(({ other }) => other));
  const unsure = [...swaps.keys()].flatMap((id) => context.agreements.get(id) ?? []);
  const findSuspects = createSuspectSearch(context, [...lost, ...unsure]);
  const suspectsOf = (row: ObservedRow) => {
    const suspects = findSuspects(row);
    for (const id of suspects) found.add(id);
    return suspects;
  };
  for (const { row, id } of binding.records)
    if (context.records.get(id)?.presence === 'gone') suspectsOf(row);
  for (const row of rows) if (isOpenClaim(row)) suspectsOf(row);
  decideClaims(context, binding, suspectsOf);
  decideOthers(context, binding, suspectsOf);
  forgetCreates(context, present.union(named));
  const restored = steadilyVanished.flatMap(({ key }) =>
    found.has(key.id) ? [] : (decideVanishedRow(context, key) ?? []),
  );
  const known = present.union(named).union(found);
  takeBackDeletes(context, known.union(strayIds));
  decideUnseenRecords(context, known, restored);
}

/** Rows with the ID of their record. Answers those whose ID may be another one's: the record whose values they show has not vanished. */
function decideRecords(context: TabContext, binding: Binding): ReadonlyMap<RecordId, Swap> {
  const { entity } = context;
  const { copies, records, strangers, unbound } = binding;
  const others = [...unbound, ...[...copies, ...strangers].map(({ row }) => row)];
  const swaps = findSwaps(context, records, others);
  const isMeant = swaps.size > 0 ? createMeantSearch(context) : () => false;
  const standing = new Map<RecordId, Swap>();
  for (const { row, id } of records) {
    const [swap, scope] = [swaps.get(id), swapScope({ entity, id })];
    if (row.isPaused) {
      pauseRow(context, row, id);
      continue;
    }
    const contest = context.records.get(id)?.presence === 'gone' ? undefined : findContestHold(context, id);
    if (contest) {
      leaveAlone(context, row, id);
      holdRow(context, row, id, contest.reason, contest.scope);
      continue;
    }
    const isTaken = swap === undefined || context.decision(scope) !== undefined || isMeant(row, id);
    if (!isTaken) standing.set(id, swap);
    if (isTaken) decideRow(context, row, id);
    else if (swap.sign === 'exchanged') decideStray(context, { row, id: swap.other });
    else if (!isLeftToRest(context, row)) holdRow(context, row, id, swapReason(swap), scope);
  }
  return standing;
}

function swapReason({ other, sign }: Swap): string {
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

/** Answers the lost records whose row this may be: those have not vanished. */
type SuspectsOf = (row: ObservedRow) => readonly RecordId[];

/** Rows that carry the token of their create. */
function decideClaims(context: TabContext, { claimed, records }: Binding, suspectsOf: SuspectsOf): void {
  const { claims } = context.input.known;
  const boundIds = new Set(records.map(({ id }) => id));
  for (const { row, id } of claimed) {
    if (row.isPaused) pauseRow(context, row, id);
    else if (claims.void.has(id) && !context.outbox.has(id)) decideNewRow(context, row, suspectsOf(row));
    else decideClaimedRow(context, row, id, { boundIds, suspectsOf });
  }
}

/** Rows that belong to no record for certain. */
function decideOthers(
  context: TabContext,
  { copies, strangers, unbound }: Binding,
  suspectsOf: SuspectsOf,
): void {
  for (const copy of copies) decideCopy(context, copy, suspectsOf(copy.row));
  const { nameless, sweptEntities } = context.input.known;
  const [isSwept, isNameless] = [sweptEntities.has(context.entity), nameless.has(context.entity)];
  for (const { row, id } of strangers) {
    const suspects = suspectsOf(row);
    if (row.isPaused) pauseRow(context, row, id);
    else if (isSwept && isNameless) holdRow(context, row, id, doubtfulStranger(id));
    else if (isSwept) holdRow(context, row, id, strangerReason(id, suspects));
  }
  for (const row of unbound) {
    const suspects = suspectsOf(row);
    if (row.isPaused && !isBlank(row)) pauseRow(context, row, '');
    else decideNewRow(context, row, suspects);
  }
}

const doubtfulStranger = (id: RecordId): string =>
  `No record of the CRM has the ID ${quoteText(id)}, as far as they can be read: one of them has an id that cannot be understood. Leave the row as it is until that is corrected in the CRM.`;

function strangerReason(id: RecordId, suspects: readonly RecordId[]): string {
  const nobody = `No record of the CRM has the ID ${quoteText(id)}`;
  if (suspects.length === 0) return `${nobody}. Clear the ID to make this a new record, or undo the change.`;
  return suspectReason(`${nobody}, and this`, suspects, 'undo the change');
}

/** Whether a record is in the CRM and nothing is known that takes it away. */
function mayStay({ cascades, records }: TabContext, id: RecordId): boolean {
  const record = records.get(id);
  return record?.presence === 'present' && !cascades.isLeaving(record);
}

/** The ids of rows, with those of the records whose row still carries the token of their create. */
function presentIds({ outbox }: TabContext, ids: Iterable<RecordId>): Set<RecordId> {
  const present = new Set(ids);
  for (const id of [...present]) {
    const recordId = isClaimToken(id) ? outbox.get(id)?.recordId : undefined;
    if (recordId !== undefined) present.add(recordId);
  }
  return present;
}

/** What the row of an id may show before anybody edits it: first what was last decided from it, and last what is agreed. */
function createLookup(context: TabContext, lost: readonly Agreement[]): IdLookup {
  const agreementOf = (id: RecordId) => context.agreements.get(context.outbox.get(id)?.recordId ?? id);
  const versionsOf = (id: RecordId): Fields[] => {
    const item = context.outbox.get(id);
    const { fields = {}, offered = {} } = agreementOf(id) ?? {};
    const sent = item && item.kind !== 'delete' ? [{ ...fields, ...item.fields }] : [];
    return [...sent, { ...fields, ...offered }, fields].filter((each) => Object.keys(each).length > 0);
  };
  const findSuspects = createSuspectSearch(context, lost);
  return {
    isKnown: (id) => context.records.has(id),
    isForeign: (row) => findSuspects(row).length > 0,
    findOriginal(id, rows) {
      for (const values of versionsOf(id)) {
        const row = rows.find((candidate) => showsValues(context, candidate, values, agreementOf(id)?.shown));
        if (row) return row;
      }
      return undefined;
    },
  };
}
