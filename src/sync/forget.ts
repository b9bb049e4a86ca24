import { ownerKeys } from '../core/cascade.ts';
import { facts } from '../core/facts.ts';
import type { Mirror } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import type { Link } from './link.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/** Of the history at most so much is forgotten in a day: a clock that is set wrong by a year takes a part of it, and there is time to see that. */
const dailyShare = 0.1;
const dailyMin = 1_000;

/**
 * Forgets once a day what is over for longer than the history is kept: its lines, the oldest first, and records that are gone and of which
 * nothing is left on any side. Says what it forgot.
 */
export function forgetOld({ clock, log, mirror, times }: Link, sides: readonly Mirror[]): void {
  const now = clock.now();
  const [forgotAt = Number.NEGATIVE_INFINITY, linesBefore = 0] = mirror.readFact(facts.forgotten) ?? [];
  if (Math.abs(now - forgotAt) < dayMs) return;
  const linesMax = Math.max(dailyMin, Math.floor(mirror.countJournal() * dailyShare));
  mirror.transaction(() => {
    const { before, lines } = mirror.forgetJournal(now - times.historyMs, linesMax);
    const records = mirror.readRecords();
    const over = findOver(records, sides, before);
    for (const { key } of over) {
      mirror.dropRecord(key);
      if (key.entity === 'lead') mirror.dropContactRead(key.id);
    }
    mirror.saveFact(facts.forgotten, [now, linesBefore + lines]);
    if (lines + over.length > 0)
      log.info('history.forgotten', { lines, records: over.length, before: new Date(before).toISOString() });
  });
}

function findOver(
  records: readonly StoredRecord[],
  sides: readonly Mirror[],
  before: number,
): readonly StoredRecord[] {
  // What outlives its lead goes on showing its name.
  const present = records.filter(({ presence }) => presence === 'present');
  const named = new Set(present.flatMap(ownerKeys).map(recordKeyText));
  return records.filter(
    ({ key, lastSeenAt, presence, written }) =>
      presence === 'gone' &&
      Math.max(lastSeenAt, written?.at ?? lastSeenAt) < before &&
      !named.has(recordKeyText(key)) &&
      sides.every((side) => !side.findAgreement(key) && !side.findOutboxItem(key)),
  );
}
