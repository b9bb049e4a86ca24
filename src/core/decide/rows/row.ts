import { type Cell, emptyCell } from '../../cell.ts';
import { encode, type Names } from '../../codec.ts';
import type { FieldDefinition } from '../../field.ts';
import { isFresh, type Loss, nextNotice, tellChanged } from '../../notice.ts';
import { wasReplaced } from '../../observe.ts';
import type { RecordId, RecordKey } from '../../record.ts';
import { noteShown } from '../../shown.ts';
import { type Agreement, emptyAgreement } from '../../state.ts';
import type { ObservedRow } from '../../table.ts';
import { equalValues, type FieldName, type Fields, pickFields, type Value } from '../../value.ts';
import { keepDecisions, refusedScope, type TabContext } from '../context.ts';
import { journalEntry } from '../journal-entry.ts';
import { decideGoneRecord } from '../lifecycle/gone.ts';
import { describeValue, quoteValue, showWhole } from './describe-value.ts';
import { type JudgedRow, judgeRow } from './judge.ts';
import { type DecidedField, seenValue, wantedFields } from './merge.ts';
import { revertCause, revertRefused } from './refused.ts';
import { type GivenId, writeRow } from './row-write.ts';
import { type PressingState, type RowState, waitingState } from './sync-text.ts';
import { planUpdate, takeBackUnwanted } from './update.ts';

/** Decides a row that carries a record, and says in the Sync cell what came of it. */
export function decideRow(context: TabContext, row: ObservedRow, id: RecordId, given?: GivenId): void {
  const record = context.records.get(id);
  if (!record) return;
  if (record.presence === 'gone') return decideGoneRecord(context, row, record);
  const judged = judgeRow(context, row, id);
  if (judged?.isRestless) {
    context.draft.restlessRows += 1;
    context.decision(refusedScope(record.key));
    takeBackUnwanted(context, row, judged);
    noteUntouched(context, row, judged);
  } else if (judged) {
    applyDecided(context, row, judged, given);
  } else {
    keepDecisions(context, record.key);
    const what = context.outbox.has(id) ? 'being sent to the CRM' : 'being created in the CRM';
    writeRow(context, row, record.key, {
      state: { kind: 'pending', what },
      ...(given ? { given } : {}),
    });
  }
}

