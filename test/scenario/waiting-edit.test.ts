import { describe, expect, test, vi } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import type { ColumnPolicy } from '../../src/sheet/policy.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { createFastClock } from '../support/fast-clock.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';
import { until } from '../support/until.ts';

test('S1: an edit that waits for its row to be restored, while the CRM changes the same field, comes back with the row', async () => {
  const stage = await openLeadsStage('table');
  const { engine, link } = stage;
  const key = { entity: 'lead', id: await stage.firstLead() } as const;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
  for (const _turn of [1, 2]) await engine.cycle();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  for (const _turn of [1, 2]) await engine.cycle();
  await stage.editCrm(`/leads/${key.id}`, { title: 'From the CRM' });
  await engine.pullAll(() => {});
  await pushRecord(link, key);
  expect((await stage.titles()).crm.get(key.id)).toBe('From the CRM');
  link.mirror.saveDecision({ scope: `vanished:lead-${key.id}`, choice: 'restore', at: link.clock.now() });
  for (const _turn of [1, 2]) await engine.cycle();
  expect((await stage.titles()).sheet.get(key.id)).toBe('Typed');
  await stage.settle();
  const { crm, sheet } = await stage.titles();
  expect([crm.get(key.id), sheet.get(key.id)]).toEqual(['Typed', 'Typed']);
  expect(link.mirror.searchJournal({ key, limit: 9 })).toContainEqual(
    expect.objectContaining({ side: 'crm', lost: { title: 'From the CRM' } }),
  );
});

/** An engine as after a restart with these rules for the columns of leads, after its first cycle and what is sent then. */
async function restart(
  { createEngine, link }: LeadsStage,
  columns: Readonly<Record<string, ColumnPolicy>>,
): Promise<SheetEngine> {
  const lead = { ...link.policy.tabs.lead, columns };
  const changed = { ...link, policy: { ...link.policy, tabs: { ...link.policy.tabs, lead } } };
  const engine = createEngine(changed);
  await engine.cycle();
  for (const { key } of link.mirror.readOutbox())
    await pushRecord(changed, key, (item) => engine.lastPlan?.withheld.includes(item.key.entity) ?? true);
  return engine;
}

describe('of an edit that waits to be sent, after a restart with other settings', () => {
  test('S1: what stands in a column that is off now is not sent, and stands in the history; the rest is', async () => {
    const stage = await openLeadsStage();
    const { link } = stage;
    const key = { entity: 'lead', id: await stage.firstLead() } as const;
    const title = (await stage.titles()).crm.get(key.id);
    await stage.editSheet(
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'Website', text: 'https://typed.example' },
    );
    for (const _turn of [1, 2]) await stage.engine.cycle();
    await restart(stage, { title: { direction: 'off' } });
    expect(link.mirror.readOutbox()).toEqual([]);
    expect((await stage.readCrm()).leads.find(({ id }) => String(id) === key.id)).toMatchObject({
      title,
      meta_data: { about: { url: 'https://typed.example' } },
    });
    expect(link.mirror.searchJournal({ key, limit: 9 })).toContainEqual(
      expect.objectContaining({
        side: 'table',
        lost: { title: 'Typed' },
        cause: 'not sent, because its column is gone or off',
      }),
    );
  });

  test('an emptied cell that means nothing now empties nothing in the CRM, and its value comes back', async () => {
    const stage = await openLeadsStage();
    const { link } = stage;
    const id = await stage.firstLead();
    const website = async () => {
      const lead = (await stage.readCrm()).leads.find((each) => String(each.id) === id);
      return [lead?.meta_data?.about?.url, (await stage.readSheet())['Leads']?.[0]?.['Website']];
    };
    const before = await website();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Website', text: '' });
    for (const _turn of [1, 2]) await stage.engine.cycle();
    expect(link.mirror.readOutbox()).toMatchObject([{ fields: { 'about.url': null } }]);
    const engine = await restart(stage, { 'about.url': { blank: 'leave' } });
    for (const _turn of [1, 2]) await engine.cycle();
    expect(await website()).toEqual(before);
  });
});

