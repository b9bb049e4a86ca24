import { advance, waitingStep } from '../../core/outbox.ts';
import { hasMoved } from '../../core/state.ts';
import type { TakenEdit } from '../../core/taken-edit.ts';
import { type Fields, pickFields } from '../../core/value.ts';
import { refusedScope, vanishedScope } from '../../core/waiting/scopes.ts';
import { rowIdOf } from '../rows.ts';
import {
  come,
  type EditContext,
  type EditedRecord,
  type EditVerdict,
  ignoredBy,
  nothingToDo,
} from './context.ts';
import { isUnderWay } from './decide-update.ts';

const beaten = 'It was edited in the CRM since: a delete does not beat an edit.';

/**
 * Decides about a record whose row was deleted by SQL. It goes to the trash only where a user or the rule says so, and never where it was
 * edited in the CRM since.
 */
export function decideDelete(context: EditContext, subject: EditedRecord): EditVerdict {
  const { edits, item, key, record } = subject;
  if (!record || isUnderWay(item, record)) return nothingToDo;
  const scopes = [vanishedScope(key), refusedScope(key)];
  const spent = scopes.filter((scope) => context.choice(scope) !== undefined);
  const base = basesOf(subject);
  const comesBack = (note: string, state: TakenEdit['state']): EditVerdict => ({
    edits: edits.map((edit) => come(edit, edit === edits.at(-1) ? state : 'superseded', note)),
    dropsStep: item !== undefined,
    isDue: true,
    spent,
  });
  const meaning = meaningOf(context, subject);
  if (hasMoved(base, record)) return comesBack(beaten, 'lost');
  if (meaning === 'restore') return comesBack('The row was put back.', 'lost');
  if (meaning === 'trash') return sendDelete(context, subject, base);
  const reason = `Its row was deleted by SQL. Trash ${meansOf(context, subject)}, Restore brings the row back.`;
  const waiting = edits.map((edit) => come(edit, edit === edits.at(-1) ? 'held' : 'superseded', reason));
  return {
    edits: changed(waiting, edits),
    dropsStep: item !== undefined,
    bases: base,
    holds: [{ ...key, reason, decision: vanishedScope(key) }],
  };
}

function sendDelete(
  context: EditContext,
  { edits, item, key, record }: EditedRecord,
  base: Fields,
): EditVerdict {
  const scope = refusedScope(key);
  const answer = context.choice(scope);
  const last = edits.at(-1);
  const tell = (state: TakenEdit['state'], note: string) =>
    changed(
      edits.map((edit) => come(edit, edit === last ? state : 'superseded', note)),
      edits,
    );
  if (item?.kind === 'delete' && item.state === 'refused' && answer !== 'retry') {
    const reason = item.error?.message ?? 'The CRM does not delete it.';
    return {
      edits: tell('refused', reason),
      bases: base,
      refusals: [{ ...key, reason, decision: scope, ...ignoredBy(answer) }],
    };
  }
  if (item?.kind === 'delete' && item.state !== 'refused')
    return { edits: tell('taken', item.error?.message ?? ''), bases: base };
  if (item?.kind === 'delete')
    return {
      edits: tell('taken', ''),
      bases: base,
      step: advance(item, 'retried', { at: context.now, run: context.run }),
      spent: [scope],
    };
  const known = pickFields(record?.fields ?? {}, Object.keys(base));
  // Who answered knew what goes with it; by the rule it is meant with what there was when the row was deleted.
  const meantAt = context.answeredAt(vanishedScope(key)) ?? last?.at ?? context.now;
  const shownUntil = Math.min(meantAt, context.now);
  return {
    edits: tell('taken', ''),
    bases: base,
    step: waitingStep(context, key, { kind: 'delete', fields: {}, base: known, shownUntil }),
  };
}

const changed = (now: readonly TakenEdit[], before: readonly TakenEdit[]): readonly TakenEdit[] =>
  now.filter((edit, place) => edit !== before[place]);

/**
 * What the CRM had when the row was deleted, as far as people may change it: what the row showed, but what earlier edits had made of it. A row
 * that had no record yet shows as empty what the CRM set of itself.
 */
function basesOf({ agreement, edits, key }: EditedRecord): Fields {
  let base: Fields = {};
  for (const { before, row } of edits.toReversed()) {
    const isOfNew = row !== rowIdOf(key);
    const known = Object.entries(before).filter(([, value]) => !isOfNew || value !== null);
    base = { ...base, ...Object.fromEntries(known) };
  }
  return { ...base, ...agreement?.fields };
}

/** What the CRM has no trash for only a user may delete. */
function meaningOf({ choice, policy }: EditContext, { key }: EditedRecord): string {
  if (choice(refusedScope(key)) === 'revert') return 'restore';
  const rule = key.entity === 'contact' && policy.deletes === 'trash' ? 'ask' : policy.deletes;
  return choice(vanishedScope(key)) ?? rule;
}

function meansOf({ companyOf }: EditContext, { key }: EditedRecord): string {
  if (key.entity === 'contact') return 'deletes the contact for good';
  const company = companyOf(key);
  return `moves the record to the trash of the CRM${company === '' ? '' : ` and ${company} with it`}`;
}
