import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide } from '../../src/sheet/decide/decide.ts';
import { decideAgain, type GroundedPlan } from '../../src/sheet/decide/decide-again.ts';
import type { ObservedTable } from '../../src/sheet/port/table.ts';
import { remember } from '../../src/sheet/rest.ts';
import { createWorld, inputOf, readSheet, type World } from '../support/world.ts';
import { cycle, settle } from '../support/world-daemon.ts';
import { anyHappenings, gatherPeople, happen } from '../support/world-people.ts';

const monthMs = 31 * 24 * 60 * 60 * 1_000;

/** Looks at a world again and again, as the daemon does: a sheet that shows the same is the same object. */
function watch(world: World) {
  let table: ObservedTable = readSheet(world);
  let grounded: GroundedPlan | undefined;
  let reuses = 0;
  return {
    reuses: () => reuses,
    /** What it remembers is lost together with what the world remembers of its reads. */
    restart() {
      grounded = undefined;
    },
    look() {
      const read = readSheet(world);
      if (JSON.stringify(read) !== JSON.stringify(table)) table = read;
      const input = inputOf(world, table);
      const given = world.given;
      const next = decideAgain(input, grounded);
      if (grounded && next.ground === grounded.ground) {
        reuses += 1;
        expect(next.plan).toEqual(decide(input));
        // What stands asks for no token, and neither did the decision that was made beside it.
        expect(world.given).toBe(given);
      }
      grounded = next;
    },
  };
}

test('a decision that stands is the one that would be made, whatever happened and however much later', () => {
  let reuses = 0;
  fc.assert(
    fc.property(
      anyHappenings,
      fc.array(fc.constantFrom(0, 1_000, monthMs), { minLength: 1 }),
      (happenings, pauses) => {
        const people = gatherPeople(createWorld({}));
        const { world } = people;
        for (let each = 1; each <= 3; each += 1) happen(people, { kind: 'add record', which: 0, field: 0 });
        settle(world);
        const watcher = watch(world);
        for (const [index, happening] of happenings.entries()) {
          happen(people, happening);
          if (happening.kind === 'restart') watcher.restart();
          for (let look = 0; look < 3; look += 1) {
            watcher.look();
            world.memory = remember(world.memory, readSheet(world), world.now);
            world.now += pauses[index % pauses.length] ?? 0;
          }
        }
        reuses += watcher.reuses();
      },
    ),
    { numRuns: 150 },
  );
  expect(reuses).toBeGreaterThan(500);
});

test('a world at rest is decided once', () => {
  const world = createWorld({});
  const people = gatherPeople(world);
  happen(people, { kind: 'add record', which: 0, field: 0 });
  settle(world);
  cycle(world);
  const watcher = watch(world);
  for (let look = 0; look < 5; look += 1) watcher.look();
  expect(watcher.reuses()).toBe(4);
});
