import type { Sending } from '../core/ports.ts';
import type { Link } from './link.ts';

/** How long what was read of a record holds while the write that follows from it waits for its turn. */
export const heldForMs = 2_000;

/** So often a record is read again because its write had to wait; a CRM that is asked so seldom gets it then whatever it takes. */
const looksMax = 5;

const tooLate = new Error('The turn of a write came too late.');

/** A write that waits for its turn. */
interface WaitingWrite {
  /** How often the record was read for it. */
  readonly looks: number;
  /** Whether it is still meant, by all that became known since its record was read. */
  readonly isMeant: () => boolean;
}

/**
 * Sends a write if its turn comes as long as what was read holds: the CRM can not refuse one because its record moved since. One whose
 * record was read often enough waits for as long as it is meant. Answers `undefined` where it was not sent.
 */
export async function sendInTurn<Answer>(
  { clock }: Link,
  { isMeant, looks }: WaitingWrite,
  send: (wait: AbortSignal) => Promise<Answer>,
): Promise<Answer | undefined> {
  const [wait, end] = [new AbortController(), new AbortController()];
  const giveUpInTime = async () => {
    do await clock.sleep(heldForMs, end.signal);
    while (!end.signal.aborted && looks >= looksMax && isMeant());
    if (!end.signal.aborted) wait.abort(tooLate);
  };
  void giveUpInTime().catch((error: unknown) => wait.abort(error));
  try {
    return await send(wait.signal);
  } catch (error) {
    if (error === tooLate) return undefined;
    throw error;
  } finally {
    end.abort();
  }
}

const notMeant = new Error('A write is not meant any more.');

/**
 * Sends a write if it is meant each time when its turn has come, however long that takes: nothing was read for it that grows old meanwhile.
 * Answers `undefined` where it was not sent.
 */
export async function sendIfMeant<Answer>(
  isMeant: () => boolean,
  sending: Sending,
  send: (sending: Sending) => Promise<Answer>,
): Promise<Answer | undefined> {
  const begin = () => {
    if (!isMeant()) throw notMeant;
    sending.begin();
  };
  try {
    return await send({ ...sending, begin });
  } catch (error) {
    if (error === notMeant) return undefined;
    throw error;
  }
}
