import type { RecordId } from '../record.ts';
import type { Agreement, OutboxItem } from '../state.ts';
import type { Fields } from '../value.ts';
import type { TabContext } from './context.ts';

/** The create that made a record, as long as it is kept. */
export const originOf = ({ outbox }: TabContext, id: RecordId): OutboxItem | undefined =>
  outbox
    .values()
    .find(({ kind, state, recordId }) => kind === 'create' && state === 'done' && recordId === id);

/** What is known of a record whose row is not there: of one whose row went before the CRM told anything of it, what was sent. */
export const baseOf = (context: TabContext, { key, fields }: Agreement): Fields =>
  Object.keys(fields).length > 0 ? fields : (originOf(context, key.id)?.fields ?? {});
