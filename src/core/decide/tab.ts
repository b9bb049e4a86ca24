import { describeCell } from '../cell.ts';
import { isClaimToken, type RecordId } from '../record.ts';
import type { Agreement } from '../state.ts';
import type { ObservedRow } from '../table.ts';
import type { FieldName, Fields } from '../value.ts';
import { decideUnseenRecords, decideVanishedRow, originOf, tabChoice } from './absent.ts';
import {
  isLetGo,
  keepApprovals,
  noteApproval,
  type Tripped,
  unapprovedEdits,
  unapprovedLosses,
} from './approvals.ts';
import { findRepairs, keepBefore, planRepairs } from './astray.ts';
import { type Binding, bindRows, type IdLookup } from './bind.ts';
import { findBrakes, stopped } from './brakes.ts';
import { type ContestHold, findContestHold } from './contested.ts';
import { keepDecisions, swapScope, type TabContext } from './context.ts';
import { decideCopy } from './copies.ts';
import { type Displaced, type Edit, findDisorder } from './disorder.ts';
import { findFirstMeeting } from './first-meeting.ts';
import { editsOf, type JudgedRow, judgeRow, lostValuesOf, valuesOfVanished } from './judge.ts';
import { decideClaimedRow, decideNewRow, forgetCreates, isBlank } from './new-row.ts';
import { findOtherAccount } from './other-account.ts';
import { pauseRow } from './paused.ts';
import type { Brake } from './plan.ts';
import { findRebase } from './rebase.ts';
import { findRemapped } from './remapped.ts';
import { decideRow } from './row.ts';
import { showsValues } from './row-values.ts';
import { holdRow } from './row-write.ts';
import { decideStray, findOrphans, findStrays, findSuspects, suspectWords } from './strays.ts';
import { findSwaps, type Swap } from './swaps.ts';

/**
 * Decides one tab: the brakes first, then every row, then the records that have none. Answers `false` where our own writes did damage to
 * it: then that is mended, and nothing else is concluded before it is.
 */
export function decideTab(context: TabContext): boolean {
  const { draft, entity } = context;
  const { rows } = context.tab;
  const repairs = findRepairs(context);
  if (repairs.length > 0) {
    planRepairs(context, repairs);
    keepBefore(context);
    draft.withheld.push(entity);
    return false;
  }
  const present = presentIds(context, rows);
  const missing = [...context.agreements.values()].filter(
    (agreement) =>
      isInTable(context, agreement) && !present.has(agreement.key.id) && mayStay(context, agreement.key.id),
  );
  for (const { key } of missing) keepDecisions(context, key);
  if (missing.length > 0) tabChoice(context);
  const orphans = findOrphans(context, rows);
  const strays = findStrays(context, rows, [...missing, ...orphans]);
  const [strayRows, strayIds] = [new Set(strays.map(({ row }) => row)), new Set(strays.map(({ id }) => id))];
  const isStillLost = ({ key }: Agreement) => !strayIds.has(key.id);
  const vanished = missing.filter(isStillLost);
  const lost = [...vanished, ...orphans.filter(isStillLost)];
  const binding = bindRows(
    rows.filter((row) => !strayRows.has(row)),
    createLookup(context, lost),
  );
  const steadilyVanished = vanished.filter((agreement) => wasMissing(context, agreement));
  draft.restlessRows += vanished.length - steadilyVanished.length;
  if (isBraked(context, binding, vanished)) return true;

  for (const stray of strays) decideStray(context, stray);
  const swaps = decideRecords(context, binding);
  const found = new Set([...swaps.values()].map(({ other }) => other));
  const unsure = [...swaps.keys()].flatMap((id) => context.agreements.get(id) ?? []);
  const suspectsOf = (row: ObservedRow) => {
    const suspects = findSuspects(context, row, [...lost, ...unsure]);
    for (const id of suspects) found.add(id);
    return suspects;
  };
  decideClaims(context, binding, suspectsOf);
  decideOthers(context, binding, suspectsOf);
  forgetCreates(context, new Set(rows.map(({ id }) => describeCell(id)).filter(isClaimToken)));
  for (const { key } of steadilyVanished) if (!found.has(key.id)) decideVanishedRow(context, key);
  decideUnseenRecords(context, present.union(found));
  keepBefore(context);
  return true;
}

/** Rows with the ID of their record. Answers those whose ID may be another one's: the record whose values they show has not vanished. */
function decideRecords(context: TabContext, binding: Binding): ReadonlyMap<RecordId, Swap> {
  const { draft, entity, input } = context;
  const { copies, records, strangers, unbound } = binding;
  const others = [...unbound, ...[...copies, ...strangers].map(({ row }) => row)];
  const swaps = findSwaps(context, records, others);
  // Who approved that values changed places meant every one of them.
  const isMeant = swaps.size > 0 && context.decision(`brake:${entity}:torn`) !== undefined;
  const standing = new Map<RecordId, Swap>();
  for (const { row, id } of records) {
    const [swap, scope] = [swaps.get(id), swapScope({ entity, id })];
    if (row.isPaused) {
      pauseRow(context, row, id);
      continue;
    }
    const contest = context.records.get(id)?.presence === 'gone' ? undefined : findContestHold(context, id);
    if (contest) {
      parkRow(context, row, id, contest);
      continue;
    }
    const isTaken = swap === undefined || context.decision(scope) !== undefined || isMeant;
    if (!isTaken) standing.set(id, swap);
    if (isTaken) decideRow(context, row, id);
    else if (swap.sign === 'exchanged') decideStray(context, { row, id: swap.other });
    else if (input.isRestless(entity, row)) draft.restlessRows += 1;
    else holdRow(context, row, id, swapReason(swap), scope);
  }
  return standing;
}

