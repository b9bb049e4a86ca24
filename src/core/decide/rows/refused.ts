import { nameColumn } from '../../refusal-words.ts';
import { isOnItsWay, type OutboxItem } from '../../state.ts';
import type { ObservedRow } from '../../table.ts';
import { equalFields } from '../../value.ts';
import { refusedScope, type TabContext } from '../context.ts';
import { type DecidedField, wantedFields } from './merge.ts';
import { type PressingState, waitingState } from './sync-text.ts';
import { findHiddenEdits, noteLost, wantedOf } from './waiting-edits.ts';

/** Sent so often without a clear answer, a change is taken for one that the CRM can not digest. */
const failuresMax = 5;

/** Whether a step waits for a person: the CRM refused it, or fails on it again and again although it can be read. */
export const isStuck = (item: OutboxItem): boolean =>
  item.state === 'refused' ||
  (item.state === 'waiting' && failuresOf(item) >= failuresMax && item.error?.code === 'CRM_UNKNOWN_OUTCOME');

/** Whether a step is to be sent. One that the key may not do waits for another scope of that, and nobody knows whether somebody gives it. */
export const isToBeSent = (item: OutboxItem): boolean =>
  isOnItsWay(item) && item.error?.code !== 'CRM_FORBIDDEN';

/** An update or a delete that waits because the CRM is away has failed as well, which says nothing about it. */
const failuresOf = ({ attempts, kind, looks }: OutboxItem): number => (kind === 'create' ? attempts : looks);

/**
 * Asks what is to become of a step that waits for a person, and does what was answered: it is sent once more, or both sides stay as they are
 * until either changes. Answers what to say at the row. Putting the CRM's value back is the row's own to decide.
 */
export function answerRefusal(context: TabContext, item: OutboxItem, position?: number): PressingState {
  const { draft, entity, input } = context;
  const { id } = item.key;
  const scope = refusedScope(item.key);
  const choice = context.decision(scope);
  const { error, ...rest } = item;
  if (choice === 'retry') {
    // Once is meant: when it is refused again, it is asked again.
    draft.usedDecisions.delete(scope);
    const anew = { attempts: 0, looks: 0, dueAt: input.now, run: input.run };
    draft.outboxSaved.push({ ...rest, ...anew, state: 'waiting' });
    return waitingState;
  }
  const words = error ? nameColumn(error.message, context.layout.columns) : refusedReason;
  const reason = item.state === 'refused' ? words : failingReason;
  const refusal = { entity, id, reason, decision: scope, ...(position === undefined ? {} : { position }) };
  if (choice !== 'ignore') {
    draft.refusals.push(refusal);
    return { kind: 'error', reason };
  }
  if (item.state === 'waiting') draft.outboxSaved.push({ ...item, state: 'refused' });
  draft.refusals.push({ ...refusal, isIgnored: true });
  return { kind: 'held', reason: `ignored until it changes. ${reason}` };
}

const refusedReason = 'The CRM refused it.';
const failingReason = 'The CRM fails on this change again and again. It is tried again by itself.';

/** Said where the CRM's value takes the place again of what it did not take. */
export const revertCause = 'put back, because the CRM did not take it';

/**
 * What becomes of the fields of a row when a person wants the CRM's values back instead of what the CRM did not take; `undefined` when
 * nobody wants that. The step is kept until the row shows them, so that nothing of it is sent meanwhile.
 */
export function revertRefused(
  context: TabContext,
  row: ObservedRow,
  item: OutboxItem | undefined,
  decided: readonly DecidedField[],
): readonly DecidedField[] | undefined {
  if (item?.kind !== 'update' || !isStuck(item)) return undefined;
  const hidden = findHiddenEdits(context, row, item);
  const { fields, base } = wantedOf(decided, item, hidden);
  if (!equalFields(item.fields, fields) || !equalFields(item.base, base)) return undefined;
  if (context.decision(refusedScope(item.key)) !== 'revert') return undefined;
  noteLost(context, item, hidden.kept, revertCause);
  // What no row can show is over with the line: asked for once more, the step would never end.
  const shown = wantedFields(decided);
  if (Object.keys(shown.fields).length === 0) context.draft.outboxDropped.push(item.key);
  else if (item.state === 'waiting' || Object.keys(hidden.kept).length > 0)
    context.draft.outboxSaved.push({ ...item, ...shown, state: 'refused' });
  return decided.map(({ field, outcome }) => {
    if (outcome.kind !== 'toCrm') return { field, outcome };
    const { base: value, value: before } = outcome;
    return { field, outcome: { kind: 'toTable', value, before, lost: before } };
  });
}
