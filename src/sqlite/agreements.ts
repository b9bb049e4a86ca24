import type { Mirror } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { Agreement } from '../core/state.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';
import { readFields, readKey } from './stored-json.ts';

interface AgreementRow {
  key: string;
  fields: string;
  offered: string;
  changedAt: number;
  notice: string;
}

const shape: TableShape<AgreementRow, Agreement> = {
  table: 'agreement',
  columns: ['key', 'fields', 'offered', 'changedAt', 'notice'],
  toRow: ({ key, fields, offered, ...rest }) => ({
    ...rest,
    key: recordKeyText(key),
    fields: JSON.stringify(fields),
    offered: JSON.stringify(offered),
  }),
  fromRow: ({ key, fields, offered, ...rest }) => ({
    ...rest,
    key: readKey(key),
    fields: readFields(fields),
    offered: readFields(offered),
  }),
};

type Agreements = Pick<Mirror, 'readAgreements' | 'findAgreement' | 'saveAgreement' | 'dropAgreement'>;

/** The values both sides last had. */
export function openAgreements(connection: Connection): Agreements {
  const table = openKeyedTable(connection, shape);
  return {
    readAgreements: table.readAll,
    findAgreement: (key) => table.find(recordKeyText(key)),
    saveAgreement: table.save,
    dropAgreement: (key) => table.drop(recordKeyText(key)),
  };
}
