import type { SideStores } from '../core/mirror.ts';
import type { Suspect } from '../core/open-write.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';
import { readSuspectJson } from './stored-json.ts';

interface SuspectRow {
  id: string;
  content: string;
}

const shape: TableShape<SuspectRow, Suspect> = {
  table: 'suspect',
  columns: ['id', 'content'],
  toRow: (suspect) => ({ id: suspect.id, content: JSON.stringify(suspect) }),
  fromRow: ({ content }) => readSuspectJson(content),
};

type Suspects = Pick<SideStores, 'readSuspects' | 'saveSuspect' | 'dropSuspect'>;

/** What writes did to other rows than their own, oldest first. */
export function openSuspects(connection: Connection, side: string): Suspects {
  const table = openKeyedTable(connection, shape, side);
  return { readSuspects: table.readAll, saveSuspect: table.save, dropSuspect: table.drop };
}
