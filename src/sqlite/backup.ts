import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { facts } from '../core/facts.ts';
import { type Connection, connect } from './connection.ts';
import { feedSchema, jsonFactsSchema, type SchemaCopies } from './migrations.ts';

const backupFile = (directory: string, name: string): string => join(directory, 'backups', `${name}.db`);

/** A time, epoch ms, as it can stand in the name of a file. */
const timeName = (at: number): string => new Date(at).toISOString().replaceAll(':', '-');

/**
 * Copies the mirror into `backups/` of the state directory under the time of the copy, epoch ms. Returns the file. Of older copies so many
 * are kept that there are `backupsMax` of each sort.
 */
export function backUp(connection: Connection, directory: string, at: number, backupsMax: number): string {
  const file = backupFile(directory, `mirror-${timeName(at)}`);
  copyMirror(connection, file, new Date(at).toISOString());
  pruneBackups(directory, backupsMax, at);
  return file;
}

/** What became of copies that were more than are kept, by their names. */
export interface Pruned {
  readonly dropped: readonly string[];
  /** The system refused to delete them, as in a directory of another user. */
  readonly left: readonly string[];
}

/**
 * Keeps the newest copies of each sort among those from before `now`, epoch ms: older ones hold what the history has forgotten. Files with
 * other names are the operator's, and copies with a later time are from a clock that was wrong; both stay.
 */
export function pruneBackups(directory: string, backupsMax: number, now: number): Pruned {
  const backups = dirname(backupFile(directory, ''));
  if (!existsSync(backups)) return { dropped: [], left: [] };
  const files = readdirSync(backups, { withFileTypes: true }).filter((entry) => entry.isFile());
  const surplus = sorts.flatMap((pattern) => {
    const copies = files.flatMap(({ name }) => {
      const time = pattern.exec(name)?.[1];
      return time !== undefined && time <= timeName(now) ? [{ name, time }] : [];
    });
    const oldestFirst = copies.toSorted((one, other) => one.time.localeCompare(other.time));
    return oldestFirst.slice(0, -backupsMax).map(({ name }) => name);
  });
  const { dropped = [], left = [] } = Object.groupBy(surplus, (name) =>
    drop(join(backups, name)) ? 'dropped' : 'left',
  );
  return { dropped, left };
}

const schemaPrefix = 'before-leaving-schema-';

const timeForm = String.raw`(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)`;

/** The names of both sorts of copies, with their time. */
const sorts = ['mirror-', String.raw`${schemaPrefix}\d+-`].map(
  (prefix) => new RegExp(String.raw`^${prefix}${timeForm}\.db$`),
);

/** Deletes a file. Returns whether the system allowed it. */
function drop(file: string): boolean {
  try {
    rmSync(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^E(PERM|ACCES|ROFS)$/.test(String(error.code)))
      return false;
    throw error;
  }
}

/**
 * Keeps the `mirror` as an earlier version left it, under the time of that: whoever goes back and works on with the earlier version leaves
 * another one. A start that fails again and again leaves one copy.
 */
export function keepBeforeMigration(connection: Connection, mirror: string, schema: number): void {
  const name = `${schemaPrefix}${schema}-${timeName(changedAt(mirror))}`;
  const file = backupFile(dirname(mirror), name);
  if (!existsSync(file)) copyMirror(connection, file, `the time before schema ${schema} was left`);
}

/** The copies of the `mirror` that {@link keepBeforeMigration} makes. */
export const schemaCopies = (connection: Connection, mirror: string): SchemaCopies => ({
  keep: (schema) => keepBeforeMigration(connection, mirror, schema),
  find: (schemaMax) => findCopy(dirname(mirror), schemaMax),
});

/** The newest copy that a version can read which knows the schema up to this one. */
function findCopy(directory: string, schemaMax: number): string | undefined {
  const backups = dirname(backupFile(directory, ''));
  const names = existsSync(backups) ? readdirSync(backups) : [];
  const copies = names.flatMap((name) => {
    const [, schema = '', time = ''] = copyPattern.exec(name) ?? [];
    return schema !== '' && Number(schema) <= schemaMax ? [{ name, schema: Number(schema), time }] : [];
  });
  const [newest] = copies.toSorted(
    (one, other) => other.schema - one.schema || other.time.localeCompare(one.time),
  );
  return newest && join(backups, newest.name);
}

const copyPattern = new RegExp(`^${schemaPrefix}(\\d+)-(.+)\\.db$`);

/** When something was last written into the mirror, epoch ms. The log beside it is made anew, empty, whenever the mirror is opened. */
const changedAt = (mirror: string): number =>
  [mirror, `${mirror}-wal`].reduce((latest, file) => {
    const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
    return size === 0 ? latest : Math.max(latest, mtimeMs);
  }, 0);

/**
 * Copies the mirror as it is now into a new file, which is whole or is not there at all. The copy says when it was made, so that a
 * daemon that is started from it takes nothing it remembers for agreed.
 */
function copyMirror(connection: Connection, file: string, copiedAt: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  try {
    // SQLite takes an empty file for a new one, and this one nobody else can read.
    writeFileSync(unfinished, '', { mode: 0o600 });
    // Not prepared: what is prepared takes the room that is kept for answers when the disk is full, and then nothing could be sent.
    connection.execute(`VACUUM INTO '${unfinished.replaceAll("'", "''")}'`);
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

/** Lets a copy of the mirror say that it is one. The copy may have an earlier schema. */
export function markCopy(copy: Connection, copiedAt: string): void {
  const schema = Number(copy.readSetting('user_version'));
  const isJson = schema >= jsonFactsSchema;
  copy
    .prepare('INSERT OR REPLACE INTO fact (name, content) VALUES (?, ?)')
    .run(facts.copiedAt.name, isJson ? JSON.stringify(copiedAt) : copiedAt);
  // What was written to a side after the copy was made, the copy does not know.
  if (schema >= feedSchema) copy.execute('UPDATE follower SET isCopied = 1');
}
