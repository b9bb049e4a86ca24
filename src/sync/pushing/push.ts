import { backoffMs } from '../../core/backoff.ts';
import { isSyncError, SyncError } from '../../core/errors.ts';
import { emptyCatalog } from '../../core/fields/catalog.ts';
import { customFieldKey, findField } from '../../core/fields/field.ts';
import { nameField } from '../../core/fields/refusal-words.ts';
import { describeAnswered, journalEntry } from '../../core/journal-entry.ts';
import type { Mirror } from '../../core/mirror.ts';
import { nextNotice } from '../../core/notice.ts';
import { advance } from '../../core/outbox.ts';
import type { WriteAnswer } from '../../core/ports.ts';
import { noteReplaced, takeIn } from '../../core/reading/observe.ts';
import { type RecordKey, recordKeyText } from '../../core/record.ts';
import {
  emptyAgreement,
  hasMoved,
  isAnswerLost,
  isOnItsWay,
  isStuck,
  type OutboxItem,
} from '../../core/state.ts';
import { pickFields } from '../../core/value.ts';
import { vanishedScope } from '../../core/waiting/scopes.ts';
import type { Link } from '../link.ts';
import { findAccountDoubt } from '../reading/account.ts';
import { pullRecord } from '../reading/pull.ts';
import {
  agreeOnTexts,
  finishCreate,
  noteAnswered,
  noteDefaults,
  type PushResult,
  settleCreate,
} from './create.ts';
import { comesLater, hasUnanswered, isOutgrown } from './grown.ts';
import { madeAt, winnerOf } from './made-at.ts';
import { sendInTurn, type WaitingWrite } from './turn.ts';
import { closeAttempts, follow, forgetStep, giveUpUndo } from './unanswered.ts';

/** Whether a step may not be sent now, because of what is known of the table or because nothing is yet. */
export type IsWithheld = (item: OutboxItem) => boolean;

/**
 * Does what the outbox says about one record, if it is due. The wake-up may come twice, late or for nothing: the outbox decides. Errors of
 * the CRM end as a state of the item; CRM_UNAUTHORIZED is thrown as well, because it concerns every record. What became of a create is
 * found out all the same: that writes nothing.
 */
export async function pushRecord(
  link: Link,
  key: RecordKey,
  isWithheld: IsWithheld = () => false,
  onFailure: (error: SyncError, item: OutboxItem) => void = () => {},
): Promise<PushResult> {
  if (!link.entities.includes(key.entity) || findAccountDoubt(link)) return 'nothing';
  const item = link.mirror.findOutboxItem(key);
  if (!item || item.dueAt > link.clock.now()) return 'nothing';
  if (item.state !== 'waiting' && item.state !== 'unknown') return 'nothing';
  try {
    return await takeStep(link, item, isWithheld);
  } catch (error) {
    if (!isSyncError(error)) throw error;
    noteFailure(link, item, error);
    if (error.code === 'CRM_UNAUTHORIZED') throw error;
    onFailure(error, item);
    return 'noted';
  }
}

async function takeStep(link: Link, item: OutboxItem, isWithheld: IsWithheld): Promise<PushResult> {
  if (item.state === 'unknown') return settleCreate(link, item);
  if (isWithheld(item)) return 'nothing';
  const isMeant = () => isStillMeant(link, item, isWithheld);
  if (item.kind === 'create') return pushCreate(link, item, isMeant);
  const push = item.kind === 'update' ? pushUpdate : pushDelete;
  for (let reads = 1; ; reads += 1) {
    const result = await push(link, item, isMeant, reads);
    if (result !== 'tooLate') return result;
  }
}

/** Reads the record of a step for so many times now, and sends the step. `tooLate`: what was read grew old before its turn came. */
type PushAfterRead = (
  ...step: [link: Link, item: OutboxItem, isMeant: () => boolean, reads: number]
) => Promise<PushResult | 'tooLate'>;

/** Marks the item as on its way; durable before the request leaves. */
const markSending = ({ clock, mirror }: Link, item: OutboxItem): OutboxItem =>
  follow(mirror, item, 'sent', { at: clock.now() });

/**
 * Whether the outbox still holds this step and no brake stops it: while the record was read again or a create waited for its turn, a newer
 * plan may have replaced or dropped it, or stopped all records of the kind, or the key may have been exchanged.
 */
