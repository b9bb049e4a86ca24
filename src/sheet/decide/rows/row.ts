import { journalEntry } from '../../../core/journal-entry.ts';
import { seenValue, wantedFields } from '../../../core/merge.ts';
import { isFresh, type Loss, nextNotice, tellChanged } from '../../../core/notice.ts';
import { wasReplaced } from '../../../core/reading/observe.ts';
import { type Agreement, emptyAgreement, type KnownRecord } from '../../../core/state.ts';
import { equalValues, type FieldName, type Fields, pickFields, type Value } from '../../../core/value.ts';
import { refusedScope } from '../../../core/waiting/scopes.ts';
import { encode } from '../../cells/codec.ts';
import { noteShown } from '../../cells/shown.ts';
import { describeValue, type PressingState, showWhole, waitingState } from '../../cells/sync-text.ts';
import { withLeave } from '../../only/leave.ts';
import { type Cell, emptyCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import { decideLeave } from './leaving.ts';
import { type DecidedField, type MergedRow, settleChosen } from './merge.ts';
import { type GivenId, writeRow } from './row-write.ts';
import { lossOf, planUpdate, revertCause, revertRefused, type Said, takeBackUnwanted } from './update.ts';

/** A row that has the ID of a record which is known, with the merge of its fields; that is absent while the record is being sent. */
export interface RecordRow {
  readonly row: ObservedRow;
  readonly record: KnownRecord;
  readonly merged: MergedRow | undefined;
}

/** Decides a row that carries a record, and says in the Sync cell what came of it. */
export function decideRow(index: TabIndex, { merged, record, row }: RecordRow, given?: GivenId): Verdict {
  const { key } = record;
  if (merged?.isRestless)
    return join(
      merged.verdict,
      { scopes: [refusedScope(key)], unsettled: [key.id] },
      takeBackUnwanted(index, merged),
      noteUntouched(merged),
    );
  if (merged) return applyMerged(index, merged, given);
  const what = index.outbox.has(key.id) ? 'being sent to the CRM' : 'being created in the CRM';
  const state = { kind: 'pending', what } as const;
  return join({ kept: [key] }, writeRow(index, row, key.id, { state, given }));
}

/** Turns the outcomes of a row into an outbox item, an agreement, a row write and the row's state. */
function applyMerged(index: TabIndex, merged: MergedRow, given: GivenId | undefined): Verdict {
  const { now } = index.input;
  const settled = settleChosen(index, merged);
  const reverted = revertRefused(index, settled);
  const update = reverted ? undefined : planUpdate(index, settled);
  const own = reverted ?? settled;
  const { agreement, decided, record, row } = own;
  const { key } = record;
  const said = stateOf(index, own, update?.state);
  const { cells, covered, losses, lost, offers, replaced, same, typed } = findChanges(index, own);
  const { base, verdict: agreed } = agreeOnSame(index, own, same);
  const [hasOffers, isTyped] = [offers, typed].map((fields) => Object.keys(fields).length > 0);
  const writes = { cells, values: { ...same, ...offers, ...typed } };
  const next = noteRow(base, { ...keptOffers(base, decided), ...offers }, row, decided, writes);
  const isOfferedLess = Object.keys(next.offered).length < Object.keys(base.offered).length;
  const notice = tellChanged(losses);
  const noticed = losses.map(({ field }) => field);
  const told = hasOffers ? nextNotice(next, { fields: Object.keys(offers), noticed, notice, at: now }) : next;
  const isToldNow = isFresh(told, now);
  const pressing = said.state ?? (isTyped ? waitingState : undefined);
  const leaving = decideLeave(index, own, {
    agreement: next,
    isInStep: !pressing && !hasOffers && !given && !index.outbox.has(key.id),
    state: pressing
      ? { ...pressing, notice: isToldNow ? told.notice : '' }
      : { kind: 'synced', at: hasOffers ? now : next.changedAt, notice: told.notice, isFresh: isToldNow },
  });
  const isNew =
    next.shown !== base.shown ||
    [hasOffers, base !== agreement, isOfferedLess, leaving.leave !== next.leave].includes(true);
  const verdict = join(
    own.verdict,
    update?.verdict ?? nothing,
    said.verdict,
    agreed,
    isNew ? { agreementsSaved: [withLeave(next, leaving.leave)] } : nothing,
    leaving.verdict,
  );
  if (leaving.isOver) return verdict;
  return join(
    verdict,
    writeRow(index, row, key.id, {
      state: leaving.state,
      cells,
      offers,
      notice,
      noticed: losses.length > 0 ? noticed : undefined,
      typed: isTyped ? typed : undefined,
      ...(hasOffers || isTyped ? { replaced, lost, covered } : {}),
      cause: reverted && revertCause,
      given,
    }),
  );
}

/** What the outcomes of a row come to for its cells. */
function findChanges(index: TabIndex, merged: MergedRow) {
  const same: Record<FieldName, Value> = {};
  const offers: Record<FieldName, Value> = {};
  const typed: Record<FieldName, Value> = {};
  const replaced: Record<FieldName, Value> = {};
  const lost: Record<FieldName, Value> = {};
  const covered: Record<FieldName, Value> = {};
  const cells: Record<FieldName, Cell> = {};
  const losses: Loss[] = [];
  for (const { field, outcome } of merged.decided) {
    const { name } = field;
    const { kind } = outcome;
    if (kind === 'typed' || kind === 'toTable' || (kind === 'same' && outcome.rewrite))
      cells[name] = encode(field, outcome.value, index.names);
    if (kind === 'same') same[name] = outcome.value;
    if (kind === 'typed') {
      typed[name] = outcome.value;
      replaced[name] = outcome.before;
      lost[name] = outcome.before;
    }
    if (kind !== 'toTable') continue;
    const loss = lossOf(index, field, outcome.before);
    offers[name] = outcome.value;
    const isOfBoth = outcome.lost !== undefined || wasInCrm(merged, name, outcome.before);
    if (isOfBoth) replaced[name] = outcome.before;
    else if (outcome.before !== null) covered[name] = outcome.before;
    if (outcome.lost !== undefined) {
      lost[name] = outcome.lost;
      losses.push(loss);
    } else if (isPassedOver(merged, name, outcome.value))
      losses.push({ ...loss, words: `${loss.words}, which it did not keep` });
  }
  return { same, offers, typed, replaced, lost, covered, cells, losses };
}

/** A cell may show what was offered before the CRM's value became unknown: that is no edit. */
const keptOffers = ({ offered }: Agreement, decided: readonly DecidedField[]): Fields =>
  pickFields(
    offered,
    decided.flatMap(({ field, outcome }) => (outcome.kind === 'unknown' ? [field.name] : [])),
  );

/** Keeps how cells show what is agreed also while a user types beside them: names may have changed before the row rests. */
function noteUntouched({ agreement, decided, row }: MergedRow): Verdict {
  if (!agreement) return nothing;
  const isAgreed = ({ field, outcome }: DecidedField) => {
    const [seen, agreed] = [seenValue(outcome), agreement.fields[field.name]];
    return seen !== undefined && agreed !== undefined && equalValues(seen, agreed);
  };
  const { offered } = agreement;
  const next = noteRow(agreement, offered, row, decided.filter(isAgreed), { cells: {}, values: {} });
  return next.shown === agreement.shown ? nothing : { agreementsSaved: [next] };
}

/** The agreement with what is offered now, and with what the row shows and is about to show. */
function noteRow(
  base: Agreement,
  offered: Fields,
  row: ObservedRow,
  decided: readonly DecidedField[],
  writes: { readonly cells: ObservedRow['cells']; readonly values: Fields },
): Agreement {
  const looks = decided.map(({ field, outcome }) => {
    const { [field.name]: cell } = writes.cells;
    const value = writes.values[field.name];
    return {
      field,
      cell: row.cells[field.name] ?? emptyCell,
      value: seenValue(outcome),
      writes: cell && value !== undefined ? { cell, value } : undefined,
    };
  });
  const shown = noteShown(base, offered, looks);
  return { ...base, offered, ...(shown ? { shown } : {}) };
}

/**
 * Whether the CRM had the value that a cell shows: it was agreed, or offered. An empty cell that is filled says nothing of the CRM, nor does
 * what somebody typed into a column that only shows; whoever takes the write back must not put either into the CRM.
 */
const wasInCrm = ({ agreement }: MergedRow, name: FieldName, value: Value): boolean =>
  [agreement?.fields[name], agreement?.offered[name]].some(
    (known) => known !== undefined && equalValues(known, value),
  );

/** Whether the CRM shows a value again that our last writes replaced, with nothing agreed since: it passed over the field without a word. */
function isPassedOver({ agreement, record }: MergedRow, name: FieldName, value: Value): boolean {
  const { written } = record;
  return written !== undefined && agreement?.changedAt === written.at && wasReplaced(written, name, value);
}

/** The agreement with what was found equal on both sides; the same object when that is nothing new. */
function agreeOnSame({ input }: TabIndex, { agreement, record: { key } }: MergedRow, same: Fields) {
  const isNew = ([name, value]: [FieldName, Value]) => {
    const agreed = agreement?.fields[name];
    return agreed === undefined || !equalValues(agreed, value);
  };
  const after = Object.fromEntries(Object.entries(same).filter(isNew));
  const before = pickFields(agreement?.fields ?? {}, Object.keys(after));
  const current = agreement ?? emptyAgreement(key, input.now);
  if (Object.keys(after).length === 0) return { base: current, verdict: nothing };
  const kind = agreement ? 'update' : 'adopt';
  const cause = 'found equal on both sides';
  const journal = [journalEntry(input, key, { kind, side: 'both', before, after, cause })];
  const told = nextNotice(current, { fields: Object.keys(after), notice: '', at: input.now });
  const fields = { ...current.fields, ...after };
  return { base: { ...current, fields, changedAt: input.now, ...told }, verdict: { journal } };
}

/** Said where a row may have been wiped, so that what else was emptied there is not sent. */
function explainWiped(decided: readonly DecidedField[]): string[] {
  const wanted = wantedFields(decided).fields;
  const isLeft = decided.some(({ field, outcome }) => outcome.kind === 'toCrm' && !(field.name in wanted));
  return isLeft
    ? ['What else was emptied stays in the CRM until then. To be rid of the record, delete the row.']
    : [];
}

/** The most pressing thing to say about the row, if not all is well. */
function stateOf(
  { entity, names, questionsTitle }: TabIndex,
  { decided, record: { key }, row }: MergedRow,
  update: PressingState | undefined,
): Said<PressingState | undefined> {
  const reasons = decided.flatMap(({ outcome }) => (outcome.kind === 'refused' ? [outcome.reason] : []));
  if (reasons.length > 0) {
    const reason = [...reasons, ...explainWiped(decided)].join(' ');
    const refusals = [{ entity, id: key.id, position: row.position, reason }];
    return { state: { kind: 'error', reason }, verdict: { refusals } };
  }
  const disputed = decided.flatMap(({ field, outcome }) =>
    outcome.kind === 'conflict' ? [{ field, outcome }] : [],
  );
  const conflicts = disputed.map(({ field, outcome: { kind: _, ...values } }) => ({
    key,
    field: field.name,
    ...values,
  }));
  const [first] = disputed;
  if (!first) return { state: update ?? heldState(decided), verdict: nothing };
  const { crm } = first.outcome;
  const shown = describeValue(first.field, crm, names);
  const state: PressingState = {
    kind: 'conflict',
    header: first.field.header,
    crm: crm === null ? null : shown,
    isWhole: shown === showWhole(first.field, crm, names),
    questionsTitle,
  };
  return { state, verdict: { conflicts } };
}

/** The state of a row some of whose fields are not known in the CRM. */
function heldState(decided: readonly DecidedField[]): PressingState | undefined {
  const reasons = decided.flatMap(({ outcome }) =>
    outcome.kind === 'unknown' && outcome.reason !== undefined ? [outcome.reason] : [],
  );
  return reasons.length === 0 ? undefined : { kind: 'held', reason: reasons.join(' ') };
}
