import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import type { Clock, Crm } from '../../src/core/ports.ts';
import { type Entity, listedEntities } from '../../src/core/record.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { Problems } from '../../src/sync/problems.ts';
import { listProgress } from '../../src/sync/progress.ts';
import { KeyRefusal } from '../../src/sync/reading/key-refusal.ts';
import { pullCatalog, pullRecord } from '../../src/sync/reading/pull.ts';
import { Puller } from '../../src/sync/reading/puller.ts';
import { readStatus } from '../../src/sync/status.ts';
import { changeCrm } from '../support/changed-crm.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';
import { until } from '../support/until.ts';

const noOthers = { opportunities: 0, tasks: 0 };

/** A CRM in which something happens after a page of leads was read, at the nth such page. */
const afterLeadPage = (crm: Crm, happens: (page: number) => void): Crm =>
  changeCrm(crm, {
    async listRecords(entity, page, lane) {
      const answer = await crm.listRecords(entity, page, lane);
      if (entity === 'lead') happens(page);
      return answer;
    },
  });

/** What a person does in the CRM. */
const byHand = ({ model }: LinkStage, method: string, path: string, body: unknown = {}) =>
  model.applyByHand(Date.now(), { method, path, body: JSON.stringify(body) });

const newestIds = ({ model }: LinkStage) =>
  model.records.leads
    .live()
    .map(({ id }) => id)
    .toSorted((left, right) => right - left);

const readLeads = ({ mirror }: SheetLink) => mirror.readRecords('lead');
const presentLeads = (link: SheetLink) => readLeads(link).filter(({ presence }) => presence === 'present');
const sweepOf = ({ mirror }: SheetLink, wanted: Entity) =>
  mirror.readSweeps().find(({ entity }) => entity === wanted);

/** Reads everything once and answers how many requests for leads that took. */
async function sweepLeads({ model }: LinkStage, engine: SheetEngine): Promise<number> {
  const before = model.requests().length;
  await engine.pullAll(() => undefined);
  return model
    .requests()
    .slice(before)
    .filter(({ path }) => path.startsWith('/leads')).length;
}

describe('a sweep', () => {
  test.each([
    [0, 1],
    [1, 1],
    [100, 2],
    [101, 2],
    [250, 3],
    [1_000, 11],
  ])('of %i leads costs at most %i requests', async (leads, requestsMax) => {
    const stage = await openLinkStage({ leads, ...noOthers });
    const requests = await sweepLeads(stage, stage.createEngine());
    expect(requests).toBeGreaterThanOrEqual(Math.max(1, leads / 100));
    expect(requests).toBeLessThanOrEqual(requestsMax);
    expect(presentLeads(stage.link)).toHaveLength(leads);
    expect(sweepOf(stage.link, 'lead')).toMatchObject({ isComplete: true, records: leads });
  });

  test.each([
    ['of how many', 'says so', 250],
    ['no total', 'does not say so', undefined],
  ])('that is the first is shown with how far it is, and %s where the CRM %s', async (_, _how, total) => {
    const stage = await openLinkStage({ leads: 250, ...noOthers });
    const crm = changeCrm(stage.link.crm, {
      async listRecords(entity, page, lane) {
        const { total: listed, ...answer } = await stage.link.crm.listRecords(entity, page, lane);
        return total === undefined || listed === undefined ? answer : { ...answer, total: listed };
      },
    });
    const engine = stage.createEngine({ crm });
    const shown: unknown[] = [];
    const look = () => listProgress(readStatus(engine, undefined), []).find(({ title }) => title === 'Leads');
    await engine.pullAll((entity, _records, isWhole) => {
      if (entity === 'lead' && !isWhole) shown.push(look());
    });
    const reading = { work: 'reading', title: 'Leads' };
    expect(shown).toEqual([100, 200].map((done) => ({ ...reading, done, total })));
  });

  test('S4: fault 12: past which a delete on the first page moved a lead does not take that lead for deleted', async () => {
    const stage = await openLinkStage({ leads: 350, ...noOthers });
    const crm = afterLeadPage(stage.link.crm, (page) => {
      const [newest] = newestIds(stage);
      if (page < 3) byHand(stage, 'DELETE', `/leads/${newest}`);
    });
    const engine = stage.createEngine({ crm });
    await stage.createEngine().pullAll(() => undefined);
    for (let sweep = 1; sweep <= 4; sweep += 1) await engine.pullAll(() => undefined);
    const live = new Set(newestIds(stage).map(String));
    const gone = readLeads(stage.link).filter(({ presence }) => presence === 'gone');
    expect(gone.filter(({ key }) => live.has(key.id))).toEqual([]);
    expect(gone.length).toBeGreaterThan(0);
    expect(presentLeads(stage.link).filter(({ key }) => live.has(key.id))).toHaveLength(live.size);
  });

  test('fault 13: that meets leads twice because new ones came in holds each of them once', async () => {
    const stage = await openLinkStage({ leads: 250, ...noOthers });
    const crm = afterLeadPage(stage.link.crm, (page) => {
      if (page < 3)
        for (let made = 0; made < 10; made += 1) byHand(stage, 'POST', '/leads', { title: 'New' });
    });
    await stage.createEngine({ crm }).pullAll(() => undefined);
    expect(sweepOf(stage.link, 'lead')).toMatchObject({ isComplete: true, records: 250 });
    expect(new Set(readLeads(stage.link).map(({ key }) => key.id)).size).toBe(250);
    await stage.createEngine().pullAll(() => undefined);
    expect(presentLeads(stage.link)).toHaveLength(270);
  });

  test('S4: fault 11: that fails at a page goes on there, and only two unfailing ones prove a delete', async () => {
    const stage = await openLinkStage({ leads: 350, ...noOthers });
    await stage.createEngine().pullAll(() => undefined);
    const [deleted] = newestIds(stage).slice(-1);
    byHand(stage, 'DELETE', `/leads/${deleted}`);
    let failures = 0;
    const crm = afterLeadPage(stage.link.crm, (page) => {
      if (page !== 2 || failures > 0) return;
      failures += 1;
      stage.setCrmFaults({ faults: [{ kind: 'garbage', path: '/leads' }] });
    });
    await stage.createEngine({ crm }).start();
    const gone = await until('the lead is gone', async () =>
      readLeads(stage.link).find(({ presence }) => presence === 'gone'),
    );
    expect(gone.key.id).toBe(String(deleted));
    const events = stage.log.lines.filter(
      ({ event, fields }) =>
        event === 'record.gone' || (event === 'sweep.finished' && fields['entity'] === 'lead'),
    );
    expect(events.map(({ fields }) => fields['isUnbroken'])).toEqual([true, false, true, true, undefined]);
    expect(presentLeads(stage.link)).toHaveLength(349);
  });
});

