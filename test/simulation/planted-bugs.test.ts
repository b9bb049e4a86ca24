import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { firstSeedOfTheDay } from '../support/seeds-of-the-day.ts';
import { type PlantedBug, plantedBugs, searchSeed } from './planted-bugs.ts';
import { plantedSqlBugs } from './planted-sql-bugs.ts';
import { type RunReport, run } from './run.ts';
import { shrink } from './shrink.ts';

const limitMs = 300_000;

/** The first run that breaks a promise with the mistake and keeps all of them without. */
async function findViolation({
  firstSeed = searchSeed,
  hasMishaps = false,
  plant,
  plantSql,
  runsMax,
}: PlantedBug): Promise<RunReport | undefined> {
  for (let seed = firstSeed; seed < firstSeed + runsMax; seed += 1) {
    const hasSql = plantSql !== undefined;
    const report = await run({ seed, plant, plantSql, hasMishaps, hasSql });
    if (report.violation && !(await run({ seed, hasMishaps, hasSql })).violation) return report;
  }
  return undefined;
}

/** So many of each kind. */
const drawnCount = 2;

/** All of them where `PLANTED` is `all`, as in the long tests; else some, which the commit draws. */
function drawBugs(): readonly PlantedBug[] {
  if (process.env['PLANTED'] === 'all') return [...plantedBugs, ...plantedSqlBugs];
  const { seed } = firstSeedOfTheDay();
  return [plantedBugs, plantedSqlBugs].flatMap((bugs) => {
    const start = seed % bugs.length;
    return [...bugs, ...bugs].slice(start, start + drawnCount);
  });
}

describe('a known mistake, planted', () => {
  it.each(drawBugs())(
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
      const least =
        found && (await shrink(found, { seed: found.seed, ...(bug.plant ? { plant: bug.plant } : {}) }));
      expect(least?.violation?.promise).toBe(found?.violation?.promise);
      expect(least?.operations.length).toBeLessThan(found?.operations.length ?? 0);
    },
    limitMs,
  );
});
