import { errorKinds } from '../../errors.ts';
import { tellReplaced } from '../../notice.ts';
import type { RecordKey } from '../../record.ts';
import type { OutboxItem } from '../../state.ts';
import type { ObservedRow } from '../../table.ts';
import { equalFields, pickFields } from '../../value.ts';
import type { TabContext } from '../context.ts';
import { waitingStep } from '../outbox-step.ts';
import { quoteValue } from './describe-value.ts';
import type { JudgedRow } from './judge.ts';
import type { DecidedField } from './merge.ts';
import { answerRefusal, isStuck } from './refused.ts';
import { type PressingState, waitingState } from './sync-text.ts';
import { findHiddenEdits, noteLost, wantedOf } from './waiting-edits.ts';

/**
 * Brings the record's outbox item in line with what its row wants to change in the CRM: a newer edit replaces the one that waits,
 * an edit taken back removes it, and a refused one stays refused until the row changes. Answers what to say at the row, if anything.
 */
export function planUpdate(
  context: TabContext,
  row: ObservedRow,
  key: RecordKey,
  decided: readonly DecidedField[],
): PressingState | undefined {
  const { draft, input } = context;
  const item = context.outbox.get(key.id);
  const hidden = findHiddenEdits(context, row, item);
  if (item) noteLost(context, item, hidden.lost, unwantedCause);
  const { fields, base } = wantedOf(decided, item, hidden);
  if (Object.keys(fields).length === 0) {
    if (item) draft.outboxDropped.push(key);
    return undefined;
  }
  const isStanding = item?.kind === 'update' && item.state !== 'review';
  if (isStanding && equalFields(item.fields, fields) && equalFields(item.base, base)) {
    return isStuck(item)
      ? answerRefusal(context, item, row.position)
      : { kind: 'pending', what: waitingText(item) };
  }
  const losses = decided.flatMap(({ field, outcome }) => {
    if (outcome.kind !== 'toCrm' || outcome.lost === undefined) return [];
    const words = `${field.header} was ${quoteValue(field, outcome.lost, context.names)}`;
    return [{ field: field.name, words }];
  });
  const notice = tellReplaced(losses);
  draft.outboxSaved.push(waitingStep(input, key, { kind: 'update', fields, base, notice }));
  return waitingState;
}

/**
 * Takes out of an update that waits what its row does not want any more, although somebody may still be typing there: it could be sent
 * before the row rests, as after a restart with settings by which a column is off, or an emptied cell means nothing.
 */
export function takeBackUnwanted(
  context: TabContext,
  row: ObservedRow,
  { decided, record }: JudgedRow,
): void {
  const { draft, input } = context;
  const { key } = record;
  const item = context.outbox.get(key.id);
  if (item?.kind !== 'update' || item.state !== 'waiting') return;
  const hidden = findHiddenEdits(context, row, item);
  const { fields } = wantedOf(decided, item, hidden);
  const wanted = Object.keys(item.fields).filter((name) => name in fields);
  if (wanted.length === Object.keys(item.fields).length) return;
  noteLost(context, item, hidden.lost, unwantedCause);
  // Also where the rest is saved: with manual writes that would wait for a person, and all of it be sent meanwhile.
  draft.outboxDropped.push(key);
  if (wanted.length === 0) return;
  const [left, base] = [pickFields(item.fields, wanted), pickFields(item.base, wanted)];
  draft.outboxSaved.push(
    waitingStep(input, key, { kind: 'update', fields: left, base, notice: item.notice }),
  );
}

const unwantedCause = 'not sent, because its column is gone or off';

/** Why a step still waits. People at the sheet can do nothing about a connection: its own words are for the log and the operator. */
export function waitingText({ error }: OutboxItem): string {
  if (!error) return waitingState.what;
  const { hint, mender } = errorKinds[error.code];
  return mender === 'time' ? hint : `${error.message} It is tried again.`;
}
