import { expect, test } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import { entities, type RecordKey } from '../../src/core/record.ts';
import type { OutboxItem } from '../../src/core/state.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { takeAccount } from '../../src/sync/reading/account.ts';
import { openLeadsStage } from '../support/leads-stage.ts';

/** Five leads that a warehouse follows and has written; the first of them, and an update of its title by the side of a mirror. */
async function openFollowed() {
  const stage = await openLeadsStage();
  const { clock, mirror } = stage.link;
  mirror.setFollowers(['warehouse']);
  const warehouse = { ...stage.link, mirror: mirror.of('warehouse') };
  const { feed } = warehouse.mirror;
  const key: RecordKey = { entity: 'lead', id: await stage.firstLead() };
  feed.beginRun({
    run: 'first',
    keys: feed.takeDue(clock.now(), 99, entities).map((due) => due.key),
    at: clock.now(),
  });
  feed.endRun(1);
  const push = async (
    side: typeof warehouse,
    of: RecordKey,
    item: Pick<OutboxItem, 'kind' | 'fields' | 'base'>,
  ) => {
    side.mirror.saveOutboxItem(waitingStep({ now: clock.now(), run: 'one' }, of, item));
    expect(await pushRecord(side, of)).toBe('written');
  };
  const { title = null } = mirror.findRecord(key)?.fields ?? {};
  return { ...stage, clock, feed, key, mirror, push, title, warehouse };
}

test('an edit in the CRM ends the version before it: the edit is between the bounds of the next one', async () => {
  const { clock, editCrm, engine, feed, key, mirror, title } = await openFollowed();
  const before = clock.now();
  await editCrm(`/leads/${key.id}`, { title: 'In the CRM' });
  const after = clock.now();
  await engine.pullAll(() => undefined);
  expect(feed.takeDue(clock.now(), 99, entities)).toMatchObject([{ key }]);
  expect(feed.readVersions(key)).toMatchObject([{ fields: { title }, ended: 'changed', madeBy: 'crm' }]);
  const version = mirror.findVersion(key);
  expect(version).toMatchObject({ fields: { title: 'In the CRM' }, madeBy: 'crm' });
  expect(version?.validAfter).toBeLessThanOrEqual(before);
  expect(version?.validFrom).toBeGreaterThanOrEqual(after);
});

test('what a side sends to the CRM is a version that it has made, a record that it creates as well', async () => {
  const { clock, feed, key, link, mirror, push, title, warehouse } = await openFollowed();
  await push(warehouse, key, { kind: 'update', fields: { title: 'Of the warehouse' }, base: { title } });
  expect(mirror.findVersion(key)).toMatchObject({
    fields: { title: 'Of the warehouse' },
    madeBy: 'warehouse',
  });
  const token = { entity: 'lead', id: 'new-1' } as const;
  await push(link, token, { kind: 'create', fields: { title: 'Of the sheet' }, base: {} });
  const made = { ...token, id: String(mirror.findOutboxItem(token)?.recordId) };
  expect(mirror.findVersion(made)).toMatchObject({ fields: { title: 'Of the sheet' }, madeBy: 'sheet' });
  expect(feed.takeDue(clock.now(), 99, entities).map((due) => due.key)).toEqual([key, made]);
});

test.each(['in the CRM', 'by a side'])(
  'a record that is deleted %s is trashed when that is heard',
  async (where) => {
    const { clock, engine, feed, key, mirror, push, removeInCrm, warehouse } = await openFollowed();
    const before = clock.now();
    if (where === 'by a side') await push(warehouse, key, { kind: 'delete', fields: {}, base: {} });
    else {
      await removeInCrm(`/leads/${key.id}`);
      for (const _sweep of [1, 2]) await engine.pullAll(() => undefined);
    }
    const [version, ...others] = feed.readVersions(key);
    expect(version).toMatchObject({ ended: 'trashed' });
    expect(others).toEqual([]);
    expect(version?.validUntil).toBeGreaterThanOrEqual(before);
    expect(mirror.findVersion(key)).toBeUndefined();
    expect(feed.takeDue(clock.now(), 99, entities)).toMatchObject([{ key }]);
  },
);

test('the versions of all records are left out when another account is taken', async () => {
  const { clock, feed, key, link, mirror, title } = await openFollowed();
  const before = clock.now();
  mirror.transaction(() => takeAccount(link));
  expect(feed.countDue()).toEqual({ lead: 5 });
  const [version] = feed.readVersions(key);
  expect(version).toMatchObject({ fields: { title }, ended: 'left_out' });
  expect(version?.validUntil).toBeGreaterThanOrEqual(before);
});
