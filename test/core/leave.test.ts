import { expect, test } from 'vitest';
import type { Leave } from '../../src/core/state.ts';
import { type LeaveEvent, moveLeave } from '../../src/sheet/only/leave.ts';

const after = (leave: Leave | undefined, event: LeaveEvent) => moveLeave(leave, event, 2);

test.each(['leaving', 'moving', 'left'] as const)(
  'a row that is %s has no leave once its record fits',
  (state) => {
    expect(after({ state, at: 1 }, 'fits')).toBeUndefined();
  },
);

test.each(['leaving', 'moving'] as const)('a row that is %s begins anew where it is disturbed', (state) => {
  expect(after({ state, at: 1 }, 'disturbed')).toBeUndefined();
  expect(after({ state, at: 1 }, 'unfit')).toEqual({ state: 'leaving', at: 2 });
});

test.each(['unfit', 'disturbed'] as const)('a row that left has left, also where it is %s', (event) => {
  expect(after({ state: 'left', at: 1 }, event)).toEqual({ state: 'left', at: 2 });
});

test.each([
  ['sent', 'moving'],
  ['landed', 'left'],
  ['absent', 'left'],
] as const)('any row of which a write is %s is %s', (event, state) => {
  for (const before of ['leaving', 'moving', 'left'] as const)
    expect(after({ state: before, at: 1 }, event)).toEqual({ state, at: 2 });
  expect(after(undefined, event)).toEqual({ state, at: 2 });
});

test('a row without a leave leaves once its record does not fit, and has none otherwise', () => {
  expect(after(undefined, 'unfit')).toEqual({ state: 'leaving', at: 2 });
  expect([after(undefined, 'disturbed'), after(undefined, 'fits')]).toEqual([undefined, undefined]);
});

test('an event that changes nothing leaves the same object', () => {
  const leave = { state: 'leaving', at: 1 } as const;
  expect(moveLeave(leave, 'unfit', 1)).toBe(leave);
});
