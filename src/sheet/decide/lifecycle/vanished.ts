import { countByKind, ownerFields } from '../../../core/cascade.ts';
import { errorKinds } from '../../../core/errors.ts';
import { findField } from '../../../core/fields/field.ts';
import { findEditFault } from '../../../core/merge.ts';
import { waitingStep } from '../../../core/outbox.ts';
import { type Entity, type RecordId, type RecordKey, recordKeyText } from '../../../core/record.ts';
import {
  type Agreement,
  hasMoved,
  isAnswerLost,
  isStuck,
  isToBeSent,
  isUnanswered,
  type KnownRecord,
  type OutboxItem,
  waitingFields,
} from '../../../core/state.ts';
import { restoredCause } from '../../../core/undo.ts';
import { equalValues, type FieldName } from '../../../core/value.ts';
import { noted, refusedScope, vanishedScope } from '../../../core/waiting/scopes.ts';
import { decodeTyped } from '../../cells/read-cell.ts';
import { showsValue } from '../../cells/shown.ts';
import type { DecideInput } from '../../plans/plan.ts';
import type { VanishedRowPolicy } from '../../policy.ts';
import { columnOf, tabOf } from '../../port/layout.ts';
import type { ObservedRow } from '../../port/table.ts';
import { baseOf } from '../identity/likeness.ts';
import { findContestCase } from '../rows/contested.ts';
import { answerRefusal, findRefusalAnswer, waitingText } from '../rows/update.ts';
import { noteLost } from '../rows/waiting-edits.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, keepChosen, nothing, type Verdict } from '../verdict.ts';

/** What a user has just let go although a brake stopped it. */
export interface Release {
  /** What was said of all records whose rows are gone from the tab, and when, epoch ms. */
  readonly losses?: { readonly choice: 'trash' | 'restore'; readonly at: number };
  /** The records whose torn values are meant. */
  readonly torn?: ReadonlySet<RecordId>;
}

/** What becomes of a lost row: what a user or the rule says. `at` is when a user said it, epoch ms. */
interface Meaning {
  readonly choice: string;
  readonly at?: number | undefined;
}

/** A record whose row is gone. */
interface Vanished {
  readonly record: KnownRecord;
  readonly agreement: Agreement;
  readonly item: OutboxItem | undefined;
}

/**
 * Decides a record whose row vanished from the table. It is never deleted in the CRM unless a user or the configuration says so,
 * and never when the CRM's record was edited since: a delete does not beat an edit, so the row comes back.
 */
export function decideVanishedRow(index: TabIndex, key: RecordKey, release: Release): Verdict {
  const { agreements, outbox, records } = index;
  const [record, agreement, item] = [records.get(key.id), agreements.get(key.id), outbox.get(key.id)];
  if (!record || !agreement || item?.isUndo) return nothing;
  // Somebody may be answering just now.
  if (item && isUnanswered(item)) return keepAsking(askWhatWaits(index, item));
  const contest = findContestCase(index, key.id);
  if (contest?.hold) return join(contest.verdict, { kept: [key], holds: [contest.hold] });
  const lost = { record, agreement, item };
  const scopes = [vanishedScope(key), refusedScope(key)];
  return join(
    { scopes },
    contest?.verdict ?? nothing,
    decideLoss(index, lost, meaningOf(index, key, release)),
  );
}

function decideLoss(index: TabIndex, lost: Vanished, meaning: Meaning): Verdict {
  const { answers } = index;
  const { item, record } = lost;
  const { key } = record;
  const isDelete = item?.kind === 'delete';
  const comesBack = { due: [{ record, cause: restoredCause }] };
  // The step is kept until the row is there again, so that nothing of it is sent meanwhile.
  if (isDelete && answers.choice(refusedScope(key)) === 'revert') return comesBack;
  const isEdited = isEditedInCrm(index, key.id);
  // Whoever decides otherwise before the delete was sent takes it back.
  const taken = isDelete && (meaning.choice !== 'trash' || isEdited) ? { outboxDropped: [key] } : nothing;
  if (meaning.choice === 'restore') return join(taken, comesBack);
  if (meaning.choice === 'wait') return taken;
  if (meaning.choice !== 'trash') {
    const asked = askVanished(index, key, vanishedReason(index, key));
    return asked.meaning ? join(asked.kept, decideLoss(index, lost, asked.meaning)) : join(taken, asked.hold);
  }
  // Sent first, the edit goes to the trash with its record, and what it brought there is no edit of somebody else.
  if (item && isGoingThrough(item, record)) return taken;
  if (isEdited) return join(taken, comesBack);
  return isDelete ? decideWaitingDelete(index, lost, item) : planDelete(index, lost, meaning);
}

