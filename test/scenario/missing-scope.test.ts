import { expect, test } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { openLinkStage } from '../support/link-stage.ts';

const leadCount = 12;

/** A link in time that a test moves on, to a CRM whose key may not change leads. */
async function openForbidden() {
  const stage = await openLinkStage({ leads: leadCount, opportunities: 0, tasks: 1 });
  const { mirror } = stage.link;
  await stage.createEngine().pullAll(() => undefined);
  const forbidden = {
    kind: 'status',
    status: 403,
    method: 'PUT',
    path: '/leads/*',
    times: 1_000_000,
  } as const;
  stage.setCrmFaults({ faults: [forbidden] });
  let now = Date.now();
  const link = { ...stage.link, clock: { ...stage.link.clock, now: () => now } };
  /** Somebody edits all of a kind. */
  const edit = (entity: 'lead' | 'task') => {
    for (const { key, fields } of mirror.readRecords(entity)) {
      const base = { title: fields['title'] ?? null };
      const parts = { kind: 'update', fields: { title: `${base.title} edited` }, base } as const;
      mirror.saveOutboxItem(waitingStep({ now, run: 'run' }, key, parts));
    }
  };
  /** Sends what is due, every two seconds. Answers how many requests that took. */
  const push = async (seconds: number) => {
    const before = stage.model.requests().length;
    for (const end = now + seconds * 1_000; now < end; now += 2_000)
      for (const { key } of mirror.readOutbox()) await pushRecord(link, key);
    return stage.model.requests().length - before;
  };
  const mayChange = () => stage.setCrmFaults({ clear: true });
  return { edit, mayChange, mirror, push };
}

test('edits that the key may not send ask for it one for all of them, and go once it may', async () => {
  const { edit, mayChange, mirror, push } = await openForbidden();
  edit('lead');
  await push(60);
  const minutes = 10;
  // Each try reads the record first.
  expect(await push(minutes * 60)).toBeLessThanOrEqual(minutes * 2 * 2);
  expect(mirror.readOutbox()).toHaveLength(leadCount);
  mayChange();
  await push(120);
  expect(mirror.readOutbox()).toEqual([]);
});

test('edits that the key may send do not wait for those that it may not', async () => {
  const { edit, mirror, push } = await openForbidden();
  edit('lead');
  await push(60);
  edit('task');
  await push(2);
  expect(mirror.readOutbox().filter(({ key }) => key.entity === 'task')).toEqual([]);
});
