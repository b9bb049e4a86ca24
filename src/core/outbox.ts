import type { RecordId, RecordKey } from './record.ts';
import type { OutboxItem, OutboxState } from './state.ts';

/** What differs from step to step. */
type StepParts = Pick<OutboxItem, 'kind' | 'fields' | 'base'> &
  Partial<Pick<OutboxItem, 'notice' | 'shownUntil'>>;

/** Returns a step that was just planned: it waits, may be sent at once, and takes the place of what the record had in the outbox. */
export const waitingStep = (
  { now, run }: { readonly now: number; readonly run: string },
  key: RecordKey,
  parts: StepParts,
): OutboxItem => ({
  key,
  state: 'waiting',
  notice: '',
  run,
  createdAt: now,
  dueAt: now,
  attempts: 0,
  looks: 0,
  ...parts,
});

type Failure = NonNullable<OutboxItem['error']>;

/** When the attempt before the last one left, if there was one: what came of that is as open as it was. Times are epoch ms. */
interface Earlier {
  readonly sentBefore: number | undefined;
}

/** What can happen to an outbox item, and what has to be known of it. */
export interface OutboxEvents {
  /** The request leaves. */
  readonly sent: { readonly at: number };
  /** The CRM refused the request for its rate or its key, so it surely did nothing, and waits for another turn. */
  readonly turnedAway: Earlier;
  /** The record of a create is known, by the answer or by a look. */
  readonly created: { readonly recordId: RecordId };
  /** An update or a delete is done, by the answer or by a look. */
  readonly applied: Nothing;
  /** The CRM does not take it. */
  readonly refused: Earlier & { readonly error: Failure };
  /** It surely did nothing, and is tried again. */
  readonly failed: Earlier & { readonly error: Failure; readonly dueAt: number };
  /** It was sent, and the answer does not say what came of it. */
  readonly unanswered: { readonly error: Failure; readonly dueAt: number };
  /** The process ended before the answer, or could not note it. */
  readonly interrupted: { readonly dueAt: number };
  /** The look for what a create made failed. */
  readonly lookFailed: { readonly dueAt: number };
  /** The look did not find the record. */
  readonly notFound: { readonly dueAt: number };
  /** The record was looked for often enough: it does not exist. */
  readonly neverCreated: { readonly at: number };
  /** The look found records that may be the one. */
  readonly ambiguous: { readonly error: Failure };
  /** Another step goes first. */
  readonly postponed: { readonly dueAt: number };
  /** Nobody will find out what came of the attempts so far. */
  readonly untraceable: Nothing;
  /** The same, because the record is not as it was when the step was planned. */
  readonly outdated: Nothing;
  /** A user wants it tried once more. */
  readonly retried: { readonly at: number; readonly run: string };
  /** A user leaves both sides as they are. */
  readonly ignored: Nothing;
  /** A user wants the CRM's values back; `fields` is what the row still shows of it. */
  readonly reverted: Pick<OutboxItem, 'fields' | 'base'>;
  /** It is not meant any more. */
  readonly dropped: Nothing;
}

type Nothing = Readonly<Record<string, never>>;

export type OutboxEvent = keyof OutboxEvents;

/** The item after an event; nothing is left of it where that ends it. */
export type After<Event extends OutboxEvent> = Event extends 'applied' | 'dropped' ? undefined : OutboxItem;

type Next = OutboxState | 'over';

interface Transition<Event extends OutboxEvent> {
  /** What each state becomes; from a state that is not there the event is impossible. */
  readonly becomes: Readonly<
    Partial<Record<OutboxState, Next | { readonly create: Next; readonly other: Next }>>
  >;
  /** What changes with the state. */
  readonly sets: (item: OutboxItem, details: OutboxEvents[Event]) => Partial<OutboxItem>;
}

const given = <Details>(_: OutboxItem, details: Details): Details => details;

