import type { Operation } from './operation.ts';
import { type RunOptions, type RunReport, run } from './run.ts';

/** Takes operations out for as long as the run still breaks the same promise: halves first, then less and less. */
export async function shrink(report: RunReport, options: Omit<RunOptions, 'operations'>): Promise<RunReport> {
  let smallest = report;
  for (let size = Math.ceil(report.operations.length / 2); size >= 1; ) {
    const smaller = await tryWithout(smallest, size, options);
    if (smaller) smallest = smaller;
    else if (size === 1) break;
    else size = Math.floor(size / 2);
  }
  return smallest;
}

async function tryWithout(
  { operations, violation }: RunReport,
  size: number,
  options: Omit<RunOptions, 'operations'>,
): Promise<RunReport | undefined> {
  for (let start = 0; start < operations.length; start += size) {
    const rest: Operation[] = operations.toSpliced(start, size);
    const report = await run({ ...options, operations: rest });
    if (report.violation?.promise === violation?.promise) return report;
  }
  return undefined;
}
