import type { Session } from '../connection.ts';

export interface Isolation<Item, Effect> {
  /** Writes all of them; what it did counts only if it does not fail. */
  apply(items: readonly Item[]): Promise<Effect>;
  /** Whether an error is about one of the items. */
  isRefusal(error: unknown): boolean;
  /** Called for each item that was refused alone. */
  refuse(item: Item, error: unknown): void;
  /** Called for items some of which are refused, where too many attempts were made to find out which. */
  leave(items: readonly Item[]): void;
}

/** A write with many rows that cannot be written is not to hold its locks for long: each attempt is some round trips. */
const attemptsMax = 100;

/**
 * Applies the items together, and where one is refused, by halves, until it is found: all others are written, as long as there are not too
 * many of these. Each attempt has a savepoint. Returns what the attempts did that succeeded.
 */
export async function isolate<Item, Effect>(
  session: Session,
  items: readonly Item[],
  isolation: Isolation<Item, Effect>,
  attempts = { count: 0 },
): Promise<readonly Effect[]> {
  if (items.length === 0) return [];
  attempts.count += 1;
  await session.run('SAVEPOINT crm_rows');
  try {
    const effect = await isolation.apply(items);
    await session.run('RELEASE SAVEPOINT crm_rows');
    return [effect];
  } catch (error) {
    if (!isolation.isRefusal(error)) throw error;
    await session.runTogether('ROLLBACK TO SAVEPOINT crm_rows; RELEASE SAVEPOINT crm_rows');
    const [first] = items;
    if (items.length === 1 && first !== undefined) {
      isolation.refuse(first, error);
      return [];
    }
    if (attempts.count >= attemptsMax) {
      isolation.leave(items);
      return [];
    }
  }
  const middle = Math.ceil(items.length / 2);
  const former = await isolate(session, items.slice(0, middle), isolation, attempts);
  const latter = await isolate(session, items.slice(middle), isolation, attempts);
  return [...former, ...latter];
}
