import { once } from '../../core/once.ts';
import type { RecordId } from '../../core/record.ts';
import { quoteText } from '../../core/text/cut-text.ts';
import { refusedScope, swapScope } from '../../core/waiting/scopes.ts';
import type { Behind, InStep } from '../index/tab-standing.ts';
import { describeCell } from '../port/cell.ts';
import type { ObservedRow } from '../port/table.ts';
import { limitBehind } from './behind.ts';
import { findTornApproval, notedLosses } from './brakes/approvals.ts';
import type { Braked } from './brakes/tab-brakes.ts';
import {
  type ClassifiedRow,
  type ClassifiedTab,
  isOpenClaim,
  isVoidClaim,
  mayStay,
  type RowKind,
  type RowOf,
} from './classify.ts';
import { decideDamagedRow } from './damage/damaged.ts';
import { suspectReason } from './identity/likeness.ts';
import { createSuspectSearch, decideCopy, decideStray } from './identity/strays.ts';
import { describeSwap } from './identity/swaps.ts';
import { findInStep } from './in-step.ts';
import { decideGoneRecord } from './lifecycle/gone.ts';
import {
  decideBlankRow,
  decideClaimedRow,
  decideNewRow,
  findCreatesWithoutRow,
  forgetCreates,
  type Surroundings,
} from './lifecycle/new-row.ts';
import { countLeftOut } from './lifecycle/outside.ts';
import { appendRows, decideRowless } from './lifecycle/rowless.ts';
import { takeBackDeletes } from './lifecycle/vanished.ts';
import { holdUnread } from './rows/columns.ts';
import { findContestCase } from './rows/contested.ts';
import { decideRow, type RecordRow } from './rows/row.ts';
import { findUnsettled, holdRow } from './rows/row-write.ts';
import { leaveAlone, pauseRow } from './rows/waiting-edits.ts';
import type { TabIndex } from './tab-index.ts';
import { collect, join, keepChosen, nothing, type Verdict } from './verdict.ts';

type Judge<Kind extends RowKind> = (row: RowOf<Kind>, index: TabIndex, around: Surroundings) => Verdict;

/** Judges a row as the kind it is. */
function judgeRow(row: ClassifiedRow, index: TabIndex, around: Surroundings): Verdict {
  return (judges[row.kind] as Judge<RowKind>)(row, index, around);
}

/** A record over which the two sides fight is left alone until a user approves that it goes on. */
const judgeFlapping: Judge<'flapping'> = ({ otherwise, record, row }, index, around) => {
  const { id } = record.key;
  const contest = findContestCase(index, id);
  const verdict = contest?.verdict ?? nothing;
  if (!contest?.hold) return join(verdict, judgeRow(otherwise, index, around));
  const { decision, reason } = contest.hold;
  return join(verdict, leaveAlone(index, { row, id }), holdRow(index, { row, id }, reason, decision));
};

/** A row whose ID may be another one's is left alone, unless it is certain what happened, or a user meant it. */
const judgeSwapped: Judge<'swappedId'> = ({ merged, otherwise, record, row, swap }, index, around) => {
  const { entity, id } = record.key;
  const scope = swapScope({ entity, id });
  const asked = { scopes: [scope] };
  if (index.answers.find(scope)) return join(asked, judgeRow(otherwise, index, around));
  const torn = findTornApproval(index, id, merged, around.release);
  if (torn.isMeant) return join(asked, torn.verdict, judgeRow(otherwise, index, around));
  // What was answered about its conflicts and refusals waits as for a row that does not rest.
  const waiting = join(merged?.verdict ?? nothing, {
    scopes: [scope, refusedScope(record.key)],
    resembled: [swap.other],
    unsure: [id],
  });
  if (swap.sign === 'exchanged') return join(waiting, decideStray(index, { row, id: swap.other }));
  const unsettled = findUnsettled(index, row);
  if (unsettled) return join(waiting, unsettled);
  const reason = describeSwap(swap);
  const hold = { entity, id, position: row.position, reason, decision: scope };
  const chosen = index.answers.choose(scope, () => index.questions.ofHold(hold));
  return chosen
    ? join(keepChosen(scope, chosen), judgeRow(otherwise, index, around))
    : join(waiting, holdRow(index, { row, id }, reason, scope));
};

const judgeUnknown: Judge<'unknownId'> = (bound, index, { suspectsOf }) => {
  const { id, row } = bound;
  const { nameless, sweptEntities } = index.input.known;
  if (!sweptEntities.has(index.entity)) return nothing;
  const isDoubtful = nameless.has(index.entity);
  return holdRow(index, bound, isDoubtful ? doubtfulUnknown(id) : unknownReason(id, suspectsOf(row)));
};

const judges: { readonly [Kind in RowKind]: Judge<Kind> } = {
  merge: (own, index) => decideRow(index, own),
  recordGone: ({ record, row }, index) => decideGoneRecord(index, row, record),
  flapping: judgeFlapping,
  swappedId: judgeSwapped,
  lostId: (stray, index) => decideStray(index, stray),
  claimed: (claimed, index, around) =>
    isOpenClaim(index, claimed.row) ? nothing : decideClaimedRow(index, claimed, around),
  duplicate: (copy, index, { suspectsOf }) => decideCopy(index, copy, suspectsOf(copy.row)),
  unknownId: judgeUnknown,
  paused: (bound, index) => pauseRow(index, bound),
  blank: ({ row }, index) => decideBlankRow(index, row),
  new: ({ row }, index, around) => decideNewRow(index, row, around),
  damaged: ({ damage, row }, index) => decideDamagedRow(index, row, damage),
};

