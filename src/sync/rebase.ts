import type { Mirror } from '../core/mirror.ts';
import { copiedFact, saveRebase } from '../core/rebase.ts';
import { entities } from '../core/record.ts';

/**
 * Forgets what a mirror from another time claims about both sides, keeping what is known of records. What both sides hold now decides:
 * equal values are agreed again, different ones wait for a person, and nothing is written before a person agrees. `newWord` tells the
 * claims that this mirror makes from now on from all earlier ones, of which nobody knows what became.
 */
export function beginRebase(
  mirror: Mirror,
  reason: string,
  { now, newWord }: { now: number; newWord: string },
): void {
  mirror.transaction(() => {
    for (const { key } of mirror.readAgreements()) mirror.dropAgreement(key);
    for (const { key, kind, state } of mirror.readOutbox()) {
      const isOver = kind === 'create' && (state === 'done' || state === 'review');
      if (!isOver) mirror.dropOutboxItem(key);
    }
    for (const { scope } of mirror.readDecisions()) mirror.dropDecision(scope);
    for (const { id } of mirror.readOpenWrites()) mirror.dropOpenWrite(id);
    for (const entity of entities) {
      saveRebase(mirror, entity, reason);
      // What the CRM holds now has to be seen first.
      mirror.saveSweep({ entity, startedAt: now, isComplete: false, pages: 0, records: 0 });
    }
    mirror.saveFact(wordFact, newWord);
  });
}

/** Rebases a mirror that was started from a copy. Answers whether it was one. */
export function rebaseCopy(mirror: Mirror, chance: { now: number; newWord: string }): boolean {
  const copiedAt = mirror.readFact(copiedFact);
  if (!copiedAt) return false;
  beginRebase(mirror, `The mirror is a copy from ${copiedAt}.`, chance);
  mirror.saveFact(copiedFact, '');
  return true;
}

const wordFact = 'word';

/** The word in all claim tokens of this mirror. */
export function readWord(mirror: Mirror, newWord: () => string): string {
  const known = mirror.readFact(wordFact);
  if (known) return known;
  const word = newWord();
  mirror.saveFact(wordFact, word);
  return word;
}
