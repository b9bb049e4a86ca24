import { expect, test } from 'vitest';
import { advance, type OutboxEvent, type OutboxEvents } from '../../src/core/outbox.ts';
import type { OutboxItem, OutboxKind, OutboxState } from '../../src/core/state.ts';
import { outboxItem } from '../support/mirror-directory.ts';

const refused = { code: 'CRM_REFUSED', message: 'The title is taken.' } as const;
const unclear = { code: 'CRM_UNKNOWN_OUTCOME', message: 'POST /leads timed out.' } as const;
const reverted = { fields: { title: 'Shown' }, base: { title: 'Former' } };

const details: OutboxEvents = {
  sent: { at: 50 },
  turnedAway: { sentBefore: 20 },
  created: { recordId: '77' },
  applied: {},
  refused: { error: refused, sentBefore: 20 },
  failed: { error: refused, dueAt: 60, sentBefore: 20 },
  unanswered: { error: unclear, dueAt: 60 },
  interrupted: { dueAt: 60 },
  lookFailed: { dueAt: 60 },
  notFound: { dueAt: 60 },
  neverCreated: { at: 60 },
  ambiguous: { error: unclear },
  postponed: { dueAt: 60 },
  untraceable: {},
  outdated: {},
  retried: { at: 60, run: 'run-2' },
  ignored: {},
  reverted,
  dropped: {},
};

/** Each item before an event: it was sent at 30. */
const before = {
  attempts: 4,
  looks: 2,
  dueAt: 10,
  sentAt: 30,
  error: { code: 'CRM_UNREACHABLE', message: 'No route.' },
} as const;

/** What an item becomes: its state and the fields that change with it; `over` where nothing is left of it. */
type Outcome = 'over' | (Pick<OutboxItem, 'state'> & Partial<OutboxItem>);

/** All that may happen. In a state that an event does not name it is impossible. */
const outcomesOf = (kind: OutboxKind): Record<OutboxEvent, Partial<Record<OutboxState, Outcome>>> => ({
  sent: { waiting: { state: 'sending', sentAt: 50, attempts: 5 } },
  turnedAway: { sending: { state: 'waiting', sentAt: 20, attempts: 3 } },
  created: {
    sending: { state: 'done', recordId: '77', error: undefined },
    unknown: { state: 'done', recordId: '77', error: undefined },
  },
  applied: { waiting: 'over', sending: 'over' },
  refused: {
    waiting: { state: 'refused', error: refused },
    sending: { state: 'refused', error: refused, sentAt: 20 },
  },
  failed: {
    waiting: { state: 'waiting', error: refused, dueAt: 60, attempts: 5 },
    sending: { state: 'waiting', error: refused, dueAt: 60, sentAt: 20 },
  },
  unanswered: {
    sending:
      kind === 'create'
        ? { state: 'unknown', error: unclear, dueAt: 60 }
        : { state: 'waiting', error: unclear, dueAt: 60, looks: 3 },
  },
  interrupted: { sending: { state: kind === 'create' ? 'unknown' : 'waiting', dueAt: 60 } },
  lookFailed: { unknown: { state: 'unknown', dueAt: 60, attempts: 5 } },
  notFound: { unknown: { state: 'unknown', dueAt: 60, looks: 3 } },
  neverCreated: { unknown: { state: 'waiting', dueAt: 60, looks: 0, sentAt: undefined } },
  ambiguous: { unknown: { state: 'review', error: unclear } },
  postponed: { waiting: { state: 'waiting', dueAt: 60 }, unknown: { state: 'unknown', dueAt: 60 } },
  untraceable: { waiting: { state: 'waiting', sentAt: undefined } },
  outdated: { waiting: { state: 'review', sentAt: undefined } },
  retried: {
    waiting: { state: 'waiting', run: 'run-2', dueAt: 60, attempts: 0, looks: 0, error: undefined },
    refused: { state: 'waiting', run: 'run-2', dueAt: 60, attempts: 0, looks: 0, error: undefined },
  },
  ignored: { waiting: { state: 'refused' } },
  reverted: { waiting: { state: 'refused', ...reverted }, refused: { state: 'refused', ...reverted } },
  dropped: {
    waiting: 'over',
    sending: 'over',
    unknown: 'over',
    refused: 'over',
    review: 'over',
    done: 'over',
  },
});

const kinds = ['create', 'update', 'delete'] as const;
const states = ['waiting', 'sending', 'unknown', 'refused', 'review', 'done'] as const;
const events = Object.keys(details) as OutboxEvent[];

test.each(
  kinds.flatMap((kind) => states.flatMap((state) => events.map((event) => [kind, state, event] as const))),
)('the %s that is %s meets the event %s as listed here, or not at all', (kind, state, event) => {
  const item = outboxItem({ entity: 'lead', id: '1' }, { ...before, kind, state });
  const outcome = outcomesOf(kind)[event][state];
  const meet = () => advance(item, event, details[event]);
  if (outcome === undefined)
    expect(meet).toThrow(`No outbox item that is ${state} can meet the event ${event}.`);
  else expect(meet()).toEqual(outcome === 'over' ? undefined : { ...item, ...outcome });
});

test('an update whose answer cannot be read is sent again without counting as one that the CRM fails on', () => {
  const item = outboxItem({ entity: 'lead', id: '1' }, { ...before, state: 'sending' });
  const error = { code: 'CRM_UNREADABLE', message: 'It answered a page.' } as const;
  expect(advance(item, 'unanswered', { error, dueAt: 60 })).toEqual({
    ...item,
    state: 'waiting',
    error,
    dueAt: 60,
  });
});
