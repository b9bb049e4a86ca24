import { expect, test } from 'vitest';
import type { Crm } from '../../src/core/ports.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { syncText } from '../../src/sheet/cells/sync-text.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';

const title = 'Typed by mistake';

/** Somebody types a new row below the five leads, and its create waits in the outbox. */
async function openWithNewRow(): Promise<LeadsStage & { readonly key: RecordKey }> {
  const stage = await openLeadsStage();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: title });
  for (const _turn of [1, 2, 3]) await stage.engine.cycle();
  const item = stage.link.mirror.readOutbox().find(({ kind }) => kind === 'create');
  expect(item).toMatchObject({ state: 'waiting', fields: { title } });
  return { ...stage, key: item!.key };
}

/** Pushes a create whose turn does not come before it is let go. */
function pushHeldUp({ key, link }: LeadsStage & { readonly key: RecordKey }, isWithheld = () => false) {
  const turn = Promise.withResolvers<void>();
  const crm: Pick<Crm, 'createRecord' | 'getRecord'> = {
    getRecord: (record, lane) => link.crm.getRecord(record, lane),
    async createRecord(entity, fields, sending) {
      await turn.promise;
      return link.crm.createRecord(entity, fields, sending);
    },
  };
  const pushed = pushRecord({ ...link, crm: crm as Crm }, key, isWithheld);
  return {
    letGo: () => {
      turn.resolve();
      return pushed;
    },
  };
}

const titlesInCrm = async (stage: LeadsStage) => [...(await stage.titles()).crm.values()];

test('S1: a new row that is deleted while its create waits for its turn makes no record', async () => {
  const stage = await openWithNewRow();
  const { letGo } = pushHeldUp(stage);
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 6, count: 1 });
  await stage.engine.cycle();
  expect(await letGo()).toBe('noted');
  await stage.settle();
  expect(await titlesInCrm(stage)).toHaveLength(5);
});

test('S1: a new row that is corrected while its create waits for its turn becomes one record, as corrected', async () => {
  const stage = await openWithNewRow();
  const { letGo } = pushHeldUp(stage);
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Corrected' });
  for (const _turn of [1, 2]) await stage.engine.cycle();
  expect(await letGo()).toBe('noted');
  await stage.settle();
  const titles = await titlesInCrm(stage);
  expect(titles).toHaveLength(6);
  expect(titles).toContain('Corrected');
});

test('a create that waits for its turn is not sent while a brake holds, and is sent once it holds no more', async () => {
  const stage = await openWithNewRow();
  let isBraked = false;
  const { letGo } = pushHeldUp(stage, () => isBraked);
  isBraked = true;
  expect(await letGo()).toBe('noted');
  expect(await titlesInCrm(stage)).not.toContain(title);
  await stage.settle();
  expect((await titlesInCrm(stage)).filter((each) => each === title)).toHaveLength(1);
});

test('a create that the CRM refused for its rate waits like one that was never sent, and is looked at again before it is sent', async () => {
  const stage = await openWithNewRow();
  const { key, link, log } = stage;
  stage.setCrmFaults({ faults: [{ kind: 'rateLimited', method: 'POST', path: '/leads' }] });
  let isBraked = false;
  const pushed = pushRecord(link, key, () => isBraked);
  await log.told('crm.limited');
  isBraked = true;
  expect(link.mirror.findOutboxItem(key)).toMatchObject({ state: 'waiting', attempts: 0 });
  expect(link.mirror.findOutboxItem(key)?.sentAt).toBeUndefined();
  expect(await pushed).toBe('noted');
  expect(await titlesInCrm(stage)).not.toContain(title);
  await stage.settle();
  expect((await titlesInCrm(stage)).filter((each) => each === title)).toHaveLength(1);
});

test('a new row of which nobody knows whether it was created says in its cell what to do, however many records have come since', async () => {
  const { key, link } = await openWithNewRow();
  const { clock, mirror } = link;
  const now = clock.now();
  mirror.saveOutboxItem({ ...mirror.findOutboxItem(key)!, state: 'unknown', sentAt: now, dueAt: now });
  const [known] = mirror.readRecords('lead');
  const fields = { ...known!.fields, title: 'Imported' };
  for (let id = 20_001; id <= 20_300; id += 1)
    mirror.saveRecord({ ...known!, key: { entity: 'lead', id: String(id) }, fields, firstSeenAt: now });
  const alike = ['20299', '20300'].map((id) => mirror.findRecord({ entity: 'lead', id })!);
  for (const record of alike) mirror.saveRecord({ ...record, fields: { ...fields, title } });
  await pushRecord(link, key);
  const told = mirror.findOutboxItem(key)?.error?.message ?? '';
  expect(syncText({ kind: 'held', reason: told }, 'UTC')).toMatch(
    /, and 20299, 20300, .* may be it\. .* clear the token to create a new record\.$/,
  );
});
