import { existsSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of these kinds start first, in this order: the first ones wait for processes, the last ones compute. */
const slowKinds = ['process', 'browser', 'app', 'simulation', 'scenario'];

/**
 * Starts the slow kinds of files first: by itself Vitest goes by size where it has not seen a file run, and a slow one that starts
 * late runs on alone while the other workers stand idle.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = slowKinds.findIndex((kind) => moduleId.includes(`/test/${kind}/`));
      return rank < 0 ? slowKinds.length : rank;
    };
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
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
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What a worker has loaded serves all its files: loading it anew for each took a tenth of the whole time. So no file may leave anything behind.
    isolate: false,
    // Process and browser tests wait for servers and processes of their own more than they compute.
    maxWorkers: 4,
    sequence: { sequencer: SlowFirst },
    // A small young generation is collected all the time where an emulated sheet is read again and again.
    execArgv: ['--max-semi-space-size=64'],
    reporters: ['default'],
  },
});
