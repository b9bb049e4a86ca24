import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SyncError } from '../core/errors.ts';
import { firstSide, type Mirror, type SideStores } from '../core/mirror.ts';
import type { BudgetLog } from '../core/ports.ts';
import { openAgreements } from './agreements.ts';
import { backUp, markCopy, schemaCopies } from './backup.ts';
import { type Ballast, noBallast, openBallast } from './ballast.ts';
import { openBudgetLog } from './budget-log.ts';
import { type Connection, connect } from './connection.ts';
import { openContactReads } from './contact-reads.ts';
import { openDecisions } from './decisions.ts';
import { openFacts } from './facts.ts';
import { checkIntegrity, checkVersion, expectOwnLog, makeDurable, takeLock } from './file-safety.ts';
import { openJournal } from './journal.ts';
import { migrate, migrations } from './migrations.ts';
import { openOpenWrites } from './open-writes.ts';
import { openOutbox } from './outbox.ts';
import { endFuture } from './past.ts';
import { closePath, closeToOthers } from './private-files.ts';
import { openRecords } from './records.ts';
import { openSuspects } from './suspects.ts';
import { openSweeps } from './sweeps.ts';

export interface OpenMirror {
  readonly mirror: Mirror;
  /** Lives in the same file and ends with `mirror.close()`. */
  readonly budgetLog: BudgetLog;
  /** Rows with times that lay in the future. */
  readonly timesCorrected: number;
  /** Paths of the state directory that other users of the machine can reach. */
  readonly openToOthers: readonly string[];
  /** Copies the mirror into `backups/` of the state directory. Returns the file. `at` is epoch ms. */
  backUp(at: number): string;
}

export interface MirrorOptions {
  readonly directory: string;
  /** Kept free for answers when the disk is full; none where absent. */
  readonly reserveBytes?: number;
  /** Epoch ms; nothing in the mirror is taken for later. */
  readonly now?: number;
}

/** The file of the mirror inside the state directory. */
export const mirrorFile = (directory: string): string => join(directory, 'mirror.db');

/**
 * Opens the mirror in the directory, creating both where they are missing, and keeps every other process out until it is
 * closed or this process ends, however it ends. Fails with STATE_LOCKED, STATE_NEWER, STATE_BROKEN, STATE_FULL or
 * CONFIG_INVALID; a file that is refused stays as it is.
 */
export function openMirror({ directory, now, reserveBytes }: MirrorOptions): OpenMirror {
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
    const timesCorrected = now === undefined ? 0 : endFuture(connection, now);
    return {
      mirror: openTables(connection, ballast),
      budgetLog: openBudgetLog(connection, ballast),
      timesCorrected,
      openToOthers,
      backUp: (at) => backUp(connection, directory, at),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** A mirror that is gone when it is closed. */
export interface MirrorInMemory extends Pick<OpenMirror, 'mirror' | 'budgetLog'> {
  /** The same content as another process finds it that opens it at that time, epoch ms. */
  reopen(now: number): MirrorInMemory;
  /** Copies it as it is at that time, epoch ms. Returns what opens the copy. */
  backUp(at: number): () => MirrorInMemory;
}

/** A mirror that knows nothing yet. */
let newMirror: Buffer | undefined;

/** For whoever needs the real one many times a second: the tables are made once. */
export function openMirrorInMemory(): MirrorInMemory {
  newMirror ??= makeNewMirror();
  return openInMemory(connect(newMirror));
}

function makeNewMirror(): Buffer {
  const connection = connect(':memory:');
  migrate(connection);
  const content = connection.content();
  connection.close();
  return content;
}

const openInMemory = (connection: Connection): MirrorInMemory => ({
  mirror: openTables(connection, noBallast),
  budgetLog: openBudgetLog(connection, noBallast),
  reopen(now) {
    endFuture(connection, now);
    return openInMemory(connection);
  },
  backUp(at) {
    const content = connection.content();
    return () => {
      const copy = connect(content);
      markCopy(copy, new Date(at).toISOString());
      return openInMemory(copy);
    };
  },
});

function openTables(connection: Connection, ballast: Ballast): Mirror {
  const mirrors = new Map<string, Mirror>();
  const kept = connection.prepare<{ side: string }>(
    'SELECT side FROM agreement UNION SELECT side FROM outbox UNION SELECT side FROM decision',
  );
  const shared = {
    readAllSteps: () => [...mirrors.values()].flatMap((mirror) => mirror.readOutbox()),
    allSides: () => kept.all().map(({ side }) => of(side)),
    expectRoom: ballast.expect,
    transaction: connection.transaction,
    ...openRecords(connection),
    ...openJournal(connection),
    ...openSweeps(connection),
    ...openContactReads(connection),
    ...openFacts(connection),
    // SQLite writes the log back into the file when its last connection closes.
    close: connection.close,
  };
  const of = (side: string): Mirror => {
    const mirror = mirrors.get(side) ?? { ...shared, of, ...openSideStores(connection, side) };
    mirrors.set(side, mirror);
    return mirror;
  };
  return of(firstSide);
}

const openSideStores = (connection: Connection, side: string): SideStores => ({
  ...openAgreements(connection, side),
  ...openOutbox(connection, side),
  ...openDecisions(connection, side),
  ...openOpenWrites(connection, side),
  ...openSuspects(connection, side),
});

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
