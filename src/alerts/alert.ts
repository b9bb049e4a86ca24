import type { Condition } from '../sync/conditions.ts';

/** A condition began or ended. */
export interface Alert {
  readonly event: 'began' | 'ended';
  /** The link it is about. */
  readonly link: string;
  /** As it was when it began. */
  readonly condition: Condition;
  /** Epoch ms; absent while it holds. */
  readonly endedAt?: number;
}
