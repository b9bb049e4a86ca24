import { describe, expect, it } from 'vitest';
import { plantedBugs } from './planted-bugs.ts';
import { type RunReport, run } from './run.ts';
import { shrink } from './shrink.ts';
import type { Plant } from './stage.ts';

const runs = 60;
const limitMs = 120_000;

/** The first run that breaks a promise with the mistake and keeps all of them without. */
async function findViolation(runsMax: number, plant: Plant): Promise<RunReport | undefined> {
  for (let seed = 1; seed <= runsMax; seed += 1) {
    const report = await run({ seed, plant });
    if (report.violation && !(await run({ seed })).violation) return report;
  }
  return undefined;
}

describe('people and the daemon at work at once', () => {
  it(
    'S2 S3 S5: no value goes to another record or field, no row becomes two records, no brake is overrun',
    async () => {
      const broken: string[] = [];
      for (let seed = 1; seed <= runs; seed += 1) {
        const { violation } = await run({ seed });
        if (violation && ['S2', 'S3', 'S5'].includes(violation.promise))
          broken.push(`${seed}: ${violation.message}`);
      }
      expect(broken).toEqual([]);
    },
    limitMs,
  );

  it(
    'S14: the same seed gives the same trace',
    async () => {
      for (const seed of [3, 4, 5]) expect(await run({ seed })).toEqual(await run({ seed }));
      expect((await run({ seed: 3 })).hash).not.toBe((await run({ seed: 4 })).hash);
    },
    limitMs,
  );
});

describe('a known mistake, planted', () => {
  it.each(plantedBugs)(
    'is found within $runsMax runs: $name',
    async ({ plant, runsMax }) => {
      expect(await findViolation(runsMax, plant)).toBeDefined();
    },
    limitMs,
  );

  it(
    'is told by fewer operations than were found to show it',
    async () => {
      const { plant, runsMax } = plantedBugs[1]!;
      const found = await findViolation(runsMax, plant);
      const least = found && (await shrink(found, { seed: found.seed, plant }));
      expect(least?.violation?.promise).toBe(found?.violation?.promise);
      expect(least?.operations.length).toBeLessThan(found?.operations.length ?? 0);
    },
    limitMs,
  );
});
