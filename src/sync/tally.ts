/** What the engine did since it started; for status and for telling whether a resync changed anything. */
export interface Tally {
  cycles: number;
  failedCycles: number;
  /** Time spent in cycles, whether they succeeded or not. */
  cycleMs: number;
  tableSteps: number;
  crmWrites: number;
}

export const emptyTally = (): Tally => ({
  cycles: 0,
  failedCycles: 0,
  cycleMs: 0,
  tableSteps: 0,
  crmWrites: 0,
});
