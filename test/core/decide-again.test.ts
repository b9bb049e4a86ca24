import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWorld, type World } from '../support/world.ts';
import { cycle, look, settle } from '../support/world-daemon.ts';
import { anyHappenings, gatherPeople, happen } from '../support/world-people.ts';

const monthMs = 31 * 24 * 60 * 60 * 1_000;

/** Looks at a world, which checks what it decides, and returns whether that is the decision before. */
async function isReused(world: World): Promise<boolean> {
  const { grounded: before } = world.trail;
  await look(world);
  const { grounded } = world.trail;
  if (!grounded) throw new Error('Nothing was decided.');
  return grounded.plan.table === before?.plan.table;
}

test.each([
  [100, 100],
  [1, 50],
])(
  'a decision that stands is the one that would be made, whatever happened and however much later, where a write has %i rows',
  {
    timeout: 180_000,
  },
  async (updatesMax, numRuns) => {
    let reuses = 0;
    await fc.assert(
      fc.asyncProperty(
        anyHappenings,
        fc.array(fc.constantFrom(0, 1_000, monthMs), { minLength: 1 }),
        async (happenings, pauses) => {
          const people = gatherPeople(createWorld({ policy: { updatesMax } }));
          const { world } = people;
          for (let each = 1; each <= 3; each += 1)
            await happen(people, { kind: 'add record', which: 0, field: 0 });
          await settle(world);
          for (const [index, happening] of happenings.entries()) {
            await happen(people, happening);
            for (let turn = 0; turn < 3; turn += 1) {
              if (await isReused(world)) reuses += 1;
              world.clock.now += pauses[index % pauses.length] ?? 0;
            }
          }
        },
      ),
      { numRuns },
    );
    expect(reuses).toBeGreaterThan(3 * numRuns);
  },
);

test('a world at rest is decided once', async () => {
  const world = createWorld({});
  const people = gatherPeople(world);
  await happen(people, { kind: 'add record', which: 0, field: 0 });
  await settle(world);
  await cycle(world);
  await look(world);
  for (let turn = 0; turn < 4; turn += 1) expect(await isReused(world)).toBe(true);
});
