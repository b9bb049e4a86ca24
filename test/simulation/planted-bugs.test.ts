import { describe, expect, it } from 'vitest';
import { type PlantedBug, plantedBugs, searchSeed } from './planted-bugs.ts';
import { type RunReport, run } from './run.ts';
import { shrink } from './shrink.ts';

const limitMs = 300_000;

/** The first run that breaks a promise with the mistake and keeps all of them without. */
async function findViolation({
  firstSeed = searchSeed,
  hasMishaps = false,
  plant,
  runsMax,
}: PlantedBug): Promise<RunReport | undefined> {
  for (let seed = firstSeed; seed < firstSeed + runsMax; seed += 1) {
    const report = await run({ seed, plant, hasMishaps });
    if (report.violation && !(await run({ seed, hasMishaps })).violation) return report;
  }
  return undefined;
}

describe('a known mistake, planted', () => {
  it.each(plantedBugs)(
    'is found within $runsMax runs: $name',
    async (bug) => {
      expect(await findViolation(bug)).toBeDefined();
    },
    limitMs,
  );

  it(
    'is told by fewer operations than were found to show it',
    async () => {
      const bug = plantedBugs.find(({ name }) => name === 'what lost a conflict is written down nowhere')!;
      const found = await findViolation(bug);
      const least = found && (await shrink(found, { seed: found.seed, plant: bug.plant }));
      expect(least?.violation?.promise).toBe(found?.violation?.promise);
      expect(least?.operations.length).toBeLessThan(found?.operations.length ?? 0);
    },
    limitMs,
  );
});
