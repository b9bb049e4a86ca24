import { errorKinds } from '../../../core/errors.ts';
import { tellReplaced } from '../../../core/notice.ts';
import { waitingStep } from '../../../core/outbox.ts';
import type { RecordKey } from '../../../core/record.ts';
import { isStuck, type OutboxItem } from '../../../core/state.ts';
import { equalFields, pickFields } from '../../../core/value.ts';
import { quoteValue } from '../../cells/describe-value.ts';
import { type PressingState, waitingState } from '../../cells/sync-text.ts';
import { hintFor } from '../../port/errors.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import type { DecidedField } from './merge.ts';
import type { MergedRow } from './merge-row.ts';
import { answerRefusal, type Said } from './refused.ts';
import { findHiddenEdits, noteLost, wantedOf } from './waiting-edits.ts';

/**
 * Brings the record's outbox item in line with what its row wants to change in the CRM: a newer edit replaces the one that waits,
 * an edit taken back removes it, and a refused one stays refused until the row changes.
 */
export function planUpdate(
  index: TabIndex,
  row: ObservedRow,
  key: RecordKey,
  decided: readonly DecidedField[],
): Said<PressingState | undefined> {
  const item = index.outbox.get(key.id);
  const hidden = findHiddenEdits(index, row, item);
  const lost = item ? noteLost(index, item, hidden.lost, unwantedCause) : nothing;
  const { fields, base } = wantedOf(decided, item, hidden);
  if (Object.keys(fields).length === 0)
    return { state: undefined, verdict: item ? join(lost, { outboxDropped: [key] }) : lost };
  const isStanding = item?.kind === 'update' && item.state !== 'review';
  if (isStanding && equalFields(item.fields, fields) && equalFields(item.base, base)) {
    if (!isStuck(item)) return { state: { kind: 'pending', what: waitingText(item) }, verdict: lost };
    const { state, verdict } = answerRefusal(index, item, row.position);
    return { state, verdict: join(lost, verdict) };
  }
  const losses = decided.flatMap(({ field, outcome }) => {
    if (outcome.kind !== 'toCrm' || outcome.lost === undefined) return [];
    const words = `${field.header} was ${quoteValue(field, outcome.lost, index.names)}`;
    return [{ field: field.name, words }];
  });
  const notice = tellReplaced(losses);
  const step = waitingStep(index.input, key, { kind: 'update', fields, base, notice });
  return { state: waitingState, verdict: join(lost, { outboxSaved: [step] }) };
}

/**
 * Takes out of an update that waits what its row does not want any more, although somebody may still be typing there: it could be sent
 * before the row rests, as after a restart with settings by which a column is off, or an emptied cell means nothing.
 */
export function takeBackUnwanted(index: TabIndex, row: ObservedRow, { decided, record }: MergedRow): Verdict {
  const { key } = record;
  const item = index.outbox.get(key.id);
  if (item?.kind !== 'update' || item.state !== 'waiting') return nothing;
  const hidden = findHiddenEdits(index, row, item);
  const { fields } = wantedOf(decided, item, hidden);
  const wanted = Object.keys(item.fields).filter((name) => name in fields);
  if (wanted.length === Object.keys(item.fields).length) return nothing;
  // Also where the rest is saved: with manual writes that would wait for a person, and all of it be sent meanwhile.
  const verdict = join(noteLost(index, item, hidden.lost, unwantedCause), { outboxDropped: [key] });
  if (wanted.length === 0) return verdict;
  const [left, base] = [pickFields(item.fields, wanted), pickFields(item.base, wanted)];
  const step = waitingStep(index.input, key, { kind: 'update', fields: left, base, notice: item.notice });
  return join(verdict, { outboxSaved: [step] });
}

const unwantedCause = 'not sent, because its column is gone or off';

/** Why a step still waits. People at the sheet can do nothing about a connection: its own words are for the log and the operator. */
export function waitingText({ error }: OutboxItem): string {
  if (!error) return waitingState.what;
  return errorKinds[error.code].mender === 'time'
    ? hintFor(error.code)
    : `${error.message} It is tried again.`;
}