/** Only a create can be `unknown` or `done`: an update or a delete is read again before it is repeated, and then over. */
const transitions: { readonly [Event in OutboxEvent]: Transition<Event> } = {
  sent: {
    becomes: { waiting: 'sending' },
    sets: ({ attempts }, { at }) => ({ sentAt: at, attempts: attempts + 1 }),
  },
  turnedAway: {
    becomes: { sending: 'waiting' },
    sets: ({ attempts }, { sentBefore }) => ({ sentAt: sentBefore, attempts: attempts - 1 }),
  },
  created: {
    becomes: { sending: 'done', unknown: 'done' },
    sets: (_, { recordId }) => ({ recordId, error: undefined }),
  },
  applied: { becomes: { waiting: 'over', sending: 'over' }, sets: given },
  refused: {
    becomes: { waiting: 'refused', sending: 'refused' },
    sets: (item, { error, sentBefore }) => ({ error, sentAt: withoutAttempt(item, sentBefore) }),
  },
  failed: {
    becomes: { waiting: 'waiting', sending: 'waiting' },
    sets: (item, { dueAt, error, sentBefore }) => ({
      dueAt,
      error,
      sentAt: withoutAttempt(item, sentBefore),
      // One that did not even leave counts as well.
      attempts: item.attempts + (item.state === 'waiting' ? 1 : 0),
    }),
  },
  unanswered: {
    becomes: { sending: { create: 'unknown', other: 'waiting' } },
    sets: ({ kind, looks }, { dueAt, error }) => ({
      dueAt,
      error,
      looks: looks + (kind !== 'create' && error.code === 'CRM_UNKNOWN_OUTCOME' ? 1 : 0),
    }),
  },
  interrupted: { becomes: { sending: { create: 'unknown', other: 'waiting' } }, sets: given },
  lookFailed: {
    becomes: { unknown: 'unknown' },
    sets: ({ attempts }, { dueAt }) => ({ dueAt, attempts: attempts + 1 }),
  },
  notFound: {
    becomes: { unknown: 'unknown' },
    sets: ({ looks }, { dueAt }) => ({ dueAt, looks: looks + 1 }),
  },
  neverCreated: {
    becomes: { unknown: 'waiting' },
    sets: (_, { at }) => ({ sentAt: undefined, looks: 0, dueAt: at }),
  },
  ambiguous: { becomes: { unknown: 'review' }, sets: given },
  postponed: { becomes: { waiting: 'waiting', unknown: 'unknown' }, sets: given },
  untraceable: { becomes: { waiting: 'waiting' }, sets: () => ({ sentAt: undefined }) },
  outdated: { becomes: { waiting: 'review' }, sets: () => ({ sentAt: undefined }) },
  retried: {
    becomes: { waiting: 'waiting', refused: 'waiting' },
    sets: (_, { at, run }) => ({ run, dueAt: at, attempts: 0, looks: 0, error: undefined }),
  },
  ignored: { becomes: { waiting: 'refused' }, sets: given },
  reverted: { becomes: { waiting: 'refused', refused: 'refused' }, sets: given },
  dropped: {
    becomes: {
      waiting: 'over',
      sending: 'over',
      unknown: 'over',
      refused: 'over',
      review: 'over',
      done: 'over',
    },
    sets: given,
  },
};

const withoutAttempt = ({ sentAt, state }: OutboxItem, sentBefore: number | undefined): number | undefined =>
  state === 'sending' ? sentBefore : sentAt;

/** Returns the item as the event leaves it. Fails where the table has no such transition. */
export function advance<Event extends OutboxEvent>(
  item: OutboxItem,
  event: Event,
  details: OutboxEvents[Event],
): After<Event> {
  const { becomes, sets }: Transition<Event> = transitions[event];
  const found = becomes[item.state];
  const state = typeof found === 'object' ? found[item.kind === 'create' ? 'create' : 'other'] : found;
  if (state === undefined)
    throw new Error(`No outbox item that is ${item.state} can meet the event ${event}.`);
  const next = state === 'over' ? undefined : { ...item, ...sets(item, details), state };
  return next as After<Event>;
}
