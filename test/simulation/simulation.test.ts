import { describe, expect, it } from 'vitest';
import { firstSeedOfTheDay } from '../support/seeds-of-the-day.ts';
import { areAllWanted } from '../support/variants.ts';
import { describeFailure } from './failure.ts';
import { type RunReport, run } from './run.ts';

const runs = areAllWanted ? 200 : 20;
const runsWithMishaps = areAllWanted ? 100 : 20;
const runsWithSql = areAllWanted ? 100 : 10;
const runsOfTheDay = 10;
const limitMs = 300_000;

async function findBroken(
  firstSeed: number,
  count: number,
  hasMishaps: boolean,
  hasSql = false,
  hasRule = false,
): Promise<RunReport | undefined> {
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const report = await run({ seed, hasMishaps, hasSql, hasRule });
    if (report.violation) return report;
  }
  return undefined;
}

describe('people and the daemon at work at once: S1 S2 S3 S4 S5 S6 S7 S9 S11 S13 S15 hold', () => {
  it(
    'in the first runs',
    async () => {
      const broken = await findBroken(1, runs, false);
      expect(broken && (await describeFailure(broken))).toBeUndefined();
    },
    limitMs,
  );

  it(
    'where requests get lost or come late, lists shift, the process crashes and the mirror is lost or old',
    async () => {
      const broken = await findBroken(5000, runsWithMishaps, true);
      expect(broken && (await describeFailure(broken))).toBeUndefined();
    },
    limitMs,
  );

  it.each([
    ['', 8000, false],
    [', and things go wrong', 8500, true],
  ])(
    'where a tab has the records alone that fit its rule%s',
    async (_where, firstSeed, hasMishaps) => {
      const broken = await findBroken(firstSeed, runsWithMishaps, hasMishaps, false, true);
      expect(broken && (await describeFailure(broken))).toBeUndefined();
    },
    limitMs,
  );

  it.each([
    ['', 6000, false],
    [', where things go wrong', 7000, true],
  ])(
    'W1 W2 W4 W5 W6 W7 W8 W10: where users also edit the tables of a database by SQL%s',
    async (_where, firstSeed, hasMishaps) => {
      const broken = await findBroken(firstSeed, runsWithSql, hasMishaps, true);
      expect(broken && (await describeFailure(broken))).toBeUndefined();
    },
    limitMs,
  );

  const { seed: firstOfTheDay, from } = firstSeedOfTheDay();

  it.each([
    ['', false, false],
    [' where things go wrong', true, false],
    [' where things go wrong, and users write SQL', true, true],
  ])(
    `in the ${runsOfTheDay} runs from ${firstOfTheDay}, for ${from}%s`,
    async (_where, hasMishaps, hasSql) => {
      const broken = await findBroken(firstOfTheDay, runsOfTheDay, hasMishaps, hasSql);
      expect(broken && (await describeFailure(broken))).toBeUndefined();
    },
    limitMs,
  );

  it(
    'S14: the same seed gives the same trace',
    async () => {
      for (const seed of [3, 4, 5])
        for (const [hasMishaps, hasSql] of [
          [false, false],
          [true, false],
          [true, true],
        ])
          expect(await run({ seed, hasMishaps, hasSql })).toEqual(await run({ seed, hasMishaps, hasSql }));
      expect((await run({ seed: 3 })).hash).not.toBe((await run({ seed: 4 })).hash);
    },
    limitMs,
  );
});
