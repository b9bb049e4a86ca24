import { type Cell, describeCell, emptyCell, textCell } from '../../cell.ts';
import { encode } from '../../codec.ts';
import { errorKinds } from '../../errors.ts';
import type { VanishedRowPolicy } from '../../policy.ts';
import { type RecordId, type RecordKey, recordKeyText } from '../../record.ts';
import { type CellLook, noteShown, type Shown } from '../../shown.ts';
import type { Agreement, KnownRecord, OutboxItem } from '../../state.ts';
import { emptyAgreement, hasMoved, isAnswerLost, isUnanswered } from '../../state.ts';
import type { ObservedRow } from '../../table.ts';
import { restoredCause } from '../../undo.ts';
import { type FieldName, type Fields, pickFields, type Value } from '../../value.ts';
import { brakeScope } from '../brakes/brakes.ts';
import { keepDecisions, noted, refusedScope, type TabContext, vanishedScope } from '../context.ts';
import { isLike } from '../identity/likeness.ts';
import { baseOf } from '../identity/origin.ts';
import { resembles } from '../identity/resemblance.ts';
import { journalEntry } from '../journal-entry.ts';
import { waitingStep } from '../outbox-step.ts';
import { findContestHold } from '../rows/contested.ts';
import { answerRefusal, isStuck, isToBeSent } from '../rows/refused.ts';
import { idCell, showsValues } from '../rows/row-values.ts';
import { type RowState, syncText, waitingState } from '../rows/sync-text.ts';
import { unreadReason } from '../rows/unread.ts';
import { waitingText } from '../rows/update.ts';
import { noteLost, waitingFields } from '../rows/waiting-edits.ts';
import { countByKind } from './cascade.ts';
import { findMovedCompany } from './moved-company.ts';

/**
 * Decides a record whose row vanished from the table. It is never deleted in the CRM unless a person or the configuration says so,
 * and never when the CRM's record was edited since: a delete does not beat an edit, so the row comes back. Returns the record if its row is to
 * come back.
 */
export function decideVanishedRow(context: TabContext, key: RecordKey): KnownRecord | undefined {
  const { draft } = context;
  const [record, agreement, item] = [
    context.records.get(key.id),
    context.agreements.get(key.id),
    context.outbox.get(key.id),
  ];
  if (!record || !agreement || item?.isUndo) return undefined;
  if (item && isUnanswered(item)) {
    // Somebody may be answering just now.
    askWhatWaits(context, item);
    return undefined;
  }
  const contest = findContestHold(context, key.id);
  if (contest) {
    keepDecisions(context, key);
    draft.holds.push({ ...key, reason: contest.reason, decision: contest.scope });
    return undefined;
  }
  const isReverted = item?.kind === 'delete' && context.decision(refusedScope(key)) === 'revert';
  const choice = isReverted ? 'restore' : meaningOf(context, key);
  const isEdited = isEditedInCrm(context, key.id);
  // Whoever decides otherwise before the delete was sent takes it back.
  if (item?.kind === 'delete' && !isReverted && (choice !== 'trash' || isEdited))
    draft.outboxDropped.push(key);
  // Sent first, the edit goes to the trash with its record, and what it brought there is no edit of somebody else.
  if (choice === 'trash' && item && isGoingThrough(item, record)) return undefined;
  if (choice === 'restore' || (choice === 'trash' && isEdited)) return record;
  if (choice === 'wait') return undefined;
  if (choice !== 'trash') {
    const reason = vanishedReason(context, key);
    draft.holds.push({ ...key, reason, decision: vanishedScope(key) });
  } else if (item?.kind === 'delete') {
    if (isStuck(item)) answerRefusal(context, item);
    else askWhatWaits(context, item);
  } else {
    if (item) noteLost(context, item, waitingFields(item), 'row deleted before the CRM took the edit');
    const base = baseOf(context, agreement);
    // Who answers was told then what goes with it; by the rule it is meant with what the sheet showed when the row was deleted.
    const shownUntil = findAnsweredAt(context, key) ?? context.input.shownUntil(key);
    draft.outboxSaved.push(waitingStep(context.input, key, { kind: 'delete', fields: {}, base, shownUntil }));
  }
  return undefined;
}

