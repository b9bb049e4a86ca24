import type { describeLink } from '../http/front.ts';
import type { readWholeStatus } from '../http/server.ts';

/** What the daemon answers of one link, as its commands read it. */
export type StatusAnswer = ReturnType<typeof readWholeStatus>;

/** What the daemon of several links answers of each. */
export type LinkAnswer = ReturnType<typeof describeLink>;