function isStillMeant(link: Link, item: OutboxItem, isWithheld: IsWithheld): boolean {
  const current = link.mirror.findOutboxItem(item.key);
  const isCurrent = current?.run === item.run && current.state === 'waiting';
  return isCurrent && !isWithheld(item) && !findAccountDoubt(link);
}

/**
 * A step as a write that waits for its turn. Until that has come it only waits in the outbox: the plan may drop or replace it, and whoever
 * takes it back in time has it not sent.
 */
const inTurn = (link: Link, item: OutboxItem, isMeant: () => boolean): WaitingWrite => ({
  isMeant,
  begin: () => void markSending(link, item),
  takeBack: () => takeBack(link, item),
});

/** The same for a write that follows from a read of its record: it is meant only as long as nothing that was read since speaks against it. */
const inTurnAfterRead = (link: Link, item: OutboxItem, isMeant: () => boolean): WaitingWrite =>
  inTurn(link, item, () => {
    const known = link.mirror.findRecord(item.key);
    return isMeant() && !(known && hasMoved(item.base, known));
  });

async function pushCreate(link: Link, item: OutboxItem, isMeant: () => boolean): Promise<PushResult> {
  let sent = item;
  const begin = () => {
    sent = markSending(link, item);
  };
  const write = { ...inTurn(link, item, isMeant), begin };
  const answer = await sendInTurn(link, write, (sending) =>
    link.crm.createRecord(item.key.entity, item.fields, sending),
  );
  if (!answer) return 'noted';
  finishCreate(link, sent, answer, `created ${madeAt(link.mirror)}`);
  await noteMade(link, item, answer);
  return 'written';
}

/** Keeps what a create really made, and reads it where its answer does not say. When that fails, the next sweep tells it. */
async function noteMade(link: Link, item: OutboxItem, answer: WriteAnswer): Promise<void> {
  const key = { entity: item.key.entity, id: answer.id };
  // What a contact's row left empty would else be told a whole round later.
  const isTold =
    key.entity !== 'contact' && Object.keys(item.fields).every((name) => answer.fields[name] !== undefined);
  try {
    const made = isTold ? answer : await pullRecord(link, key, 'edit');
    if (!made) return;
    const makes = { ...item, key };
    link.mirror.transaction(() => {
      noteDefaults(link, makes, made.fields);
      if (!isTold) agreeOnTexts(link, makes, made.fields);
      noteAnswered(link, makes, made.fields);
    });
  } catch (error) {
    // The record is created: nothing may make it be sent again.
    if (!isSyncError(error)) throw error;
    link.log.warn('record.not_read_back', { record: recordKeyText(key), code: error.code });
  }
}

/** A step that surely did nothing waits again, if it is still the one of its record. */
function takeBack({ mirror }: Link, item: OutboxItem): void {
  const current = mirror.findOutboxItem(item.key);
  if (current?.run === item.run) follow(mirror, current, 'turnedAway', { sentBefore: item.sentAt });
}

/** Sends the changed fields, unless the CRM's record moved since the step was decided: then the next cycle decides again. */
const pushUpdate: PushAfterRead = async (link, item, isMeant, reads) => {
  const { clock, mirror, times } = link;
  const { key } = item;
  const stored = mirror.findRecord(key);
  const isStale =
    stored?.presence !== 'present' ||
    item.attempts > 0 ||
    reads > 1 ||
    clock.now() - stored.observedAt >= times.rereadAfterMs ||
    hasUnanswered(mirror, key);
  const record = isStale ? await pullRecord(link, key, 'edit') : stored;
  if (!isMeant()) return 'noted';
  if (!record) {
    closeAttempts(mirror, item, 'untraceable', clock.now());
    throw new SyncError('CRM_NOT_FOUND', `The CRM does not have ${recordKeyText(key)} any more.`);
  }
  // It was sent before and its answer got lost: what it replaced is still to be written down.
  if (isAnswerLost(item, record)) {
    finishUpdate(link, item, { id: key.id, fields: {}, at: record.observedAt });
    return 'written';
  }
  if (hasMoved(item.base, record)) {
    // Where the row is gone, or lacks the column, the step is all that knows what was typed: it stays for the next cycle, and is not sent.
    if (item.isUndo) giveUpUndo(mirror, item, editedSince, clock.now());
    else closeAttempts(mirror, item, 'outdated', clock.now());
    return 'noted';
  }
  const write = { ...inTurnAfterRead(link, item, isMeant), reads };
  const answer = await sendInTurn(link, write, (sending) =>
    link.crm.updateRecord(key, item.fields, record.fields, sending),
  );
  if (!answer) return isMeant() ? 'tooLate' : 'noted';
  finishUpdate(link, item, answer);
  return 'written';
};

