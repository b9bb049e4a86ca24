import type { SideStores } from '../core/mirror.ts';
import type { OpenWrite } from '../core/open-write.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';
import { readOpenWriteJson } from './stored-json.ts';

interface OpenWriteRow {
  id: string;
  content: string;
}

const shape: TableShape<OpenWriteRow, OpenWrite> = {
  table: 'openWrite',
  columns: ['id', 'content'],
  toRow: (write) => ({ id: write.id, content: JSON.stringify(write) }),
  fromRow: ({ content }) => readOpenWriteJson(content),
};

type OpenWrites = Pick<SideStores, 'readOpenWrites' | 'saveOpenWrite' | 'dropOpenWrite'>;

/** Writes to the table that are not over, oldest first. */
export function openOpenWrites(connection: Connection, side: string): OpenWrites {
  const table = openKeyedTable(connection, shape, side);
  return { readOpenWrites: table.readAll, saveOpenWrite: table.save, dropOpenWrite: table.drop };
}
