import { expect, test } from 'vitest';
import { sheet } from '../../src/app/settings.ts';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';
import type { ShownRow } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const leadsAsk = sheet.shape.tabs.parse({ leads: { conflict: 'ask' } });

/** Chooses beside a question once it is asked; answers its row as it stood before. */
async function choose(scene: Scenario, scope: string, text: string): Promise<ShownRow> {
  const asked = await scene.told('question', { ID: scope }, /^Waiting/);
  const row = await scene.position('question', scope);
  await scene.act({ kind: 'edit', sheet: 'Conflicts', row, column: 'Choose', text });
  return asked;
}

const isGone = (scene: Scenario, scope: string) =>
  until(`the question ${scope} is gone`, async () => !(await scene.row('question', { ID: scope })), {
    limitMs: 15_000,
  });

/** Somebody types a title into the sheet and somebody else another into the CRM; answers the lead's id and the scope. */
async function disagree(scene: Scenario): Promise<{ id: number; scope: string; agreed: string }> {
  const { id, title } = await scene.crm.take('lead');
  await scene.sheet.type('lead', id, { Title: 'Typed in the sheet' });
  await scene.crm.update('lead', id, { title: 'Typed in the CRM' });
  return { id, scope: `conflict:lead-${id}:title`, agreed: String(title) };
}

test.each([
  ['CRM', 'Typed in the CRM'],
  ['Sheet', 'Typed in the sheet'],
])('a conflict is settled by choosing %s beside it, on both sides', async (choice, winner) => {
  const scene = await openScenario({ sheet: { tabs: leadsAsk } });
  const { id, scope, agreed } = await disagree(scene);
  expect(await choose(scene, scope, choice)).toMatchObject({
    What: 'Title was changed in the CRM and in the sheet. Choose CRM or Sheet.',
    Tab: 'Leads',
    Record: String(id),
    Field: 'Title',
    'CRM has': 'Typed in the CRM',
    'Sheet has': 'Typed in the sheet',
    'Agreed before': agreed,
  });
  await isGone(scene, scope);
  await scene.settled();
  expect(valueAt(await scene.crm.find('lead', id), 'title')).toBe(winner);
  expect((await scene.row('lead', id))?.['Title']).toBe(winner);
  expect(scene.engine.link.mirror.readDecisions()).toEqual([]);
});

test('a conflict is settled with a third value by typing it into the row and choosing Sheet', async () => {
  const scene = await openScenario({ sheet: { tabs: leadsAsk } });
  const { id, scope } = await disagree(scene);
  await scene.told('question', { ID: scope }, /^Waiting/);
  await scene.sheet.type('lead', id, { Title: 'Of neither' });
  await scene.told('question', { ID: scope, 'Sheet has': 'Of neither' }, /^Waiting/);
  await choose(scene, scope, 'Sheet');
  await isGone(scene, scope);
  await scene.settled();
  expect(valueAt(await scene.crm.find('lead', id), 'title')).toBe('Of neither');
});

test('a conflict goes by itself when the value of the CRM is typed into its row, which says so', async () => {
  const scene = await openScenario({ sheet: { tabs: leadsAsk } });
  const { id, scope } = await disagree(scene);
  await scene.told('question', { ID: scope }, /^Waiting/);
  await scene.told('lead', id, /^Conflict: .* Choose in the tab “Conflicts”, or type it here/);
  await scene.sheet.type('lead', id, { Title: 'Typed in the CRM' });
  await isGone(scene, scope);
  await scene.settled();
});

test.each([
  ['Restore', true],
  ['Trash', false],
])('a row that vanished is answered with %s', async (choice, isKept) => {
  const scene = await openScenario();
  const { id } = await scene.crm.take('lead');
  await scene.sheet.deleteRow('lead', id);
  const scope = `vanished:lead-${id}`;
  await choose(scene, scope, 'Perhaps');
  await scene.told(
    'question',
    { ID: scope },
    /^Error: “Perhaps” is no answer here\. Choose Trash or Restore\./,
  );
  const row = await scene.position('question', scope);
  await scene.act({ kind: 'edit', sheet: 'Conflicts', row, column: 'Choose', text: choice });
  await isGone(scene, scope);
  await scene.settled();
  const stands = [await scene.crm.find('lead', id), await scene.row('lead', id)].map(
    (found) => found !== undefined,
  );
  expect(stands).toEqual([isKept, isKept]);
});

test('S5: a brake is asked in the tab and nothing else is written until it is approved there', async () => {
  const scene = await openScenario();
  const { rows } = (await scene.sheet.look()).lead;
  // The first title begins with “=”: typed elsewhere it is no edit, because it reads as a formula.
  const titles = rows.slice(1, 4).map(({ Title }) => [String(Title)]);
  const [one = [], two = [], three = []] = titles;
  await scene.act({ kind: 'paste', sheet: 'Leads', row: 2, column: 'Title', rows: [two, three, one] });
  const scope = 'brake:lead:torn';
  await scene.told('question', { ID: scope }, /^Waiting/);
  await scene.cycled(2);
  expect(scene.requests('PUT', /./)).toEqual([]);
  await choose(scene, scope, 'Approve');
  await isGone(scene, scope);
  await scene.settled();
  expect(scene.requests('PUT', /^\/leads\//)).toHaveLength(3);
});

test('a tab that is left alone says why beside the questions until that is mended', async () => {
  const scene = await openScenario();
  await scene.act({ kind: 'renameHeader', sheet: 'Leads', column: 'City', text: 'Title' });
  const told = await scene.told('question', { ID: 'held:lead' }, /^Waiting until somebody mends it\.$/);
  expect(told).toMatchObject({ Tab: 'Leads', What: expect.stringMatching(/are both called “Title”/) });
  const row = await scene.position('question', 'held:lead');
  await scene.act({ kind: 'edit', sheet: 'Conflicts', row, column: 'Choose', text: 'Approve' });
  await scene.told('question', { ID: 'held:lead' }, /no answer here\. There is nothing to choose\.$/);
  await scene.act({ kind: 'undo' }, { kind: 'undo' });
  await isGone(scene, 'held:lead');
  await scene.settled();
});

test('a row that a person deletes from the tab comes back, and a deleted tab asks nothing more', async () => {
  const scene = await openScenario();
  const { id } = await scene.crm.take('lead');
  const scope = `vanished:lead-${id}`;
  await scene.sheet.deleteRow('lead', id);
  await scene.told('question', { ID: scope }, /^Waiting/);
  await scene.act({ kind: 'deleteRows', sheet: 'Conflicts', row: await scene.position('question', scope) });
  await scene.told('question', { ID: scope }, /^Waiting/);
  await scene.act({ kind: 'deleteTab', sheet: 'Conflicts' });
  await scene.cycled(2);
  await scene.decide(scope, 'restore');
  await scene.settled();
});
