import type { Mirror } from '../core/mirror.ts';
import { recordKeyText, type Unread } from '../core/record.ts';
import type { StoredRecord, Written } from '../core/state.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';
import { parseStored, readFields, readKey } from './stored-json.ts';

interface RecordRow {
  key: string;
  entity: string;
  fields: string;
  unread: string | null;
  observedAt: number;
  firstSeenAt: number;
  lastSeenAt: number;
  missedSweeps: number;
  presence: StoredRecord['presence'];
  writtenAt: number | null;
  writtenBefore: string | null;
}

const shape: TableShape<RecordRow, StoredRecord> = {
  table: 'record',
  columns: [
    'key',
    'entity',
    'fields',
    'unread',
    'observedAt',
    'firstSeenAt',
    'lastSeenAt',
    'missedSweeps',
    'presence',
    'writtenAt',
    'writtenBefore',
  ],
  toRow: ({ key, fields, unread, written, ...rest }) => ({
    ...rest,
    key: recordKeyText(key),
    entity: key.entity,
    fields: JSON.stringify(fields),
    unread: unread ? JSON.stringify(unread) : null,
    writtenAt: written?.at ?? null,
    writtenBefore: written ? writeReplaced(written) : null,
  }),
  fromRow: ({ key, entity: _, fields, unread, writtenAt, writtenBefore, ...rest }) => ({
    ...rest,
    key: readKey(key),
    fields: readFields(fields),
    ...(unread === null ? {} : { unread: readUnread(unread) }),
    ...(writtenAt !== null && writtenBefore !== null
      ? { written: { at: writtenAt, ...readReplaced(writtenBefore) } }
      : {}),
  }),
};

/** What was replaced stands alone where there is nothing else, and in old mirrors. */
const writeReplaced = ({ answered, before, earlier }: Written): string =>
  JSON.stringify(answered || earlier ? [before, answered ?? {}, earlier ?? {}] : before);

function readReplaced(text: string): Omit<Written, 'at'> {
  const content = parseStored(text);
  if (!Array.isArray(content)) return { before: readFields(text) };
  const [before = {}, answered = {}, earlier = {}] = content.map((fields) =>
    readFields(JSON.stringify(fields)),
  );
  return { before, answered, earlier };
}

const readUnread = (text: string): Unread =>
  Object.fromEntries(Object.entries(readFields(text)).map(([name, words]) => [name, String(words)]));

type Records = Pick<Mirror, 'readRecords' | 'findRecord' | 'saveRecord' | 'dropRecord'>;

/** Records as the CRM last said them. */
export function openRecords(connection: Connection): Records {
  const table = openKeyedTable(connection, shape);
  return {
    readRecords: (entity) =>
      table.readAll().filter(({ key }) => entity === undefined || key.entity === entity),
    findRecord: (key) => table.find(recordKeyText(key)),
    saveRecord: table.save,
    dropRecord: (key) => table.drop(recordKeyText(key)),
  };
}
