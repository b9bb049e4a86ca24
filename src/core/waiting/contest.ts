import type { JournalEntry } from '../state.ts';
import { isNotTakenBack } from '../undo.ts';
import { equalValues, type FieldName, type Value } from '../value.ts';

/** A field that does not come to rest, with what each side wants it to be. */
export interface Contest {
  readonly field: FieldName;
  readonly crm: Value;
  readonly table: Value;
  /** What was written from here on (epoch ms) is a fight by itself: who approved one before did not know of it. */
  readonly since: number;
}

/** Only what was written within this time counts. */
export const contestMs = 60 * 60 * 1_000;

/** A field is written so often in a contest, and no more. */
export const contestWritesMax = 5;

/** Whether the line of the journal tells of a value that the daemon itself carried to a side; what people take back is meant. */
const isCarried = ({ cause, kind, side }: JournalEntry): boolean =>
  side !== 'both' &&
  (kind === 'update' || kind === 'create') &&
  cause !== 'taken back' &&
  !isNotTakenBack({ cause });

/**
 * The field of a record over which its sides fight, from what the journal says of the record, oldest first; of several the one over which
 * they fought last. Somebody who works on a record changes many fields, and one field many times; in a fight the daemon writes a field to
 * one side and then to the other, or the same value to the same side again, because something changes it back each time.
 */
export function findContest(entries: readonly JournalEntry[]): Contest | undefined {
  const byField = new Map<FieldName, JournalEntry[]>();
  for (const entry of entries) {
    if (!isCarried(entry)) continue;
    for (const name of Object.keys(entry.after)) byField.set(name, [...(byField.get(name) ?? []), entry]);
  }
  const contests = [...byField].flatMap(([field, own]) => describeContest(field, own) ?? []);
  return contests.toSorted((left, right) => right.since - left.since)[0];
}

function describeContest(field: FieldName, own: readonly JournalEntry[]): Contest | undefined {
  const isFight = (entries: readonly JournalEntry[]) => countReplies(field, entries) >= contestWritesMax;
  const last = own.at(-1);
  if (!last || !isFight(own)) return undefined;
  const { at: since } = own.findLast((_, index) => isFight(own.slice(index))) ?? last;
  const after = carriedValue(last, field);
  if (last.side === 'crm') return { field, crm: last.before[field] ?? null, table: after, since };
  // What comes again and again where only the CRM's value is shown is kept as lost alone.
  return { field, crm: after, table: last.before[field] ?? last.lost[field] ?? null, since };
}

/** What was carried to the side: where the CRM made another value of what was sent, that stands beside it as lost. */
function carriedValue({ after, before, lost, side }: JournalEntry, field: FieldName): Value {
  const sent = lost[field];
  const isOverruled = sent !== undefined && equalValues(sent, before[field] ?? null);
  return side === 'crm' && sent !== undefined && !isOverruled ? sent : (after[field] ?? null);
}

/** Writes of a field that answer something which undid an earlier one. The first answers nothing. */
function countReplies(field: FieldName, entries: readonly JournalEntry[]): number {
  return entries.filter((entry, index) => {
    const earlier = entries.slice(0, index);
    const isOtherSide = earlier.length > 0 && earlier.at(-1)?.side !== entry.side;
    const isAgain = earlier.some(
      (other) =>
        other.side === entry.side && equalValues(carriedValue(other, field), carriedValue(entry, field)),
    );
    return isOtherSide || isAgain;
  }).length;
}
