import type { ClientBase } from 'pg';
import { newWarehouseError } from '../warehouse/port/errors.ts';
import type { Meeting } from '../warehouse/port/port.ts';

const versionMin = 130_000;

/** Reads what the server is. Fails with WAREHOUSE_UNREADABLE where it is too old, or the database cannot hold all texts. */
export async function readServer(client: ClientBase): Promise<Pick<Meeting, 'serverVersion' | 'isReadOnly'>> {
  const { rows } = await client.query<{ version: string; encoding: string; state: string }>(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding,
            CASE WHEN pg_is_in_recovery() THEN 'on' ELSE current_setting('transaction_read_only') END AS state`,
  );
  const { version = '0', encoding = '', state = 'off' } = rows[0] ?? {};
  const unusable = (words: string) => newWarehouseError('WAREHOUSE_UNREADABLE', words);
  if (!(Number(version) >= versionMin))
    throw unusable(`The server has the version ${version}; ${versionMin} (13) or later is needed.`);
  if (encoding !== 'UTF8') throw unusable(`The database is encoded in ${encoding}; UTF8 is needed.`);
  return { serverVersion: Number(version), isReadOnly: state === 'on' };
}