/** Whether the CRM has something else of a record than what its lost row has shown: then it comes back, because a delete beats no edit. */
export function isEditedInCrm(context: TabContext, id: RecordId): boolean {
  const [record, agreement] = [context.records.get(id), context.agreements.get(id)];
  return record && agreement ? hasMoved(baseOf(context, agreement), record) : false;
}

/** What the lost row of a record means: what somebody answered, for it or in this moment for all of them, or else the rule. */
function meaningOf(context: TabContext, key: RecordKey): string {
  const own = context.decision(vanishedScope(key));
  const letGo = context.draft.lossesLetGo.get(context.entity);
  if (own !== undefined && own !== noted) return own;
  if (own === undefined && letGo) return letGo;
  const rule = ruleOf(context);
  return rule === 'trash' ? meaningsOfTrash[findMovedCompany(context, key)] : rule;
}

/** What the rule `trash` comes to where the table moves something away that would go with the record. */
const meaningsOfTrash = { none: 'trash', moving: 'wait', stuck: 'ask' } as const;

/** Asks about a delete that waits for somebody who runs the daemon: there is no row to say so, and whoever meant it takes it for done. */
function askWhatWaits({ draft }: TabContext, item: OutboxItem): void {
  const { error, key, kind } = item;
  if (kind !== 'delete' || !error || errorKinds[error.code].mender !== 'operator') return;
  const reason = `Its record can not be deleted in the CRM: ${waitingText(item)} Restore brings the row back.`;
  draft.holds.push({ entity: key.entity, id: key.id, reason, decision: vanishedScope(key) });
}

/** When a person said what becomes of the record, alone or with others, epoch ms: it may be long until that is read. */
function findAnsweredAt({ answeredAt, draft, entity, peek }: TabContext, key: RecordKey): number | undefined {
  const ofAll = draft.lossesLetGo.has(entity)
    ? [brakeScope(entity, 'emptied'), brakeScope(entity, 'vanished')]
    : [];
  const scope = [vanishedScope(key), ...ofAll].find((candidate) => (peek(candidate) ?? noted) !== noted);
  return scope === undefined ? undefined : answeredAt(scope);
}

/**
 * Takes back deletes that wait although their row may be there again, whatever else keeps that from being decided now, or although a
 * lost row does not mean a delete any more, as after a restart with other settings. `found` names the records that may have a row.
 */
export function takeBackDeletes(context: TabContext, found: ReadonlySet<RecordId>): void {
  const { draft, outbox } = context;
  const dropped = new Set(draft.outboxDropped.map(recordKeyText));
  for (const { isUndo, key, kind, state } of outbox.values()) {
    if (kind !== 'delete' || isUndo || state === 'sending' || dropped.has(recordKeyText(key))) continue;
    if (found.has(key.id) || meaningOf(context, key) !== 'trash') draft.outboxDropped.push(key);
  }
}

/** Whether an edit that waits reaches the record as it is now without anybody's help. */
const isGoingThrough = (item: OutboxItem, record: KnownRecord): boolean =>
  item.kind === 'update' &&
  isToBeSent(item) &&
  !isStuck(item) &&
  (isAnswerLost(item, record) || !hasMoved(item.base, record));

/** What a row that is gone means where nobody answers. The CRM has no trash for contacts: only a person may delete one. */
export function ruleOf({ entity, input: { policy } }: TabContext): VanishedRowPolicy {
  const rule = policy.tabs[entity].vanishedRows ?? policy.vanishedRows;
  return entity === 'contact' && rule === 'trash' ? 'ask' : rule;
}

function vanishedReason(context: TabContext, key: RecordKey): string {
  const what =
    key.entity === 'contact'
      ? 'deletes the contact for good'
      : `moves the record to the trash of the CRM${companyOf(context, key)}`;
  return `Its row is gone from the sheet. Trash ${what}, Restore brings the row back.`;
}

