import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SyncError } from '../core/errors.ts';

/** Space that is kept so that what was begun can be written down when the disk is full. */
export interface Ballast {
  /** Takes the space again where it was given free. Fails with STATE_FULL when the disk does not have it. */
  expect(): void;
  /** Gives the space free. Answers whether there was any. */
  drop(): boolean;
}

/** For a mirror that nothing is begun with. */
export const noBallast: Ballast = { expect: () => undefined, drop: () => false };

/** Keeps `bytes` in a file beside the mirror. */
export function openBallast(file: string, bytes: number): Ballast {
  let isWhole = statSync(file, { throwIfNoEntry: false })?.size === bytes;

  const full = (cause?: unknown) =>
    new SyncError('STATE_FULL', `${dirname(file)} lacks ${bytes / 1024 / 1024} MiB to write answers down.`, {
      cause,
    });

  const take = (): void => {
    const { bavail, bsize } = statfsSync(dirname(file));
    // Not by trying: that would take the last of the disk from everybody for a moment.
    if (bavail * bsize < bytes) throw full();
    try {
      writeFileSync(file, Buffer.alloc(bytes), { mode: 0o600 });
    } catch (error) {
      rmSync(file, { force: true });
      throw full(error);
    }
  };

  return {
    expect() {
      if (isWhole) return;
      take();
      isWhole = true;
    },
    drop() {
      const wasWhole = isWhole;
      isWhole = false;
      rmSync(file, { force: true });
      return wasWhole;
    },
  };
}
