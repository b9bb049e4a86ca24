import { ownerKeys } from '../core/cascade.ts';
import { facts } from '../core/facts.ts';
import type { Mirror } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import type { Link } from './link.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/** A day forgets at most this part of the time for which the history is kept: where the clock is wrong by years, an operator has time to see that. */
const dailyShare = 0.1;
const dailyMinMs = 2 * dayMs;

/**
 * Forgets once a day what is older than the history is kept: its lines, and records that are gone and of which no side keeps anything. Logs
 * what it forgot. Where the settings shorten the history, all that is older goes at once.
 */
export function forgetOld({ clock, log, mirror, times }: Link, sides: readonly Mirror[]): void {
  const { historyMs } = times;
  const now = clock.now();
  const last = mirror.readFact(facts.forgotten);
  // The clock was ahead: the day begins anew.
  if (last && now < last.at) return mirror.saveFact(facts.forgotten, { ...last, at: now });
  if (last && now - last.at < dayMs) return;
  const oldest = mirror.findOldestLine() ?? now;
  const stepMs = Math.max(dailyMinMs, historyMs * dailyShare);
  const isLess = last !== undefined && historyMs < last.historyMs;
  const before = isLess ? now - historyMs : Math.min(now - historyMs, oldest + stepMs);
  mirror.transaction(() => {
    const lines = mirror.forgetJournal(before);
    const over = findOver(mirror.readRecords(), sides, before);
    for (const { key } of over) {
      mirror.dropRecord(key);
      if (key.entity === 'lead') mirror.dropContactRead(key.id);
    }
    mirror.saveFact(facts.forgotten, { at: now, lines: (last?.lines ?? 0) + lines, historyMs });
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
