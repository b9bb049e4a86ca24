import { journalEntry } from '../../core/journal-entry.ts';
import { isClaimToken } from '../../core/record.ts';
import { isUnanswered } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { differingFields, equalValues, type Fields } from '../../core/value.ts';
import { come, type EditContext, type EditedRecord, type EditVerdict, nothingToDo } from './context.ts';
import { decideCreate } from './decide-create.ts';
import { decideDelete } from './decide-delete.ts';
import { decideUpdate, isUnderWay } from './decide-update.ts';

/** Decides what becomes of a record with open edits. */
export function decideEdits(context: EditContext, subject: EditedRecord): EditVerdict {
  const { edits, item, key, record } = subject;
  if (edits.length === 0) return nothingToDo;
  // What a create has made is taken back as a record.
  if (isClaimToken(key.id) && item?.state === 'done') return decideCreate(context, subject);
  if (edits.at(-1)?.kind === 'revert') return isUnderWay(item, record) ? nothingToDo : takeBack(subject);
  if (isClaimToken(key.id)) return decideCreate(context, subject);
  if (!record && !context.isRead(key)) return nothingToDo;
  if (!record || record.presence === 'gone')
    return isUnanswered(item) ? nothingToDo : endAll(context, subject);
  return edits.at(-1)?.kind === 'delete' ? decideDelete(context, subject) : decideUpdate(context, subject);
}

/** A user wants the values of the CRM back in the row; one that was inserted goes again. What the CRM took before that stays there. */
const takeBack = ({ agreement, edits, item }: EditedRecord): EditVerdict => ({
  edits: edits.map((edit) =>
    edit.kind === 'revert' || !wasTaken(edit, agreement?.fields ?? {})
      ? come(edit, edit.kind === 'revert' ? 'done' : 'superseded', takenBack)
      : come(edit, 'done', takenBefore),
  ),
  dropsStep: item !== undefined,
  isDue: true,
});

const takenBack = 'It was taken back.';
const takenBefore = 'The CRM took it before it was taken back.';

/** Whether what was sent and is agreed on is what the edit wrote. */
const wasTaken = ({ after, before, kind }: TakenEdit, agreed: Fields): boolean =>
  kind === 'update' &&
  differingFields(agreed, before).some((name) => equalValues(agreed[name] ?? null, after[name] ?? null));

const goneNote = 'The CRM does not have the record any more.';

/** The record is gone: what was deleted is done, and what was edited is kept in the history. */
function endAll(context: EditContext, { edits, item, key }: EditedRecord): EditVerdict {
  const lost = Object.assign({}, ...edits.filter(({ kind }) => kind === 'update').map(({ after }) => after));
  return {
    edits: edits.map((edit) => (edit.kind === 'delete' ? come(edit, 'done') : come(edit, 'lost', goneNote))),
    dropsStep: item !== undefined,
    isDue: true,
    journal:
      Object.keys(lost).length === 0
        ? []
        : [
            journalEntry(context, key, {
              kind: 'update',
              lost,
              cause: 'edited by SQL after its record was gone',
            }),
          ],
  };
}