const editedSince = 'It was edited in the CRM since.';

function finishUpdate(link: Link, item: OutboxItem, answer: WriteAnswer): void {
  const { log, mirror } = link;
  const { key } = item;
  const fields = Object.keys(item.fields);
  const { after, lost } = describeAnswered(item.fields, answer.fields);
  log.info('record.pushed', { run: item.run, record: recordKeyText(key), kind: 'update', fields });
  const rewritten = Object.keys(lost);
  const answered = rewritten.length > 0 ? { answered: pickFields(after, rewritten) } : {};
  const written = { at: answer.at, before: item.base, ...answered };
  mirror.transaction(() => {
    const record = mirror.findRecord(key);
    if (record) {
      const { fields: told, unread } = answer;
      mirror.saveRecord(
        {
          ...takeIn(record, { fields: { ...item.fields, ...told }, ...(unread ? { unread } : {}) }),
          observedAt: answer.at,
          heardAt: answer.at,
          lastSeenAt: answer.at,
          written: noteReplaced(record.written, written, link.times.lagMs),
        },
        item.isUndo ? 'takenBack' : undefined,
      );
    }
    if (!item.isUndo) agreeOnSent(link, item, answer.at);
    mirror.appendJournal([
      journalEntry({ now: answer.at, run: item.run }, key, {
        kind: 'update',
        side: 'crm',
        before: item.base,
        after,
        lost: { ...(item.notice === '' ? {} : item.base), ...lost },
        cause: causeOf(item, mirror),
      }),
    ]);
    follow(mirror, item, 'applied', {});
  });
}

/** The row shows what was sent. What was taken back the table has yet to follow, as after any change in the CRM. */
function agreeOnSent({ mirror }: Link, { key, fields: sent, notice }: OutboxItem, at: number): void {
  const agreement = mirror.findAgreement(key) ?? emptyAgreement(key, at);
  const told = nextNotice(agreement, { fields: Object.keys(sent), notice, at });
  mirror.saveAgreement({ ...agreement, fields: { ...agreement.fields, ...sent }, changedAt: at, ...told });
}

function causeOf({ isUndo, notice }: OutboxItem, mirror: Mirror): string {
  if (isUndo) return 'taken back';
  return notice === '' ? `edited ${madeAt(mirror)}` : `conflict: ${winnerOf(mirror)} wins`;
}

/**
 * Moves the record to the trash, unless somebody edited it since: a delete does not beat an edit. Where more would go with it by now than
 * was known when its row was seen last, or somebody answered, a person is asked.
 */
const pushDelete: PushAfterRead = async (link, item, isMeant, reads) => {
  const { clock, log, mirror } = link;
  const { key } = item;
  if (comesLater(mirror, item)) return 'nothing';
  const record = await pullRecord(link, key, 'edit');
  if (!isMeant()) return 'noted';
  if (record && hasMoved(item.base, record)) {
    if (item.isUndo) giveUpUndo(mirror, item, editedSince, clock.now());
    else forgetStep(mirror, key, clock.now());
    return 'noted';
  }
  if (record && isOutgrown(mirror, item)) {
    askAnew(link, item);
    return 'noted';
  }
  if (record) {
    const isMeantAlone = () => isMeant() && !isOutgrown(mirror, item) && !comesLater(mirror, item);
    const write = { ...inTurnAfterRead(link, item, isMeantAlone), reads };
    const isSent = await sendInTurn(link, write, async (sending) => {
      await link.crm.deleteRecord(key, sending);
      return true;
    });
    if (!isSent) return isMeant() ? 'tooLate' : 'noted';
  }
  const at = clock.now();
  log.info('record.pushed', { run: item.run, record: recordKeyText(key), kind: 'delete' });
  mirror.transaction(() => {
    const known = mirror.findRecord(key);
    if (known) mirror.saveRecord({ ...known, presence: 'gone', heardAt: at, written: { at, before: {} } });
    if (!item.isUndo) mirror.dropAgreement(key);
    follow(mirror, item, 'applied', {});
    mirror.appendJournal([
      journalEntry({ now: at, run: item.run }, key, {
        kind: 'delete',
        side: 'crm',
        // The table may lack some fields, by its layout or because somebody deleted their column, and the answer to the delete may be lost.
        before: { ...item.base, ...known?.fields },
        cause: item.isUndo ? 'taken back' : `row deleted ${madeAt(mirror)}`,
      }),
    ]);
  });
  return 'written';
};

