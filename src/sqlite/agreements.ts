import type { SideStores } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { Agreement } from '../core/state.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';
import { readFields, readKey, readNoticed, readShown } from './stored-json.ts';

interface AgreementRow {
  key: string;
  fields: string;
  offered: string;
  shown: string | null;
  changedAt: number;
  notice: string;
  noticed: string | null;
}

const shape: TableShape<AgreementRow, Agreement> = {
  table: 'agreement',
  columns: ['key', 'fields', 'offered', 'shown', 'changedAt', 'notice', 'noticed'],
  toRow: ({ key, fields, offered, shown, noticed, ...rest }) => ({
    ...rest,
    noticed: noticed === undefined ? null : JSON.stringify(noticed),
    key: recordKeyText(key),
    fields: JSON.stringify(fields),
    offered: JSON.stringify(offered),
    shown: shown ? JSON.stringify(shown) : null,
  }),
  fromRow: ({ key, fields, offered, shown, noticed, ...rest }) => ({
    ...rest,
    ...(noticed === null ? {} : { noticed: readNoticed(noticed) }),
    key: readKey(key),
    fields: readFields(fields),
    offered: readFields(offered),
    ...(shown === null ? {} : { shown: readShown(shown) }),
  }),
};

type Agreements = Pick<SideStores, 'readAgreements' | 'findAgreement' | 'saveAgreement' | 'dropAgreement'>;

/** The values both sides last had. */
export function openAgreements(connection: Connection, side: string): Agreements {
  const table = openKeyedTable(connection, shape, side);
  return {
    readAgreements: table.readAll,
    findAgreement: (key) => table.find(recordKeyText(key)),
    saveAgreement: table.save,
    dropAgreement: (key) => table.drop(recordKeyText(key)),
  };
}
