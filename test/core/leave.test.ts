import { expect, test } from 'vitest';
import { type LeaveEvent, type LeaveState, leaveStates, moveLeave } from '../../src/sheet/only/leave.ts';

const events = ['unfit', 'disturbed', 'fits', 'sent', 'landed', 'absent'] as const;

/** What each event makes of each state. */
const wanted: Readonly<Record<LeaveState, readonly LeaveState[]>> = {
  here: ['leaving', 'here', 'here', 'moving', 'left', 'left'],
  leaving: ['leaving', 'here', 'here', 'moving', 'left', 'left'],
  moving: ['leaving', 'here', 'here', 'moving', 'left', 'left'],
  left: ['left', 'left', 'here', 'moving', 'left', 'left'],
};

const cases = Object.entries(wanted).flatMap(([state, after]) =>
  events.map((event, index) => [state as LeaveState, event, after[index] as LeaveState] as const),
);

test.each(cases)('a row that is %s becomes, when %s happens, %s', (state, event: LeaveEvent, after) => {
  expect(leaveStates[state][event]).toBe(after);
  const leave = state === 'here' ? undefined : { state, at: 1 };
  expect(moveLeave(leave, event, 2)).toEqual(after === 'here' ? undefined : { state: after, at: 2 });
});

test('an event that changes nothing leaves the same object', () => {
  const leave = { state: 'leaving', at: 1 } as const;
  expect(moveLeave(leave, 'unfit', 1)).toBe(leave);
});
