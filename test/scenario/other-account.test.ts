import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { facts } from '../../src/core/facts.ts';
import { waitingStep } from '../../src/core/outbox.ts';
import type { Crm } from '../../src/core/ports.ts';
import { sweepsToProve } from '../../src/core/reading/observe.ts';
import { emptyAgreement } from '../../src/core/state.ts';
import { conflictScope } from '../../src/core/waiting/scopes.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { beginRebase } from '../../src/sheet/rebase.ts';
import type { LinkKey } from '../../src/sync/link.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { recognizeAccount, takeAccount } from '../../src/sync/reading/account.ts';
import { proveGone } from '../../src/sync/reading/pull.ts';
import { healthOf } from '../support/health.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';
import { until } from '../support/until.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

/** A mirror of five leads, and a CRM in which another agency has leads with the same ids. */
async function openAccounts() {
  const own = await openLeadsStage();
  const other = await openLinkStage({ leads: 5, opportunities: 0, tasks: 0 });
  await other.editCrm('/leads/1001', { title: 'Of another agency' });
  await own.engine.stop(5_000);
  return { own, other };
}

/** An engine on the mirror, as after a restart, with another key. */
async function restart(
  { createEngine, link }: LeadsStage,
  changes: Partial<SheetLink> = {},
): Promise<SheetEngine> {
  const engine = createEngine({ ...link, ...changes });
  await engine.start();
  return engine;
}

const keyOf = (name: string, { link: { crm } }: LinkStage): LinkKey => ({ name, crm });

const withKeyOf = (stage: LinkStage): Partial<SheetLink> => ({
  crm: stage.link.crm,
  keys: () => [keyOf('other', stage)],
});

const scopes = ({ lastPlan }: SheetEngine) => lastPlan?.brakes.map(({ scope }) => scope) ?? [];

const waitsFor = (engine: SheetEngine, scope: string) =>
  until(`${scope} waits`, async () => scopes(engine).includes(scope), {
    describe: async () => String(scopes(engine)),
  });

const cycled = (engine: SheetEngine, times: number) => {
  const before = engine.tally.cycles;
  return until('it has cycled', async () => engine.tally.cycles >= before + times);
};

const titlesOf = async ({ readSheet }: LinkStage) => (await readSheet())['Leads']?.map(({ Title }) => Title);

const approve = ({ link }: LeadsStage, scope: string) =>
  link.mirror.saveDecision({ scope, choice: 'approve', at: link.clock.now() });

