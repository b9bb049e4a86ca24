import { expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { spawnCommand } from '../support/daemon-process.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';
import { controlToken, serve } from '../support/served.ts';
import { until } from '../support/until.ts';

async function openControl({ engine }: Scenario) {
  const { get, post, url } = await serve(engine);
  return {
    post,
    readMetrics: async () => (await get('/metrics')).text(),
    /** Runs a command as an operator types it; answers its exit code and what it said. */
    async run(...words: string[]) {
      const environment = { HTTP_PORT: new URL(url).port, CONTROL_TOKEN: controlToken };
      const { code, stdout, stderr } = await spawnCommand(words, environment).ended;
      return `${code} ${stdout}${stderr}`.trim();
    },
  };
}

/** A lead of which the CRM refuses every change for so many times. */
async function refusedEdit(scene: Scenario, title: string, times = 1): Promise<number> {
  const { id } = await scene.crm.take('lead');
  scene.setFaults({ faults: [{ kind: 'status', status: 400, method: 'PUT', path: `/leads/${id}`, times }] });
  await scene.sheet.type('lead', id, { Title: title });
  await scene.told('lead', id, /^Error: /);
  return id;
}

const titleOf = async (scene: Scenario, id: number) => valueAt(await scene.crm.find('lead', id), 'title');

test('fault 21: what the CRM refused is counted by its code, and sent once more by `answer … retry`', async () => {
  const scene = await openScenario();
  const { readMetrics, run } = await openControl(scene);
  const id = await refusedEdit(scene, 'Typed');
  await scene.told('question', { ID: `refused:lead-${id}` }, /^Waiting/);
  expect(await readMetrics()).toMatch(/^crm_sheet_sync_errors_total\{code="CRM_REFUSED"\} 1$/m);
  const title = await titleOf(scene, id);
  expect(await run('answer', `lead-${id}`, 'retry')).toBe(
    `0 ${title} (#${id}): retry.\nIt is done in the next cycle; with manual writes, once the next plan is applied.`,
  );
  expect((await scene.log.told('command.done')).fields).toEqual({
    command: '/api/answer',
    by: 'control',
  });
  await scene.settled();
  expect(await titleOf(scene, id)).toBe('Typed');
});

test('what the CRM refused makes room for its own values by `revert`, and stays in the history', async () => {
  const scene = await openScenario();
  const { post } = await openControl(scene);
  const id = await refusedEdit(scene, 'Typed', 5);
  const before = await titleOf(scene, id);
  expect(await post('/api/answer', { question: String(id), answer: 'revert' })).toEqual({
    status: 200,
    body: { answered: [{ scope: `refused:lead-${id}`, name: `${before} (#${id})` }], left: [] },
  });
  await scene.settled();
  expect([await titleOf(scene, id), (await scene.row('lead', id))?.['Title']]).toEqual([before, before]);
  const [line] = scene.engine.link.mirror.searchJournal({ limit: 1 });
  expect(line).toMatchObject({ side: 'table', lost: { title: 'Typed' } });
});

test('what the CRM refused stays on both sides by `ignore`, is listed, and is taken up again by `retry`', async () => {
  const scene = await openScenario();
  const { post, run } = await openControl(scene);
  const id = await refusedEdit(scene, 'Typed');
  const before = await titleOf(scene, id);
  expect(await post('/api/answer', { all: 'ignore' })).toMatchObject({
    body: { answered: [{ scope: `refused:lead-${id}` }] },
  });
  await scene.told('lead', id, /^Held: ignored until it changes/);
  await scene.cycled(2);
  expect([await titleOf(scene, id), (await scene.row('lead', id))?.['Title']]).toEqual([before, 'Typed']);
  const status = await run('status');
  expect(status).toContain(`Ignored: ${before} (#${id}), Leads: `);
  expect(status).toContain(`(answer refused:lead-${id} retry takes it up again)`);
  // In CRM, in sheet, pending, errors, conflicts, held.
  expect(status).toMatch(/^Leads +\d+ +\d+ +0 +0 +0 +0 /m);
  await post('/api/answer', { all: 'retry' });
  await scene.settled();
  expect(await titleOf(scene, id)).toBe('Typed');
});

test('who asks for what can not be done is told why', async () => {
  const scene = await openScenario();
  const { post } = await openControl(scene);
  expect(await post('/api/answer', { question: 'lead-1', answer: 'retry' })).toEqual({
    status: 404,
    body: { error: 'Nothing waits under #1. Waiting: nothing.' },
  });
  expect(await post('/api/answer', {})).toMatchObject({ status: 400 });
  expect(await post('/api/answer', { all: 'approve' })).toMatchObject({ status: 400 });
  expect(await post('/api/answer', { all: 'ignore' })).toEqual({
    status: 200,
    body: { answered: [], left: [] },
  });
  scene.setFaults({ faults: [{ kind: 'status', status: 400, method: 'POST', path: '/leads', times: 1 }] });
  await scene.sheet.typeRow('lead', { Title: 'New here' });
  const { ID = '' } = await scene.told('lead', { Title: 'New here' }, /^Error: /);
  const record = `lead-${ID}`;
  expect(await post('/api/answer', { question: record, answer: 'revert' })).toMatchObject({ status: 400 });
  expect(await post('/api/answer', { all: 'revert' })).toEqual({
    status: 200,
    body: { answered: [], left: [{ scope: `refused:${record}`, name: 'New here (new)' }] },
  });
  await post('/api/answer', { question: 'New here', answer: 'retry' });
  await scene.settled();
  expect(scene.requests('POST', /\/leads$/)).toHaveLength(2);
});

test('a record on which the CRM always fails keeps no other from being sent, and goes to a person', {
  timeout: 120_000,
}, async () => {
  const scene = await openScenario();
  const [poison, other] = [await scene.crm.take('lead'), await scene.crm.take('lead')];
  scene.setFaults({
    faults: [{ kind: 'status', status: 500, method: 'PUT', path: `/leads/${poison.id}`, times: 1_000 }],
  });
  await scene.sheet.type('lead', poison.id, { Title: 'Poison' });
  await scene.waits(({ attempts }) => attempts > 0);
  await scene.sheet.type('lead', other.id, { Title: 'Arrives' });
  await until('the other edit arrived', async () => (await titleOf(scene, other.id)) === 'Arrives', {
    limitMs: 15_000,
  });
  await scene.told('question', { ID: `refused:lead-${poison.id}` }, /^Waiting/);
  const sent = scene.requests('PUT', new RegExp(`/leads/${poison.id}$`)).map(({ at }) => at);
  const pauses = sent.slice(1).map((at, index) => at - (sent[index] ?? 0));
  // Each pause is about twice as long as the one before; the clock of a busy machine adds to it.
  expect(Math.max(...pauses)).toBeGreaterThan(4 * 1_000 * 0.5);
  await scene.sheet.type('lead', poison.id, { Title: 'Newer' });
  const item = await scene.waits(({ fields }) => fields['title'] === 'Newer');
  expect(item.attempts).toBeLessThan(5);
  expect(scene.engine.link.mirror.readOutbox()).toHaveLength(1);
});
