import { describe, expect, test } from 'vitest';
import { sheet as sheetSettings } from '../../src/app/settings.ts';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

/*
 * What goes wrong around a single write, numbered as in docs/faults.test.ts. Creates are the hard ones: the CRM takes no token with
 * which a repeated one could be recognised.
 */

const title = 'Typed once GmbH';

const leadsCalled = async ({ crm }: Scenario, name: string) =>
  (await crm.look()).leads.filter((lead) => lead.title === name);

const creates = (scene: Scenario) => scene.requests('POST', /^\/leads$/).length;
const updates = (scene: Scenario) => scene.requests('PUT', /^\/leads\//).length;

/** The CRM refuses a write for its rate; before it takes that, a colleague edits the record. */
function editWhileWaiting({ crm, line, setFaults }: Scenario, method: 'PUT' | 'DELETE', id: number): void {
  setFaults({ faults: [{ kind: 'rateLimited', method, path: `/leads/${id}` }] });
  const stop = line.intercept(new RegExp(`^${method} /leads/${id}$`), async (_asked, passOn) => {
    stop();
    const answer = await passOn();
    await crm.update('lead', id, { title: 'Said in the CRM' });
    return answer;
  });
}

/** Enough looks, and sweeps begun after them, for a create to be sent again if anything allowed it. */
async function timePasses(scene: Scenario): Promise<void> {
  await scene.swept('lead', 3);
  await scene.cycled(3);
}

describe('fault 1: the CRM can not be reached', () => {
  test('an edit and a new row wait, count as never sent, and arrive once', async () => {
    const scene = await openScenario();
    const { crm, line, sheet } = scene;
    const { id } = await crm.take('lead');
    await line.disconnect();
    await sheet.type('lead', id, { City: 'Porto' });
    await sheet.typeRow('lead', { Title: title });
    const [edit, create] = [
      await scene.waits(
        ({ kind, attempts, state }) => kind === 'update' && attempts >= 2 && state !== 'sending',
      ),
      await scene.waits(
        ({ kind, attempts, state }) => kind === 'create' && attempts >= 2 && state !== 'sending',
      ),
    ];
    for (const { state, error } of [edit, create])
      expect({ state, code: error?.code }).toEqual({ state: 'waiting', code: 'CRM_UNREACHABLE' });
    await line.reconnect();
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'custom_fields.city')).toBe('Porto');
    expect([creates(scene), updates(scene)]).toEqual([1, 1]);
  });
});

