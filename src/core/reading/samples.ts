import { type Lane, lanes } from '../ports.ts';

/** How the request budget stands: what may be sent in a window, what of it is taken, what waits, and what was ever sent. */
export interface RequestUsage {
  readonly requests: number;
  readonly windowMs: number;
  readonly taken: number;
  readonly waiting: Readonly<Record<Lane, number>>;
  /** Requests that were let go since the start, by lane. */
  readonly sent: Readonly<Record<Lane, number>>;
  /** For how long the CRM asked not to be called. */
  readonly parkedMs: number;
  /** Replies that refused a request for its rate, since the start. */
  readonly limitReplies: number;
}

/** What a link did in one stretch of time. */
export interface Sample {
  /** The end of the stretch, epoch ms. */
  readonly at: number;
  /** Requests to the CRM in this stretch, by lane. */
  readonly sent: Readonly<Record<Lane, number>>;
  /** Requests that the CRM allowed in a minute. */
  readonly allowed: number;
  /** Requests that wait for their turn. */
  readonly waiting: number;
  /** Edits on their way to the CRM. */
  readonly pending: number;
  /** Rows that were written to the table in this stretch. */
  readonly rowsWritten: number;
  /** The longest time from the last look at the table that did not have an edit to the CRM's answer. Absent when there was none. */
  readonly toCrmMs?: number | undefined;
  /** The longest time from the last look at the CRM that did not have a change to showing it in the table. Absent when there was none. */
  readonly toTableMs?: number | undefined;
}

/** An hour of stretches of ten seconds. */
export const sampleEveryMs = 10_000;
export const samplesMax = 360;

/** What was sent between two looks at the budget. */
export function sentBetween(before: RequestUsage['sent'], after: RequestUsage['sent']): Record<Lane, number> {
  const sent: Record<Lane, number> = { settle: 0, edit: 0, newest: 0, sweep: 0 };
  for (const lane of lanes) sent[lane] = after[lane] - before[lane];
  return sent;
}

/** The hour with one sample more. */
export const addSample = (samples: readonly Sample[], sample: Sample): readonly Sample[] =>
  [...samples, sample].slice(-samplesMax);
