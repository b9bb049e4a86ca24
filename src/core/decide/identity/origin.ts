import type { RecordId } from '../../record.ts';
import type { Agreement, OutboxItem } from '../../state.ts';
import type { Fields } from '../../value.ts';
import type { TabContext } from '../context.ts';

/** The creates that are over by the record they made, for as long as a tab is decided: each of many rows that are gone is asked about. */
const originsByOutbox = new WeakMap<TabContext['outbox'], ReadonlyMap<RecordId, OutboxItem>>();

/** The create that made a record, as long as it is kept. */
export function originOf({ outbox }: TabContext, id: RecordId): OutboxItem | undefined {
  const origins = originsByOutbox.get(outbox) ?? findOrigins(outbox);
  originsByOutbox.set(outbox, origins);
  return origins.get(id);
}

function findOrigins(outbox: TabContext['outbox']): ReadonlyMap<RecordId, OutboxItem> {
  const origins = new Map<RecordId, OutboxItem>();
  for (const item of outbox.values()) {
    const { kind, recordId, state } = item;
    if (kind !== 'create' || state !== 'done' || recordId === undefined) continue;
    if (!origins.has(recordId)) origins.set(recordId, item);
  }
  return origins;
}

/** What is known of a record whose row is not there: of one whose row went before the CRM told anything of it, what was sent. */
export const baseOf = (context: TabContext, { key, fields }: Agreement): Fields =>
  Object.keys(fields).length > 0 ? fields : (originOf(context, key.id)?.fields ?? {});

/** Whether a record has a row, or had one with the token of its create. */
export const isInTable = (context: TabContext, { fields, key }: Agreement): boolean =>
  Object.keys(fields).length > 0 || originOf(context, key.id) !== undefined;

/** Whether the read before lacked the row of a record as well, also one that still had the token of its create. */
export function wasMissing(context: TabContext, { key }: Agreement): boolean {
  const origin = originOf(context, key.id);
  return context.input.wasMissing(key) && (!origin || context.input.wasMissing(origin.key));
}