describe('a create whose outcome nobody knows', () => {
  test('fault 2: was done, and is found and adopted', async () => {
    const scene = await openScenario();
    scene.setFaults({ faults: [{ kind: 'dropAfter', method: 'POST', path: '/leads' }] });
    await scene.sheet.typeRow('lead', { Title: title, City: 'Porto' });
    await scene.settled();
    expect(await leadsCalled(scene, title)).toHaveLength(1);
    expect(creates(scene)).toBe(1);
  });

  test('fault 3: is done late, after the first look for it, and is found by the second', async () => {
    const scene = await openScenario({ crm: { timeoutMs: 15_000 } });
    const held = scene.line.hold(/^POST \/leads$/);
    await scene.sheet.typeRow('lead', { Title: title });
    await held.arrived;
    await scene.waits(({ state, looks }) => state === 'unknown' && looks === 1);
    await held.release();
    await scene.settled();
    expect(await leadsCalled(scene, title)).toHaveLength(1);
    expect(creates(scene)).toBe(1);
  });

  test('fault 4: was not done, and is sent once more', async () => {
    const scene = await openScenario();
    scene.setFaults({ faults: [{ kind: 'dropBefore', method: 'POST', path: '/leads' }] });
    await scene.sheet.typeRow('lead', { Title: title });
    await scene.settled();
    expect(await leadsCalled(scene, title)).toHaveLength(1);
    expect(creates(scene)).toBe(2);
  });

  test('fault 4: was not done, and is not sent once more where its row was deleted meanwhile', async () => {
    const scene = await openScenario();
    const { act, position, setFaults, sheet, sheetLine } = scene;
    const held = scene.line.hold(/^GET \/leads\?/);
    setFaults({ faults: [{ kind: 'dropBefore', method: 'POST', path: '/leads' }] });
    await sheet.typeRow('lead', { Title: title });
    const { key } = await scene.waits(({ state }) => state === 'unknown');
    await act({ kind: 'deleteRows', sheet: 'Leads', row: await position('lead', key.id), count: 1 });
    await scene.cycled(2);
    // No further look at the sheet comes before it is known that the CRM has no such record.
    const reading = sheetLine.hold(/^GET /);
    await reading.arrived;
    await held.release();
    await scene.swept('lead', 4);
    expect(creates(scene)).toBe(1);
    await reading.release();
    await scene.settled();
    expect(await leadsCalled(scene, title)).toEqual([]);
    expect(creates(scene)).toBe(1);
  });

  test('fault 4: was not done, while another one was: neither takes the record of the other for its own', async () => {
    const scene = await openScenario();
    const other = 'Typed right after KG';
    scene.setFaults({
      faults: [
        { kind: 'dropBefore', method: 'POST', path: '/leads' },
        { kind: 'dropAfter', method: 'POST', path: '/leads' },
      ],
    });
    await scene.sheet.typeRow('lead', { Title: title });
    await scene.sheet.typeRow('lead', { Title: other });
    await scene.settled();
    expect([await leadsCalled(scene, title), await leadsCalled(scene, other)]).toMatchObject([[{}], [{}]]);
    expect(creates(scene)).toBe(3);
  });

  test('fault 5: made a record that a colleague edited before it was found: a person decides', async () => {
    const scene = await openScenario();
    const { crm, line, sheet } = scene;
    const stop = line.intercept(/^POST \/leads$/, async (_asked, passOn) => {
      stop();
      await passOn();
      const [born] = await leadsCalled(scene, title);
      await crm.update('lead', born?.id ?? 0, { custom_fields: { city: 'Lisbon' } });
      return undefined;
    });
    await sheet.typeRow('lead', { Title: title, City: 'Porto' });
    const [born] = await scene
      .told('lead', { Title: title }, /may be it\./)
      .then(() => leadsCalled(scene, title));
    await timePasses(scene);
    expect(await scene.row('lead', born?.id ?? 0)).toBeUndefined();
    expect(await leadsCalled(scene, title)).toEqual([born]);
    expect([creates(scene), updates(scene)]).toEqual([1, 0]);
  });

  test('fault 5: made a record that a colleague renamed before it was found: it is not made twice', async () => {
    const scene = await openScenario();
    const { crm, line, sheet } = scene;
    const stop = line.intercept(/^POST \/leads$/, async (_asked, passOn) => {
      stop();
      await passOn();
      const [born] = await leadsCalled(scene, title);
      await crm.update('lead', born?.id ?? 0, { title: 'Renamed by a colleague' });
      return undefined;
    });
    await sheet.typeRow('lead', { Title: title });
    await scene.told('lead', { Title: title }, /may be it\./);
    await timePasses(scene);
    expect(await leadsCalled(scene, title)).toEqual([]);
    expect([creates(scene), updates(scene)]).toEqual([1, 0]);
  });

  test('fault 6: was not done, but a colleague made a lead of that title: it is not taken for ours', async () => {
    const scene = await openScenario();
    const { crm, line, sheet } = scene;
    const stop = line.intercept(/^POST \/leads$/, async () => {
      stop();
      await crm.create('lead', { title, custom_fields: { city: 'Lisbon' } });
      return undefined;
    });
    await sheet.typeRow('lead', { Title: title, City: 'Porto' });
    await scene.told('lead', { Title: title }, /may be it\./);
    await timePasses(scene);
    expect(await leadsCalled(scene, title)).toMatchObject([{ custom_fields: { city: 'Lisbon' } }]);
    expect([creates(scene), updates(scene)]).toEqual([0, 0]);
  });
});

test('fault 6: a colleague creates the same lead while ours is created: two records, a row each', async () => {
  const scene = await openScenario();
  const { crm, line, sheet } = scene;
  const stop = line.intercept(/^POST \/leads$/, async (_asked, passOn) => {
    stop();
    await crm.create('lead', { title });
    return passOn();
  });
  await sheet.typeRow('lead', { Title: title });
  await scene.settled();
  expect(await leadsCalled(scene, title)).toHaveLength(2);
  expect(creates(scene)).toBe(1);
});