/** Asks about a delete that was not sent so far, where a user has to. */
function decideWaitingDelete(index: TabIndex, lost: Vanished, item: OutboxItem): Verdict {
  const comesBack = { due: [{ record: lost.record, cause: restoredCause }] };
  if (isStuck(item)) {
    const { answered, verdict } = findRefusalAnswer(index, item);
    return answered === 'revert' ? join(verdict, comesBack) : answerRefusal(index, item).verdict;
  }
  const asked = askWhatWaits(index, item);
  return asked?.meaning?.choice === 'restore'
    ? join(asked.kept, decideLoss(index, lost, asked.meaning))
    : keepAsking(asked);
}

function planDelete(index: TabIndex, { agreement, item, record }: Vanished, { at }: Meaning): Verdict {
  const { key } = record;
  const cause = 'row deleted before the CRM took the edit';
  const base = baseOf(index, agreement);
  // Who answers was told then what goes with it; by the rule it is meant with what the sheet showed when the row was deleted.
  const shownUntil = at ?? index.input.shownUntil(key);
  const step = waitingStep(index.input, key, { kind: 'delete', fields: {}, base, shownUntil });
  return join(item ? noteLost(index, item, waitingFields(item), cause) : nothing, { outboxSaved: [step] });
}

/** Whether the CRM has something else of a record than what its lost row has shown: then it comes back, because a delete beats no edit. */
export function isEditedInCrm(index: TabIndex, id: RecordId): boolean {
  const [record, agreement] = [index.records.get(id), index.agreements.get(id)];
  return record && agreement ? hasMoved(baseOf(index, agreement), record) : false;
}

/** Finds what the lost row of a record means: what somebody answered, for it or in this moment for all of them, or else the rule. */
function meaningOf(index: TabIndex, key: RecordKey, { losses }: Release): Meaning {
  const own = index.answers.find(vanishedScope(key));
  if (own && own.choice !== noted) return own;
  if (!own && losses) return losses;
  const rule = ruleOf(index);
  return { choice: rule === 'trash' ? meaningOfTrash(index, key) : rule };
}

/** Asks about a lost row. Returns what was just chosen, and what that leaves to be kept; or else its hold. */
function askVanished({ answers, questions }: TabIndex, { entity, id }: RecordKey, reason: string) {
  const scope = vanishedScope({ entity, id });
  const hold = { entity, id, reason, decision: scope };
  const meaning = answers.choose(scope, () => questions.ofHold(hold));
  return { meaning, kept: keepChosen(scope, meaning), hold: { holds: [hold] } };
}

const keepAsking = (asked: ReturnType<typeof askWhatWaits>): Verdict =>
  asked ? join(asked.kept, asked.hold) : nothing;

/** Asks about a delete that waits for somebody who runs the daemon: there is no row to say so, and whoever meant it takes it for done. */
function askWhatWaits(index: TabIndex, item: OutboxItem) {
  const { error, key, kind } = item;
  if (kind !== 'delete' || !error || errorKinds[error.code].mender !== 'operator') return undefined;
  const reason = `Its record can not be deleted in the CRM: ${waitingText(item)} Restore brings the row back.`;
  return askVanished(index, key, reason);
}

/**
 * Takes back deletes that wait although their row may be there again, whatever else keeps that from being decided now, or although a
 * lost row does not mean a delete any more, as after a restart with other settings. `found` names the records that may have a row.
 */
