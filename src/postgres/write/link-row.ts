import type { SyncError } from '../../core/errors.ts';
import { newWarehouseError } from '../../warehouse/port/errors.ts';
import type { Keeper } from '../../warehouse/port/port.ts';
import type { Row, Session } from '../connection.ts';
import type { Names } from '../names.ts';

/** The row of a link, as far as it says who keeps the tables. */
export const linkColumns = 'account, mirror_word, writer_token::text AS writer_token, run_no::text AS run_no';

/** So many runs are remembered: more than a week of one a minute. */
const runsKept = 10_000;

/**
 * Takes the next number for a run. The row of the link is locked by this until the end of the transaction: it keeps a late daemon out, puts
 * runs in order, and is what {@link findRun} waits for. Fails with WAREHOUSE_KEPT and WAREHOUSE_WENT_BACK.
 */
export async function takeNumber(
  session: Session,
  names: Names,
  keeper: Keeper,
  run: string,
  after: number,
): Promise<number> {
  const link = names.own('link');
  const ledger = names.own('ledger');
  const [taken] = await session.run(
    `WITH taken AS (
       UPDATE ${link} SET run_no = run_no + 1, writer_token = $4::bigint
        WHERE name = $1 AND account = $2 AND mirror_word = $3 AND writer_token <= $4::bigint AND run_no = $5::bigint
       RETURNING run_no),
     forgotten AS (DELETE FROM ${ledger} WHERE no <= (SELECT run_no - ${runsKept} FROM taken))
     INSERT INTO ${ledger} (run, no) SELECT $6, run_no FROM taken RETURNING no::text AS no`,
    [keeper.link, keeper.account, keeper.word, String(keeper.token), String(after), run],
  );
  if (taken) return Number(taken['no']);
  const [row] = await session.run(`SELECT ${linkColumns} FROM ${link} WHERE name = $1`, [keeper.link]);
  throw (
    keepingFault(row, keeper) ??
    newWarehouseError(
      'WAREHOUSE_WENT_BACK',
      `The last write there has number ${row?.['run_no']}, and it should have ${after}.`,
    )
  );
}

/** Why a mirror may not write by the row of its link; `undefined` where it may. */
export function keepingFault(row: Row | undefined, keeper: Keeper): SyncError | undefined {
  if (!row)
    return newWarehouseError(
      'WAREHOUSE_CHANGED',
      `The tables are not laid out for the link ${keeper.link}: its row is missing.`,
    );
  if (!isKeptBy(row, keeper))
    return newWarehouseError('WAREHOUSE_KEPT', 'The tables are kept by another mirror.');
  if (BigInt(row['writer_token'] ?? 0) > BigInt(keeper.token))
    return newWarehouseError(
      'WAREHOUSE_KEPT',
      'Another process runs this link by now: it has a newer lease, and wrote to the tables.',
    );
  return undefined;
}

export const isKeptBy = (row: Row, { account, word }: Keeper): boolean =>
  row['account'] === account && row['mirror_word'] === word;
