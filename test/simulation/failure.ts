import { type RunReport, run } from './run.ts';
import { shrink } from './shrink.ts';
import type { Plant } from './stage.ts';

/** What broke, how to see it again, and the least that has to happen for it. */
export async function describeFailure(report: RunReport, plant?: Plant): Promise<string> {
  const { hasMishaps, seed } = report;
  const least = await shrink(report, { seed, plant, hasMishaps });
  const { operations } = least;
  const told = await run({ seed, operations, plant, hasMishaps, isTold: true });
  return [
    `${report.violation?.message}`,
    `Again: npm run sim -- --runs 1 --seed ${seed}${hasMishaps ? '' : ' --calm'}`,
    `${report.operations.length} operations, of which these ${least.operations.length} are enough (${least.violation?.message}):`,
    ...told.trace.map((line) => `  ${line}`),
  ].join('\n');
}
