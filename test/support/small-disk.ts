import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own, in memory, that can be filled to the last byte. */
export interface SmallDisk {
  readonly directory: string;
  /** Writes until nothing fits any more. */
  fill(): void;
  /** Takes away what `fill` wrote. */
  free(): void;
  remove(): void;
}

/** Why no small disk can be had here; `undefined` when one can. */
export function findDiskProblem(): string | undefined {
  try {
    openSmallDisk(1).remove();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

export function openSmallDisk(mebibytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory], { stdio: 'pipe' });
  } catch (error) {
    rmSync(directory, { recursive: true });
    throw error;
  }
  const filler = join(directory, 'filler');
  return {
    directory,
    fill: () => fillFrom(filler),
    free: () => rmSync(filler, { force: true }),
    remove() {
      execFileSync('umount', ['--lazy', directory]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function fillFrom(file: string): void {
  const block = Buffer.alloc(4096, 1);
  const target = openSync(file, 'a');
  try {
    for (;;) writeSync(target, block);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    closeSync(target);
  }
}
