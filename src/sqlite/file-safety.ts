import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { SyncError } from '../core/errors.ts';
import type { Connection } from './connection.ts';

/** SQLite before 3.51.3 could damage a file in WAL mode: https://www.sqlite.org/wal.html#walresetbug */
const oldestVersion = [3, 51, 3] as const;

/** Refuses a build of SQLite that could damage the file. */
export function checkVersion(connection: Connection): void {
  const [row] = connection.prepare<{ version: string }>('SELECT sqlite_version() AS version').all();
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

/** Where the head of a file says how it is written, and what stands there as long as it never had a log: https://www.sqlite.org/fileformat.html */
const [writeVersionAt, withoutLog] = [18, 1];

/**
 * Refuses a backup beside which the log of another mirror stands, as that of a daemon that was killed: SQLite would take it for the log of
 * this file, and mix both. A backup never had a log of its own. To be called before the process opens the file: what is read here is closed
 * again, and that gives back every lock that the process has on it.
 */
export function expectOwnLog(file: string): void {
  const log = `${file}-wal`;
  const { size } = statSync(log, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size === 0 || readByte(file, writeVersionAt) !== withoutLog) return;
  throw new SyncError(
    'CONFIG_INVALID',
    `${file} is a copy that was put back, and ${log} beside it is of the mirror before. Move that file away, and ${file}-shm where there is one.`,
  );
}

/** A byte of a file; `undefined` where it can not be read, which whoever opens it tells. */
function readByte(file: string, position: number): number | undefined {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const byte = Buffer.alloc(1);
      readSync(descriptor, byte, 0, 1, position);
      return byte[0];
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
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
  // Deleted rows are about people: SQLite overwrites them.
  connection.setSetting('secure_delete', 'ON');
  // The library's build takes 16 MB. What each cycle reads is kept as objects, and the system caches the file.
  connection.setSetting('cache_size', -cacheKb);
  expectSetting(connection, 'journal_mode', 'wal');
  expectSetting(connection, 'synchronous', 2);
  expectSetting(connection, 'secure_delete', 1);
}

const cacheKb = 4_000;

function expectSetting(connection: Connection, name: string, expected: string | number): void {
  const found = connection.readSetting(name);
  if (found !== expected) throw new Error(`The mirror has ${name} ${found} instead of ${expected}.`);
}

/** Refuses a damaged file: working on would spread the damage to both sides. */
export function checkIntegrity(connection: Connection, file: string): void {
  const finding = connection.readSetting('quick_check');
  if (finding !== 'ok') throw new SyncError('STATE_BROKEN', `${file} fails its check: ${finding}.`);
}
