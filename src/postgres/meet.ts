import type { Keeper, Meeting } from '../warehouse/port/port.ts';
import type { Session } from './connection.ts';
import { readServer } from './server.ts';
import { isKeptBy, linkColumns } from './write/link-row.ts';
import type { Stage } from './write/run.ts';

/** What the database says of itself. Nothing of ours has to be there. */
export function meetDatabase({ connection, names, keeper }: Stage): Promise<Meeting> {
  return connection.use('meet', async (session) => {
    const server = await readServer(session.client);
    const hasLink = await hasTable(session, names.own('link'));
    const link = hasLink ? await readKeeping(session, names.own('link'), keeper) : unkept;
    return { ...server, ...link };
  });
}

/** The name is quoted already. */
export async function hasTable(session: Session, table: string): Promise<boolean> {
  const [row] = await session.run('SELECT to_regclass($1) IS NOT NULL AS is_there', [table]);
  return row?.['is_there'] === 't';
}

const unkept = { keeper: 'none', lastRun: 0 } as const;

async function readKeeping(
  session: Session,
  link: string,
  keeper: Keeper,
): Promise<Pick<Meeting, 'keeper' | 'lastRun'>> {
  const rows = await session.run(`SELECT name, ${linkColumns} FROM ${link}`);
  const row = rows.find(({ name }) => name === keeper.link) ?? rows[0];
  if (!row) return unkept;
  const isOwn = row['name'] === keeper.link && isKeptBy(row, keeper);
  return { keeper: isOwn ? 'own' : 'other', lastRun: Number(row['run_no']) };
}
