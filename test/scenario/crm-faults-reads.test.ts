import { describe, expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { isAlive } from '../../src/sync/health.ts';
import type { LineAnswer } from '../support/crm-line.ts';
import { healthOf } from '../support/health.ts';
import { expectWorking, openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

/* What goes wrong with lists, with the account and around it, numbered as in docs/faults.test.ts. */

/** What was deleted on either side. */
const deletes = ({ engine }: Scenario) =>
  engine.link.mirror.searchJournal({ limit: 500 }).filter(({ kind }) => kind === 'delete');

const updatesOf = (scene: Scenario, id: number) => scene.requests('PUT', new RegExp(`^/leads/${id}$`));

describe('a list', () => {
  test('fault 15: that still shows what we have just replaced takes nothing back', async () => {
    const scene = await openScenario({ crm: { lagMs: 60_000 } });
    const { crm, engine, line, sheet } = scene;
    const { id } = await crm.take('lead');
    const stop = line.intercept(new RegExp(`^PUT /leads/${id}$`), (_asked, passOn) => {
      stop();
      scene.setFaults({ faults: [{ kind: 'staleList', method: 'GET', path: '/leads', times: 2 }] });
      return passOn();
    });
    await sheet.type('lead', id, { City: 'Porto' });
    await scene.swept('lead', 4);
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'custom_fields.city')).toBe('Porto');
    expect(updatesOf(scene, id)).toHaveLength(1);
    const causes = engine.link.mirror.searchJournal({ limit: 9 }).filter(({ key }) => key.id === String(id));
    expect(causes.map(({ cause }) => cause)).not.toContain('changed in the CRM');
  });

  test('fault 15: that still shows what two edits one after the other have replaced takes neither back', async () => {
    const scene = await openScenario({ crm: { lagMs: 60_000 } });
    const { crm, engine, line, sheet } = scene;
    const { id } = await crm.take('lead');
    let seen: LineAnswer | undefined;
    let behind: LineAnswer | undefined;
    line.intercept(/^GET \/leads\?/, async (_asked, passOn) => {
      seen = await passOn();
      return behind ?? seen;
    });
    await scene.swept('lead', 1);
    behind = seen;
    await sheet.type('lead', id, { City: 'Porto' });
    await until('the first edit is sent', async () => updatesOf(scene, id).length === 1);
    await sheet.type('lead', id, { Title: 'Typed next' });
    await until('the second edit is sent', async () => updatesOf(scene, id).length === 2);
    await scene.swept('lead', 2);
    behind = undefined;
    await scene.settled();
    expect(await scene.row('lead', id)).toMatchObject({ City: 'Porto', Title: 'Typed next' });
    const causes = engine.link.mirror.searchJournal({ limit: 9 }).filter(({ key }) => key.id === String(id));
    expect(causes.map(({ cause }) => cause)).not.toContain('changed in the CRM');
  });

  test('S1: that is behind is told from a colleague who puts back what we have just replaced', async () => {
    const scene = await openScenario({ crm: { lagMs: 100_000 } });
    const { crm, engine, sheet } = scene;
    const { id, ...before } = await crm.take('lead');
    const title = String(valueAt(before, 'title'));
    await sheet.type('lead', id, { Title: 'Typed first' });
    await scene.settled();
    await crm.update('lead', id, { title });
    // What was read a moment ago is not read again before it is written over: that a list has shown it is what this is about.
    await scene.swept('lead', 1);
    await sheet.type('lead', id, { Title: 'Typed next' });
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'title')).toBe(title);
    const lost = engine.link.mirror.searchJournal({ limit: 9 }).flatMap((line) => Object.values(line.lost));
    expect(lost).toContain('Typed next');
  });

  test('fault 27: of leads with a new field, and without some they had, blanks nothing', async () => {
    const scene = await openScenario();
    const { crm, line } = scene;
    const { id } = await crm.take('lead');
    const before = await scene.row('lead', id);
    line.intercept(/^GET \/leads/, async (_asked, passOn) => {
      const answer = await passOn();
      const text = answer?.text.replace(/"(status_name|meta_data|custom_fields)":/g, '"new_$1":');
      return answer && text !== undefined ? { ...answer, text } : answer;
    });
    await crm.update('lead', id, { title: 'Renamed in the CRM' });
    await scene.settled();
    await scene.swept('lead', 2);
    await scene.settled();
    const now = await scene.row('lead', id);
    expect(now).toEqual({ ...before, Title: 'Renamed in the CRM', Sync: now?.['Sync'] });
  });

  test('fault 29: whose answer never ends delays itself alone, and one that is too large is not taken', async () => {
    const scene = await openScenario({ crm: { timeoutMs: 20_000 } });
    const { line } = scene;
    const held = line.hold(/^GET \/tasks\?/);
    await held.arrived;
    await expectWorking(scene);
    const shorten = line.intercept(/^GET \/tasks\?/, async (_asked, passOn) => {
      const answer = await passOn();
      return answer && { ...answer, text: answer.text + ' '.repeat(65 * 1024 * 1024) };
    });
    await scene.suffered('crm:task', 1);
    shorten();
    await scene.settled();
    expect(deletes(scene)).toEqual([]);
  });
});

