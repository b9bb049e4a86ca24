import type { ErrorCode } from '../core/errors.ts';
import type { SideStores } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { OutboxItem, OutboxKind, OutboxState } from '../core/state.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';
import { readFields, readKey } from './stored-json.ts';

interface OutboxRow {
  key: string;
  kind: OutboxKind;
  state: OutboxState;
  fields: string;
  base: string;
  notice: string;
  run: string;
  createdAt: number;
  shownUntil: number | null;
  dueAt: number;
  attempts: number;
  sentAt: number | null;
  looks: number;
  errorCode: ErrorCode | null;
  errorMessage: string | null;
  recordId: string | null;
  isUndo: 0 | 1;
}

const shape: TableShape<OutboxRow, OutboxItem> = {
  table: 'outbox',
  columns: [
    'key',
    'kind',
    'state',
    'fields',
    'base',
    'notice',
    'run',
    'createdAt',
    'shownUntil',
    'dueAt',
    'attempts',
    'sentAt',
    'looks',
    'errorCode',
    'errorMessage',
    'recordId',
    'isUndo',
  ],
  toRow: ({ key, fields, base, shownUntil, sentAt, error, recordId, isUndo, ...rest }) => ({
    ...rest,
    key: recordKeyText(key),
    fields: JSON.stringify(fields),
    base: JSON.stringify(base),
    shownUntil: shownUntil ?? null,
    sentAt: sentAt ?? null,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    recordId: recordId ?? null,
    isUndo: isUndo ? 1 : 0,
  }),
  fromRow: ({
    key,
    fields,
    base,
    shownUntil,
    sentAt,
    errorCode,
    errorMessage,
    recordId,
    isUndo,
    ...rest
  }) => ({
    ...rest,
    key: readKey(key),
    fields: readFields(fields),
    base: readFields(base),
    ...(shownUntil !== null ? { shownUntil } : {}),
    ...(sentAt !== null ? { sentAt } : {}),
    ...(errorCode !== null && errorMessage !== null
      ? { error: { code: errorCode, message: errorMessage } }
      : {}),
    ...(recordId !== null ? { recordId } : {}),
    ...(isUndo === 1 ? { isUndo: true } : {}),
  }),
};

type Outbox = Pick<SideStores, 'readOutbox' | 'findOutboxItem' | 'saveOutboxItem' | 'dropOutboxItem'>;

/** Steps towards the CRM, oldest first. */
export function openOutbox(connection: Connection, side: string): Outbox {
  const table = openKeyedTable(connection, shape, side);
  return {
    readOutbox: table.readAll,
    findOutboxItem: (key) => table.find(recordKeyText(key)),
    saveOutboxItem: table.save,
    dropOutboxItem: (key) => table.drop(recordKeyText(key)),
  };
}
