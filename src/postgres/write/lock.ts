import type { RowId } from '../../warehouse/port/port.ts';
import type { Session } from '../connection.ts';

/** A row that is there. */
export interface FoundRow {
  readonly id: RowId;
  /** When its version was first seen, epoch ms; absent for not known. */
  readonly validFrom?: number | undefined;
  /** Absent for a row that is locked by this transaction now; else who holds it. */
  readonly heldBy?: string;
}

/** What is to be done with the rows: an update may go beside a foreign key that points to the row, a delete may not. */
export type LockMode = 'NO KEY UPDATE' | 'UPDATE';

/**
 * Locks rows in the order of their ids, without ever waiting for one. Returns those that are there, with the holder of each that another
 * transaction holds.
 */
export async function lockRows(
  session: Session,
  table: string,
  idType: string,
  ids: readonly RowId[],
  mode: LockMode,
): Promise<ReadonlyMap<RowId, FoundRow>> {
  const rows = await session.run(
    `WITH own AS MATERIALIZED (
       SELECT id, valid_from FROM ${table} WHERE id = ANY ($1::${idType}[]) ORDER BY id FOR ${mode} SKIP LOCKED)
     SELECT t.id::text AS id, o.id IS NOT NULL AS is_own, t.xmax::text AS holder,
            round(extract(epoch FROM o.valid_from) * 1000)::bigint::text AS valid_from
       FROM ${table} t LEFT JOIN own o ON o.id = t.id WHERE t.id = ANY ($1::${idType}[])`,
    [ids],
  );
  const isOwn = (row: (typeof rows)[number]) => row['is_own'] === 't';
  const holders = await readHolders(
    session,
    rows.filter((row) => !isOwn(row)).map(({ holder }) => holder ?? ''),
  );
  return new Map(
    rows.map((row): [RowId, FoundRow] => {
      const id = row['id'] ?? '';
      if (!isOwn(row)) return [id, { id, heldBy: holders.get(row['holder'] ?? '') ?? unknownHolder }];
      const validFrom = row['valid_from'] === null ? undefined : Number(row['valid_from']);
      return [id, { id, validFrom }];
    }),
  );
}

const unknownHolder = 'A transaction of others holds the row.';

/** Who holds the row locks of these transactions, in words: the role of the daemon may not see since when. */
async function readHolders(
  session: Session,
  transactions: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (transactions.length === 0) return new Map();
  const rows = await session.run(
    `SELECT l.transactionid::text AS holder, l.pid::text AS pid, a.usename::text AS role, a.application_name AS program,
            to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
       FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock' AND l.transactionid::text = ANY ($1)`,
    [transactions],
  );
  return new Map(rows.map((row) => [row['holder'] ?? '', holderWords(row)]));
}

function holderWords(row: Readonly<Record<string, string | null>>): string {
  const { pid, role, program, since } = row;
  if (!pid) return 'A prepared transaction holds the row: it ends by COMMIT PREPARED or ROLLBACK PREPARED.';
  const who = [role && ` of ${role}`, program && ` (${program})`].filter(Boolean).join('');
  return `Process ${pid}${who} holds the row${since ? `, in a transaction since ${since}` : ''}.`;
}