describe('the limit', () => {
  test('fault 17: used up by somebody else with our key makes us ask for less, and say so', async () => {
    const scene = await openScenario();
    const { access, budget, log } = scene;
    const ask = () => fetch(`${access.baseUrl}/lead-statuses`, { headers: { 'x-api-key': access.apiKey } });
    await Promise.all(Array.from({ length: 100 }, ask));
    await expectWorking(scene);
    expect(log.lines.filter(({ event }) => event === 'crm.limited')).not.toEqual([]);
    expect(budget.usage().requests).toBeLessThan(100);
  });
});

describe('the account', () => {
  test('fault 18: whose key is refused stops every call at once, and takes up what waited when it is back', async () => {
    const scene = await openScenario();
    const { crm, engine, sheet } = scene;
    const { id } = await crm.take('lead');
    scene.setFaults({ faults: [{ kind: 'status', status: 401, times: 1_000 }] });
    await scene.suffered('crm', 1);
    const before = scene.requests('GET', /./).length;
    await sheet.type('lead', id, { City: 'Porto' });
    await scene.waits(({ state }) => state === 'waiting');
    await scene.cycled(3);
    expect(scene.requests('GET', /./)).toHaveLength(before);
    expect(updatesOf(scene, id)).toEqual([]);
    const health = healthOf(engine);
    expect(isAlive(health.read())).toBe(false);
    expect(health.read()).toMatchObject([
      { name: 'CRM_UNAUTHORIZED', words: expect.stringMatching(/^crm.* was answered 401/) },
    ]);
    scene.setFaults({ clear: true });
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'custom_fields.city')).toBe('Porto');
    expect(updatesOf(scene, id)).toHaveLength(1);
    expect(isAlive(health.read())).toBe(true);
  });

  test('fault 26: that has a status nobody told us of shows its name, and its label once the catalog is read', async () => {
    const scene = await openScenario();
    const { crm } = scene;
    const { id } = await crm.take('lead');
    await crm.update('lead', id, { status_name: 'handed-over' });
    await scene.swept('lead', 2);
    await scene.cycled(3);
    expect(await scene.row('lead', id)).toMatchObject({ Status: 'handed-over' });
    await scene.resync();
    await scene.settled();
    expect(await scene.row('lead', id)).toMatchObject({ Status: 'Handed over' });
    expect(scene.requests('PUT', /./)).toEqual([]);
  });

  test.each([-600_000, 600_000])(
    'fault 28: whose clock is %i ms ahead works as any other',
    async (crmAheadMs) => {
      const scene = await openScenario({ crmAheadMs, choices: { retryAfter: 'absent' } });
      scene.setFaults({
        faults: [
          { kind: 'rateLimited', method: 'PUT' },
          { kind: 'dropAfter', method: 'POST' },
        ],
      });
      await scene.sheet.typeRow('lead', { Title: 'Typed once GmbH' });
      await expectWorking(scene);
      const { leads } = await scene.crm.look();
      expect(leads.filter(({ title }) => title === 'Typed once GmbH')).toHaveLength(1);
    },
  );
});
