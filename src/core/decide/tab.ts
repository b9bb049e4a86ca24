import type { RecordId } from '../record.ts';
import type { Agreement } from '../state.ts';
import { decideUnseenRecords, decideVanishedRow, tabChoice } from './absent.ts';
import { findAstray, keepBefore, planRepairs } from './astray.ts';
import { type Binding, type BoundRow, bindRows } from './bind.ts';
import { findBrakes } from './brakes.ts';
import { keepDecisions, type TabContext } from './context.ts';
import { findDisorder } from './disorder.ts';
import { findFirstMeeting } from './first-meeting.ts';
import { copyReason, decideClaimedRow, decideNewRows, forgetCreates } from './new-row.ts';
import type { Brake } from './plan.ts';
import { findRebase } from './rebase.ts';
import { decideRow, editsOf, holdRow, type JudgedRow, judgeRow } from './row.ts';
import { lookOf, lookOfValues, showsValues } from './row-values.ts';

/** Decides one tab: what our own writes did astray and the brakes first, then every row, then the records that have none. */
export function decideTab(context: TabContext): void {
  const { draft, entity, input } = context;
  const astray = findAstray(context);
  const rows = context.tab.rows.filter((row) => !astray.rows.has(row));
  const binding = bindRows(rows, {
    isKnown: (id) => context.records.has(id),
    isOriginal: (id, row) => showsValues(context, row, context.agreements.get(id)?.fields ?? {}),
  });
  const present = new Set([...presentIds(context, binding), ...astray.ids]);
  const vanished = [...context.agreements.values()].filter(
    (agreement) =>
      isInTable(agreement) && !present.has(agreement.key.id) && isPresent(context, agreement.key.id),
  );
  const steadilyVanished = vanished.filter(({ key }) => input.wasMissing(key));
  for (const { key } of vanished) keepDecisions(context, key);
  if (vanished.length > 0) tabChoice(context);
  draft.restlessRows += vanished.length - steadilyVanished.length;
  if (isBraked(context, binding, vanished)) return;
  planRepairs(context, astray);

  const swaps = findSwaps(context, binding.records);
  // Who approved that values changed places meant every one of them.
  const isMeant = swaps.size > 0 && context.decision(`brake:${entity}:torn`) !== undefined;
  for (const { row, id } of binding.records) {
    const other = swaps.get(id);
    if (other === undefined || isMeant) decideRow(context, row, id);
    else holdRow(context, row, id, swapReason(other));
  }
  const boundIds = new Set(binding.records.map(({ id }) => id));
  for (const { row, id } of binding.claimed) decideClaimedRow(context, row, id, boundIds);
  forgetCreates(context, new Set(binding.claimed.map(({ id }) => id)));
  for (const { row, id } of binding.copies) holdRow(context, row, id, copyReason);
  if (input.known.sweptEntities.has(entity)) {
    for (const { row, id } of binding.strangers) holdRow(context, row, id, strangerReason(id));
  }
  const found = decideNewRows(context, binding.unbound, vanished);
  for (const { key } of steadilyVanished) if (!found.has(key.id)) decideVanishedRow(context, key);
  decideUnseenRecords(context, present);
  keepBefore(context);
}

const strangerReason = (id: RecordId) =>
  `No record of the CRM has the ID “${id}”. Clear the ID to make this a new record, or undo the change.`;

const swapReason = (other: RecordId) =>
  `This row shows exactly the values of record ${other}. Put each ID beside the values of its own record.`;

/**
 * Rows that show exactly what another of them is agreed to have, and not their own: their IDs changed places, or their values did. Which
 * of it was meant nobody can tell, so nothing is written for them. Answers the other record by the row's own.
 */
function findSwaps(context: TabContext, rows: readonly BoundRow[]): ReadonlyMap<RecordId, RecordId> {
  const displaced = rows.flatMap(({ row, id }) => {
    const own = lookOfValues(context, row, context.agreements.get(id)?.fields ?? {});
    const look = lookOf(row);
    return look === own ? [] : [{ id, look, own }];
  });
  const owners = new Map(displaced.map(({ id, own }) => [own, id]));
  return new Map(
    displaced.flatMap(({ id, look }) => {
      const other = owners.get(look);
      return other === undefined ? [] : [[id, other] as const];
    }),
  );
}

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

/** Whether a brake stops the tab. What waits in the outbox is withheld as soon as one would, were the table at rest. */
function isBraked(context: TabContext, binding: Binding, vanished: readonly Agreement[]): boolean {
  const { draft, entity, input } = context;
  const judged = binding.records.flatMap(({ row, id }) => judgeRow(context, row, id) ?? []);
  const rested = judged.filter(({ isRestless }) => !isRestless);
  const steadilyVanished = vanished.filter(({ key }) => input.wasMissing(key));
  if (findHoldingBrakes(context, binding, vanished.length, judged).length > 0) draft.withheld.push(entity);
  const holding = findHoldingBrakes(context, binding, steadilyVanished.length, rested);
  draft.brakes.push(...holding);
  if (holding.length === 0) {
    if (input.known.rebases.has(entity)) draft.rebased.push(entity);
    return false;
  }
  // What people decided before the brake was tripped stays decided.
  for (const { key } of context.agreements.values()) keepDecisions(context, key);
  return true;
}

/** The brakes that these losses and edits trip and that nobody has approved. */
function findHoldingBrakes(
  context: TabContext,
  binding: Binding,
  vanishedRows: number,
  judged: readonly JudgedRow[],
): Brake[] {
  const { entity, input } = context;
  const goneRecords = binding.records.filter(({ id }) => context.records.get(id)?.presence === 'gone').length;
  const agreed = [...context.agreements.values()].filter(isInTable).length;
  const tripped = [
    ...findFirstMeeting(context, binding.unbound),
    ...findBrakes({ entity, agreed, vanishedRows, goneRecords }, input.policy.brakes),
    ...findDisorder(judged.flatMap(editsOf), agreed, input.policy.brakes).map(
      ({ kind, reason }): Brake => ({ scope: `brake:${entity}:${kind}`, entity, reason }),
    ),
    ...findRebase(context, binding),
  ];
  return tripped.filter(({ scope }) => context.decision(scope) === undefined);
}
