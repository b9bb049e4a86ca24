import { describe, expect, test } from 'vitest';
import { neverSetBack, systemClock } from '../../src/app/clock.ts';

const hourMs = 3_600_000;

/** A machine whose two clocks a test moves. */
function createMachine() {
  let [wallMs, monotonicMs] = [Date.UTC(2026, 2, 29, 1), 0];
  const now = neverSetBack(
    () => wallMs,
    () => monotonicMs,
  );
  return {
    now,
    wall: () => wallMs,
    pass(durationMs: number) {
      wallMs += durationMs;
      monotonicMs += durationMs;
    },
    setWall(byMs: number) {
      wallMs += byMs;
    },
  };
}

describe('the wall clock that the daemon goes by', () => {
  test('shows what the machine shows while nobody touches it', () => {
    const machine = createMachine();
    machine.pass(8 * hourMs);
    expect(machine.now()).toBe(machine.wall());
  });

  test('fault 70: goes on when the machine is set back an hour, and meets it again later', () => {
    const machine = createMachine();
    const before = machine.now();
    machine.setWall(-hourMs);
    expect(machine.now()).toBe(before);
    machine.pass(1_000);
    expect(machine.now()).toBe(before + 900);
    machine.pass(11 * hourMs);
    expect(machine.now()).toBe(machine.wall());
  });

  test('never runs back, however often it is asked', () => {
    const machine = createMachine();
    const told: number[] = [];
    for (const step of Array.from({ length: 200 }, (_, index) => index)) {
      machine.pass(7.3);
      if (step % 20 === 0) machine.setWall(step % 40 === 0 ? -500 : 350);
      told.push(machine.now());
    }
    expect(told).toEqual(told.toSorted((left, right) => left - right));
  });

  test('fault 70: follows when the machine slept for eight hours: everything is as old as it says', () => {
    const machine = createMachine();
    machine.setWall(8 * hourMs);
    expect(machine.now()).toBe(machine.wall());
  });
});

test('fault 72: a sleep of more than 24 days does not end at once, as a timer of Node would', async () => {
  const end = new AbortController();
  const ended: string[] = [];
  const long = systemClock.sleep(2 ** 31, end.signal).then(() => ended.push('long'));
  const short = systemClock.sleep(50).then(() => ended.push('short'));
  await short;
  end.abort();
  await long;
  expect(ended).toEqual(['short', 'long']);
});
