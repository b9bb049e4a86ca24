import { expect, test } from 'vitest';
import { advance, transitions, type WriteState } from '../../src/google/write/write-states.ts';

const states = Object.keys(transitions) as WriteState[];

test.each(states.flatMap((from) => states.map((to) => [from, to] as const)))(
  'a write that is %s becomes %s only where the table says so',
  (from, to) => {
    if (transitions[from].includes(to)) expect(advance(from, to)).toBe(to);
    else expect(() => advance(from, to)).toThrow(`A write that is ${from} cannot become ${to}.`);
  },
);

test('every state but the first is reached, and every end is an end', () => {
  const reached = new Set(Object.values(transitions).flat());
  expect(states.filter((state) => !reached.has(state))).toEqual(['planned']);
  const ends = states.filter((state) => transitions[state].length === 0);
  expect(ends).toEqual(['confirmed', 'refused', 'neverLanded', 'undone', 'escalated']);
});
