/** What the engine did since it started; for status and for telling whether a resync changed anything. */
export interface Tally {
  cycles: number;
  failedCycles: number;
  /** Time spent in cycles, whether they succeeded or not. */
  cycleMs: number;
  tableSteps: number;
  /** Steps that met moved rows or columns: what they did there was undone, or could not be. */
  undoneWrites: number;
  escalatedWrites: number;
  crmWrites: number;
}

export const emptyTally = (): Tally => ({
  cycles: 0,
  failedCycles: 0,
  cycleMs: 0,
  tableSteps: 0,
  undoneWrites: 0,
  escalatedWrites: 0,
  crmWrites: 0,
});