test('a custom field that a colleague emptied is seen after a restart also before the catalog was read', async () => {
  const stage = await openLinkStage({ leads: 1, ...noOthers });
  await stage.createEngine().pullAll(() => undefined);
  const [lead] = readLeads(stage.link);
  const field = stage.link.mirror.readCatalog()?.customFields.find(({ kind }) => kind === 'text');
  if (!lead || !field) throw new Error('The sandbox has no lead or no custom field.');
  const write = (value: string | null) =>
    byHand(stage, 'PUT', `/leads/${lead.key.id}`, { custom_fields: { [field.key]: value } });
  write('Anna');
  await pullRecord(stage.link, lead.key, 'edit');
  const link = stage.reopen();
  write(null);
  const seen = await pullRecord(link, lead.key, 'edit');
  expect(seen?.fields[`custom.${field.key}`]).toBeNull();
});

describe('a list that can not be read', () => {
  test('fault 9: because it came empty holds its entity with a problem, and deletes nothing', async () => {
    const stage = await openLinkStage({ leads: 5, opportunities: 0, tasks: 2 });
    const engine = stage.createEngine();
    await engine.pullAll(() => undefined);
    stage.setCrmFaults({ faults: [{ kind: 'emptyList', path: '/leads', times: 3 }] });
    for (let sweep = 1; sweep <= 3; sweep += 1) {
      await expect(engine.pullAll(() => undefined)).rejects.toThrow(
        'lists no lead records, but 5 were known',
      );
    }
    expect(presentLeads(stage.link).map(({ missedSweeps }) => missedSweeps)).toEqual([0, 0, 0, 0, 0]);
    await engine.pullAll(() => undefined);
    expect(sweepOf(stage.link, 'lead')?.records).toBe(5);
  });

  test('unless it came empty because people deleted all of its records: then they are proven to be gone', async () => {
    const stage = await openLinkStage({ leads: 0, opportunities: 0, tasks: 3 });
    const engine = stage.createEngine();
    await engine.pullAll(() => undefined);
    for (const { id } of stage.model.records.tasks.live()) byHand(stage, 'DELETE', `/tasks/${id}`);
    for (let sweep = 1; sweep <= 2; sweep += 1) await engine.pullAll(() => undefined);
    expect(stage.link.mirror.readRecords('task').map(({ presence }) => presence)).toEqual([
      'gone',
      'gone',
      'gone',
    ]);
  });

  test('fault 19: because the key lacks the scope names it, and the other lists go on', async () => {
    const stage = await openLinkStage({ leads: 3, opportunities: 0, tasks: 3 });
    stage.setCrmFaults({ faults: [{ kind: 'status', status: 403, path: '/leads', times: 1_000 }] });
    const engine = stage.createEngine();
    await engine.start();
    const problem = await until('the problem is told', async () =>
      engine.problems.list().find(({ source }) => source === 'crm:lead'),
    );
    expect(problem).toMatchObject({ code: 'CRM_FORBIDDEN', message: expect.stringContaining('read:leads') });
    const [task] = stage.model.records.tasks.live();
    byHand(stage, 'PUT', `/tasks/${task?.id}`, { title: 'Changed meanwhile' });
    await until('the change of a task is seen', async () =>
      stage.link.mirror.readRecords('task').some(({ fields }) => fields['title'] === 'Changed meanwhile'),
    );
    expect(engine.problems.list().map(({ source }) => source)).toContain('crm:lead');
    stage.setCrmFaults({ clear: true });
    await until('the leads are read', async () => presentLeads(stage.link).length === 3);
    await until('the problem has ended', async () => engine.problems.list().length === 0);
  });
});

