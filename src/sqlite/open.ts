import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SyncError } from '../core/errors.ts';
import { backUp, pruneBackups, schemaCopies } from './backup.ts';
import { noBallast, openBallast } from './ballast.ts';
import { openBudgetLog } from './budget-log.ts';
import { connect } from './connection.ts';
import { checkIntegrity, checkVersion, expectOwnLog, makeDurable, takeLock } from './file-safety.ts';
import { migrate, migrations } from './migrations.ts';
import { endFuture } from './past.ts';
import { closePath, closeToOthers } from './private-files.ts';
import { openSubjectStore } from './subject.ts';
import { openTables } from './tables.ts';

export type OpenMirror = ReturnType<typeof openMirror>;

export interface MirrorOptions {
  readonly directory: string;
  /** Kept free for answers when the disk is full; none where absent. */
  readonly reserveBytes?: number;
  /** Epoch ms; nothing in the mirror is taken for later. */
  readonly now?: number;
  /** How many copies are kept; all where absent. */
  readonly backupsMax?: number;
}

/** The file of the mirror inside the state directory. */
export const mirrorFile = (directory: string): string => join(directory, 'mirror.db');

/**
 * Opens the mirror in the directory, creating both where they are missing, and keeps every other process out until it is
 * closed or this process ends, however it ends. Fails with STATE_LOCKED, STATE_NEWER, STATE_BROKEN, STATE_FULL or
 * CONFIG_INVALID; a file that is refused stays as it is.
 */
export function openMirror({
  backupsMax = Number.POSITIVE_INFINITY,
  directory,
  now,
  reserveBytes,
}: MirrorOptions) {
  const openToOthers = createDirectory(directory);
  expectOwnLog(mirrorFile(directory));
  const ballast =
    reserveBytes === undefined ? noBallast : openBallast(join(directory, 'ballast'), reserveBytes);
  const connection = connect(mirrorFile(directory), ballast.drop);
  try {
    takeLock(connection);
    // SQLite gives the log beside it the same mode.
    closePath(mirrorFile(directory));
    checkVersion(connection);
    makeDurable(connection);
    checkIntegrity(connection, mirrorFile(directory));
    migrate(connection, migrations, schemaCopies(connection, mirrorFile(directory)));
    const prunedBackups = now === undefined ? undefined : pruneBackups(directory, backupsMax, now);
    const timesCorrected = now === undefined ? 0 : endFuture(connection, now);
    return {
      mirror: openTables(connection, ballast),
      /** Lives in the same file and ends with `mirror.close()`. */
      budgetLog: openBudgetLog(connection, ballast),
      /** Rows with times that lay in the future. */
      timesCorrected,
      /** What became of copies that were more than are kept; absent where `now` is. */
      prunedBackups,
      /** Paths of the state directory that other users of the machine can reach. */
      openToOthers,
      /** Copies the mirror into `backups/` of the state directory. Returns the file. `at` is epoch ms. */
      backUp: (at: number) => backUp(connection, directory, at, backupsMax),
      /** What it keeps of persons. After it erased something the mirror has to be closed. */
      subjects: openSubjectStore(connection),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Makes a directory where it is missing, and closes it to other users. SQLite alone would only say that it does not open a file. Returns
 * what stays open to others. Fails with CONFIG_INVALID.
 */
export function createDirectory(directory: string): string[] {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : String(error);
    const advice = 'Give it to the user that runs this (in a container: 1000), or name another one.';
    throw new SyncError(
      'CONFIG_INVALID',
      `The state directory ${directory} (STATE_DIR) is not writable: ${reason}. ${advice}`,
      { cause: error },
    );
  }
  return closeToOthers(directory);
}