/** What the CRM trashes together with the record, as far as it is known. */
function companyOf({ cascades }: TabContext, key: RecordKey): string {
  const going = cascades.goingWith(key);
  return going.length === 0 ? '' : ` and ${countByKind(going)} with it`;
}

/** Ids are integers, or begin with the one of a lead. */
const byNumber = new Intl.Collator('en', { numeric: true });

/** Whether a row shows something else than what is agreed for the record whose ID it has. */
function isChanged(context: TabContext, row: ObservedRow): boolean {
  const own = context.agreements.get(describeCell(row.id));
  return own !== undefined && !showsValues(context, row, own.fields, own.shown);
}

/**
 * Gives a row to the records whose row is to come back, then to every one that never had one, oldest first, as many as a cycle may add; and
 * forgets what is gone from both sides.
 */
export function decideUnseenRecords(
  context: TabContext,
  present: ReadonlySet<RecordId>,
  restored: readonly KnownRecord[],
): void {
  const { agreements, draft, entity, input, tab } = context;
  const rowless = [...context.records.values()].filter(({ key }) => !present.has(key.id));
  const [gone, there] = [
    rowless.filter(({ presence }) => presence === 'gone'),
    rowless.filter(({ presence }) => presence === 'present'),
  ];
  forgetGone(context, gone);
  const hadRow = ({ key }: KnownRecord) => Object.keys(agreements.get(key.id)?.fields ?? {}).length > 0;
  const unseen = withoutDoubtful(
    context,
    present,
    there.filter((record) => !hadRow(record)),
  );
  const oldestFirst = unseen.toSorted((left, right) => byNumber.compare(left.key.id, right.key.id));
  const due = [
    ...restored.map((record) => ({ record, cause: restoredCause })),
    ...oldestFirst.map((record) => ({ record, cause: 'created in the CRM' })),
  ];
  const { room = Number.POSITIVE_INFINITY } = tab;
  if (due.length > room) draft.holds.push({ entity, reason: fullReason(due.length - room) });
  for (const { record, cause } of due.slice(0, Math.min(input.policy.appendsMax, room)))
    appendRow(context, record, cause);
}

/**
 * Forgets what is agreed and what waits of records that are gone, and so are their rows. What a row with another ID still shows is not gone
 * from there: forgotten, it would pass for an edit of the record whose ID stands beside it.
 */
function forgetGone(context: TabContext, gone: readonly KnownRecord[]): void {
  const { agreements, draft, outbox, tab } = context;
  let changed: readonly ObservedRow[] | undefined;
  const isShown = (agreement: Agreement) => {
    changed ??= tab.rows.filter((row) => isChanged(context, row));
    return changed.some((row) => isLike(context, row, agreement));
  };
  for (const { key } of gone) {
    const [agreement, item] = [agreements.get(key.id), outbox.get(key.id)];
    if (agreement && !isShown(agreement)) draft.agreementsDropped.push(key);
    if (!item) continue;
    noteLost(context, item, waitingFields(item), 'the record is gone, and so is its row');
    draft.outboxDropped.push(key);
  }
}

/** The records without those that a create may have made whose row is still there: these wait, and a person is told of them if one has to look. */
function withoutDoubtful(
  context: TabContext,
  present: ReadonlySet<RecordId>,
  records: readonly KnownRecord[],
): readonly KnownRecord[] {
  const { agreements, draft, entity, outbox } = context;
  // A row may get back the token that it lost.
  const given = draft.table.flatMap(({ write }) => (write.kind === 'set' && write.id ? [write.id] : []));
  const tokens = present.union(new Set(given.map(describeCell)));
  const isExpected = ({ key, kind, recordId = '', state }: OutboxItem): boolean => {
    if (kind !== 'create') return false;
    if (tokens.has(key.id)) return true;
    // A person who took the token out of its row has looked, and without an agreement nobody is asked what became of the row.
    return state === 'done' ? agreements.has(recordId) : state !== 'review';
  };
  const creates = [...outbox.values()].filter(isExpected);
  return records.filter((record) => {
    const item = creates.find((candidate) => mayBeMadeBy(candidate, record));
    if (item?.state === 'review')
      draft.holds.push({ entity, id: record.key.id, reason: doubtfulReason(item) });
    return item === undefined;
  });
}