describe('a key that opens another account of the CRM', limit, () => {
  test('S5: fault 75: writes nothing on either side and takes over nothing, although the ids are the same', async () => {
    const { own, other } = await openAccounts();
    await own.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed meanwhile' });
    const before = [await own.readSheet(), own.link.mirror.readRecords()];
    const engine = await restart(own, withKeyOf(other));
    await waitsFor(engine, 'brake:lead:account');
    await cycled(engine, 5);
    expect([await own.readSheet(), own.link.mirror.readRecords()]).toEqual(before);
    expect(other.model.requests().map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET', 'GET']);
    await expect(engine.pullAll(() => {})).rejects.toMatchObject({ code: 'DAEMON_REFUSED' });
  });

  test('fault 75: is found among several keys, of which the others are known', async () => {
    const { own, other } = await openAccounts();
    const known = own.link.keys?.() ?? [];
    const engine = await restart(own, { keys: () => [...known, keyOf('other', other)] });
    await waitsFor(engine, 'brake:lead:account');
    expect(known).toHaveLength(1);
    expect(other.model.requests()).toHaveLength(5);
  });

  test('fault 75: is let go by itself when the old key is back', async () => {
    const { own, other } = await openAccounts();
    const stopped = await restart(own, withKeyOf(other));
    await waitsFor(stopped, 'brake:lead:account');
    await stopped.stop(5_000);
    await own.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed meanwhile' });
    const engine = await restart(own);
    await until('the edit arrives', async () =>
      (await own.readCrm()).leads.some(({ title }) => title === 'Typed meanwhile'),
    );
    expect(scopes(engine)).toEqual([]);
  });

  test('fault 75: shows by record and field what differs once a person takes the account, and writes when that is approved too', async () => {
    const { own, other } = await openAccounts();
    const before = await own.readSheet();
    const engine = await restart(own, withKeyOf(other));
    await waitsFor(engine, 'brake:lead:account');
    approve(own, 'brake:lead:account');
    await waitsFor(engine, 'brake:lead:rebase');
    const [brake] = engine.lastPlan?.brakes ?? [];
    expect(brake?.reason).toMatch(
      /^The key opens another account of the CRM\. \d rows are equal on both sides, \d differ/,
    );
    expect(brake?.changes.shown).toContainEqual({
      id: '1001',
      what: 'differs',
      field: 'title',
      before: 'Of another agency',
      after: before['Leads']?.[0]?.['Title'],
    });
    expect(await own.readSheet()).toEqual(before);
    approve(own, 'brake:lead:rebase');
    await until('the difference waits', async () =>
      engine.lastPlan?.conflicts.some(({ crm }) => crm === 'Of another agency'),
    );
    expect(await titlesOf(own)).toEqual(before['Leads']?.map(({ Title }) => Title));
    expect(other.model.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

test('S3: what becomes of a create in an account that was taken is found out, also where its record has an id that the account before had', async () => {
  const { link } = await openLeadsStage();
  const { clock, crm, mirror } = link;
  const [known] = mirror.readRecords('lead');
  const ofBefore = { entity: 'lead', id: '1006' } as const;
  mirror.saveRecord({ ...known!, key: ofBefore });
  const key = { entity: 'lead', id: 'new-1' } as const;
  const fields = { title: 'New' };
  const step = waitingStep({ now: clock.now(), run: 'one' }, key, { kind: 'create', fields, base: {} });
  mirror.saveOutboxItem({ ...step, key: { ...key, id: 'new-0' }, state: 'done', recordId: ofBefore.id });
  mirror.transaction(() => {
    beginRebase(mirror, 'The key opens another account.', { now: clock.now(), newWord: 'word' });
    takeAccount(link);
  });
  mirror.saveOutboxItem({ ...step, state: 'unknown', sentAt: clock.now() });
  expect(await crm.createRecord('lead', fields)).toMatchObject({ id: ofBefore.id });
  await pushRecord(link, key);
  expect(mirror.findOutboxItem(key)).toMatchObject({ state: 'done', recordId: ofBefore.id });
});

test('S5: nothing that any side had on its way, agreed or was answered outlives the account that it was for', async () => {
  const { link, reopen } = await openLeadsStage();
  const { clock } = link;
  const [known] = link.mirror.readRecords('lead');
  const { key } = known!;
  const step = { kind: 'update', fields: { title: 'Of the one before' }, base: {} } as const;
  const warehouse = link.mirror.of('warehouse');
  warehouse.saveOutboxItem(waitingStep({ now: clock.now(), run: 'one' }, key, step));
  warehouse.saveAgreement(emptyAgreement(key, clock.now()));
  warehouse.saveDecision({ scope: conflictScope(key, 'title'), choice: 'crm', at: clock.now() });
  // Also where no such side is in use now.
  const later = reopen();
  later.mirror.transaction(() => takeAccount(later));
  for (const side of ['sheet', 'warehouse']) {
    const stores = later.mirror.of(side);
    const kept = [stores.readOutbox(), stores.readAgreements(), stores.readDecisions()];
    expect([side, ...kept]).toEqual([side, [], [], []]);
  }
});

test('a new key of the same account goes on by itself, after one record was found with it', async () => {
  const { own } = await openAccounts();
  const asked = own.model.requests().length;
  const engine = await restart(own, { keys: () => [keyOf('rotated', own)] });
  await until('it reads again', async () => own.model.requests().length > asked + 1);
  await cycled(engine, 2);
  expect(scopes(engine)).toEqual([]);
  expect(own.model.requests()[asked]).toMatchObject({
    method: 'GET',
    path: expect.stringMatching(/^\/leads\/\d+$/),
  });
  expect(own.link.mirror.readFact(facts.knownKeys)).toEqual(['rotated']);
});

test(
  'the health sends nobody to answer while it is being found out which account a new key opens',
  limit,
  async () => {
    const { own } = await openAccounts();
    const failure = new SyncError('CRM_UNREACHABLE', 'The CRM did not answer.');
    const fresh: LinkKey = { name: 'fresh', crm: { getRecord: () => Promise.reject(failure) } };
    const engine = await restart(own, { keys: () => [fresh] });
    await waitsFor(engine, 'brake:lead:reading');
    expect(engine.lastPlan?.questions).toEqual([]);
    const told = healthOf(engine)
      .read()
      .find(({ name }) => name === 'BRAKE');
    expect(told?.words).toBe(
      'The key of the CRM is a new one. Whether it opens the same account is being found out.',
    );
  },
);

test('what kept a new key from being tried is over once the old one is back', limit, async () => {
  const { own } = await openAccounts();
  const known = own.link.keys?.() ?? [];
  let isBack = false;
  const failure = new SyncError('CRM_UNREACHABLE', 'The CRM did not answer.');
  const fresh: LinkKey = { name: 'fresh', crm: { getRecord: () => Promise.reject(failure) } };
  const engine = await restart(own, { keys: () => (isBack ? known : [fresh]) });
  const failing = () => engine.problems.list().map(({ source }) => source);
  await until('the new key is tried', async () => failing().includes('crm:account'));
  isBack = true;
  const asked = own.model.requests().length;
  await until('it reads again', async () => own.model.requests().length > asked + 5);
  expect(failing()).not.toContain('crm:account');
});

describe('a key that is exchanged for one of another account while the daemon works', limit, () => {
  /** The own link with a key that opens the other account once it is exchanged; `changes` say when something happens to it. */
  async function openExchange(changes: (stages: { own: Crm; other: Crm; exchange(): void }) => Partial<Crm>) {
    const { own, other } = await openAccounts();
    await other.link.crm.createRecord('task', { title: 'Of another agency' });
    const known = own.link.keys?.() ?? [];
    let isExchanged = false;
    const exchange = () => {
      isExchanged = true;
    };
    const now = () => (isExchanged ? other.link.crm : own.link.crm);
    const crm: Crm = {
      readCatalog: (...asked) => now().readCatalog(...asked),
      listRecords: (...asked) => now().listRecords(...asked),
      listContacts: (...asked) => now().listContacts(...asked),
      getRecord: (...asked) => now().getRecord(...asked),
      createRecord: (...asked) => now().createRecord(...asked),
      updateRecord: (...asked) => now().updateRecord(...asked),
      deleteRecord: (...asked) => now().deleteRecord(...asked),
      ...changes({ own: own.link.crm, other: other.link.crm, exchange }),
    };
    const link: SheetLink = { ...own.link, crm, keys: () => (isExchanged ? [keyOf('other', other)] : known) };
    const askedBefore = other.model.requests().length;
    return { own, link, exchange, askedOther: () => other.model.requests().slice(askedBefore) };
  }

  test('S5: fault 75: nothing of it is asked for in the rest of the sweep, and then the brake holds', async () => {
    const { own, link, exchange, askedOther } = await openExchange(() => ({}));
    const before = link.mirror.readRecords().map(({ key, fields }) => ({ key, fields }));
    const engine = own.createEngine(link);
    await expect(engine.pullAll(exchange)).rejects.toMatchObject({ code: 'DAEMON_REFUSED' });
    expect(askedOther()).toEqual([]);
    await engine.start();
    await waitsFor(engine, 'brake:lead:account');
    expect(link.mirror.readRecords().map(({ key, fields }) => ({ key, fields }))).toEqual(before);
  });

  test('S5: a page that was under way is not taken over, nor is the catalog', async () => {
    for (const name of ['listRecords', 'readCatalog'] as const) {
      const { own, link } = await openExchange(({ other, exchange }) => {
        const late: Pick<Crm, 'listRecords' | 'readCatalog'> = {
          listRecords(...asked) {
            exchange();
            return other.listRecords(...asked);
          },
          async readCatalog(lane) {
            exchange();
            return { ...(await other.readCatalog(lane)), customFields: [] };
          },
        };
        return { [name]: late[name] };
      });
      const known = () => [link.mirror.readRecords(), link.mirror.readCatalog()];
      const before = known();
      const reading = own.createEngine(link).pullAll(() => {});
      await expect(reading).rejects.toMatchObject({ code: 'CRM_UNREACHABLE' });
      expect(known()).toEqual(before);
    }
  });

  test('S5: a record that the other account lacks is not taken for gone', async () => {
    const { link } = await openExchange(({ exchange }) => ({
      async getRecord() {
        exchange();
        return undefined;
      },
    }));
    const missed = link.mirror.readRecords('lead').map((lead) => ({ ...lead, missedSweeps: sweepsToProve }));
    await expect(proveGone(link, missed)).rejects.toMatchObject({ code: 'CRM_UNREACHABLE' });
    expect(link.mirror.readRecords('lead').filter(({ presence }) => presence === 'gone')).toEqual([]);
  });

  test('S5: an update is not sent when that happens while its record is read again', async () => {
    const { own, link, askedOther } = await openExchange(({ own: crm, exchange }) => ({
      async getRecord(...asked) {
        const seen = await crm.getRecord(...asked);
        exchange();
        return seen;
      },
    }));
    await own.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed meanwhile' });
    const engine = own.createEngine(link);
    const item = await until('the edit waits', async () => {
      await engine.cycle();
      return link.mirror.readOutbox()[0];
    });
    await pushRecord({ ...link, times: { ...link.times, rereadAfterMs: 0 } }, item.key);
    expect(link.mirror.findOutboxItem(item.key)).toMatchObject({ state: 'waiting', fields: item.fields });
    expect(askedOther()).toEqual([]);
  });

  test('once it is taken, its own statuses and fields count before anything is compared, and none of the account before', async () => {
    const ofOther = { name: 'of-other', label: 'Of another agency' };
    let isTaken = false;
    const { own, link, exchange } = await openExchange(({ own: crm }) => ({
      async readCatalog(lane) {
        const catalog = await crm.readCatalog(lane);
        return isTaken ? { ...catalog, leadStatuses: [ofOther], customFields: [] } : catalog;
      },
    }));
    const engine = await restart(own, { ...link, times: { ...link.times, catalogMs: 3_600_000 } });
    await cycled(engine, 2);
    exchange();
    isTaken = true;
    await waitsFor(engine, 'brake:lead:account');
    expect(link.mirror.readCatalog()?.customFields).not.toEqual([]);
    approve(own, 'brake:lead:account');
    await waitsFor(engine, 'brake:lead:rebase');
    expect(link.mirror.readCatalog()).toMatchObject({
      leadStatuses: [ofOther],
      customFields: [],
      formerLabels: { stages: [], leadStatuses: [] },
    });
  });

  test('a key that comes while another one is asked for known records does not count as asked', async () => {
    const { own, other } = await openAccounts();
    const before = own.link.mirror.readFact(facts.knownKeys);
    let name = 'second';
    const crm: LinkKey['crm'] = {
      getRecord: (...asked) => {
        name = 'third';
        return own.link.crm.getRecord(...asked);
      },
    };
    const keys = () => [{ name, crm: name === 'second' ? crm : other.link.crm }];
    await expect(recognizeAccount({ ...own.link, keys })).rejects.toMatchObject({ code: 'CRM_UNREACHABLE' });
    expect(own.link.mirror.readFact(facts.knownKeys)).toEqual(before);
  });
});