/** A title that somebody typed into the first row, and its step, which waits in the outbox. */
async function openWithEdit() {
  const stage = await openLeadsStage();
  const key = { entity: 'lead', id: await stage.firstLead() } as const;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
  for (const _turn of [1, 2]) await stage.engine.cycle();
  const item = stage.link.mirror.findOutboxItem(key);
  expect(item).toMatchObject({ state: 'waiting', fields: { title: 'Typed' } });
  return { ...stage, item: item!, key };
}

describe('an edit whose turn does not come, however often its record is read again', () => {
  /** A push of it that has read its record for the last time; it goes on as soon as it is let go. */
  async function openHeldUp(isWithheld = () => false) {
    const stage = await openWithEdit();
    const { key, link } = stage;
    const turn = Promise.withResolvers<void>();
    const update = link.crm.updateRecord.bind(link.crm);
    const turns = vi.spyOn(link.crm, 'updateRecord').mockImplementation((...asked) => {
      const wait = asked[3]?.wait;
      const late = new Promise<never>((_resolve, reject) => {
        wait?.addEventListener('abort', () => reject(wait.reason));
      });
      return Promise.race([turn.promise.then(() => update(...asked)), late]);
    });
    const pushed = pushRecord({ ...link, clock: createFastClock(25) }, key, isWithheld);
    await until('its record was read often', async () => turns.mock.calls.length === 5);
    const letGo = () => {
      turn.resolve();
      return pushed;
    };
    const titleInCrm = async () => (await stage.titles()).crm.get(key.id);
    return { ...stage, letGo, titleInCrm };
  }

  test('is sent when its turn comes', async () => {
    const { letGo, titleInCrm } = await openHeldUp();
    expect([await letGo(), await titleInCrm()]).toEqual(['written', 'Typed']);
  });

  test('S5: is not sent any more once a brake holds', async () => {
    let isBraked = false;
    const { key, letGo, link, titleInCrm } = await openHeldUp(() => isBraked);
    isBraked = true;
    expect([await letGo(), await titleInCrm()]).toEqual(['noted', expect.not.stringMatching('Typed')]);
    expect(link.mirror.findOutboxItem(key)).toMatchObject({ state: 'waiting', attempts: 0 });
  });

  test('S1: is not sent over what a colleague is known to have written there since', async () => {
    const { editCrm, engine, key, letGo, link, titleInCrm } = await openHeldUp();
    await editCrm(`/leads/${key.id}`, { title: 'Said in the CRM' });
    await engine.pullAll(() => {});
    expect([await letGo(), await titleInCrm()]).toEqual(['noted', 'Said in the CRM']);
    expect(link.mirror.findOutboxItem(key)).toMatchObject({ state: 'review' });
  });

  test('is sent as corrected where somebody types on meanwhile, and not before', async () => {
    const stage = await openHeldUp();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Corrected' });
    for (const _turn of [1, 2]) await stage.engine.cycle();
    expect([await stage.letGo(), await stage.titleInCrm()]).toEqual([
      'noted',
      expect.not.stringMatching('Typed'),
    ]);
    await stage.settle();
    expect(await stage.titleInCrm()).toBe('Corrected');
  });
});

test('an edit that a person ignores while its record is read stays ignored where that fails', async () => {
  const { item, key, link } = await openWithEdit();
  const read = Promise.withResolvers<never>();
  vi.spyOn(link.crm, 'getRecord').mockReturnValue(read.promise);
  const pushed = pushRecord({ ...link, times: { ...link.times, rereadAfterMs: 0 } }, key);
  link.mirror.saveOutboxItem({ ...item, state: 'refused' });
  read.reject(new SyncError('CRM_UNREACHABLE', 'The CRM is away.'));
  await pushed;
  expect(link.mirror.findOutboxItem(key)).toMatchObject({ state: 'refused' });
});
