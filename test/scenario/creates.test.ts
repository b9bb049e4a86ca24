import { expect, test } from 'vitest';
import type { Crm } from '../../src/core/ports.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { syncText } from '../../src/sheet/cells/sync-text.ts';
import { describeCell } from '../../src/sheet/port/cell.ts';
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

test('a new row that may be any of many newcomers says at most a dozen of them, and what to do', async () => {
  const stage = await openLeadsStage();
  const { engine, link } = stage;
  const { clock, mirror } = link;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Acme' });
  for (const _turn of [1, 2, 3]) await engine.cycle();
  const item = mirror.readOutbox().find(({ kind }) => kind === 'create');
  mirror.saveOutboxItem({ ...item!, state: 'unknown', sentAt: clock.now() });
  const at = clock.now() + 1;
  const times = { observedAt: at, firstSeenAt: at, lastSeenAt: at, missedSweeps: 0 };
  for (let id = 200_001; id <= 200_200; id += 1) {
    const key = { entity: 'lead', id: String(id) } as const;
    mirror.saveRecord({ key, fields: { title: `Imported ${id}` }, presence: 'present', ...times });
  }
  await pushRecord(link, item!.key);
  const { table } = await engine.cycle();
  const told = table.flatMap(({ write }) =>
    'sync' in write && write.sync ? [describeCell(write.sync)] : [],
  );
  expect(told).toContainEqual(
    expect.stringMatching(
      /, and 200001, .* and 188 more may be it\. Put that ID in place of the token if it is, or clear the token to create a new record\.$/,
    ),
  );
});

test('S2: a new row is not taken for the record of another one that says the same and more', async () => {
  const stage = await openLeadsStage();
  const { engine, link } = stage;
  const { clock, mirror } = link;
  const type = (row: number, column: string, text: string) =>
    stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column, text });
  await type(6, 'Title', 'Acme');
  await type(7, 'Title', 'Acme');
  await type(7, 'Status', 'Contacted');
  for (const _turn of [1, 2, 3]) await engine.cycle();
  const items = mirror.readOutbox().filter(({ kind }) => kind === 'create');
  const sentAt = clock.now();
  for (const item of items) mirror.saveOutboxItem({ ...item, state: 'unknown', sentAt });
  const key = { entity: 'lead', id: '200001' } as const;
  const at = sentAt + 1;
  const times = { observedAt: at, firstSeenAt: at, lastSeenAt: at, missedSweeps: 0 };
  const fields = { title: 'Acme', status_name: 'contacted' };
  mirror.saveRecord({ key, fields, presence: 'present', ...times });
  for (const item of items) await pushRecord(link, item.key);
  const made = mirror.readOutbox().flatMap(({ fields: sent, recordId }) => (recordId ? [sent] : []));
  expect(made).toEqual([fields]);
});

test('a new row whose text the CRM writes its own way without a word gets that text, and nobody is asked', async () => {
  const stage = await openLeadsStage('ask');
  const { engine, link } = stage;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: ' Acme  Ltd ' });
  for (const _turn of [1, 2, 3]) await engine.cycle();
  const item = link.mirror.readOutbox().find(({ kind }) => kind === 'create');
  const crm: Pick<Crm, 'createRecord' | 'getRecord'> = {
    getRecord: (key, lane) => link.crm.getRecord(key, lane),
    async createRecord(entity, fields, sending) {
      const answer = await link.crm.createRecord(entity, { ...fields, title: 'Acme Ltd' }, sending);
      return { ...answer, fields: {} };
    },
  };
  expect(await pushRecord({ ...link, crm: crm as Crm }, item!.key)).toBe('written');
  await stage.settle();
  expect(engine.lastPlan?.conflicts).toEqual([]);
  expect([...(await stage.titles()).sheet.values()]).toContain('Acme Ltd');
  expect([...(await stage.titles()).crm.values()]).toContain('Acme Ltd');
});

test.each([
  ['Status', 'Contacted'],
  ['Title', 'Acme Ltd. & Sons'],
])(
  'S1: what somebody types into %s of a new row while the CRM creates it goes there, and nobody is asked about what that made of it',
  async (column, text) => {
    const stage = await openLeadsStage('crm');
    const { engine, link } = stage;
    const type = (into: string, typed: string) =>
      stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: into, text: typed });
    await type('Title', 'Acme Ltd.');
    for (const _turn of [1, 2, 3]) await engine.cycle();
    const item = link.mirror.readOutbox().find(({ kind }) => kind === 'create');
    await type(column, text);
    const crm: Pick<Crm, 'createRecord' | 'getRecord'> = {
      getRecord: (key, lane) => link.crm.getRecord(key, lane),
      createRecord: (entity, fields, sending) =>
        link.crm.createRecord(entity, { ...fields, title: 'Acme Ltd' }, sending),
    };
    expect(await pushRecord({ ...link, crm: crm as Crm }, item!.key)).toBe('written');
    await stage.settle();
    expect(engine.lastPlan?.conflicts).toEqual([]);
    const row = (await stage.readSheet())['Leads']?.at(-1);
    expect(row?.[column]).toBe(text);
    const made = (await stage.readCrm()).leads.find(({ id }) => id === row?.['ID']);
    expect([made?.title, made?.status_name]).toContain(column === 'Title' ? text : 'contacted');
  },
);
