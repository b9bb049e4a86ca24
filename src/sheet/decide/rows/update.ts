import { errorKinds } from '../../../core/errors.ts';
import type { FieldDefinition } from '../../../core/fields/field.ts';
import { nameField } from '../../../core/fields/refusal-words.ts';
import { wantedFields } from '../../../core/merge.ts';
import { type Loss, tellReplaced } from '../../../core/notice.ts';
import { advance, waitingStep } from '../../../core/outbox.ts';
import { isStuck, type OutboxItem } from '../../../core/state.ts';
import { equalFields, pickFields, type Value } from '../../../core/value.ts';
import { refusedScope } from '../../../core/waiting/scopes.ts';
import { type PressingState, quoteValue, waitingState } from '../../cells/sync-text.ts';
import { hintFor } from '../../port/errors.ts';
import { columnOf } from '../../port/layout.ts';
import type { TabIndex } from '../tab-index.ts';
import { answerTo, join, nothing, type Verdict } from '../verdict.ts';
import type { DecidedField, MergedRow } from './merge.ts';
import { noteLost, wantedOf } from './waiting-edits.ts';

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
  const { answered, refusal, verdict } = findRefusalAnswer(index, item, position);
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

/** The refusal of a step, and what a user answered to it. */
export function findRefusalAnswer(index: TabIndex, item: OutboxItem, position?: number) {
  const { answers, entity, layout, questions } = index;
  const { error, key } = item;
  const words = error ? nameField(error.message, (name) => columnOf(layout, name)?.header) : refusedReason;
  const reason = item.state === 'refused' ? words : failingReason;
  const place = position === undefined ? {} : { position };
  const refusal = { entity, id: key.id, reason, decision: refusedScope(key), ...place };
  const { answered, verdict } = answerTo(answers, refusal.decision, () => questions.ofRefusal(refusal));
  return { answered: answered?.choice, refusal, verdict };
}

const refusedReason = 'The CRM refused it.';
const failingReason = 'The CRM fails on this change again and again. It is tried again by itself.';

/** Said where the CRM's value takes the place again of what it did not take. */
export const revertCause = 'put back, because the CRM did not take it';

/**
 * What becomes of the fields of a row when a user wants the CRM's values back instead of what the CRM did not take; `undefined` when
 * nobody wants that. The step is kept until the row shows them, so that nothing of it is sent meanwhile.
 */
export function revertRefused(index: TabIndex, merged: MergedRow): MergedRow | undefined {
  const item = index.outbox.get(merged.record.key.id);
  if (item?.kind !== 'update' || !isStuck(item)) return undefined;
  const { base, fields, kept } = wantedOf(index, merged, item);
  if (!equalFields(item.fields, fields) || !equalFields(item.base, base)) return undefined;
  const { answered, verdict } = findRefusalAnswer(index, item, merged.row.position);
  if (answered !== 'revert') return undefined;
  const decided = merged.decided.map(({ field, outcome }): DecidedField => {
    if (outcome.kind !== 'toCrm') return { field, outcome };
    const { base: value, value: before } = outcome;
    return { field, outcome: { kind: 'toTable', value, before, lost: before } };
  });
  const shown = wantedFields(merged.decided);
  // What no row can show is over with its line in the journal: asked for once more, the step would never end.
  const isOver = Object.keys(shown.fields).length === 0;
  const isNew = item.state === 'waiting' || Object.keys(kept).length > 0;
  const left = isNew ? { outboxSaved: [advance(item, 'reverted', shown)] } : nothing;
  const lost = noteLost(index, item, kept, revertCause);
  const step = isOver ? { outboxDropped: [item.key] } : left;
  return { ...merged, decided, verdict: join(merged.verdict, verdict, lost, step) };
}

/**
 * Brings the record's outbox item in line with what its row wants to change in the CRM: a newer edit replaces the one that waits,
 * an edit taken back removes it, and a refused one stays refused until the row changes.
 */
export function planUpdate(index: TabIndex, merged: MergedRow): Said<PressingState | undefined> {
  const { decided, record, row } = merged;
  const { key } = record;
  const item = index.outbox.get(key.id);
  const { base, fields, ...hidden } = wantedOf(index, merged, item);
  const lost = item ? noteLost(index, item, hidden.lost, unwantedCause) : nothing;
  if (Object.keys(fields).length === 0)
    return { state: undefined, verdict: item ? join(lost, { outboxDropped: [key] }) : lost };
  const isStanding = item?.kind === 'update' && item.state !== 'review';
  if (isStanding && equalFields(item.fields, fields) && equalFields(item.base, base)) {
    if (!isStuck(item)) return { state: { kind: 'pending', what: waitingText(item) }, verdict: lost };
    const { state, verdict } = answerRefusal(index, item, row.position);
    return { state, verdict: join(lost, verdict) };
  }
  const losses = decided.flatMap(({ field, outcome }) =>
    outcome.kind === 'toCrm' && outcome.lost !== undefined ? [lossOf(index, field, outcome.lost)] : [],
  );
  const notice = tellReplaced(losses);
  const step = waitingStep(index.input, key, { kind: 'update', fields, base, notice });
  return { state: waitingState, verdict: join(lost, { outboxSaved: [step] }) };
}

/**
 * Takes out of an update that waits what its row does not want any more, although somebody may still be typing there: it could be sent
 * before the row rests, as after a restart with settings by which a column is off, or an emptied cell means nothing.
 */
export function takeBackUnwanted(index: TabIndex, merged: MergedRow): Verdict {
  const { key } = merged.record;
  const item = index.outbox.get(key.id);
  if (item?.kind !== 'update' || item.state !== 'waiting') return nothing;
  const { fields, lost } = wantedOf(index, merged, item);
  const wanted = Object.keys(item.fields).filter((name) => name in fields);
  if (wanted.length === Object.keys(item.fields).length) return nothing;
  // Also where the rest is saved: with manual writes that would wait for a person, and all of it be sent meanwhile.
  const verdict = join(noteLost(index, item, lost, unwantedCause), { outboxDropped: [key] });
  if (wanted.length === 0) return verdict;
  const [left, base] = [pickFields(item.fields, wanted), pickFields(item.base, wanted)];
  const step = waitingStep(index.input, key, { kind: 'update', fields: left, base, notice: item.notice });
  return join(verdict, { outboxSaved: [step] });
}

/** A value that gives way to another one, in words. */
export const lossOf = ({ names }: TabIndex, field: FieldDefinition, value: Value): Loss => ({
  field: field.name,
  words: `${field.header} was ${quoteValue(field, value, names)}`,
});

const unwantedCause = 'not sent, because its column is gone or off';

/** Why a step still waits. People at the sheet can do nothing about a connection: its own words are for the log and the operator. */
export function waitingText({ error }: OutboxItem): string {
  if (!error) return waitingState.what;
  return errorKinds[error.code].mender === 'time'
    ? hintFor(error.code)
    : `${error.message} It is tried again.`;
}
