import { ownerKeys } from '../core/cascade.ts';
import type { SideStores } from '../core/mirror.ts';
import { recordKeyText } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import type { Link } from './link.ts';

/** A pause between two looks for what may be forgotten. */
export const forgetEveryMs = 60 * 60 * 1_000;

/** Forgets what is over for longer than the history is kept: its lines, and records that are gone and of which nothing is left on any side. */
export function forgetOld(
  { clock, mirror, times }: Pick<Link, 'clock' | 'mirror' | 'times'>,
  sides: readonly SideStores[],
): void {
  const before = clock.now() - times.historyMs;
  mirror.forgetJournal(before);
  const records = mirror.readRecords();
  // What outlives its lead goes on showing its name.
  const named = new Set(
    records
      .filter(({ presence }) => presence === 'present')
      .flatMap(ownerKeys)
      .map(recordKeyText),
  );
  const isOver = ({ key, lastSeenAt, presence, written }: StoredRecord): boolean =>
    presence === 'gone' &&
    Math.max(lastSeenAt, written?.at ?? lastSeenAt) < before &&
    !named.has(recordKeyText(key)) &&
    sides.every((side) => !side.findAgreement(key) && !side.findOutboxItem(key));
  mirror.transaction(() => {
    for (const { key } of records.filter(isOver)) {
      mirror.dropRecord(key);
      if (key.entity === 'lead') mirror.dropContactRead(key.id);
    }
  });
}
