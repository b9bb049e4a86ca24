import { execFileSync } from 'node:child_process';

/** A process of the machine that has not ended. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
}

export function listProcesses(): RunningProcess[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

export const childrenOf = (parent: number): number[] =>
  listProcesses()
    .filter((each) => each.parent === parent)
    .map(({ pid }) => pid);
