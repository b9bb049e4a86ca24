import type { RecordId } from '../record.ts';
import type { Agreement } from '../state.ts';
import { decideUnseenRecords, decideVanishedRow, tabChoice } from './absent.ts';
import { type Binding, bindRows } from './bind.ts';
import { findBrakes } from './brakes.ts';
import { keepDecisions, type TabContext } from './context.ts';
import { copyReason, decideClaimedRow, decideNewRows, dropUnsentCreates } from './new-row.ts';
import { decideRow, holdRow } from './row.ts';
import { showsValues } from './row-values.ts';

/** Decides one tab: brakes first, then every row, then the records that have none. */
export function decideTab(context: TabContext): void {
  const { draft, entity, input } = context;
  const binding = bindRows(context.tab.rows, {
    isKnown: (id) => context.records.has(id),
    isOriginal: (id, row) => showsValues(context, row, context.agreements.get(id)?.fields ?? {}),
  });
  const present = presentIds(context, binding);
  const vanished = [...context.agreements.values()].filter(
    (agreement) =>
      isInTable(agreement) && !present.has(agreement.key.id) && isPresent(context, agreement.key.id),
  );
  const steadilyVanished = vanished.filter(({ key }) => input.wasMissing(key));
  for (const { key } of vanished) keepDecisions(context, key);
  if (vanished.length > 0) tabChoice(context);
  draft.restlessRows += vanished.length - steadilyVanished.length;
  if (isBraked(context, binding, steadilyVanished.length)) return;

  for (const { row, id } of binding.records) decideRow(context, row, id);
  const boundIds = new Set(binding.records.map(({ id }) => id));
  for (const { row, id } of binding.claimed) decideClaimedRow(context, row, id, boundIds);
  dropUnsentCreates(context, new Set(binding.claimed.map(({ id }) => id)));
  for (const { row, id } of binding.copies) holdRow(context, row, id, copyReason);
  if (input.known.sweptEntities.has(entity)) {
    for (const { row, id } of binding.strangers) holdRow(context, row, id, strangerReason(id));
  }
  const found = decideNewRows(context, binding.unbound, vanished);
  for (const { key } of steadilyVanished) if (!found.has(key.id)) decideVanishedRow(context, key);
  decideUnseenRecords(context, present);
}

const strangerReason = (id: RecordId) =>
  `No record of the CRM has the ID “${id}”. Clear the ID to make this a new record, or undo the change.`;

const isInTable = (agreement: Agreement) => Object.keys(agreement.fields).length > 0;
const isPresent = (context: TabContext, id: RecordId) => context.records.get(id)?.presence === 'present';

/** Ids of the records that have a row, among them those whose row still carries the token of their create. */
function presentIds(context: TabContext, binding: Binding): Set<RecordId> {
  const present = new Set([...binding.records, ...binding.copies].map(({ id }) => id));
  for (const { id } of binding.claimed) {
    const recordId = context.outbox.get(id)?.recordId;
    if (recordId !== undefined) present.add(recordId);
  }
  return present;
}

function isBraked(context: TabContext, binding: Binding, vanishedRows: number): boolean {
  const { draft, entity, input } = context;
  const goneRecords = binding.records.filter(({ id }) => context.records.get(id)?.presence === 'gone').length;
  const agreed = [...context.agreements.values()].filter(isInTable).length;
  const tripped = findBrakes({ entity, agreed, vanishedRows, goneRecords }, input.policy.brakes);
  const holding = tripped.filter(({ scope }) => context.decision(scope) === undefined);
  draft.brakes.push(...holding);
  if (holding.length === 0) return false;
  // What people decided before the brake was tripped stays decided.
  for (const { key } of context.agreements.values()) keepDecisions(context, key);
  return true;
}
