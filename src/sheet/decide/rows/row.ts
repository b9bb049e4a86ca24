import type { FieldDefinition } from '../../../core/fields/field.ts';
import { journalEntry } from '../../../core/journal-entry.ts';
import { seenValue, wantedFields } from '../../../core/merge.ts';
import { isFresh, type Loss, nextNotice, tellChanged } from '../../../core/notice.ts';
import { wasReplaced } from '../../../core/reading/observe.ts';
import type { RecordKey } from '../../../core/record.ts';
import { type Agreement, emptyAgreement, type KnownRecord } from '../../../core/state.ts';
import { equalValues, type FieldName, type Fields, pickFields, type Value } from '../../../core/value.ts';
import { refusedScope } from '../../../core/waiting/scopes.ts';
import { encode, type Names } from '../../cells/codec.ts';
import { describeValue, quoteValue, showWhole } from '../../cells/describe-value.ts';
import { noteShown } from '../../cells/shown.ts';
import { type PressingState, type RowState, waitingState } from '../../cells/sync-text.ts';
import { type Cell, emptyCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import type { DecidedField } from './merge.ts';
import { type MergedRow, settleChosen } from './merge-row.ts';
import { revertCause, revertRefused, type Said } from './refused.ts';
import { type GivenId, writeRow } from './row-write.ts';
import { planUpdate, takeBackUnwanted } from './update.ts';

/** Decides a row that carries a record, and says in the Sync cell what came of it. `merged` is absent while its record is being sent. */
export function decideRow(
  index: TabIndex,
  row: ObservedRow,
  record: KnownRecord,
  merged: MergedRow | undefined,
  given?: GivenId,
): Verdict {
  const { key } = record;
  if (merged?.isRestless)
    return join(
      merged.verdict,
      { scopes: [refusedScope(key)], unsettled: [key.id] },
      takeBackUnwanted(index, row, merged),
      noteUntouched(row, merged),
    );
  if (merged) return applyMerged(index, row, merged, given);
  const what = index.outbox.has(key.id) ? 'being sent to the CRM' : 'being created in the CRM';
  const state = { kind: 'pending', what } as const;
  return join({ kept: [key] }, writeRow(index, row, key, { state, ...(given ? { given } : {}) }));
}

/** Turns the outcomes of a row into an outbox item, an agreement, a row write and the row's state. */
function applyMerged(
  index: TabIndex,
  row: ObservedRow,
  merged: MergedRow,
  given: GivenId | undefined,
): Verdict {
  const { agreement, record } = merged;
  const { key } = record;
  const settled = settleChosen(index, key, merged.decided);
  const reverted = revertRefused(index, row, index.outbox.get(key.id), settled.decided);
  const decided = reverted?.decided ?? settled.decided;
  const update = reverted ? { ...reverted, state: undefined } : planUpdate(index, row, key, decided);
  const said = stateOf(index, row, key, decided, update.state);
  const changes = findChanges(index, merged, decided);
  const agreed = agreeOnSame(index, key, agreement, changes.same);
  const write = { changes, decided, given, isReverted: reverted !== undefined, state: said.state };
  const isAnew = (scope: string) => settled.verdict.scopes?.includes(scope) === true;
  const { spent = [] } = merged.verdict;
  return join(
    { ...merged.verdict, spent: spent.filter((scope) => !isAnew(scope)) },
    settled.verdict,
    update.verdict,
    said.verdict,
    agreed.verdict,
    writeChanges(index, row, key, { ...write, agreement, base: agreed.agreement }),
  );
}

/** What the outcomes of a row come to for its cells. */
interface RowChanges {
  readonly same: Fields;
  readonly offers: Fields;
  readonly typed: Fields;
  readonly replaced: Fields;
  readonly lost: Fields;
  readonly covered: Fields;
  readonly cells: Readonly<Record<FieldName, Cell>>;
  readonly losses: readonly Loss[];
}

function findChanges({ names }: TabIndex, merged: MergedRow, decided: readonly DecidedField[]): RowChanges {
  const same: Record<FieldName, Value> = {};
  const offers: Record<FieldName, Value> = {};
  const typed: Record<FieldName, Value> = {};
  const replaced: Record<FieldName, Value> = {};
  const lost: Record<FieldName, Value> = {};
  const covered: Record<FieldName, Value> = {};
  const cells: Record<FieldName, Cell> = {};
  const losses: Loss[] = [];
  for (const { field, outcome } of decided) {
    const { name } = field;
    if (outcome.kind === 'same') {
      same[name] = outcome.value;
      if (outcome.rewrite) cells[name] = encode(field, outcome.value, names);
    } else if (outcome.kind === 'typed') {
      typed[name] = outcome.value;
      replaced[name] = outcome.before;
      lost[name] = outcome.before;
      cells[name] = encode(field, outcome.value, names);
    } else if (outcome.kind === 'toTable') {
      offers[name] = outcome.value;
      cells[name] = encode(field, outcome.value, names);
      const isOfBoth = outcome.lost !== undefined || wasInCrm(merged, name, outcome.before);
      if (isOfBoth) replaced[name] = outcome.before;
      else if (outcome.before !== null) covered[name] = outcome.before;
      if (outcome.lost !== undefined) {
        lost[name] = outcome.lost;
        losses.push({ field: name, words: wordsOf(field, outcome.lost, names) });
      } else if (isPassedOver(merged, name, outcome.value)) {
        const words = `${wordsOf(field, outcome.before, names)}, which it did not keep`;
        losses.push({ field: name, words });
      }
    }
  }
  return { same, offers, typed, replaced, lost, covered, cells, losses };
}

/** What is to be written of a row. */
interface ChangesToWrite {
  readonly changes: RowChanges;
  readonly decided: readonly DecidedField[];
  /** As it was, and with what was found equal on both sides. */
  readonly agreement: Agreement | undefined;
  readonly base: Agreement;
  readonly state: PressingState | undefined;
  readonly isReverted: boolean;
  readonly given: GivenId | undefined;
}

function writeChanges(
  index: TabIndex,
  row: ObservedRow,
  key: RecordKey,
  { agreement, base, changes, decided, given, isReverted, state }: ChangesToWrite,
): Verdict {
  const { now } = index.input;
  const { cells, covered, losses, lost, offers, replaced, same, typed } = changes;
  const [hasOffers, isTyped] = [offers, typed].map((fields) => Object.keys(fields).length > 0);
  const writes = { cells, values: { ...same, ...offers, ...typed } };
  const next = noteRow(base, { ...keptOffers(base, decided), ...offers }, row, decided, writes);
  const isNew = next.shown !== base.shown || hasOffers || base !== agreement || offersLess(next, base);
  const notice = tellChanged(losses);
  const noticed = losses.map(({ field }) => field);
  const offered = { fields: Object.keys(offers), noticed, notice, at: now };
  const told = hasOffers ? nextNotice(next, offered) : next;
  const atRest = syncedState(told, hasOffers ? now : next.changedAt, now);
  const pressing = state ?? (isTyped ? waitingState : undefined);
  const write = writeRow(index, row, key, {
    state: pressing && isFresh(told, now) ? { ...pressing, notice: told.notice } : (pressing ?? atRest),
    cells,
    offers,
    notice,
    ...(losses.length > 0 ? { noticed } : {}),
    ...(isTyped ? { typed } : {}),
    ...(hasOffers || isTyped ? { replaced, lost, covered } : {}),
    ...(isReverted ? { cause: revertCause } : {}),
    ...(given ? { given } : {}),
  });
  return isNew ? join({ agreementsSaved: [next] }, write) : write;
}

const offersLess = (next: Agreement, before: Agreement): boolean =>
  Object.keys(next.offered).length < Object.keys(before.offered).length;

/** A cell may show what was offered before the CRM's value became unknown: that is no edit. */
const keptOffers = ({ offered }: Agreement, decided: readonly DecidedField[]): Fields =>
  pickFields(
    offered,
    decided.flatMap(({ field, outcome }) => (outcome.kind === 'unknown' ? [field.name] : [])),
  );

/** Keeps how cells show what is agreed also while a user types beside them: names may have changed before the row rests. */
function noteUntouched(row: ObservedRow, { agreement, decided }: MergedRow): Verdict {
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
  const { fields: agreed, offered: offeredBefore, shown: shownBefore } = base;
  const shown = noteShown({ shown: shownBefore, agreed, offered, offeredBefore }, looks);
  return { ...base, offered, ...(shown ? { shown } : {}) };
}

const wordsOf = (field: FieldDefinition, value: Value, names: Names): string =>
  `${field.header} was ${quoteValue(field, value, names)}`;

const syncedState = (told: Pick<Agreement, 'notice' | 'noticed'>, at: number, now: number): RowState => ({
  kind: 'synced',
  at,
  notice: told.notice,
  isFresh: isFresh(told, now),
});

/**
 * Whether the CRM had the value that a cell shows: it was agreed, or offered. An empty cell that is filled says nothing of the CRM, nor does
 * what somebody typed into a column that only shows; whoever takes the write back must not put either into the CRM.
 */
const wasInCrm = ({ agreement }: MergedRow, name: FieldName, value: Value): boolean =>
  [agreement?.fields[name], agreement?.offered[name]].some(
    (known) => known !== undefined && equalValues(known, value),
  );

/** Whether the CRM shows a value again that our last writes replaced, with nothing agreed since: it passed over the field without a word. */
const isPassedOver = (
  { record: { written }, agreement }: MergedRow,
  name: FieldName,
  value: Value,
): boolean =>
  written !== undefined && agreement?.changedAt === written.at && wasReplaced(written, name, value);

/** The agreement with what was found equal on both sides; the same object when that is nothing new. */
function agreeOnSame(
  index: TabIndex,
  key: RecordKey,
  agreement: Agreement | undefined,
  same: Fields,
): { readonly agreement: Agreement; readonly verdict: Verdict } {
  const { input } = index;
  const before: Record<FieldName, Value> = {};
  const after: Record<FieldName, Value> = {};
  for (const [name, value] of Object.entries(same)) {
    const agreed = agreement?.fields[name];
    if (agreed !== undefined && equalValues(agreed, value)) continue;
    if (agreed !== undefined) before[name] = agreed;
    after[name] = value;
  }
  const current = agreement ?? emptyAgreement(key, input.now);
  if (Object.keys(after).length === 0) return { agreement: current, verdict: nothing };
  const kind = agreement ? 'update' : 'adopt';
  const cause = 'found equal on both sides';
  const journal = [journalEntry(input, key, { kind, side: 'both', before, after, cause })];
  const told = nextNotice(current, { fields: Object.keys(after), notice: '', at: input.now });
  const fields = { ...current.fields, ...after };
  return { agreement: { ...current, fields, changedAt: input.now, ...told }, verdict: { journal } };
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
  index: TabIndex,
  row: ObservedRow,
  key: RecordKey,
  decided: readonly DecidedField[],
  update: PressingState | undefined,
): Said<PressingState | undefined> {
  const { entity, names, questionsTitle } = index;
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
