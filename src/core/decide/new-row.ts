import { textCell } from '../cell.ts';
import type { RecordId } from '../record.ts';
import type { Agreement, OutboxItem } from '../state.ts';
import type { ObservedRow } from '../table.ts';
import type { TabContext } from './context.ts';
import { waitingStep } from './outbox-step.ts';
import { resembles } from './resemblance.ts';
import { decideRow, holdRow, writeRow } from './row.ts';
import { type RowValues, readRowValues, showsValues } from './row-values.ts';
import { equalFields } from './update.ts';

/**
 * Decides the rows without an ID. A row that shows exactly what a record without a row has is that record's row with its ID
 * wiped; anything else is a new record once it rests and its required cells are filled: then it is claimed with a token, and
 * created in a later cycle, after the token was seen in the sheet. Answers the vanished records whose row is, or may be, among them:
 * those have not vanished.
 */
export function decideNewRows(
  context: TabContext,
  rows: readonly ObservedRow[],
  vanished: readonly Agreement[],
): ReadonlySet<RecordId> {
  const { draft, entity, input } = context;
  const lost = new Map(vanished.map((agreement) => [agreement.key.id, agreement]));
  const found = new Set<RecordId>();
  for (const row of rows) {
    if (isBlank(row)) {
      if (context.tab.hasSync && row.sync.kind !== 'empty') clearSync(context, row);
      continue;
    }
    const values = readRowValues(context, row);
    const original = [...lost.values()].find((agreement) => showsValues(context, row, agreement.fields));
    const relative = [...lost.values()].find((agreement) => resembles(agreement.fields, values.fields));
    const record = original ?? relative;
    if (record) found.add(record.key.id);
    if (input.isRestless(entity, row)) draft.restlessRows += 1;
    else if (original) {
      lost.delete(original.key.id);
      decideRow(context, row, original.key.id, original.key.id);
    } else decideUnclaimedRow(context, row, values, relative);
  }
  return found;
}

/** An unticked checkbox is FALSE, not empty: a column of them does not make a row. */
export const isBlank = (row: ObservedRow): boolean =>
  Object.values(row.cells).every(
    (cell) => cell.kind === 'empty' || (cell.kind === 'boolean' && !cell.boolean),
  );

function clearSync(context: TabContext, row: ObservedRow): void {
  context.draft.table.push({
    write: {
      kind: 'set',
      entity: context.entity,
      position: row.position,
      idSeen: row.id,
      cells: {},
      sync: textCell(''),
    },
    offers: {},
    notice: '',
  });
}

function decideUnclaimedRow(
  context: TabContext,
  row: ObservedRow,
  values: RowValues,
  relative: Agreement | undefined,
): void {
  const { draft, entity, input } = context;
  const nobody = { entity, id: '' };
  if (values.faults.length > 0) {
    const reason = values.faults.join(' ');
    draft.refusals.push({ entity, position: row.position, reason });
    return writeRow(context, row, nobody, { state: { kind: 'error', reason } });
  }
  if (values.missing.length > 0) {
    return writeRow(context, row, nobody, { state: { kind: 'incomplete', missing: values.missing } });
  }
  if (relative) return holdRow(context, row, '', wipedReason(relative.key.id));
  const token = input.newToken();
  writeRow(context, row, { entity, id: token }, { id: token, state: creating });
}

/** Said at a row whose ID stands in another row too. */
export const copyReason =
  'This row is a copy: its ID stands in another row too. Clear the ID here to make it a new record.';

const foreignReason =
  'This row was being created when the daemon lost its memory of it. If the CRM has the record, put its ID into the ID cell; if not, clear the ID cell to create it.';

const creating = { kind: 'pending', what: 'to be created in the CRM' } as const;
const wipedReason = (id: RecordId) =>
  `This looks like record ${id}, whose row is missing. Put ${id} into the ID cell, or change the row to make it a new record.`;

/**
 * Decides a row that carries a claim token: its create is put into the outbox and followed, and the record's ID replaces the token.
 * `boundIds` are the records that have a row with their own ID.
 */
export function decideClaimedRow(
  context: TabContext,
  row: ObservedRow,
  token: RecordId,
  boundIds: ReadonlySet<RecordId>,
): void {
  const { draft, entity, input } = context;
  const key = { entity, id: token };
  const item = context.outbox.get(token);
  if (item?.state === 'done' && item.recordId !== undefined) {
    if (boundIds.has(item.recordId)) return holdRow(context, row, token, copyReason);
    return decideRow(context, row, item.recordId, item.recordId);
  }
  if (item?.state === 'review')
    return holdRow(context, row, token, item.error?.message ?? 'Its create needs a person.');
  if (item?.state === 'sending' || item?.state === 'unknown') {
    return writeRow(context, row, key, { state: { kind: 'pending', what: pendingCreate(item) } });
  }
  if (!item && !input.isOwnToken(token)) return holdRow(context, row, token, foreignReason);
  if (input.isRestless(entity, row) && item) {
    draft.restlessRows += 1;
    return;
  }
  const values = readRowValues(context, row);
  if (values.faults.length > 0 || values.missing.length > 0) {
    if (item) draft.outboxDropped.push(key);
    const reason = values.faults.join(' ');
    if (reason) draft.refusals.push({ entity, position: row.position, reason });
    const state = reason
      ? ({ kind: 'error', reason } as const)
      : ({ kind: 'incomplete', missing: values.missing } as const);
    return writeRow(context, row, key, { state });
  }
  if (item && equalFields(item.fields, values.fields)) {
    if (item.state !== 'refused') return writeRow(context, row, key, { state: creating });
    const reason = item.error?.message ?? 'The CRM refused the row.';
    draft.refusals.push({ entity, position: row.position, reason });
    return writeRow(context, row, key, { state: { kind: 'error', reason } });
  }
  draft.outboxSaved.push(waitingStep(input, key, { kind: 'create', fields: values.fields, base: {} }));
  writeRow(context, row, key, { state: creating });
}

const pendingCreate = (item: OutboxItem): string =>
  item.state === 'sending'
    ? 'being created in the CRM'
    : 'the CRM did not say whether it created the record; the daemon looks before it tries again';

/** How long a create that is over is kept: whoever brings back the row with its token does so within this time. */
const overKeptMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Forgets creates whose token stands in no row: at once those that were not sent, and after a month those that are over. Until then
 * a row that comes back is known.
 */
export function forgetCreates(context: TabContext, tokens: ReadonlySet<RecordId>): void {
  const { draft, input, outbox } = context;
  for (const { key, kind, state, createdAt } of outbox.values()) {
    if (kind !== 'create' || tokens.has(key.id)) continue;
    const isUnsent = state === 'waiting' || state === 'refused';
    const isOver = state === 'done' || state === 'review';
    if (isUnsent || (isOver && createdAt < input.now - overKeptMs)) draft.outboxDropped.push(key);
  }
}
