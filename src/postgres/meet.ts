import { newWarehouseError } from '../warehouse/port/errors.ts';
import type { Keeper, Meeting } from '../warehouse/port/port.ts';
import type { Session } from './connection.ts';
import { isKeptBy, linkColumns } from './write/link-row.ts';
import type { Stage } from './write/run.ts';

const versionMin = 130_000;

/** What the database says of itself. Nothing of ours has to be there. */
export function meetDatabase({ connection, names, keeper }: Stage): Promise<Meeting> {
  return connection.use('meet', async (session) => {
    const [row] = await session.run(
      `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding,
              pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS is_read_only`,
    );
    const serverVersion = Number(row?.['version']);
    if (!(serverVersion >= versionMin))
      throw newWarehouseError(
        'WAREHOUSE_UNREADABLE',
        `The ${connection.place} is of version ${row?.['version']}; ${versionMin} is the least that can be used.`,
      );
    if (row?.['encoding'] !== 'UTF8')
      throw newWarehouseError(
        'WAREHOUSE_UNREADABLE',
        `The ${connection.place} has the encoding ${row?.['encoding']}: it cannot hold all texts. Only UTF8 can be used.`,
      );
    const hasLink = await hasTable(session, names.own('link'));
    const link = hasLink ? await readKeeping(session, names.own('link'), keeper) : nobody;
    return { serverVersion, isReadOnly: row['is_read_only'] === 't', ...link };
  });
}

/** The name is quoted already. */
async function hasTable(session: Session, table: string): Promise<boolean> {
  const [row] = await session.run('SELECT to_regclass($1) IS NOT NULL AS is_there', [table]);
  return row?.['is_there'] === 't';
}

const nobody = { keeper: 'nobody', lastRun: 0 } as const;

async function readKeeping(
  session: Session,
  link: string,
  keeper: Keeper,
): Promise<Pick<Meeting, 'keeper' | 'lastRun'>> {
  const rows = await session.run(`SELECT name, ${linkColumns} FROM ${link}`);
  const row = rows.find(({ name }) => name === keeper.link) ?? rows[0];
  if (!row) return nobody;
  const isOwn = row['name'] === keeper.link && isKeptBy(row, keeper);
  return { keeper: isOwn ? 'own' : 'other', lastRun: Number(row['run_no']) };
}
