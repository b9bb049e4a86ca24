import type { SideTally } from './side.ts';
import type { CycleCounts } from './side-runner.ts';

/** What is counted of a side. */
type OfSide = SideTally & CycleCounts;

/** What the engine did since it started; for status and for telling whether a resync changed anything. */
export interface Tally extends OfSide {
  readonly crmWrites: number;
}

/** What was done at all sides together. */
export function addTallies(ofSides: readonly OfSide[]): OfSide {
  const sum = (name: keyof OfSide) => ofSides.reduce((total, each) => total + each[name], 0);
  return {
    cycles: sum('cycles'),
    failedCycles: sum('failedCycles'),
    cycleMs: sum('cycleMs'),
    tableSteps: sum('tableSteps'),
    undoneWrites: sum('undoneWrites'),
    escalatedWrites: sum('escalatedWrites'),
  };
}
