import { chmodSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const [ownDirectory, ownFiles, sticky] = [0o700, 0o600, 0o1000];

/** What the daemon itself keeps in a state directory: an operator may have other files there. */
const ownFile = /^((mirror|budget)\.db(-wal|-shm)?|ballast)$/;
const backupFile = /\.db(\.unfinished)?$/;

/** Whether a path below a state directory is one of the daemon's own files. */
export const isOwnFile = (path: string): boolean =>
  dirname(path) === 'backups' ? backupFile.test(basename(path)) : ownFile.test(path);

/**
 * Closes a state directory and the daemon's own files in it to everybody but their owner, whatever git, an archive or a umask made of
 * them. Returns the paths that stay open, because they belong to another user or, like `/tmp`, to all users.
 */
export function closeToOthers(directory: string): string[] {
  const backups = join(directory, 'backups');
  return [
    directory,
    ...pathsIn(directory, ownFile),
    ...pathsIn(backups, backupFile),
    ...(isThere(backups) ? [backups] : []),
  ].filter((path) => !closePath(path));
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

const pathsIn = (directory: string, names: RegExp): string[] =>
  isThere(directory)
    ? readdirSync(directory)
        .filter((name) => names.test(name))
        .map((name) => join(directory, name))
    : [];

/** Closes one file or directory. Returns whether nobody but its owner can reach it now. */
export function closePath(path: string): boolean {
  const found = statSync(path);
  const { mode } = found;
  if ((mode & sticky) !== 0) return false;
  const closed = mode & (found.isDirectory() ? ownDirectory : ownFiles);
  if (closed === (mode & 0o777)) return true;
  try {
    chmodSync(path, closed);
    return true;
  } catch (error) {
    // Only the owner may: a volume of a container often belongs to another user.
    if (error instanceof Error && 'code' in error && error.code === 'EPERM') return false;
    throw error;
  }
}
