import Database from 'better-sqlite3';
import { isSyncError, type OwnCode, SyncError } from '../core/errors.ts';

type Binding = string | number | null;

/** A prepared statement. `Row` is trusted: only this program writes the file, and STRICT tables hold the types. */
export interface Statement<Row> {
  /** Answers the id of the row that was inserted last. */
  run(...bindings: Binding[]): number;
  all(...bindings: Binding[]): Row[];
  /** Returns the rows up to the first that is not wanted; no further one is read. */
  allWhile(isWanted: (row: Row) => boolean, ...bindings: Binding[]): Row[];
}

/** The one connection to the file. Its errors are `SyncError`s wherever a person can do something about them. */
export type Connection = ReturnType<typeof connect>;

/**
 * Opens the file, creating it where it is missing, or a copy of its content in memory; nothing is read or locked before the first
 * statement. What meets a full disk is done
 * again when `makeRoom` answers that there is room now. A lock of somebody else is waited for, for `busyMs` at most.
 */
export function connect(file: string | Buffer, makeRoom: () => boolean = () => false, busyMs = 0) {
  const translated = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw translateError(error, typeof file === 'string' ? file : 'A mirror in memory');
    }
  };
  // Of a mirror nobody waits for the lock: whoever holds it is another daemon, and that one does not let go.
  const database = translated(() => new Database(file, { timeout: busyMs }));
  const wrapper = translated(() => database.transaction((work: () => unknown) => work()));
  const forgetting: (() => void)[] = [];
  const closing: (() => void)[] = [];
  // Not asked of the database: a full disk may end its transaction before the work in it knows.
  let isInTransaction = false;
  const written = <Result>(work: () => Result): Result => {
    try {
      return translated(work);
    } catch (error) {
      if (isInTransaction || !isSyncError(error, 'STATE_FULL') || !makeRoom()) throw error;
      return translated(work);
    }
  };
  const transaction = <Result>(work: () => Result): Result => {
    if (isInTransaction) throw new Error('A transaction of the mirror was started inside another one.');
    const transact = () => {
      isInTransaction = true;
      try {
        return wrapper.immediate(work) as Result;
      } catch (error) {
        for (const forget of forgetting) forget();
        throw error;
      } finally {
        isInTransaction = false;
      }
    };
    return written(transact);
  };
  return {
    prepare<Row>(sql: string): Statement<Row> {
      const statement = translated(() => database.prepare<Binding[], Row>(sql));
      return {
        run: (...bindings) => written(() => Number(statement.run(...bindings).lastInsertRowid)),
        all: (...bindings) => translated(() => statement.all(...bindings)),
        allWhile: (isWanted, ...bindings) =>
          translated(() => [...takeWhile(statement.iterate(...bindings), isWanted)]),
      };
    },
    /** Runs statements that return nothing. */
    execute: (sql: string) => translated(() => void database.exec(sql)),
    readSetting: (name: string) => translated(() => readPragma(database, name)),
    setSetting: (name: string, value: string | number) =>
      translated(() => void database.pragma(`${name} = ${value}`)),
    /** BEGIN IMMEDIATE, so that a read never has to turn into a write and fail. Refuses to be nested. */
    transaction,
    /** Joins the transaction that runs, or makes one of its own. */
    atomically: <Result>(work: () => Result): Result => (isInTransaction ? work() : transaction(work)),
    /** Calls back whenever a transaction has failed: what was written in it is not there. */
    onRollback: (forget: () => void) => void forgetting.push(forget),
    /** The whole file as it is now. */
    content: () => translated(() => database.serialize()),
    /** Calls back before the file is closed, to write what was put off. */
    onClose: (finish: () => void) => void closing.push(finish),
    close: () => translated(() => closeAfter(database, closing)),
  };
}

function closeAfter(database: Database.Database, closing: readonly (() => void)[]): void {
  try {
    for (const finish of closing) finish();
  } finally {
    database.close();
  }
}

function* takeWhile<Row>(rows: Iterable<Row>, isWanted: (row: Row) => boolean): Generator<Row> {
  for (const row of rows) {
    if (!isWanted(row)) return;
    yield row;
  }
}

function readPragma(database: Database.Database, name: string): string | number {
  const value = database.pragma(name, { simple: true });
  if (typeof value === 'string' || typeof value === 'number') return value;
  throw new Error(`PRAGMA ${name} answered ${typeof value}.`);
}

/** Result codes: https://www.sqlite.org/rescode.html. Extended codes begin with the name of their primary code. */
const knownErrors: readonly { code: string; becomes: OwnCode; says: string }[] = [
  { code: 'SQLITE_BUSY', becomes: 'STATE_LOCKED', says: 'is in use' },
  { code: 'SQLITE_LOCKED', becomes: 'STATE_LOCKED', says: 'is in use' },
  { code: 'SQLITE_FULL', becomes: 'STATE_FULL', says: 'can not grow' },
  // What a quota or another limit of this user refuses is no full disk to the system.
  {
    code: 'SQLITE_IOERR_WRITE',
    becomes: 'STATE_FULL',
    says: 'can not be written: a quota is used up, or the disk fails',
  },
  {
    code: 'SQLITE_IOERR',
    becomes: 'CONFIG_INVALID',
    says: 'can not be read or written; check the disk of STATE_DIR',
  },
  { code: 'SQLITE_CORRUPT', becomes: 'STATE_BROKEN', says: 'is damaged' },
  { code: 'SQLITE_NOTADB', becomes: 'STATE_BROKEN', says: 'is not an SQLite database' },
  { code: 'SQLITE_CANTOPEN', becomes: 'CONFIG_INVALID', says: 'can not be opened; check STATE_DIR' },
  { code: 'SQLITE_READONLY', becomes: 'CONFIG_INVALID', says: 'is not writable; check STATE_DIR' },
];

function translateError(error: unknown, file: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const known = knownErrors.find(({ code }) => error.code === code || error.code.startsWith(`${code}_`));
  return known
    ? new SyncError(known.becomes, `${file} ${known.says} (${error.code}: ${error.message}).`, {
        cause: error,
      })
    : error;
}
