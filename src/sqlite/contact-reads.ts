import type { Mirror } from '../core/mirror.ts';
import type { ContactRead } from '../core/state.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';

interface ContactReadRow {
  leadId: string;
  at: number;
  leadVersion: string;
}

const shape: TableShape<ContactReadRow, ContactRead> = {
  table: 'contactRead',
  columns: ['leadId', 'at', 'leadVersion'],
  toRow: (read) => ({ ...read }),
  fromRow: (row) => row,
};

type ContactReads = Pick<Mirror, 'readContactReads' | 'saveContactRead' | 'dropContactRead'>;

/** When the contacts of each lead were last read. */
export function openContactReads(connection: Connection): ContactReads {
  const table = openKeyedTable(connection, shape);
  return {
    readContactReads: table.readAll,
    saveContactRead: table.save,
    dropContactRead: table.drop,
  };
}
