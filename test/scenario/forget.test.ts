import { expect, test } from 'vitest';
import { recordKeyText } from '../../src/core/record.ts';
import { emptyAgreement } from '../../src/core/state.ts';
import { forgetOld } from '../../src/sync/forget.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { lead, outboxItem, storedRecord } from '../support/mirror-directory.ts';
import { until } from '../support/until.ts';

test('a daemon forgets records that went longer ago than its history is kept, but those that something still speaks of', async () => {
  const { createEngine, link } = await openLinkStage({ leads: 0, opportunities: 0, tasks: 0 });
  const { mirror, times } = link;
  const now = link.clock.now();
  const old = now - times.historyMs - 1_000;
  const gone = { presence: 'gone', fields: {}, observedAt: old, lastSeenAt: old } as const;
  for (const id of ['1', '2', '3', '4', '5']) mirror.saveRecord(storedRecord(lead(id), gone));
  mirror.saveRecord(storedRecord(lead('6'), { ...gone, lastSeenAt: now }));
  mirror.saveRecord(storedRecord(lead('7'), { ...gone, written: { at: now, before: {} } }));
  mirror.saveRecord(storedRecord(lead('8'), { ...gone, presence: 'present' }));
  mirror.saveAgreement({ ...emptyAgreement(lead('2'), old), fields: { title: 'Its row is held' } });
  mirror.saveOutboxItem(outboxItem(lead('3'), { state: 'refused' }));
  const task = { entity: 'task', id: '9' } as const;
  mirror.saveRecord(storedRecord(task, { fields: { lead_id: 4 } }));
  mirror.saveContactRead({ leadId: '1', at: old, leadVersion: '' });
  await createEngine().start();
  await until('it forgot', async () => mirror.findRecord(lead('1')) === undefined);
  const left = mirror.readRecords().map(({ key }) => recordKeyText(key));
  expect(left).toEqual(['lead-2', 'lead-3', 'lead-4', 'lead-6', 'lead-7', 'lead-8', 'task-9']);
  expect(mirror.readContactReads()).toEqual([]);
});

const dayMs = 24 * 60 * 60 * 1_000;

/** A mirror with a line of the history for each of the last days, and a way to forget at some time. */
async function openHistory(days: number) {
  const { link, log } = await openLinkStage({ leads: 0, opportunities: 0, tasks: 0 });
  const { mirror } = link;
  const now = link.clock.now();
  const line = {
    run: 'r',
    key: lead('1'),
    kind: 'update',
    side: 'crm',
    before: {},
    lost: {},
    cause: 'edited',
  } as const;
  mirror.appendJournal(
    Array.from({ length: days }, (_, day) => ({
      ...line,
      at: now - (days - day) * dayMs,
      after: { title: 'a' },
    })),
  );
  /** Returns how many lines are left. */
  const forgetAt = (at: number, keptDays: number): number => {
    const times = { ...link.times, historyMs: keptDays * dayMs };
    forgetOld({ ...link, times, clock: { ...link.clock, now: () => at } }, [mirror]);
    return mirror.searchJournal({}).length;
  };
  return { forgetAt, log, now };
}

test('a clock that jumps forward by years takes a tenth of the history a day, and it is said how much went', async () => {
  const { forgetAt, log, now } = await openHistory(300);
  const later = now + 10 * 365 * dayMs;
  expect(forgetAt(now, 300)).toBe(300);
  // Once a day, also where the clock goes back and forth.
  expect(forgetAt(later, 300)).toBe(270);
  expect(forgetAt(later + dayMs / 2, 300)).toBe(270);
  expect(forgetAt(now, 300)).toBe(270);
  expect(forgetAt(now + dayMs / 2, 300)).toBe(270);
  expect(forgetAt(later + 2 * dayMs, 300)).toBe(240);
  const said = log.lines.filter(({ event }) => event === 'history.forgotten');
  expect(said.map(({ fields }) => fields)).toMatchObject([{ lines: 30 }, { lines: 30 }]);
});

test('a history that is kept for a day is a day long, and one that is to be kept for less is shortened at once', async () => {
  const { forgetAt, now } = await openHistory(300);
  expect(forgetAt(now, 300)).toBe(300);
  expect(forgetAt(now + dayMs, 30)).toBe(29);
  expect(forgetAt(now + 2 * dayMs, 1)).toBe(0);
  const short = await openHistory(10);
  const left = Array.from({ length: 8 }, (_, day) => short.forgetAt(short.now + day * dayMs, 1));
  expect(left).toEqual([8, 6, 4, 2, 0, 0, 0, 0]);
});
