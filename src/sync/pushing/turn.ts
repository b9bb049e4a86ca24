import type { Sending } from '../../core/ports.ts';
import type { Link } from '../link.ts';

/** How long what was read of a record holds while the write that follows from it waits for its turn. */
export const heldForMs = 2_000;

/** So often a record is read again because its write had to wait; a CRM that is asked so seldom gets it then whatever it takes. */
const readsMax = 5;

const tooLate = new Error('The turn of a write came too late.');
const notMeant = new Error('A write is not meant any more.');

/** A write that waits for its turn. */
export interface WaitingWrite extends Omit<Sending, 'wait'> {
  /** How often its record was read for it; absent where nothing was read that grows old. */
  readonly reads?: number;
  /** Whether it is still meant, by all that became known meanwhile. */
  readonly isMeant: () => boolean;
}

/**
 * Sends a write if it is meant each time when its turn has come, and if that comes as long as what was read for it holds: the CRM can not
 * refuse one because its record moved since. One whose record was read often enough waits however long it takes. Answers `undefined` where
 * it was not sent.
 */
export async function sendInTurn<Answer>(
  { clock }: Link,
  { begin, isMeant, reads = readsMax, takeBack }: WaitingWrite,
  send: (sending: Sending) => Promise<Answer>,
): Promise<Answer | undefined> {
  const [wait, end] = [new AbortController(), new AbortController()];
  const giveUpInTime = async () => {
    await clock.sleep(heldForMs, end.signal);
    if (!end.signal.aborted) wait.abort(tooLate);
  };
  if (reads < readsMax) void giveUpInTime();
  const beginIfMeant = () => {
    if (!isMeant()) throw notMeant;
    begin();
  };
  try {
    return await send({ wait: wait.signal, begin: beginIfMeant, takeBack });
  } catch (error) {
    if (error === tooLate || error === notMeant) return undefined;
    throw error;
  } finally {
    end.abort();
  }
}
