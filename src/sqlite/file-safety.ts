import { SyncError } from '../core/errors.ts';
import type { Connection } from './connection.ts';

/** SQLite before 3.51.3 could damage a file in WAL mode: https://www.sqlite.org/wal.html#walresetbug */
const oldestVersion = [3, 51, 3] as const;

/** Refuses a build of SQLite that could damage the file. */
export function checkVersion(connection: Connection): void {
  const row = connection.prepare<{ version: string }>('SELECT sqlite_version() AS version').get();
  const version = row?.version ?? 'unknown';
  if (isOlder(version.split('.').map(Number), oldestVersion)) {
    throw new Error(
      `SQLite ${version} can damage the mirror; ${oldestVersion.join('.')} or later is needed.`,
    );
  }
}

/** Compares version numbers part by part. */
export function isOlder(version: readonly number[], than: readonly number[]): boolean {
  const differing = than.findIndex((part, index) => version[index] !== part);
  return differing >= 0 && !((version[differing] ?? 0) > (than[differing] ?? 0));
}

/**
 * Takes the file's lock for as long as the connection lives. The operating system gives it back when the process dies.
 * The mode has to be set before the first read, and preparing a statement reads already: then the index of the log is kept in memory
 * and not in a file beside it, which a full disk could not hold. https://www.sqlite.org/wal.html#noshm
 */
export function takeLock(connection: Connection): void {
  connection.setSetting('locking_mode', 'EXCLUSIVE');
  connection.execute('BEGIN IMMEDIATE; COMMIT');
}

/**
 * Every commit survives a power cut. The library's build opens WAL files with `synchronous=NORMAL`, where the last
 * commits may vanish: an intent would be gone whose request was sent. So it is set on every open, and looked at.
 */
export function makeDurable(connection: Connection): void {
  connection.setSetting('journal_mode', 'WAL');
  connection.setSetting('synchronous', 'FULL');
  expectSetting(connection, 'journal_mode', 'wal');
  expectSetting(connection, 'synchronous', 2);
}

function expectSetting(connection: Connection, name: string, expected: string | number): void {
  const found = connection.readSetting(name);
  if (found !== expected) throw new Error(`The mirror has ${name} ${found} instead of ${expected}.`);
}

/** Refuses a damaged file: working on would spread the damage to both sides. */
export function checkIntegrity(connection: Connection, file: string): void {
  const finding = connection.readSetting('quick_check');
  if (finding !== 'ok') throw new SyncError('STATE_BROKEN', `${file} fails its check: ${finding}.`);
}
