import { journalEntry } from '../../../core/journal-entry.ts';
import type { Agreement, Leave } from '../../../core/state.ts';
import { type RowState, syncText } from '../../cells/sync-text.ts';
import { leaveAfterMs, moveLeave, withLeave } from '../../only/leave.ts';
import { equalCells, textCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';
import { nothing, type Verdict } from '../verdict.ts';
import type { MergedRow } from './merge.ts';

/** What a rule makes of a row: what is said there, and what is known of its leave from here on. */
export interface RowLeave {
  readonly leave: Leave | undefined;
  readonly state: RowState;
  readonly verdict: Verdict;
  /** Its time is up: nothing else is written to it. */
  readonly isOver?: true;
}

/** What deciding a row has come to so far. */
interface DecidedSoFar {
  /** What is to be said there. */
  readonly state: RowState;
  readonly agreement: Agreement;
  /** Nothing of it is on its way to either side, and nothing waits for anybody. */
  readonly isInStep: boolean;
}

/**
 * Decides whether a row leaves its tab. It does once it is in step with the CRM and has said so for a while, unless users wrote something into
 * columns of their own. One that a user put back stays, and says that it does not fit.
 */
export function decideLeave(index: TabIndex, { record, row }: MergedRow, soFar: DecidedSoFar): RowLeave {
  const { agreement, isInStep, state } = soFar;
  const { now } = index.input;
  const { leave } = agreement;
  const fit = index.only.fitOf(record);
  const stays = (event: 'fits' | 'disturbed'): RowLeave => ({
    leave: moveLeave(leave, event, leave?.at ?? now),
    state,
    verdict: nothing,
  });
  if (fit.kind !== 'unfit') return stays(fit.kind === 'fits' ? 'fits' : 'disturbed');
  if (!isInStep || state.kind !== 'synced') return stays('disturbed');
  const why = fit.why();
  if (leave?.state === 'left') return { leave, ...holdOutside(index, record.key.id, row, why) };
  if (row.hasOwn)
    return {
      ...stays('disturbed'),
      state: { ...state, besides: `no longer fits this tab: ${why}. ${ownKept}` },
    };
  const saying: RowState = { ...state, besides: `leaves this tab: ${why}` };
  const isSaid = !index.tab.hasSync || isSaying(index, row, saying);
  // The clock may have been set back since.
  const isTimed = leave !== undefined && leave.at >= agreement.changedAt && leave.at <= now;
  const isCounted = isTimed && isSaid;
  const since = isCounted ? leave.at : now;
  if (now < since + leaveAfterMs)
    return {
      leave: moveLeave(leave, 'unfit', since),
      state: saying,
      verdict: { changesAt: [since + leaveAfterMs] },
    };
  return { ...planLeave(index, row, agreement, { why, since }), state: saying };
}

const isSaying = ({ names }: TabIndex, { sync }: ObservedRow, state: RowState): boolean =>
  equalCells(sync, textCell(syncText(state, names.timeZone)));

const ownKept = 'It stays for what is in columns of your own';

function holdOutside({ entity }: TabIndex, id: string, { position }: ObservedRow, why: string) {
  const reason = `does not fit this tab: ${why}. It left, and was put back. Edits of it go to the CRM; delete the row, or change it so that it fits.`;
  return { state: { kind: 'held', reason } as const, verdict: { holds: [{ entity, id, position, reason }] } };
}

/** What the history says of a row that left by a rule. */
const leftCause = (why: string): string => `left the tab, and stays in the CRM: ${why}`;

function planLeave(
  { entity, input }: TabIndex,
  row: ObservedRow,
  { fields, key, leave }: Agreement,
  { since, why }: { readonly since: number; readonly why: string },
) {
  const write = { kind: 'delete', entity, position: row.position, idSeen: row.id, sparesOwn: true } as const;
  const journal = journalEntry(input, key, { kind: 'delete', before: fields, cause: leftCause(why) });
  return {
    leave: moveLeave(leave, 'sent', since),
    verdict: { table: [{ write, key, leaves: true as const, journal }] },
    isOver: true as const,
  };
}

/** Every row that is deleted is copied first: more of them in one write would take Google too long. */
const leavesMax = 200;

/** About as long as a cycle takes that deletes so many. */
const leavesEveryMs = 5_000;

/**
 * The verdicts with as many rows leaving as one write may take. The time of the others is up later, of so many each time: else all of them would be
 * decided in each cycle until then.
 */
export function limitLeaves(verdicts: readonly Verdict[], now: number): readonly Verdict[] {
  let count = 0;
  return verdicts.map((verdict) => {
    if (!verdict.table?.some(({ leaves }) => leaves)) return verdict;
    const laterMs = Math.floor(count / leavesMax) * leavesEveryMs;
    count += 1;
    if (laterMs === 0) return verdict;
    const at = Math.min(now, now + laterMs - leaveAfterMs);
    // Nothing else is written to such a row, and nothing else is known of it.
    const { agreementsSaved = [], table: _delete, ...rest } = verdict;
    const saved = agreementsSaved.map((each) => withLeave(each, moveLeave(each.leave, 'unfit', at)));
    return { ...rest, agreementsSaved: saved };
  });
}
