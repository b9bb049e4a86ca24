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

test('a clock that jumps forward by years takes a tenth of the history a day, and it is said how much went', async () => {
  const { link, log } = await openLinkStage({ leads: 0, opportunities: 0, tasks: 0 });
  const { mirror } = link;
  const dayMs = 24 * 60 * 60 * 1_000;
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
  const lines = Array.from({ length: 20_000 }, (_, number) => ({
    ...line,
    at: now - 20_000 + number,
    after: { title: 'a' },
  }));
  mirror.appendJournal(lines);
  const forgetAt = (at: number) => forgetOld({ ...link, clock: { ...link.clock, now: () => at } }, [mirror]);
  const later = now + 10 * 365 * dayMs;
  const left = [later, later + dayMs / 2, later + dayMs].map((at) => {
    forgetAt(at);
    return mirror.countJournal();
  });

  expect(left).toEqual([18_000, 18_000, 16_200]);
  expect(mirror.searchJournal({ limit: 1 })[0]?.at).toBe(now - 1);
  expect(
    log.lines.filter(({ event }) => event === 'history.forgotten').map(({ fields }) => fields),
  ).toMatchObject([{ lines: 2_000 }, { lines: 1_800 }]);
});
