import { type RunOptions, type RunReport, run } from './run.ts';
import { shrink } from './shrink.ts';

/** What broke, how to see it again, and the least that has to happen for it. */
export async function describeFailure(
  report: RunReport,
  plants: Pick<RunOptions, 'plant' | 'plantSql'> = {},
): Promise<string> {
  const { hasMishaps, hasRule, hasSql, seed } = report;
  const least = await shrink(report, { seed, ...plants, hasMishaps, hasSql, hasRule });
  const { operations } = least;
  const told = await run({ seed, operations, ...plants, hasMishaps, hasSql, hasRule, isTold: true });
  return [
    `${report.violation?.message}`,
    `Again: npm run sim -- --runs 1 --seed ${seed}${hasMishaps ? '' : ' --calm'}${hasSql ? ' --sql' : ''}${hasRule ? ' --only' : ''}`,
    `${report.operations.length} operations, of which these ${least.operations.length} are enough (${least.violation?.message}):`,
    ...told.trace.map((line) => `  ${line}`),
  ].join('\n');
}
