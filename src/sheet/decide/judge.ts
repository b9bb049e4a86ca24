import type { RecordId } from '../../core/record.ts';
import { quoteText } from '../../core/text/cut-text.ts';
import { refusedScope, swapScope } from '../../core/waiting/scopes.ts';
import { keepChosen } from './ask.ts';
import { findTornApproval } from './brakes/approvals.ts';
import { type ClassifiedRow, isOpenClaim, type RowKind, type RowOf } from './classify.ts';
import { decideDamagedRow } from './damage/damaged.ts';
import { decideCopy } from './identity/copies.ts';
import { decideStray } from './identity/strays.ts';
import { describeSwap } from './identity/swaps.ts';
import { suspectReason } from './identity/words.ts';
import { decideGoneRecord } from './lifecycle/gone.ts';
import {
  type ClaimSurroundings,
  decideBlankRow,
  decideClaimedRow,
  decideNewRow,
} from './lifecycle/new-row.ts';
import type { Release } from './lifecycle/vanished.ts';
import { findContestCase } from './rows/contested.ts';
import { leaveAlone, pauseRow } from './rows/paused.ts';
import { decideRow } from './rows/row.ts';
import { holdRow } from './rows/row-write.ts';
import { findUnsettled } from './rows/settled.ts';
import type { TabIndex } from './tab-index.ts';
import { join, nothing, type Verdict } from './verdict.ts';

/** What judging a row has to know of all others. */
export interface Surroundings extends ClaimSurroundings {
  readonly release: Release;
}

type Judge<Kind extends RowKind> = (row: RowOf<Kind>, index: TabIndex, around: Surroundings) => Verdict;

const judges: { readonly [Kind in RowKind]: Judge<Kind> } = {
  merge: ({ merged, record, row }, index) => decideRow(index, row, record, merged),
  recordGone: ({ record, row }, index) => decideGoneRecord(index, row, record),
  flapping: judgeFlapping,
  swappedId: judgeSwapped,
  lostId: (stray, index) => decideStray(index, stray),
  claimed: ({ id, row }, index, around) =>
    isOpenClaim(index, row) ? nothing : decideClaimedRow(index, row, id, around),
  duplicate: (copy, index, { suspectsOf }) => decideCopy(index, copy, suspectsOf(copy.row)),
  unknownId: judgeUnknown,
  paused: ({ id, row }, index) => pauseRow(index, row, id),
  blank: ({ row }, index) => decideBlankRow(index, row),
  new: ({ row }, index, { creates, suspectsOf }) => decideNewRow(index, row, creates(), suspectsOf(row)),
  damaged: ({ damage, row }, index) => decideDamagedRow(index, row, damage),
};

/** Judges a row as the kind it is. */
export function judgeRow(row: ClassifiedRow, index: TabIndex, around: Surroundings): Verdict {
  const judge = judges[row.kind] as (row: ClassifiedRow, index: TabIndex, around: Surroundings) => Verdict;
  return judge(row, index, around);
}

/** A record over which the two sides fight is left alone until a user approves that it goes on. */
function judgeFlapping(
  { otherwise, record, row }: RowOf<'flapping'>,
  index: TabIndex,
  around: Surroundings,
): Verdict {
  const { id } = record.key;
  const contest = findContestCase(index, id);
  const verdict = contest?.verdict ?? nothing;
  if (!contest?.hold) return join(verdict, judgeRow(otherwise, index, around));
  const { decision, reason } = contest.hold;
  return join(verdict, leaveAlone(index, row, id), holdRow(index, row, id, reason, decision));
}

/** A row whose ID may be another one's is left alone, unless it is certain what happened, or a user meant it. */
function judgeSwapped(
  { merged, otherwise, record, row, swap }: RowOf<'swappedId'>,
  index: TabIndex,
  around: Surroundings,
): Verdict {
  const { entity, id } = record.key;
  const scope = swapScope({ entity, id });
  const asked = { scopes: [scope] };
  if (index.answers.find(scope)) return join(asked, judgeRow(otherwise, index, around));
  const torn = findTornApproval(index, id, merged, around.release);
  if (torn.isMeant) return join(asked, torn.verdict, judgeRow(otherwise, index, around));
  // What was answered about its conflicts and refusals waits as for a row that does not rest.
  const standing = join(merged?.verdict ?? nothing, {
    scopes: [scope, refusedScope(record.key)],
    resembled: [swap.other],
    unsure: [id],
  });
  if (swap.sign === 'exchanged') return join(standing, decideStray(index, { row, id: swap.other }));
  const unsettled = findUnsettled(index, row);
  if (unsettled) return join(standing, unsettled);
  const reason = describeSwap(swap);
  const hold = { entity, id, position: row.position, reason, decision: scope };
  const chosen = index.answers.choose(scope, () => index.questions.ofHold(hold));
  return chosen
    ? join(keepChosen(scope, chosen), judgeRow(otherwise, index, around))
    : join(standing, holdRow(index, row, id, reason, scope));
}

function judgeUnknown(
  { id, row }: RowOf<'unknownId'>,
  index: TabIndex,
  { suspectsOf }: Surroundings,
): Verdict {
  const { nameless, sweptEntities } = index.input.known;
  if (!sweptEntities.has(index.entity)) return nothing;
  const isDoubtful = nameless.has(index.entity);
  return holdRow(index, row, id, isDoubtful ? doubtfulUnknown(id) : unknownReason(id, suspectsOf(row)));
}

const doubtfulUnknown = (id: RecordId): string =>
  `No record of the CRM has the ID ${quoteText(id)}, as far as they can be read: one of them has an id that cannot be understood. Leave the row as it is until that is corrected in the CRM.`;

function unknownReason(id: RecordId, suspects: readonly RecordId[]): string {
  const nobody = `No record of the CRM has the ID ${quoteText(id)}`;
  if (suspects.length === 0) return `${nobody}. Clear the ID to make this a new record, or undo the change.`;
  return suspectReason(`${nobody}, and this`, suspects, 'undo the change');
}
