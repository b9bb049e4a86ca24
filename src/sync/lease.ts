import { SyncError } from '../core/errors.ts';
import { facts } from '../core/facts.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Fence } from '../core/ports.ts';

/** The right to run a link for some time, renewed again and again. Each is given under a greater token than all before it. */
export interface Lease extends Fence {
  readonly link: string;
  readonly token: number;
  /** The token under which a mirror of the link was last opened; `undefined` where nobody knows. */
  readonly openedUnder: number | undefined;
  /** Names what gives leases of the link one after the other; absent where it has no name that a copy of it would not have as well. */
  readonly board?: string | undefined;
  /** Whether somebody else has it or may have had it: it does not come back. One that was only not renewed in time may. */
  readonly isLost: boolean;
}

/** Who runs a link. */
export interface Holder {
  /** The process, by a word of its own. */
  readonly process: string;
  /** The address of its HTTP side. */
  readonly url: string;
}

/** All that was agreed on at one moment. */
export interface BoardView {
  /** Links that anybody runs. */
  readonly holders: ReadonlyMap<string, Holder>;
  /** Every process that lives, this one among them, by its word. */
  readonly processes: readonly string[];
}

/** Where processes agree on who runs which link. */
export interface LeaseBoard {
  /** The word of this process. */
  readonly process: string;
  /**
   * Says that this process lives under the address, renews the leases it has, and looks at all links. Fails with QUEUE_UNREACHABLE.
   */
  look(url: string): Promise<BoardView>;
  /** Takes a link that nobody runs; `undefined` where somebody was faster. Fails with QUEUE_UNREACHABLE. */
  take(link: string): Promise<Lease | undefined>;
  /** Tells that the mirror was opened under the lease. Fails with QUEUE_UNREACHABLE. */
  noteOpened(lease: Lease): Promise<void>;
  /** Gives a link back, so that others can take it at once. One that does not arrive ends by itself. */
  release(lease: Lease): Promise<void>;
  /** Leaves the others. */
  close(): Promise<void>;
}

/** The greatest token under which the mirror was opened; 0 for none. */
export const readToken = (mirror: Mirror): number => mirror.readFact(facts.leaseToken) ?? 0;

/**
 * Opens the mirror under a lease. Fails with LEASE_ENDED when it was opened under a greater token: whoever was slow, or asked a Redis that has
 * lost its count, is not the one to run the link. A mirror that another one of the link has outrun is rebased, because what it remembers
 * is not what was last agreed; returns whether it was. `rebase` is called in a transaction, with the reason.
 */
export function enterMirror(mirror: Mirror, lease: Lease, rebase: (reason: string) => void): boolean {
  const seen = readToken(mirror);
  if (seen >= lease.token)
    throw new SyncError(
      'LEASE_ENDED',
      `The mirror was opened under token ${seen}, and this lease has ${lease.token}.`,
    );
  const isOutrun = seen < (lease.openedUnder ?? 0);
  mirror.transaction(() => {
    if (isOutrun) rebase('The link was run with another mirror since this one was used.');
    mirror.saveFact(facts.leaseToken, lease.token);
  });
  return isOutrun;
}