const fullReason = (records: number) =>
  `The spreadsheet has no room for ${records} more rows. Delete tabs, columns or blank rows that nobody needs.`;

const doubtfulReason = ({ key }: OutboxItem): string =>
  `It may be the record that the row with ${key.id} in its ID cell was to create. ` +
  'Put its ID into that cell if it is, or clear the cell to create a new record.';

/**
 * Whether a create has made the record, or may have: then it must not get a row of its own. While the outcome of the create is not known any
 * newcomer may be its record; once a person must look, only one that looks like it.
 */
function mayBeMadeBy(item: OutboxItem, record: KnownRecord): boolean {
  if (item.state === 'done') return item.recordId === record.key.id;
  if (item.sentAt === undefined || record.firstSeenAt < item.sentAt) return false;
  if (isUnanswered(item)) return true;
  return item.state === 'review' && resembles(item.fields, record.fields);
}

/**
 * Gives a record a row. What waits to be sent stands there as it was typed, and is not agreed: so it is still an edit, whether it is sent
 * before the row is read again, refused, or met by a change in the CRM.
 */
function appendRow(context: TabContext, record: KnownRecord, cause: string): void {
  const { draft, entity, input, layout, names, tab } = context;
  const waiting = waitingFields(context.outbox.get(record.key.id));
  const offers: Record<FieldName, Value> = {};
  const typed: Record<FieldName, Value> = {};
  const cells: Record<FieldName, Cell> = {};
  for (const { field: name } of layout.columns) {
    const edit = waiting[name];
    const [field, value] = [context.fields.get(name), edit === undefined ? record.fields[name] : edit];
    if (!field || field.held !== undefined || !tab.fields.has(name)) continue;
    const cell = value === undefined ? emptyCell : encode(field, value, names);
    // Google puts FALSE into a checkbox that comes with a new row: left there, it would pass for a no that somebody gave.
    if (cell.kind !== 'empty' || field.kind === 'boolean') cells[name] = cell;
    if (value === undefined) continue;
    if (edit === undefined) offers[name] = value;
    else typed[name] = value;
  }
  const { key } = record;
  const agreement = context.agreements.get(key.id) ?? emptyAgreement(key, input.now);
  const unread = unreadReason(record, context.fields);
  const atRest: RowState =
    unread === undefined ? { kind: 'synced', at: input.now, notice: '' } : { kind: 'held', reason: unread };
  const state = Object.keys(typed).length > 0 ? waitingState : atRest;
  // Of what has no column here the row shows nothing. Agreed about all the same, it would pass for emptied once its column is back, and an
  // edit of it in the CRM, for which a row comes back, would beat every later delete as well.
  const fields = pickFields(agreement.fields, [...Object.keys(offers), ...Object.keys(typed)]);
  const shown = noteAppended(context, agreement, cells, { offers, typed });
  draft.agreementsSaved.push({ ...agreement, fields, offered: offers, ...(shown ? { shown } : {}) });
  draft.table.push({
    write: {
      kind: 'append',
      entity,
      id: idCell(key.id),
      cells,
      ...(tab.hasSync ? { sync: textCell(syncText(state, names.timeZone)) } : {}),
    },
    key,
    offers,
    notice: '',
    journal: journalEntry(input, key, { kind: 'create', after: { ...offers, ...typed }, cause }),
  });
}

/** What a new row is about to show. One that was added before may still come, if nothing is known of that write. */
function noteAppended(
  { fields }: TabContext,
  { offered: offeredBefore, shown }: Agreement,
  cells: ObservedRow['cells'],
  { offers, typed }: { readonly offers: Fields; readonly typed: Fields },
): Shown | undefined {
  const looks = Object.entries(cells).flatMap(([name, cell]): CellLook[] => {
    const [field, value] = [fields.get(name), { ...offers, ...typed }[name]];
    return field && value !== undefined ? [{ field, cell, value }] : [];
  });
  return noteShown({ shown, agreed: {}, offeredBefore, offered: offers }, looks);
}
