import { type ErrorCode, SyncError, type SyncErrorDetails } from '../../core/errors.ts';

export type WarehouseCode = Extract<ErrorCode, `WAREHOUSE_${string}`>;

/** What to do about the errors of this side. */
export const warehouseHints: Readonly<Record<WarehouseCode, string>> = {
  WAREHOUSE_UNREACHABLE:
    'The database does not answer. Check WAREHOUSE_URL and the server; nothing is lost meanwhile.',
  WAREHOUSE_UNAUTHORIZED: 'The database refuses the login. Check the user and the password in WAREHOUSE_URL.',
  WAREHOUSE_FORBIDDEN:
    "The daemon's role lacks a right. “warehouse sql” prints what an administrator has to run.",
  WAREHOUSE_NOT_FOUND: 'The database, the schema or a table is not there. “init” makes what is missing.',
  WAREHOUSE_READ_ONLY: 'This is a standby, or set to read only. Name the primary in WAREHOUSE_URL.',
  WAREHOUSE_FULL: 'The disk or the memory of the database is used up. Free some; work goes on by itself.',
  WAREHOUSE_BUSY: 'The database is busy, or a lock is held. The daemon tries again by itself.',
  WAREHOUSE_CHANGED: 'The tables of the daemon were changed. “doctor” says what; “init” mends it.',
  WAREHOUSE_REFUSED: 'The database does not accept a value; its words say why.',
  WAREHOUSE_UNKNOWN_OUTCOME: 'The commit got no reply. The daemon finds out what became of it.',
  WAREHOUSE_WENT_BACK:
    'The database is not as it was left: a backup was restored, or a standby took over. Everything is compared.',
  WAREHOUSE_KEPT:
    'Another daemon, or another mirror, keeps these tables. Stop it and start this one again; “init --adopt” takes over those of another mirror.',
  WAREHOUSE_UNREADABLE:
    'The answer is not what a PostgreSQL server of version 13 or later says. Check WAREHOUSE_URL.',
};

/** An error of this side, with what to do. */
export const newWarehouseError = (
  code: WarehouseCode,
  message: string,
  details: Omit<SyncErrorDetails, 'hint'> = {},
): SyncError => new SyncError(code, message, { ...details, hint: warehouseHints[code] });