const doubtfulUnknown = (id: RecordId): string =>
  `No record of the CRM has the ID ${quoteText(id)}, as far as they can be read: one of them has an id that cannot be understood. Leave the row as it is until that is corrected in the CRM.`;

function unknownReason(id: RecordId, suspects: readonly RecordId[]): string {
  const nobody = `No record of the CRM has the ID ${quoteText(id)}`;
  if (suspects.length === 0) return `${nobody}. Clear the ID to make this a new record, or undo the change.`;
  return suspectReason(`${nobody}, and this looks like`, suspects, 'undo the change');
}

/** Says what of a tab is known whatever brake holds. */
export function judgeWhole(tab: ClassifiedTab): Verdict[] {
  const { damaged, index, missing, named, steadilyVanished, vanished } = tab;
  const { entity } = index;
  const steady = new Set(steadilyVanished);
  const kept = [...missing.map(({ key }) => key), ...[...named].map((id) => ({ entity, id }))];
  return [
    { holds: holdUnread(index), kept },
    // One that came too late for its brake is over.
    { scopes: missing.length > 0 ? notedLosses(index) : [] },
    { unsettled: vanished.filter((each) => !steady.has(each)).map(({ key }) => key.id) },
    damaged.verdict,
  ];
}

/** Judges every row of a tab that no brake stops, and then the records that have none; and finds which rows are in step from now on. */
export function judgeTab(tab: ClassifiedTab, { release }: Braked): JudgedTab {
  const { binding, damaged, foundIds, index, present, rows, steadilyVanished } = tab;
  const boundIds = new Set(binding.records.map(({ id }) => id));
  const around = { boundIds, creates: once(() => findCreatesWithoutRow(index)), release };
  // What the rows of records come to says which other rows may be theirs.
  const first = rows.filter(({ kind }) => !dependentKinds.has(kind));
  const all = first.map((row) => judgeRow(row, index, { ...around, suspectsOf: () => [] }));
  const ids = Map.groupBy(index.tab.rows, ({ id }) => describeCell(id));
  const isAlone = ({ record: { key } }: RecordRow) =>
    ids.get(key.id)?.length === 1 && !damaged.named.has(key.id);
  const alone = first.map((row) => (row.kind === 'merge' && isAlone(row) ? row : undefined));
  const inStep = alone.flatMap((row, number) => (row ? findInStep(index, row, all[number] ?? nothing) : []));
  const { behind, verdicts: now } = limitBehind(index, alone, all);
  const verdicts = [...now];
  const suspectsOf = createSuspects(tab, [...collect(verdicts, 'unsure'), ...damaged.unsure]);
  const later = rows.filter(({ kind }) => dependentKinds.has(kind));
  for (const row of later) verdicts.push(judgeRow(row, index, { ...around, suspectsOf }));
  const found = new Set([...collect(verdicts, 'resembled'), ...lookAlikes(tab).flatMap(suspectsOf)]);
  const shown = present.union(tab.named);
  // A row that lost its ID is the row of its record, also before that is written back.
  const known = shown.union(found).union(foundIds);
  const given = collect(verdicts, 'table').flatMap(({ write }) =>
    write.kind === 'set' && write.id ? [describeCell(write.id)] : [],
  );
  const vanished = steadilyVanished.map(({ key }) => key.id).filter((id) => !found.has(id));
  const rowless = decideRowless(index, {
    vanished: new Set(vanished),
    present: known,
    tokens: known.union(new Set(given)),
    release,
  });
  return {
    inStep,
    behind,
    verdicts: [
      damaged.restored,
      ...verdicts,
      forgetCreates(index, shown),
      ...rowless,
      countLeftOut(index, known),
      takeBackDeletes(index, known, release),
      ...appendRows(index, collect(rowless, 'due')),
    ],
  };
}

/** What judging a tab comes to. */
interface JudgedTab {
  readonly verdicts: readonly Verdict[];
  readonly inStep: readonly InStep[];
  readonly behind: Behind;
}

/** The kinds of rows that may be the row of a record that has none. */
const dependentKinds: ReadonlySet<ClassifiedRow['kind']> = new Set([
  'claimed',
  'duplicate',
  'unknownId',
  'blank',
  'new',
]);

/** Finds the records without a row whose row another one may be: lost ones, and those whose own row may be another's. */
function createSuspects({ findLost, index }: ClassifiedTab, unsure: readonly RecordId[]) {
  const unsureOnes = unsure.flatMap((id) => (mayStay(index, id) ? (index.agreements.get(id) ?? []) : []));
  const find = createSuspectSearch(index, () => [...new Set([...findLost(), ...unsureOnes])]);
  const known = new Map<ObservedRow, readonly RecordId[]>();
  return (row: ObservedRow) => known.get(row) ?? known.set(row, find(row)).get(row) ?? [];
}

/** The rows by which a lost record has not vanished as long as they look like it, whatever becomes of them. */
function lookAlikes({ binding, damaged, index }: ClassifiedTab): ObservedRow[] {
  const { claimed, copies, records, strangers, unbound } = binding;
  const isGone = ({ id }: { readonly id: RecordId }) => index.records.get(id)?.presence === 'gone';
  const voidClaims = claimed.filter((bound) => !bound.row.isPaused && isVoidClaim(index, bound));
  return [
    ...[...records.filter(isGone), ...voidClaims, ...copies, ...strangers].map(({ row }) => row),
    ...unbound,
    ...index.tab.rows.filter((row) => isOpenClaim(index, row)),
    ...damaged.before,
  ];
}