/** Turns the outcomes of a row into an outbox item, an agreement, a row write and the row's state. */
function applyDecided(
  context: TabContext,
  row: ObservedRow,
  judged: JudgedRow,
  given: GivenId | undefined,
): void {
  const { draft, input, names } = context;
  const { agreement } = judged;
  const { key } = judged.record;
  const reverted = revertRefused(context, row, context.outbox.get(key.id), judged.decided);
  const decided = reverted ?? judged.decided;
  const same: Record<FieldName, Value> = {};
  const offers: Record<FieldName, Value> = {};
  const typed: Record<FieldName, Value> = {};
  const replaced: Record<FieldName, Value> = {};
  const lost: Record<FieldName, Value> = {};
  const covered: Record<FieldName, Value> = {};
  const cells: Record<FieldName, Cell> = {};
  const losses: Loss[] = [];
  for (const { field, outcome } of decided) {
    if (outcome.kind === 'same') {
      same[field.name] = outcome.value;
      if (outcome.rewrite) cells[field.name] = encode(field, outcome.value, names);
    } else if (outcome.kind === 'typed') {
      typed[field.name] = outcome.value;
      replaced[field.name] = outcome.before;
      lost[field.name] = outcome.before;
      cells[field.name] = encode(field, outcome.value, names);
    } else if (outcome.kind === 'toTable') {
      offers[field.name] = outcome.value;
      cells[field.name] = encode(field, outcome.value, names);
      const isOfBoth = outcome.lost !== undefined || wasInCrm(judged, field.name, outcome.before);
      if (isOfBoth) replaced[field.name] = outcome.before;
      else if (outcome.before !== null) covered[field.name] = outcome.before;
      if (outcome.lost !== undefined) {
        lost[field.name] = outcome.lost;
        losses.push({ field: field.name, words: wordsOf(field, outcome.lost, names) });
      } else if (isPassedOver(judged, field.name, outcome.value)) {
        const words = `${wordsOf(field, outcome.before, names)}, which it did not keep`;
        losses.push({ field: field.name, words });
      }
    }
  }
  const update = reverted ? undefined : planUpdate(context, row, key, decided);
  const state = stateOf(context, row, key, decided, update);
  const hasOffers = Object.keys(offers).length > 0;
  const base = agreeOnSame(context, key, agreement, same);
  const writes = { cells, values: { ...same, ...offers, ...typed } };
  const next = noteRow(base, { ...keptOffers(base, decided), ...offers }, row, decided, writes);
  if (next.shown !== base.shown || hasOffers || base !== agreement || offersLess(next, base))
    draft.agreementsSaved.push(next);
  const notice = tellChanged(losses);
  const noticed = losses.map(({ field }) => field);
  const isTyped = Object.keys(typed).length > 0;
  const offered = { fields: Object.keys(offers), noticed, notice, at: input.now };
  const told = hasOffers ? nextNotice(next, offered) : next;
  const atRest = syncedState(told, hasOffers ? input.now : next.changedAt, input.now);
  const pressing = state ?? (isTyped ? waitingState : undefined);
  writeRow(context, row, key, {
    state: pressing && isFresh(told, input.now) ? { ...pressing, notice: told.notice } : (pressing ?? atRest),
    cells,
    offers,
    notice,
    ...(losses.length > 0 ? { noticed } : {}),
    ...(isTyped ? { typed } : {}),
    ...(hasOffers || isTyped ? { replaced, lost, covered } : {}),
    ...(reverted ? { cause: revertCause } : {}),
    ...(given ? { given } : {}),
  });
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
function noteUntouched({ draft }: TabContext, row: ObservedRow, { agreement, decided }: JudgedRow): void {
  if (!agreement) return;
  const isAgreed = ({ field, outcome }: DecidedField) => {
    const [seen, agreed] = [seenValue(outcome), agreement.fields[field.name]];
    return seen !== undefined && agreed !== undefined && equalValues(seen, agreed);
  };
  const { offered } = agreement;
  const next = noteRow(agreement, offered, row, decided.filter(isAgreed), { cells: {}, values: {} });
  if (next.shown !== agreement.shown) draft.agreementsSaved.push(next);
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
const wasInCrm = ({ agreement }: JudgedRow, name: FieldName, value: Value): boolean =>
  [agreement?.fields[name], agreement?.offered[name]].some(
    (known) => known !== undefined && equalValues(known, value),
  );

/** Whether the CRM shows a value again that our last writes replaced, with nothing agreed since: it passed over the field without a word. */
const isPassedOver = (
  { record: { written }, agreement }: JudgedRow,
  name: FieldName,
  value: Value,
): boolean =>
  written !== undefined && agreement?.changedAt === written.at && wasReplaced(written, name, value);

/** The agreement with what was found equal on both sides; the same object when that is nothing new. */
function agreeOnSame(
  context: TabContext,
  key: RecordKey,
  agreement: Agreement | undefined,
  same: Fields,
): Agreement {
  const { draft, input } = context;
  const before: Record<FieldName, Value> = {};
  const after: Record<FieldName, Value> = {};
  for (const [name, value] of Object.entries(same)) {
    const agreed = agreement?.fields[name];
    if (agreed !== undefined && equalValues(agreed, value)) continue;
    if (agreed !== undefined) before[name] = agreed;
    after[name] = value;
  }
  const current = agreement ?? emptyAgreement(key, input.now);
  if (Object.keys(after).length === 0) return current;
  const kind = agreement ? 'update' : 'adopt';
  const cause = 'found equal on both sides';
  draft.journal.push(journalEntry(input, key, { kind, side: 'both', before, after, cause }));
  const told = nextNotice(current, { fields: Object.keys(after), notice: '', at: input.now });
  return { ...current, fields: { ...current.fields, ...after }, changedAt: input.now, ...told };
}

/** Said where a row may have been wiped, so that what else was emptied there is not sent. */
function explainWiped(decided: readonly DecidedField[]): string[] {
  const wanted = wantedFields(decided).fields;
  const isLeft = decided.some(({ field, outcome }) => outcome.kind === 'toCrm' && !(field.name in wanted));
  return isLeft
    ? ['What else was emptied stays in the CRM until then. To be rid of the record, delete the row.']
    : [];
}

/** The most pressing thing to say about the row, or `undefined` when all is well. */
function stateOf(
  context: TabContext,
  row: ObservedRow,
  key: RecordKey,
  decided: readonly DecidedField[],
  update: PressingState | undefined,
): PressingState | undefined {
  const { draft, entity } = context;
  const reasons = decided.flatMap(({ outcome }) => (outcome.kind === 'refused' ? [outcome.reason] : []));
  if (reasons.length > 0) {
    const reason = [...reasons, ...explainWiped(decided)].join(' ');
    draft.refusals.push({ entity, id: key.id, position: row.position, reason });
    return { kind: 'error', reason };
  }
  const conflicts = decided.flatMap(({ field, outcome }) => {
    if (outcome.kind !== 'conflict') return [];
    const { crm, table, agreed } = outcome;
    draft.conflicts.push({ key, field: field.name, crm, table, agreed });
    const { questionsTitle } = context;
    const shown = describeValue(field, crm, context.names);
    return [
      {
        kind: 'conflict',
        header: field.header,
        crm: crm === null ? null : shown,
        isWhole: shown === showWhole(field, crm, context.names),
        questionsTitle,
      } as const,
    ];
  });
  return conflicts[0] ?? update ?? heldState(decided);
}

/** The state of a row some of whose fields are not known in the CRM. */
function heldState(decided: readonly DecidedField[]): PressingState | undefined {
  const reasons = decided.flatMap(({ outcome }) =>
    outcome.kind === 'unknown' && outcome.reason !== undefined ? [outcome.reason] : [],
  );
  return reasons.length === 0 ? undefined : { kind: 'held', reason: reasons.join(' ') };
}
