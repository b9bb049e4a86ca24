import type { SideTally } from './side.ts';
import type { CycleCounts } from './side-runner.ts';

/** What the engine did since it started; for status and for telling whether a resync changed anything. */
export interface Tally extends SideTally, CycleCounts {
  readonly crmWrites: number;
}

const none: Omit<Tally, 'crmWrites'> = {
  cycles: 0,
  failedCycles: 0,
  cycleMs: 0,
  tableSteps: 0,
  undoneWrites: 0,
  escalatedWrites: 0,
};

/** What was done at all sides. */
export const addTallies = (ofSides: readonly (SideTally & CycleCounts)[]): Omit<Tally, 'crmWrites'> =>
  ofSides.reduce(
    (sum, each) => ({
      cycles: sum.cycles + each.cycles,
      failedCycles: sum.failedCycles + each.failedCycles,
      cycleMs: sum.cycleMs + each.cycleMs,
      tableSteps: sum.tableSteps + each.tableSteps,
      undoneWrites: sum.undoneWrites + each.undoneWrites,
      escalatedWrites: sum.escalatedWrites + each.escalatedWrites,
    }),
    none,
  );
