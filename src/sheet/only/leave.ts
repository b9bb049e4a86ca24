import type { Agreement, Leave } from '../../core/state.ts';

/** What happens to the row of a record that a rule keeps out. */
export type LeaveEvent =
  /** It is in step with the CRM, and does not fit. */
  | 'unfit'
  /** It is not in step, or something in it is worth keeping. */
  | 'disturbed'
  /** The record fits again. */
  | 'fits'
  /** A write is about to delete its row, or to add it again. */
  | 'sent'
  /** A write has deleted its row. */
  | 'landed'
  /** Its row is gone, whatever took it away. */
  | 'absent';

export type LeaveState = Leave['state'] | 'here';

type AfterEvent = Readonly<Record<LeaveEvent, LeaveState>>;

const withRow: AfterEvent = {
  unfit: 'leaving',
  disturbed: 'here',
  fits: 'here',
  sent: 'moving',
  landed: 'left',
  absent: 'left',
};

/**
 * `here` is every row without a leave. `leaving` says so in its Sync cell until its time is up. Of `moving` a write deletes or adds the row, so
 * that neither its absence nor its presence is a user's doing. `left` has no row; where one is there all the same, a user put it back.
 */
export const leaveStates: Readonly<Record<LeaveState, AfterEvent>> = {
  here: withRow,
  leaving: withRow,
  moving: withRow,
  left: { ...withRow, unfit: 'left', disturbed: 'left' },
};

/** What an event makes of a leave; `at` is since when, epoch ms. The same object where it changes nothing. */
export function moveLeave(leave: Leave | undefined, event: LeaveEvent, at: number): Leave | undefined {
  const state = leaveStates[leave?.state ?? 'here'][event];
  if (state === 'here') return undefined;
  return leave?.state === state && leave.at === at ? leave : { state, at };
}

/** The agreement with that leave in place of its own, or with none. */
export const withLeave = (
  { leave: _before, ...agreement }: Agreement,
  leave: Agreement['leave'],
): Agreement => (leave ? { ...agreement, leave } : agreement);

/** For so long a row says that it leaves before it does. */
export const leaveAfterMs = 5 * 60 * 1_000;
