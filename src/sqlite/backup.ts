import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copiedFact } from '../core/mirror.ts';
import { type Connection, connect } from './connection.ts';

const backupFile = (directory: string, name: string): string => join(directory, 'backups', `${name}.db`);

/** Copies the mirror into `backups/` of the state directory under the time of the copy, epoch ms. Answers the file. */
export function backUp(connection: Connection, directory: string, at: number): string {
  const time = new Date(at).toISOString();
  const file = backupFile(directory, `mirror-${time.replaceAll(':', '-')}`);
  copyMirror(connection, file, time);
  return file;
}

/** Keeps the mirror as an earlier version left it. One that is kept already is as good: no step was taken since. */
export function keepBeforeMigration(connection: Connection, directory: string, schema: number): void {
  const file = backupFile(directory, `before-leaving-schema-${schema}`);
  if (!existsSync(file)) copyMirror(connection, file, `the time before schema ${schema} was left`);
}

/**
 * Copies the mirror as it is now into a new file, which is whole or is not there at all. The copy says when it was made, so that a
 * daemon that is started from it takes nothing it remembers for agreed.
 */
function copyMirror(connection: Connection, file: string, copiedAt: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  try {
    connection.prepare('VACUUM INTO ?').run(unfinished);
    const copy = connect(unfinished);
    try {
      markCopy(copy, copiedAt);
    } finally {
      copy.close();
    }
    renameSync(unfinished, file);
  } catch (error) {
    // Half a copy must not keep the disk full.
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Lets a copy of the mirror tell whoever starts from it that it is one. */
export const markCopy = (copy: Connection, copiedAt: string): void =>
  void copy.prepare('INSERT OR REPLACE INTO fact (name, content) VALUES (?, ?)').run(copiedFact, copiedAt);