test('a problem with one page stays while other pages of its list are read', async () => {
  const stage = await openLinkStage({ leads: 450, ...noOthers });
  const { crm } = stage.link;
  let newest = 0;
  let isBroken = true;
  const engine = stage.createEngine({
    crm: changeCrm(crm, {
      async listRecords(entity, page, lane) {
        if (isBroken && page === 5) throw new SyncError('CRM_UNREADABLE', 'Page 5 is not a list.');
        if (lane === 'newest') newest += 1;
        return crm.listRecords(entity, page, lane);
      },
    }),
    times: { ...stage.link.times, sweepMs: 10 },
    backoff: { firstMs: 20, maxMs: 20 },
  });
  await engine.start();
  const failures = () => engine.problems.list().find(({ source }) => source === 'crm:lead')?.failures ?? 0;
  await until('it failed again and again', async () => failures() >= 4);
  expect(newest).toBeGreaterThan(0);
  isBroken = false;
  await until('the list is read', async () => sweepOf(stage.link, 'lead')?.isComplete === true);
  expect(failures()).toBe(0);
});

test('what could not be read works again once a person had everything read, before its own turn comes', async () => {
  const stage = await openLinkStage({ leads: 3, ...noOthers });
  const { crm, times } = stage.link;
  let isAway = true;
  const refuse = () => Promise.reject(new SyncError('CRM_UNREACHABLE', 'The CRM is away.'));
  const engine = stage.createEngine({
    crm: changeCrm(crm, {
      readCatalog: (lane) => (isAway ? refuse() : crm.readCatalog(lane)),
      listRecords: (entity, page, lane) => (isAway ? refuse() : crm.listRecords(entity, page, lane)),
    }),
    times: { ...times, catalogMs: 3_600_000 },
    backoff: { firstMs: 3_600_000, maxMs: 3_600_000 },
  });
  await engine.start();
  const failing = () => engine.problems.list().map(({ source }) => source);
  await until('nothing can be read', async () => failing().length === 4);
  isAway = false;
  await engine.pullAll(() => undefined);
  expect(failing()).toEqual([]);
});

test('fault 22: a CRM that is away for six hours is asked rarely, and not made up for when it is back', async () => {
  const stage = await openLinkStage({ leads: 40, opportunities: 5, tasks: 5 });
  const [hourMs, minuteMs, sweepMs] = [3_600_000, 60_000, 15_000];
  let elapsedMs = 0;
  const asked = { away: 0, back: 0 };
  const stopping = new AbortController();
  const clock: Clock = {
    now: stage.link.clock.now,
    monotonicMs: () => elapsedMs,
    async sleep(durationMs) {
      elapsedMs += durationMs;
      if (elapsedMs > 6 * hourMs + 2 * minuteMs) stopping.abort();
    },
  };
  const crm: Crm = changeCrm(stage.link.crm, {
    async listRecords(entity, page, lane) {
      const isAway = elapsedMs < 6 * hourMs;
      asked[isAway ? 'away' : 'back'] += 1;
      if (isAway) throw new SyncError('CRM_UNREACHABLE', 'The CRM is away.');
      return stage.link.crm.listRecords(entity, page, lane);
    },
  });
  const link = { ...stage.link, clock, crm, times: { ...stage.link.times, sweepMs } };
  const problems = new Problems({ clock, log: stage.log });
  const keyRefusal = new KeyRefusal(clock, problems);
  const puller = new Puller({
    link,
    problems,
    keyRefusal,
    onNews: () => undefined,
    onSwept: () => undefined,
  });
  stopping.signal.addEventListener('abort', () => void puller.stop());
  await puller.start();
  expect(asked.away / listedEntities.length).toBeLessThan((6 * hourMs) / (link.backoff.maxMs / 2) + 10);
  expect(asked.away / listedEntities.length).toBeGreaterThan((6 * hourMs) / link.backoff.maxMs);
  expect(asked.back / listedEntities.length).toBeLessThanOrEqual((2 * minuteMs) / sweepMs + 1);
  expect(problems.list()).toEqual([]);
  expect(presentLeads(link)).toHaveLength(40);
});

