import { expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';

/* A CRM that puts what it is sent into another form, numbered as in docs/faults.test.ts. */

const updates = (scene: Scenario) => scene.requests('PUT', /^\/leads\//).length;

test('fault 24: a value that the CRM puts in another form is shown as it has it, without going round', async () => {
  const scene = await openScenario();
  const { crm, line, sheet } = scene;
  const { id } = await crm.take('lead');
  line.intercept(/^PUT \/leads\//, ({ body }, passOn) =>
    passOn({ body: body.replace(' acme  gmbh', 'ACME GmbH') }),
  );
  await sheet.type('lead', id, { Title: ' acme  gmbh' });
  await scene.settled();
  expect(await scene.row('lead', id)).toMatchObject({ Title: 'ACME GmbH' });
  await scene.resync();
  expect(await scene.resync()).toMatchObject({ tableSteps: 0, crmWrites: 0 });
  expect(updates(scene)).toBe(1);
});

test('a text that somebody goes on typing is sent, although the CRM has put what came before into another form meanwhile', async () => {
  const scene = await openScenario();
  const { crm, line, sheet } = scene;
  const { id } = await crm.take('lead');
  const stop = line.intercept(/^PUT \/leads\//, async ({ body }, passOn) => {
    stop();
    await sheet.type('lead', id, { Title: 'Acme Corporation' });
    return passOn({ body: body.replace('Acme ', 'Acme') });
  });
  await sheet.type('lead', id, { Title: 'Acme ' });
  await scene.settled();
  expect(await scene.row('lead', id)).toMatchObject({ Title: 'Acme Corporation' });
  expect(valueAt(await crm.find('lead', id), 'title')).toBe('Acme Corporation');
  expect(updates(scene)).toBe(2);
});

test.each([
  ['task', 'Title', '/tasks/'],
  ['opportunity', 'Note', '/opportunities/'],
] as const)(
  'a text of a %s that somebody goes on typing is sent, although the CRM has trimmed what came before without a word',
  async (entity, column, path) => {
    const scene = await openScenario({ choices: { opportunityUpdateAnswer: 'none' } });
    const { crm, line, sheet } = scene;
    const { id } = await crm.take(entity);
    const stop = line.intercept(new RegExp(`^PUT ${path}`), async ({ body }, passOn) => {
      stop();
      await sheet.type(entity, id, { [column]: 'Call Acme tomorrow' });
      return passOn({ body: body.replace('Call Acme ', 'Call Acme') });
    });
    await sheet.type(entity, id, { [column]: 'Call Acme ' });
    await scene.settled();
    expect(await scene.row(entity, id)).toMatchObject({ [column]: 'Call Acme tomorrow' });
    expect(valueAt(await crm.find(entity, id), column.toLowerCase())).toBe('Call Acme tomorrow');
  },
);

test('S7: a value that the CRM trims comes to rest, also where its answer says nothing and its lists lag behind', {
  timeout: 120_000,
}, async () => {
  const scene = await openScenario({ choices: { opportunityUpdateAnswer: 'none' } });
  const { crm, line, sheet } = scene;
  const { id } = await crm.take('opportunity');
  line.intercept(/^PUT \/opportunities\//, ({ body }, passOn) => {
    scene.setFaults({ faults: [{ kind: 'staleList', method: 'GET', path: '/opportunities', times: 2 }] });
    return passOn({ body: body.replace('  call   back ', 'Call back') });
  });
  await sheet.type('opportunity', id, { Note: '  call   back ' });
  await scene.settled();
  await scene.swept('opportunity', 2);
  await scene.settled();
  expect(await scene.row('opportunity', id)).toMatchObject({ Note: 'Call back' });
  expect(await scene.resync()).toMatchObject({ tableSteps: 0, crmWrites: 0 });
  expect(scene.requests('PUT', /./)).toHaveLength(1);
});
