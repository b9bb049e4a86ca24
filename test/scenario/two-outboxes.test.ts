import { expect, test } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { undo } from '../../src/sync/undo.ts';
import { openLeadsStage } from '../support/leads-stage.ts';

/** A lead that two sides keep the same, each with an outbox of its own. */
async function openTwoSides() {
  const stage = await openLeadsStage();
  const { link, titles } = stage;
  const id = await stage.firstLead();
  const key = { entity: 'lead', id } as const;
  const warehouse = { ...link, mirror: link.mirror.of('warehouse') };
  const fields = link.mirror.findRecord(key)?.fields ?? {};
  const occasion = { now: link.clock.now(), run: 'one' };
  const edit = (title: string) =>
    waitingStep(occasion, key, {
      kind: 'update',
      fields: { title },
      base: { title: fields['title'] ?? null },
    });
  const titleInCrm = async () => [...(await titles()).crm].find(([known]) => String(known) === id)?.[1];
  return { ...stage, edit, fields, id, key, occasion, titleInCrm, warehouse };
}

test('S4: a delete of one side waits for the edit of another, and does not beat it', async () => {
  const { edit, fields, key, link, occasion, titleInCrm, warehouse } = await openTwoSides();
  link.mirror.saveOutboxItem(waitingStep(occasion, key, { kind: 'delete', fields: {}, base: fields }));
  warehouse.mirror.saveOutboxItem(edit('Of the warehouse'));
  expect(await pushRecord(link, key)).toBe('nothing');
  expect(await pushRecord(warehouse, key)).toBe('written');
  expect(await pushRecord(link, key)).toBe('noted');
  expect(await titleInCrm()).toBe('Of the warehouse');
});

test('S1: an edit of one side is not sent over what another sent and the CRM took without an answer', async () => {
  const { edit, editCrm, id, key, link, occasion, titleInCrm, warehouse } = await openTwoSides();
  link.mirror.saveOutboxItem({ ...edit('Of the sheet'), attempts: 1, sentAt: occasion.now });
  await editCrm(`/leads/${id}`, { title: 'Of the sheet' });
  warehouse.mirror.saveOutboxItem(edit('Of the warehouse'));
  expect(await pushRecord(warehouse, key)).toBe('noted');
  expect(await titleInCrm()).toBe('Of the sheet');
});

test('S4: an edit of a record that another side has deleted meanwhile is refused, and never sent', async () => {
  const { edit, fields, key, link, model, occasion, warehouse } = await openTwoSides();
  link.mirror.saveOutboxItem(waitingStep(occasion, key, { kind: 'delete', fields: {}, base: fields }));
  expect(await pushRecord(link, key)).toBe('written');
  warehouse.mirror.saveOutboxItem(edit('Of the warehouse'));
  expect(await pushRecord(warehouse, key)).toBe('noted');
  expect(warehouse.mirror.findOutboxItem(key)).toMatchObject({ state: 'refused' });
  expect(model.requests().filter(({ method }) => method === 'PUT')).toEqual([]);
});

test.each(['while', 'after'])(
  'S3: no create adopts the record that one of another side has made, %s that one is in the outbox',
  async (when) => {
    const { link, occasion, warehouse } = await openTwoSides();
    const createOf = (id: string) => {
      const key = { entity: 'lead', id } as const;
      return waitingStep(occasion, key, { kind: 'create', fields: { title: 'Acme' }, base: {} });
    };
    const [own, other] = [createOf('new-own'), createOf('new-other')];
    link.mirror.saveOutboxItem({ ...own, state: 'unknown', sentAt: occasion.now });
    warehouse.mirror.saveOutboxItem(other);
    expect(await pushRecord(warehouse, other.key)).toBe('written');
    if (when === 'after') warehouse.mirror.dropOutboxItem(other.key);
    await pushRecord(link, own.key);
    expect(link.mirror.findOutboxItem(own.key)).toMatchObject({ state: 'unknown', looks: 1 });
  },
);

test('S2: what a create of one side made is not taken for that of another side which says less', async () => {
  const { link, occasion, warehouse } = await openTwoSides();
  const unknownOf = (id: string, fields: Readonly<Record<string, string>>) => {
    const key = { entity: 'lead', id } as const;
    const step = waitingStep(occasion, key, { kind: 'create', fields, base: {} });
    return { ...step, state: 'unknown', sentAt: occasion.now } as const;
  };
  const less = unknownOf('new-less', { title: 'Acme' });
  const more = unknownOf('new-more', { title: 'Acme', status_name: 'contacted' });
  link.mirror.saveOutboxItem(less);
  warehouse.mirror.saveOutboxItem(more);
  const at = occasion.now + 1;
  const times = { observedAt: at, firstSeenAt: at, lastSeenAt: at, missedSweeps: 0 };
  const key = { entity: 'lead', id: '200001' } as const;
  link.mirror.saveRecord({ key, fields: more.fields, presence: 'present', ...times });
  await pushRecord(link, less.key);
  await pushRecord(warehouse, more.key);
  expect(link.mirror.findOutboxItem(less.key)).toMatchObject({ state: 'unknown' });
  expect(warehouse.mirror.findOutboxItem(more.key)).toMatchObject({ state: 'done', recordId: '200001' });
});

test('nothing of a record is taken back while a step of any side waits for it', async () => {
  const { edit, fields, key, link, occasion, warehouse } = await openTwoSides();
  const line = {
    at: occasion.now,
    run: 'one',
    key,
    kind: 'update',
    side: 'crm',
    lost: {},
    cause: '',
  } as const;
  link.mirror.appendJournal([
    { ...line, before: { title: 'Before' }, after: { title: fields['title'] ?? null } },
  ]);
  warehouse.mirror.saveOutboxItem(edit('Of the warehouse'));
  expect(await undo(link, { key })).toEqual({
    steps: [],
    refusals: [{ key, reason: expect.stringMatching(/^Something of it waits to be sent/) }],
  });
});