/** Takes back a delete so that a person is asked about the row, whatever was answered or configured. An undo just ends: its row is still there. */
function askAnew({ clock, mirror }: Link, item: OutboxItem): void {
  const { isUndo, key } = item;
  const at = clock.now();
  if (isUndo) return giveUpUndo(mirror, item, grownSince, at);
  mirror.transaction(() => {
    forgetStep(mirror, key, at);
    mirror.saveDecision({ scope: vanishedScope(key), choice: 'ask', at });
  });
}

const grownSince = 'Something that was added in the CRM since would go with it.';

/** Notes an error as what it makes of the item. An undo that does not get through ends, because no user is at its row to answer for it. */
function noteFailure(link: Link, item: OutboxItem, error: SyncError): void {
  const { backoff, clock, log, mirror, random } = link;
  const current = mirror.findOutboxItem(item.key);
  const { key, kind, run } = item;
  log.warn('push.failed', { run, record: recordKeyText(key), kind, code: error.code });
  // What a person let go of meanwhile stays as they left it.
  if (current?.run !== run || !isOnItsWay(current)) return;
  const dueAt = clock.now() + (error.retryAfterMs ?? backoffMs(backoff, item.attempts + 1, random()));
  const next = afterFailure(link, current, error, { dueAt, sentBefore: item.sentAt });
  const lacksScope = next.state === 'waiting' && error.code === 'CRM_FORBIDDEN';
  // While it waits nothing of the row is sent.
  if (item.isUndo && (lacksScope || isStuck(next)))
    return giveUpUndo(mirror, next, undoFailure(link, key, error), clock.now());
  mirror.saveOutboxItem(next);
  if (lacksScope) putOffAlike(link, item, dueAt);
}

/** Returns what an error makes of an item: refused until the row changes, unknown until it settled, or tried again at `dueAt`. */
function afterFailure(
  { clock, times }: Link,
  item: OutboxItem,
  { code, message }: SyncError,
  { dueAt, sentBefore }: { readonly dueAt: number; readonly sentBefore: number | undefined },
): OutboxItem {
  const error = { code, message };
  if (item.state === 'unknown') return advance(item, 'lookFailed', { dueAt });
  if (code === 'CRM_NOT_FOUND' || code === 'CRM_REFUSED')
    return advance(item, 'refused', { error, sentBefore });
  // What a full disk did not let be noted down was done all the same.
  const isOpen = code.startsWith('STATE_') || code === 'CRM_UNKNOWN_OUTCOME' || code === 'CRM_UNREADABLE';
  if (item.state === 'waiting' || !isOpen) return advance(item, 'failed', { dueAt, error, sentBefore });
  const settledAt = clock.now() + times.settleMs;
  return advance(item, 'unanswered', { dueAt: item.kind === 'create' ? settledAt : dueAt, error });
}

function undoFailure(link: Link, { entity }: RecordKey, { code, message }: SyncError): string {
  if (code === 'CRM_UNKNOWN_OUTCOME') return 'The CRM fails on this change again and again.';
  const catalog = link.mirror.readCatalog() ?? emptyCatalog;
  return nameField(message, (name) => findField(entity, name, catalog)?.header);
}

/**
 * Steps that lack the same scope wait until one of them has found out whether it is still missing: each asking for itself, some dozens
 * would take all requests from the edits that may be sent. One that was never refused for it is not among them.
 */
function putOffAlike({ mirror }: Link, item: OutboxItem, dueAt: number): void {
  const isAlike = (other: OutboxItem) =>
    other.state === 'waiting' &&
    other.error?.code === 'CRM_FORBIDDEN' &&
    other.dueAt < dueAt &&
    needsSameScopes(item, other);
  mirror.transaction(() => {
    for (const other of mirror.readOutbox().filter(isAlike)) follow(mirror, other, 'postponed', { dueAt });
  });
}

/** A create with custom fields takes one scope more. */
const needsSameScopes = (left: OutboxItem, right: OutboxItem): boolean =>
  left.kind === right.kind &&
  left.key.entity === right.key.entity &&
  (left.kind !== 'create' || hasCustomFields(left) === hasCustomFields(right));

const hasCustomFields = ({ fields }: OutboxItem): boolean =>
  Object.entries(fields).some(([name, value]) => value !== null && customFieldKey(name) !== undefined);