test('status tells how old the records and the last complete sweep are', async () => {
  const stage = await openLinkStage({ leads: 40, opportunities: 0, tasks: 2 });
  const engine = stage.createEngine();
  const leadsAt = (now: number) => {
    const { clock } = stage.link;
    const later = { ...stage.link, clock: { ...clock, now: () => now } };
    return readStatus(stage.createEngine(later), undefined).entities.find(({ entity }) => entity === 'lead');
  };
  expect(leadsAt(Date.now())).toMatchObject({ sweepAgeMs: undefined, recordAgeP95Ms: undefined });
  await engine.pullAll(() => undefined);
  const { startedAt = 0 } = sweepOf(stage.link, 'lead') ?? {};
  const observedAt = presentLeads(stage.link)[0]?.observedAt ?? 0;
  // Two of forty lie outside of the 95 percent.
  for (const record of presentLeads(stage.link).slice(0, 2)) {
    stage.link.mirror.saveRecord({ ...record, observedAt: observedAt - 900_000 });
  }
  expect(leadsAt(startedAt + 60_000)).toMatchObject({
    sweepAgeMs: 60_000,
    recordAgeP95Ms: startedAt + 60_000 - observedAt,
  });
});

test('an empty list of statuses, stages or custom fields is no reason to forget those that are known', async () => {
  const stage = await openLinkStage({ leads: 1, ...noOthers });
  await pullCatalog(stage.link, 'newest');
  const known = stage.link.mirror.readCatalog();
  expect(known?.leadStatuses.length).toBeGreaterThan(0);
  for (const path of ['/lead-statuses', '/custom-fields', '/pipelines'])
    stage.setCrmFaults({ faults: [{ kind: 'emptyList', path }] });
  await pullCatalog(stage.link, 'newest');
  expect(stage.link.mirror.readCatalog()).toEqual(known);
});

test('custom fields of which an administrator switched off the last one are held, and forgotten by nobody', async () => {
  const stage = await openLinkStage({ leads: 1, ...noOthers });
  await pullCatalog(stage.link, 'newest');
  const known = stage.link.mirror.readCatalog()?.customFields ?? [];
  expect(known.length).toBeGreaterThan(0);
  for (const definition of stage.model.records.customFields) Object.assign(definition, { is_active: false });
  await pullCatalog(stage.link, 'newest');
  expect(stage.link.mirror.readCatalog()?.customFields).toEqual(
    known.map((field) => ({ ...field, held: 'it is switched off in the CRM' })),
  );
});

test('all is read to its end also where a key was exchanged meanwhile, and found to open the same account', async () => {
  const { link } = await openLinkStage({ leads: 250, ...noOthers });
  const clock = createManualClock();
  let key = 'old';
  let isInResync = false;
  const crm = changeCrm(link.crm, {
    async listRecords(entity, page, lane) {
      const answer = await link.crm.listRecords(entity, page, lane);
      // The other reading is due while the first page is on its way, and comes right after it.
      if (isInResync && entity === 'lead' && page === 1) await clock.advance(link.times.sweepMs);
      return answer;
    },
  });
  const problems = new Problems({ clock, log: link.log });
  const puller = new Puller({
    link: { ...link, clock, crm, keys: () => [{ name: key, crm }] },
    problems,
    keyRefusal: new KeyRefusal(clock, problems),
    onNews: () => {},
    onSwept: () => {},
  });
  const running = puller.start();
  await clock.sleepStarted();
  isInResync = true;
  const read: [entity: Entity, records: number][] = [];
  await puller.pullAll((entity, records, isWhole) => {
    if (isWhole) read.push([entity, records]);
    else key = 'new';
    isInResync = false;
  });
  await puller.stop();
  await running;
  expect(read).toEqual([
    ['lead', 250],
    ['opportunity', 0],
    ['task', 0],
  ]);
});
