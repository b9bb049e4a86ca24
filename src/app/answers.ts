import type { describeLink } from '../http/front.ts';
import { signature } from '../http/guard.ts';
import type { readWholeStatus } from '../http/status.ts';

/** Whether the response is the daemon's, and not of anything else that listens there. */
export const isOfDaemon = ({ headers }: Response): boolean => headers.get(signature.name) === signature.value;

/** What the daemon answers of one link, as its commands read it. */
export type StatusAnswer = ReturnType<typeof readWholeStatus>;

/** What the daemon of several links answers of each. */
export type LinkAnswer = ReturnType<typeof describeLink>;