/** Leaves a row alone over which the sides fight. What waits of it is decided anew when it goes on; what a person takes back is done. */
function parkRow(context: TabContext, row: ObservedRow, id: RecordId, { reason, scope }: ContestHold): void {
  const { draft, entity, outbox } = context;
  const item = outbox.get(id);
  if (item?.state === 'waiting' && !item.isUndo) draft.outboxDropped.push({ entity, id });
  keepDecisions(context, { entity, id });
  holdRow(context, row, id, reason, scope);
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
  const boundIds = new Set(records.map(({ id }) => id));
  for (const { row, id } of claimed) {
    if (row.isPaused) pauseRow(context, row, id);
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
  const isSwept = context.input.known.sweptEntities.has(context.entity);
  for (const { row, id } of strangers) {
    const suspects = suspectsOf(row);
    if (row.isPaused) pauseRow(context, row, id);
    else if (isSwept) holdRow(context, row, id, strangerReason(id, suspects));
  }
  for (const row of unbound) {
    const suspects = suspectsOf(row);
    if (row.isPaused && !isBlank(row)) pauseRow(context, row, '');
    else decideNewRow(context, row, suspects);
  }
}

function strangerReason(id: RecordId, suspects: readonly RecordId[]): string {
  const nobody = `No record of the CRM has the ID “${id}”`;
  if (suspects.length === 0) return `${nobody}. Clear the ID to make this a new record, or undo the change.`;
  const { looks, put } = suspectWords(suspects);
  return `${nobody}, and this ${looks}. ${put}, or undo the change.`;
}

/** Whether a record has a row, or had one with the token of its create. */
const isInTable = (context: TabContext, { fields, key }: Agreement): boolean =>
  Object.keys(fields).length > 0 || originOf(context, key.id) !== undefined;

/** Whether the read before lacked the row of a record as well, also one that still had the token of its create. */
function wasMissing(context: TabContext, { key }: Agreement): boolean {
  const origin = originOf(context, key.id);
  return context.input.wasMissing(key) && (!origin || context.input.wasMissing(origin.key));
}

/** Whether a record is in the CRM and nothing is known that takes it away. */
function mayStay({ cascades, records }: TabContext, id: RecordId): boolean {
  const record = records.get(id);
  return record?.presence === 'present' && !cascades.isLeaving(record);
}

/** Leads that are held back are no reason to let go on what would go with them. */
const areLeadsStopped = ({ draft, entity, input }: TabContext): boolean =>
  entity !== 'lead' &&
  (input.table.tabs.lead.state === 'held' || draft.brakes.some((brake) => brake.entity === 'lead'));

/** Ids of the records that have a row, among them those whose row still carries the token of their create. */
function presentIds(context: TabContext, rows: readonly ObservedRow[]): Set<RecordId> {
  const present = new Set(rows.map(({ id }) => describeCell(id)));
  for (const id of [...present]) {
    const recordId = isClaimToken(id) ? context.outbox.get(id)?.recordId : undefined;
    if (recordId !== undefined) present.add(recordId);
  }
  return present;
}

/** What the row of an id may show before anybody edits it: first what was last decided from it, and last what is agreed. */
function createLookup(context: TabContext, lost: readonly Agreement[]): IdLookup {
  const versionsOf = (id: RecordId): Fields[] => {
    const item = context.outbox.get(id);
    const { fields = {}, offered = {} } = context.agreements.get(item?.recordId ?? id) ?? {};
    const sent = item && item.kind !== 'delete' ? [{ ...fields, ...item.fields }] : [];
    return [...sent, { ...fields, ...offered }, fields].filter((each) => Object.keys(each).length > 0);
  };
  return {
    isKnown: (id) => context.records.has(id),
    isForeign: (row) => findSuspects(context, row, lost).length > 0,
    findOriginal(id, rows) {
      for (const values of versionsOf(id)) {
        const row = rows.find((candidate) => showsValues(context, candidate, values));
        if (row) return row;
      }
      return undefined;
    },
  };
}

/**
 * Whether a brake stops the tab, or would were the table at rest: then nothing is concluded and nothing sent, also not what waits in the
 * outbox. People are told once it is at rest.
 */
function isBraked(context: TabContext, all: Binding, vanished: readonly Agreement[]): boolean {
  const { draft, entity, input } = context;
  const binding = {
    ...all,
    records: all.records.filter(({ row }) => !row.isPaused),
    unbound: all.unbound.filter((row) => !row.isPaused),
  };
  const judged = binding.records.flatMap(({ row, id }) => judgeRow(context, row, id) ?? []);
  const rested = judged.filter(({ isRestless }) => !isRestless);
  const steadilyVanished = vanished.filter((agreement) => wasMissing(context, agreement));
  const elsewhere = findElsewhere(context, judged);
  keepApprovals(context);
  const { holding: withholding } = findHoldingBrakes(context, binding, vanished, judged);
  const isWithheld = elsewhere.length + withholding.length > 0;
  const found = findHoldingBrakes(context, binding, steadilyVanished, rested);
  for (const tripped of found.letGo) noteApproval(context, tripped);
  const holding = [...elsewhere, ...found.holding];
  draft.brakes.push(...holding);
  if (!isWithheld && holding.length === 0) {
    if (input.known.remaps.has(entity)) draft.remapped.push(entity);
    if (input.known.rebases.has(entity)) draft.rebased.push(entity);
    return false;
  }
  draft.withheld.push(entity);
  draft.restlessRows += judged.length - rested.length;
  // What people decided before the brake was tripped stays decided.
  for (const { key } of [...context.agreements.values(), ...context.outbox.values()])
    keepDecisions(context, key);
  return true;
}

/** The brakes that hold because what is read may belong elsewhere. Who types meanwhile makes no difference to that. */
const findElsewhere = (context: TabContext, judged: readonly JudgedRow[]): Brake[] => [
  ...findOtherAccount(context),
  ...findRemapped(context, judged).filter(({ scope }) => context.decision(scope) === undefined),
];

const headerOf = ({ layout }: TabContext, field: FieldName): string =>
  layout.columns.find((column) => column.field === field)?.header ?? field;

/** The brakes that these losses and edits trip: those that nobody has approved, and those that somebody just let go. */
function findHoldingBrakes(
  context: TabContext,
  binding: Binding,
  vanished: readonly Agreement[],
  judged: readonly JudgedRow[],
): { readonly holding: readonly Brake[]; readonly letGo: readonly Tripped[] } {
  const edits = judged.flatMap(editsOf);
  const lost = [...judged.flatMap(lostValuesOf), ...vanished.flatMap(valuesOfVanished)];
  const find = (rows: readonly Agreement[], some: readonly Edit[]) =>
    findTripped(context, binding, { vanished: rows, edits: some, lost });
  // As long as anything of it is left to be done, the answer counts for what goes with it.
  for (const { brake } of find(vanished, edits)) context.decision(brake.scope);
  const tripped = find(unapprovedLosses(context, vanished), unapprovedEdits(context, edits));
  const [letGo, holding] = [true, false].map((wanted) =>
    tripped.filter((each) => isLetGo(context, each) === wanted),
  );
  return { holding: (holding ?? []).map(({ brake }) => brake), letGo: letGo ?? [] };
}

/** What may trip a brake: rows that are gone, values that people changed, and values that nothing took the place of. */
interface Upset {
  readonly vanished: readonly Agreement[];
  readonly edits: readonly Edit[];
  readonly lost: readonly Displaced[];
}

function findTripped(context: TabContext, binding: Binding, { vanished, edits, lost }: Upset): Tripped[] {
  const { entity, input } = context;
  const { brakes: limits } = input.policy;
  const goneRecords = findGone(context, binding);
  const vanishedRows = vanished.map(({ key }) => key.id);
  const agreed = [...context.agreements.values()].filter((agreement) => isInTable(context, agreement)).length;
  const alone = (brake: Brake): Tripped => ({ brake, edits: [], vanishedRows: [] });
  const disorders = findDisorder(edits, agreed, limits, (field) => headerOf(context, field), lost);
  return [
    ...findFirstMeeting(context, binding.unbound).map(alone),
    ...findBrakes({ entity, agreed, vanishedRows, goneRecords }, limits).map(
      (brake): Tripped => ({ ...alone(brake), vanishedRows: isOfGoneRecords(brake) ? [] : vanishedRows }),
    ),
    ...disorders.map(({ kind, reason, edits: own }): Tripped => {
      const changes = stopped(own.map((edit) => ({ ...edit, what: 'edited' })));
      return { ...alone({ scope: `brake:${entity}:${kind}`, entity, reason, changes }), edits: own };
    }),
    ...findRebase(context, binding).map(alone),
  ];
}

const isOfGoneRecords = ({ scope }: Brake): boolean => scope.endsWith(':gone');

/**
 * The records with a row that are gone from the CRM, and not because of another one. As their absence is proven one after another, those
 * count too that a list lacked: else many would never be gone at once.
 */
function findGone(context: TabContext, { records }: Binding): RecordId[] {
  const missing = records.flatMap(({ id }) => {
    const record = context.records.get(id);
    const isMissing = record?.presence === 'gone' || (record?.missedSweeps ?? 0) > 0;
    const isExplained = !areLeadsStopped(context) && record && context.cascades.isGoneWith(record);
    return record && isMissing && !isExplained ? [record] : [];
  });
  return missing.some(({ presence }) => presence === 'gone') ? missing.map(({ key }) => key.id) : [];
}
