import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Disturbance, disturbanceVariable } from './disturbed-process.ts';

const preloaded = new URL('./disturbed-process.ts', import.meta.url);

/** The environment of daemons whose time can be disturbed while they run, and what does so; until the test ends. */
export async function openDisturbance() {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-time-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'disturbance.json');
  /** The file is replaced as a whole: it may be read in any moment. */
  const disturb = async (changes: Partial<Disturbance>) => {
    await writeFile(`${file}.new`, JSON.stringify({ clockOffMs: 0, busyMs: 0, ...changes }));
    await rename(`${file}.new`, file);
  };
  await disturb({});
  return { environment: { NODE_OPTIONS: `--import ${preloaded}`, [disturbanceVariable]: file }, disturb };
}
