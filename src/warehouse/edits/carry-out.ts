import { journalEntry } from '../../core/journal-entry.ts';
import { isClaimToken, type RecordKey } from '../../core/record.ts';
import { emptyAgreement } from '../../core/state.ts';
import { isOpen, type TakenEdit } from '../../core/taken-edit.ts';
import { equalFields } from '../../core/value.ts';
import { forgetStep, replaceStep } from '../../sync/pushing/unanswered.ts';
import type { WarehouseLink } from '../link.ts';
import { strayKey } from '../rows.ts';
import { come, type EditedRecord, type EditVerdict } from './context.ts';
import { isUnderWay } from './decide-update.ts';
import { unnotedId } from './unlogged.ts';

/** A record with all that is known of it; `undefined` where no edit of it is open. */
export function findEdited({ mirror }: WarehouseLink, key: RecordKey): EditedRecord | undefined {
  const edits = mirror.edits.findOpen(key);
  if (edits.length === 0) return undefined;
  return {
    key,
    record: mirror.findRecord(key),
    agreement: mirror.findAgreement(key),
    item: mirror.findOutboxItem(key),
    edits,
  };
}

/** Keeps all that follows from a verdict. To be called in a transaction. */
export function carryOut(
  { clock, mirror }: WarehouseLink,
  { agreement, edits, key }: EditedRecord,
  verdict: EditVerdict,
): void {
  const at = clock.now();
  for (const edit of verdict.edits) mirror.edits.save(edit);
  if (verdict.step) replaceStep(mirror, verdict.step, at);
  else if (verdict.dropsStep) forgetStep(mirror, key, at);
  for (const scope of verdict.spent ?? []) mirror.dropDecision(scope);
  mirror.appendJournal(verdict.journal ?? []);
  const made = verdict.edits.find(({ newId }) => newId !== undefined);
  const now = new Map(verdict.edits.map((edit) => [edit.editId, edit]));
  const isOver = edits.every((edit) => !isOpen(now.get(edit.editId) ?? edit));
  const isFresh = mirror.edits.isNewRow(key);
  if (made) {
    keepMade(mirror, made.key, at);
  } else if (isOver && !isFresh) {
    mirror.dropAgreement(key);
  } else if (verdict.bases) {
    const isEmpty = Object.keys(verdict.bases).length === 0;
    const kept = isFresh ? agreement?.fields : undefined;
    const fields = { ...kept, ...verdict.bases };
    if (isEmpty && !kept) mirror.dropAgreement(key);
    else if (!agreement || !equalFields(agreement.fields, fields))
      mirror.saveAgreement({ ...(agreement ?? emptyAgreement(key, at)), fields });
  }
  const row = edits[0]?.row ?? key.id;
  const isGone = isClaimToken(key.id) && !made && isOver;
  if (verdict.isDue && !isClaimToken(key.id)) mirror.feed.noteDue([key]);
  if (made) mirror.feed.noteDue([made.key]);
  if (isGone) mirror.feed.noteDue([strayKey(key.entity, row)]);
}

/**
 * The base of edits that were made while the row had no record: what was sent, and what the CRM set of itself. Kept until the row has the id
 * of its record: what is edited later has a base of its own.
 */
function keepMade(mirror: WarehouseLink['mirror'], key: RecordKey, at: number): void {
  const agreement = mirror.findAgreement(key) ?? emptyAgreement(key, at);
  const made = mirror.findRecord(key)?.fields ?? {};
  mirror.saveAgreement({ ...agreement, fields: { ...made, ...agreement.fields } });
}

const revokedNote = 'It was taken back, with others that were too many to be meant.';

/**
 * Takes back what a user did not mean of a record: its row shows the CRM's values again. What is on its way is taken back like any other edit, once
 * it is known what came of it. To be called in a transaction.
 */
export function revoke(link: WarehouseLink, key: RecordKey, isRevoked: (edit: TakenEdit) => boolean): void {
  const { clock, mirror, newWord } = link;
  const occasion = { now: clock.now(), run: newWord() };
  const subject = findEdited(link, key);
  const own = subject?.edits.filter(isRevoked) ?? [];
  const [first] = own;
  if (!subject || !first) return;
  const { edits, item, record } = subject;
  if (isUnderWay(item, record) || item?.state === 'done') {
    const made = { editId: unnotedId(newWord()), before: {}, after: {}, ended: {}, at: occasion.now };
    const told = { isMeant: true, isUnlogged: true, isTold: true } as const;
    mirror.edits.save({ ...first, ...made, ...told, kind: 'revert', state: 'taken', note: '' });
    return;
  }
  carryOut(link, subject, {
    edits: own.map((edit) => come(edit, 'lost', revokedNote)),
    // The step is for what stays open, where something does: that is decided next.
    dropsStep: own.length === edits.length,
    isDue: true,
    journal: own
      .filter(({ kind }) => kind === 'update')
      .map(({ after, before }) =>
        journalEntry(occasion, key, {
          kind: 'update',
          before: after,
          after: before,
          lost: after,
          cause: 'taken back by a user',
        }),
      ),
  });
}