export function takeBackDeletes(index: TabIndex, found: ReadonlySet<RecordId>, release: Release): Verdict {
  const waiting = [...index.outbox.values()].filter(
    ({ isUndo, kind, state }) => kind === 'delete' && !isUndo && state !== 'sending',
  );
  const isTakenBack = ({ key }: OutboxItem) =>
    found.has(key.id) || meaningOf(index, key, release).choice !== 'trash';
  return {
    outboxDropped: waiting.filter(isTakenBack).map(({ key }) => key),
    scopes: waiting.filter(({ key }) => !found.has(key.id)).map(({ key }) => vanishedScope(key)),
  };
}

/** Whether an edit that waits reaches the record as it is now without anybody's help. */
const isGoingThrough = (item: OutboxItem, record: KnownRecord): boolean =>
  item.kind === 'update' &&
  isToBeSent(item) &&
  !isStuck(item) &&
  (isAnswerLost(item, record) || !hasMoved(item.base, record));

/** What a row that is gone means where nobody answers. The CRM has no trash for contacts: only a person may delete one. */
export function ruleOf({ entity, input: { policy } }: TabIndex): VanishedRowPolicy {
  const rule = policy.tabs[entity].vanishedRows ?? policy.vanishedRows;
  return entity === 'contact' && rule === 'trash' ? 'ask' : rule;
}

function vanishedReason(index: TabIndex, key: RecordKey): string {
  const what =
    key.entity === 'contact'
      ? 'deletes the contact for good'
      : `moves the record to the trash of the CRM${companyOf(index, key)}`;
  return `Its row is gone from the sheet. Trash ${what}, Restore brings the row back.`;
}

/** What the CRM trashes together with the record, as far as it is known. */
function companyOf({ cascades }: TabIndex, key: RecordKey): string {
  const going = cascades.goingWith(key);
  return going.length === 0 ? '' : ` and ${countByKind(going)} with it`;
}

/**
 * What the rule `trash` comes to: `wait` where the table says of something that would go with the record that it belongs to another one, and that
 * is to be sent, or waits for an answer of its own; `ask` where it can not be, as where the other one is a new row, the row is paused, or the
 * key may not.
 */
function meaningOfTrash(index: TabIndex, key: RecordKey): 'trash' | 'wait' | 'ask' {
  const idle = index.input.known.outbox.filter((item) => !isToBeSent(item));
  const idleKeys = new Set(idle.map((item) => recordKeyText(item.key)));
  const moves = index.cascades.goingWith(key).flatMap((record) => {
    const row = index.findRow(record.key);
    const found = row ? ownerFields.flatMap((name) => findMove(index, record, row, name) ?? []) : [];
    return row?.isPaused || idleKeys.has(recordKeyText(record.key)) ? found.map(() => 'ask') : found;
  });
  if (moves.length === 0) return 'trash';
  return moves.includes('ask') ? 'ask' : 'wait';
}

/** Whether a row shows something else in such a field than the CRM has, as {@link meaningOfTrash}; `undefined` where that is the same. */
function findMove(index: TabIndex, { fields, key }: KnownRecord, row: ObservedRow, name: FieldName) {
  const { findAgreement, input, names } = index;
  const tab = tabOf(input.layout, key.entity);
  const column = tab && columnOf(tab, name);
  const field = findField(key.entity, name, input.known.catalog);
  const [cell, value] = [row.cells[name], fields[name] ?? null];
  if (column?.direction !== 'both' || !field || !cell) return undefined;
  const { shown = {} } = findAgreement(key) ?? {};
  if (showsValue(field, value, cell, names, shown[name])) return undefined;
  const seen = decodeTyped(field, cell, names);
  if (seen.kind === 'refused') return 'ask';
  if (equalValues(seen.value, value)) return undefined;
  const isWiped = seen.value === null && mayBeWiped(input, key.entity, row);
  const fault = findEditFault({ rules: column, field }, value, seen.value, String);
  return isWiped || fault !== undefined ? 'ask' : 'wait';
}

/** Whether a row lacks what no record can be without: then nothing that is emptied there is sent. */
function mayBeWiped({ known, layout }: DecideInput, entity: Entity, { cells }: ObservedRow): boolean {
  const { columns = [] } = tabOf(layout, entity) ?? {};
  return columns.some(({ direction, field }) => {
    const isNeeded = findField(entity, field, known.catalog)?.isRequired ?? false;
    return isNeeded && direction === 'both' && cells[field]?.kind === 'empty';
  });
}