describe('an update', () => {
  test('fault 8: of what a colleague changed since our last look becomes a conflict, not a write', async () => {
    const scene = await openScenario({ crm: { rereadAfterMs: 1 } });
    const { crm, engine, line, sheet } = scene;
    const { id } = await crm.take('lead');
    const stop = line.intercept(new RegExp(`^GET /leads/${id}$`), async (_asked, passOn) => {
      stop();
      await crm.update('lead', id, { title: 'Said in the CRM' });
      return passOn();
    });
    await sheet.type('lead', id, { Title: 'Said in the sheet' });
    await scene.told('lead', id, /“Said in the sheet”/);
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'title')).toBe('Said in the CRM');
    expect(updates(scene)).toBe(0);
    expect(engine.link.mirror.searchJournal({ limit: 9 }).map(({ lost }) => lost['title'])).toContain(
      'Said in the sheet',
    );
  });

  test('fault 8: of what a colleague changed while a write waited for its turn becomes a conflict as well', async () => {
    const scene = await openScenario({ crm: { rereadAfterMs: 1 } });
    const { id } = await scene.crm.take('lead');
    editWhileWaiting(scene, 'PUT', id);
    await scene.sheet.type('lead', id, { Title: 'Said in the sheet' });
    await scene.told('lead', id, /“Said in the sheet”/);
    await scene.settled();
    expect(valueAt(await scene.crm.find('lead', id), 'title')).toBe('Said in the CRM');
  });

  test('fault 8: of what a colleague changed while a delete waited for its turn brings the row back', async () => {
    const scene = await openScenario({ sheet: { vanishedRows: 'trash' } });
    const { id } = await scene.crm.take('lead');
    editWhileWaiting(scene, 'DELETE', id);
    await scene.sheet.deleteRow('lead', id);
    await until('the row to come back', async () => scene.row('lead', { Title: 'Said in the CRM' }));
    expect(valueAt(await scene.crm.find('lead', id), 'title')).toBe('Said in the CRM');
  });

  test('S1: whose answer got lost brings what it overruled into the history all the same', async () => {
    const leads = { leads: { conflict: 'sheet' } };
    const scene = await openScenario({ sheet: { tabs: sheetSettings.shape.tabs.parse(leads) } });
    const { crm, engine, sheet } = scene;
    const { id } = await crm.take('lead');
    scene.setFaults({ faults: [{ kind: 'dropAfter', method: 'PUT', path: `/leads/${id}` }] });
    await Promise.all([
      crm.update('lead', id, { title: 'Said in the CRM' }),
      sheet.type('lead', id, { Title: 'Said in the sheet' }),
    ]);
    await until('the value that lost', async () =>
      engine.link.mirror.searchJournal({ limit: 9 }).some(({ lost }) => lost['title'] === 'Said in the CRM'),
    );
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'title')).toBe('Said in the sheet');
    expect(updates(scene)).toBe(1);
  });

  test.each([
    ['is deleted', ({ crm }: Scenario, id: number) => crm.trash('lead', id)],
    ['is edited', ({ crm }: Scenario, id: number) => crm.update('lead', id, { title: 'Said later' })],
  ])('S1: whose answer got lost, and whose record %s then, brings it there as well', async (_is, change) => {
    const leads = { leads: { conflict: 'sheet' } };
    const scene = await openScenario({ sheet: { tabs: sheetSettings.shape.tabs.parse(leads) } });
    const { crm, engine, line, sheet } = scene;
    const { id } = await crm.take('lead');
    scene.setFaults({ faults: [{ kind: 'dropAfter', method: 'PUT', path: `/leads/${id}` }] });
    const stop = line.intercept(new RegExp(`^PUT /leads/${id}$`), async (_asked, passOn) => {
      stop();
      try {
        return await passOn();
      } finally {
        await change(scene, id);
      }
    });
    await Promise.all([
      crm.update('lead', id, { title: 'Said in the CRM' }),
      sheet.type('lead', id, { Title: 'Said in the sheet' }),
    ]);
    await until('the value that lost', async () =>
      engine.link.mirror.searchJournal({ limit: 9 }).some(({ lost }) => lost['title'] === 'Said in the CRM'),
    );
  });

  test('fault 20: of a record that was deleted in the CRM keeps the row and asks', async () => {
    const scene = await openScenario({ crm: { rereadAfterMs: 1 } });
    const { crm, line, sheet } = scene;
    const { id } = await crm.take('lead');
    const stop = line.intercept(new RegExp(`^GET /leads/${id}$`), async (_asked, passOn) => {
      stop();
      await crm.trash('lead', id);
      return passOn();
    });
    await sheet.type('lead', id, { Title: 'Edited too late' });
    await scene.told('lead', id, /^Held: .*deleted in the CRM, but this row was edited/);
    await timePasses(scene);
    expect(await scene.row('lead', id)).toMatchObject({ Title: 'Edited too late' });
    expect([creates(scene), updates(scene)]).toEqual([0, 0]);
  });
});
