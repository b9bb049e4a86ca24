import { existsSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of these kinds wait for processes more than they compute, in the order in which they start. */
const waitingKinds = ['process', 'browser', 'app'];
/** The last of them is to start before the last of the others, which are short. */
const waitingShare = 0.9;

/**
 * Mixes the files that wait with those that compute, in proportion: by itself Vitest goes by size where it has not seen a file run, and
 * workers that all wait, or all compute, leave the processors idle or wait for each other. The slow kinds come first among their own.
 */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification) =>
      waitingKinds.findIndex((kind) => moduleId.includes(`/test/${kind}/`));
    const waiting = sorted
      .filter((file) => rankOf(file) >= 0)
      .toSorted((one, other) => rankOf(one) - rankOf(other));
    const computing = sorted.filter((file) => rankOf(file) < 0);
    const placed = [
      ...waiting.map((file, index) => ({ file, place: (waitingShare * index) / waiting.length })),
      ...computing.map((file, index) => ({ file, place: index / computing.length })),
    ];
    return placed.toSorted((one, other) => one.place - other.place).map(({ file }) => file);
  }
}

const memoryDisk = '/dev/shm';
/** Far more than all tests need: the memory disk of a container may have 64 MB. */
const roomMinBytes = 4 * 1024 ** 3;

/** Where the machine has a disk in memory, the tests keep their files there: each commit of a mirror waits for the disk. */
function temporaryFiles(): { TMPDIR?: string } {
  if (!existsSync(memoryDisk)) return {};
  const { bavail, bsize } = statfsSync(memoryDisk);
  return bavail * bsize >= roomMinBytes ? { TMPDIR: memoryDisk } : {};
}

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    expect: { poll: { interval: 100, timeout: 15_000 } },
    env: temporaryFiles(),
    // A browser, a daemon and two servers may share a busy machine: a limit is there for what hangs.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What a worker has loaded serves all its files: loading it anew for each took a tenth of the whole time. So no file may leave anything behind,
    // and what support registers for a file it registers in a function: a module runs once.
    isolate: false,
    // Process and browser tests wait for servers and processes of their own more than they compute.
    maxWorkers: 6,
    sequence: { sequencer: Mixed },
    // A small young generation is collected all the time where an emulated sheet is read again and again.
    execArgv: ['--max-semi-space-size=64'],
    reporters: ['default'],
  },
});
