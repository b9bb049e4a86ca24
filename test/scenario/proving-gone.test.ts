import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { changeCrm } from '../support/changed-crm.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';

const noOthers = { opportunities: 0, tasks: 0 };

/** Deletes a record of the CRM by hand. */
const trash = ({ model }: LinkStage, path: string) =>
  model.applyByHand(Date.now(), { method: 'DELETE', path, body: '{}' });

const presentLeads = ({ mirror }: SheetLink) =>
  mirror.readRecords('lead').filter(({ presence }) => presence === 'present');

test('records are proven gone although the CRM answers nonsense about one that is gone as well', async () => {
  const stage = await openLinkStage({ leads: 6, ...noOthers });
  const { crm, mirror } = stage.link;
  let unreadable = '';
  const engine = stage.createEngine({
    crm: changeCrm(crm, {
      async getRecord(key, lane) {
        if (key.id === unreadable) throw new SyncError('CRM_UNREADABLE', `Lead ${key.id} is no lead.`);
        return crm.getRecord(key, lane);
      },
    }),
  });
  await engine.pullAll(() => undefined);
  const [first = '', ...others] = mirror.readRecords('lead').map(({ key }) => key.id);
  unreadable = first;
  for (const id of [first, ...others.slice(0, 2)]) trash(stage, `/leads/${id}`);
  await engine.pullAll(() => undefined);
  await expect(engine.pullAll(() => undefined)).rejects.toMatchObject({ code: 'CRM_UNREADABLE' });
  expect(presentLeads(stage.link).map(({ key }) => key.id)).toEqual([first, ...others.slice(2)]);
});

test('a record is proven gone although the CRM fails time after time on several that its list lacks as well', async () => {
  const stage = await openLinkStage({ leads: 9, ...noOthers });
  const { crm, mirror } = stage.link;
  const unreadable = new Set<string>();
  const engine = stage.createEngine({
    crm: changeCrm(crm, {
      async getRecord(key, lane) {
        if (unreadable.has(key.id)) throw new SyncError('CRM_UNREADABLE', `Lead ${key.id} is no lead.`);
        return crm.getRecord(key, lane);
      },
    }),
  });
  await engine.pullAll(() => undefined);
  const ids = mirror.readRecords('lead').map(({ key }) => key.id);
  const [failing, deleted] = [ids.slice(0, 5), ids[6]];
  for (const id of failing) unreadable.add(id);
  for (const id of failing) trash(stage, `/leads/${id}`);
  for (let sweep = 1; sweep <= 4; sweep += 1) await engine.pullAll(() => undefined).catch(() => undefined);
  trash(stage, `/leads/${deleted}`);
  for (let sweep = 1; sweep <= 5; sweep += 1)
    await expect(engine.pullAll(() => undefined)).rejects.toMatchObject({ code: 'CRM_UNREADABLE' });
  expect(presentLeads(stage.link).map(({ key }) => key.id)).toEqual(ids.filter((id) => id !== deleted));
});

describe('records that a list lacks although the CRM has them, as those in its archive,', () => {
  /** Thirty tasks, of which the list leaves out ten from some time on. */
  async function openUnlisted() {
    const stage = await openLinkStage({ leads: 0, opportunities: 0, tasks: 30 });
    const { crm, mirror } = stage.link;
    const unlisted = new Set<string>();
    const asked: string[] = [];
    const engine = stage.createEngine({
      crm: changeCrm(crm, {
        async listRecords(entity, page, lane) {
          const answer = await crm.listRecords(entity, page, lane);
          return { ...answer, records: answer.records.filter(({ id }) => !unlisted.has(id)) };
        },
        getRecord(key, lane) {
          asked.push(key.id);
          return crm.getRecord(key, lane);
        },
      }),
    });
    await engine.pullAll(() => undefined);
    await stage.link.table.layOut(currentLayout(stage.link), 'create');
    for (const _turn of [1, 2]) await engine.cycle();
    const ids = mirror.readRecords('task').map(({ key }) => key.id);
    for (const id of ids.slice(0, 10)) unlisted.add(id);
    for (const _sweep of [1, 2, 3]) await engine.pullAll(() => undefined);
    return { ...stage, asked, engine, ids };
  }

  const goneTasks = ({ link }: LinkStage) =>
    link.mirror.readRecords('task').flatMap(({ key, presence }) => (presence === 'gone' ? [key.id] : []));

  test('are asked for rarely once they have answered, and one of them that is deleted then is proven gone', async () => {
    const stage = await openUnlisted();
    const { asked, engine, ids } = stage;
    expect(new Set(asked.splice(0))).toEqual(new Set(ids.slice(0, 10)));
    trash(stage, `/tasks/${ids[9]}`);
    for (let sweep = 1; sweep <= 10; sweep += 1) await engine.pullAll(() => undefined);
    expect(asked.toSorted()).toEqual(ids.slice(0, 10).toSorted());
    expect(goneTasks(stage)).toEqual([ids[9]]);
  });

  test('and that are deleted then are proven gone although the CRM fails time after time on another one', async () => {
    const stage = await openUnlisted();
    const { engine, ids } = stage;
    const path = `/tasks/${ids[3]}`;
    const broken = { kind: 'status', status: 400, method: 'GET', path, times: 100 } as const;
    stage.setCrmFaults({ faults: [broken] });
    trash(stage, `/tasks/${ids[9]}`);
    for (let sweep = 1; sweep <= 12; sweep += 1) await engine.pullAll(() => undefined).catch(() => undefined);
    expect(goneTasks(stage)).toEqual([ids[9]]);
  });

  test('and that are deleted then are proven gone although the CRM fails time after time on several that are gone as well', async () => {
    const stage = await openUnlisted();
    const { engine, ids } = stage;
    const failing = ids.slice(20, 23).map((id) => `/tasks/${id}`);
    const broken = { kind: 'status', status: 400, method: 'GET', times: 100 } as const;
    stage.setCrmFaults({ faults: failing.map((path) => ({ ...broken, path })) });
    for (const path of [...failing, `/tasks/${ids[9]}`]) trash(stage, path);
    for (let sweep = 1; sweep <= 12; sweep += 1) await engine.pullAll(() => undefined).catch(() => undefined);
    expect(goneTasks(stage)).toContain(ids[9]);
  });

  test('S5: are not counted as gone with one that is', async () => {
    const stage = await openUnlisted();
    const { engine, ids } = stage;
    trash(stage, `/tasks/${ids[20]}`);
    for (const _sweep of [1, 2]) await engine.pullAll(() => undefined);
    await engine.cycle();
    expect(engine.lastPlan?.brakes).toEqual([]);
    expect((await stage.readSheet())['Tasks']?.map(({ ID }) => String(ID))).not.toContain(ids[20]);
  });
});
