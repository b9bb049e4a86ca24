import type { RecordKey } from '../record.ts';
import type { OutboxItem } from '../state.ts';
import { equalValues, type FieldName, type Fields, type Value } from '../value.ts';
import type { TabContext } from './context.ts';
import type { DecidedField } from './merge.ts';
import { waitingStep } from './outbox-step.ts';
import { type RowState, showValue } from './sync-text.ts';

/**
 * Brings the record's outbox item in line with what its row wants to change in the CRM: a newer edit replaces the one that waits,
 * an edit taken back removes it, and a refused one stays refused until the row changes. Answers what to say at the row, if anything.
 */
export function planUpdate(
  context: TabContext,
  key: RecordKey,
  decided: readonly DecidedField[],
): RowState | undefined {
  const { draft, input } = context;
  const fields: Record<FieldName, Value> = {};
  const base: Record<FieldName, Value> = {};
  const notices: string[] = [];
  for (const { field, outcome } of decided) {
    if (outcome.kind !== 'toCrm') continue;
    fields[field.name] = outcome.value;
    base[field.name] = outcome.base;
    if (outcome.lost !== undefined) {
      notices.push(`${field.header}: the sheet's value was kept, the CRM had ${showValue(outcome.lost)}`);
    }
  }
  const item = context.outbox.get(key.id);
  if (Object.keys(fields).length === 0) {
    if (item) draft.outboxDropped.push(key);
    return undefined;
  }
  if (item?.kind === 'update' && equalFields(item.fields, fields) && equalFields(item.base, base)) {
    return item.state === 'refused' || item.state === 'review'
      ? { kind: 'error', reason: item.error?.message ?? 'The CRM refused the change.' }
      : { kind: 'pending', what: waitingText(item) };
  }
  const notice = notices.join('. ');
  draft.outboxSaved.push(waitingStep(input, key, { kind: 'update', fields, base, notice }));
  return { kind: 'pending', what: 'waiting to be sent to the CRM' };
}

const waitingText = (item: OutboxItem): string =>
  item.error ? `${item.error.message} It is tried again.` : 'waiting to be sent to the CRM';

/** Whether both hold the same fields with the same values. */
export function equalFields(left: Fields, right: Fields): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => {
      const [one, other] = [left[name], right[name]];
      return one !== undefined && other !== undefined && equalValues(one, other);
    })
  );
}
