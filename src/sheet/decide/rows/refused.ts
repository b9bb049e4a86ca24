import { nameField } from '../../../core/fields/refusal-words.ts';
import { wantedFields } from '../../../core/merge.ts';
import { advance } from '../../../core/outbox.ts';
import { isStuck, type OutboxItem } from '../../../core/state.ts';
import { equalFields } from '../../../core/value.ts';
import { refusedScope } from '../../../core/waiting/scopes.ts';
import { type PressingState, waitingState } from '../../cells/sync-text.ts';
import { columnOf } from '../../port/layout.ts';
import type { ObservedRow } from '../../port/table.ts';
import { answerTo } from '../ask.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import type { DecidedField } from './merge.ts';
import { findHiddenEdits, type HiddenEdits, noteLost, wantedOf } from './waiting-edits.ts';

/** What is said at a row, if anything is, and all that came of it. */
export interface Said<State> {
  readonly state: State;
  readonly verdict: Verdict;
}

/**
 * Asks what is to become of a step that waits for a user, and does what was answered: it is sent once more, or both sides stay as they are
 * until either changes. Putting the CRM's value back is the row's own to decide.
 */
export function answerRefusal(index: TabIndex, item: OutboxItem, position?: number): Said<PressingState> {
  const { input } = index;
  const refusal = refusalOf(index, item, position);
  const { answered, verdict } = findRefusalAnswer(index, item, position);
  if (answered === 'retry') {
    const outboxSaved = [advance(item, 'retried', { at: input.now, run: input.run })];
    // Once is meant: when it is refused again, it is asked again.
    return { state: waitingState, verdict: join(verdict, { outboxSaved, spent: [refusal.decision] }) };
  }
  if (answered !== 'ignore')
    return {
      state: { kind: 'error', reason: refusal.reason },
      verdict: join(verdict, { refusals: [refusal] }),
    };
  const outboxSaved = item.state === 'waiting' ? [advance(item, 'ignored', {})] : [];
  return {
    state: { kind: 'held', reason: `ignored until it changes. ${refusal.reason}` },
    verdict: join(verdict, { outboxSaved, refusals: [{ ...refusal, isIgnored: true }] }),
  };
}

/** What a user answered to the refusal of a step. */
export function findRefusalAnswer(
  { answers, entity, layout, questions }: TabIndex,
  item: OutboxItem,
  position?: number,
) {
  const refusal = refusalOf({ entity, layout }, item, position);
  const { answered, verdict } = answerTo(answers, refusal.decision, () => questions.ofRefusal(refusal));
  return { answered: answered?.choice, verdict };
}

function refusalOf(
  { entity, layout }: Pick<TabIndex, 'entity' | 'layout'>,
  item: OutboxItem,
  position?: number,
) {
  const { error, key } = item;
  const words = error ? nameField(error.message, (name) => columnOf(layout, name)?.header) : refusedReason;
  const reason = item.state === 'refused' ? words : failingReason;
  const place = position === undefined ? {} : { position };
  return { entity, id: key.id, reason, decision: refusedScope(key), ...place };
}

const refusedReason = 'The CRM refused it.';
const failingReason = 'The CRM fails on this change again and again. It is tried again by itself.';

/** Said where the CRM's value takes the place again of what it did not take. */
export const revertCause = 'put back, because the CRM did not take it';

/**
 * What becomes of the fields of a row when a user wants the CRM's values back instead of what the CRM did not take; `undefined` when
 * nobody wants that. The step is kept until the row shows them, so that nothing of it is sent meanwhile.
 */
export function revertRefused(
  index: TabIndex,
  row: ObservedRow,
  item: OutboxItem | undefined,
  decided: readonly DecidedField[],
): { readonly decided: readonly DecidedField[]; readonly verdict: Verdict } | undefined {
  if (item?.kind !== 'update' || !isStuck(item)) return undefined;
  const hidden = findHiddenEdits(index, row, item);
  const { fields, base } = wantedOf(decided, item, hidden);
  if (!equalFields(item.fields, fields) || !equalFields(item.base, base)) return undefined;
  const { answered, verdict } = findRefusalAnswer(index, item, row.position);
  if (answered !== 'revert') return undefined;
  const reverted = decided.map(({ field, outcome }): DecidedField => {
    if (outcome.kind !== 'toCrm') return { field, outcome };
    const { base: value, value: before } = outcome;
    return { field, outcome: { kind: 'toTable', value, before, lost: before } };
  });
  const lost = noteLost(index, item, hidden.kept, revertCause);
  return { decided: reverted, verdict: join(verdict, lost, keepReverted(item, decided, hidden)) };
}

/** What no row can show is over with its line in the journal: asked for once more, the step would never end. */
function keepReverted(item: OutboxItem, decided: readonly DecidedField[], { kept }: HiddenEdits): Verdict {
  const shown = wantedFields(decided);
  if (Object.keys(shown.fields).length === 0) return { outboxDropped: [item.key] };
  const isNew = item.state === 'waiting' || Object.keys(kept).length > 0;
  return isNew ? { outboxSaved: [advance(item, 'reverted', shown)] } : nothing;
}
