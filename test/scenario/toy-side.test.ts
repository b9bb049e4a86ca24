import { expect, onTestFinished, test } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import type { Crm } from '../../src/core/ports.ts';
import { answer } from '../../src/sync/answers.ts';
import { Engine } from '../../src/sync/engine.ts';
import type { Link } from '../../src/sync/link.ts';
import { resync } from '../../src/sync/resync.ts';
import type { Side } from '../../src/sync/side.ts';
import { readStatus } from '../../src/sync/status.ts';
import { healthOf } from '../support/health.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { serve } from '../support/served.ts';
import { ToySide } from '../support/toy-side.ts';
import { until } from '../support/until.ts';

const counts = { leads: 4, opportunities: 1, tasks: 1 };

/** A running engine on a link that has no spreadsheet, with the sides that are made for the link, and its HTTP side. */
async function openWith<Sides extends readonly Side[]>(createSides: (link: Link) => Sides) {
  const stage = await openLinkStage(counts);
  const { table: _table, own: _own, ...rest } = stage.link;
  // Each push reads its record again, so that an edit in the CRM is seen however quick the side is.
  const link: Link = { ...rest, times: { ...rest.times, rereadAfterMs: 0 } };
  const sides = createSides(link);
  const engine = new Engine(link, sides);
  onTestFinished(() => engine.stop(5_000));
  const { post } = await serve(engine);
  const titleInCrm = async (id: string) =>
    (await stage.readCrm()).leads.find((lead) => String(lead.id) === id)?.title;
  await engine.start();
  return { engine, link, post, sides, stage, titleInCrm };
}

/** The same with one side, whose map is filled, and the first lead in it. */
async function openFilled() {
  const opened = await openWith((link) => [new ToySide(link)] as const);
  const [toy] = opened.sides;
  await until('all leads are in the map', async () => toy.rows.size === counts.leads);
  const [id = ''] = toy.rows.keys();
  const type = (title: string) => toy.rows.set(id, { ...toy.rows.get(id), title });
  const titleInMap = () => toy.rows.get(id)?.['title'];
  const atRest = () =>
    until('nothing is on its way', async () => opened.link.mirror.readAllSteps().length === 0);
  return { ...opened, atRest, id, titleInMap, toy, type };
}

/** A conflict over the title of the first lead, as it waits. */
async function openConflict() {
  const opened = await openFilled();
  const { engine, id, stage, toy, type } = opened;
  let hasHappened = false;
  toy.beforeLook = async () => {
    if (hasHappened) return;
    hasHappened = true;
    await stage.editCrm(`/leads/${id}`, { title: 'In the CRM' });
    type('In the map');
  };
  const scope = `conflict:lead-${id}:title`;
  const waiting = () => readStatus(engine, undefined).waiting.filter((item) => item.scope === scope);
  await until('the conflict waits', async () => waiting().length === 1);
  return { ...opened, scope, waiting };
}

test('a link without a side reads the CRM, is ready, and comes to its end', async () => {
  const { engine, link } = await openWith(() => []);
  const read = () => link.mirror.readRecords().length === counts.leads + counts.opportunities + counts.tasks;
  await until('all records are read', async () => read());
  await until('it is ready', async () => healthOf(engine).read().length === 0);
  expect(engine.lastCycleAt).toBe(undefined);
  expect(await resync(engine, () => undefined)).toMatchObject({ state: 'done', tableSteps: 0, waiting: 0 });
  await engine.stop(5_000);
});

test('records reach a side that is nothing but a map, and follow the CRM', async () => {
  const { id, stage, titleInMap } = await openFilled();
  await stage.editCrm(`/leads/${id}`, { title: 'Renamed in the CRM' });
  await until('the map shows it', async () => titleInMap() === 'Renamed in the CRM');
});

test('an edit in the map is pushed to the CRM, and can be taken back as a run', async () => {
  const { atRest, id, link, post, titleInCrm, titleInMap, type } = await openFilled();
  const before = await titleInCrm(id);
  type('Typed in the map');
  await until('the CRM has it', async () => (await titleInCrm(id)) === 'Typed in the map');
  await atRest();
  const [line] = link.mirror.searchJournal({ key: { entity: 'lead', id }, limit: 1 });
  expect(line).toMatchObject({ side: 'crm', after: { title: 'Typed in the map' } });
  const undone = await post('/api/undo', { run: line?.run });
  expect(undone).toMatchObject({ status: 200, body: { steps: [{ kind: 'update' }], refusals: [] } });
  await until('the CRM has the title from before', async () => (await titleInCrm(id)) === before);
  await until('the map shows it', async () => titleInMap() === before);
});

test('a step of the map is pushed although nobody was woken for it', async () => {
  const { id, link, titleInCrm, toy, type } = await openFilled();
  const key = { entity: 'lead', id } as const;
  const base = { title: toy.rows.get(id)?.['title'] ?? null };
  const step = { kind: 'update', fields: { title: 'Nobody was woken' }, base } as const;
  type('Nobody was woken');
  toy.mirror.saveOutboxItem(waitingStep({ now: link.clock.now(), run: 'one' }, key, step));
  await until('the CRM has it', async () => (await titleInCrm(id)) === 'Nobody was woken');
});

test('an answer is kept among the decisions of the side that asks', async () => {
  const { link } = await openLinkStage(counts);
  const toy = new ToySide(link);
  const engine = new Engine(link, [toy]);
  await engine.cycle();
  const refusal = { entity: 'lead', id: '1', reason: 'No.', decision: 'refused:lead-1' } as const;
  if (toy.report) toy.report = { ...toy.report, refusals: [refusal] };
  answer(engine, ['refused:lead-1'], 'retry');
  expect(toy.mirror.readDecisions()).toMatchObject([{ scope: 'refused:lead-1', choice: 'retry' }]);
  expect(link.mirror.readDecisions()).toEqual([]);
});

test.each([
  ['what the CRM has', { answer: 'crm' }, 'In the CRM'],
  ['what the map has', { answer: 'sheet' }, 'In the map'],
  ['a text of its own', { text: 'Typed as the answer' }, 'Typed as the answer'],
])('a conflict with the map is asked about, and %s settles it', async (_, answer, title) => {
  const { id, post, scope, titleInCrm, titleInMap, waiting } = await openConflict();
  expect(waiting()).toMatchObject([{ about: { crm: 'In the CRM', table: 'In the map' } }]);
  expect(await post('/api/answer', { question: scope, ...answer })).toMatchObject({ status: 200 });
  await until('both sides have it', async () => (await titleInCrm(id)) === title && titleInMap() === title);
  await until('nothing is asked any longer', async () => waiting().length === 0);
});

test('a text that the side cannot read answers no conflict', async () => {
  const { post, scope } = await openConflict();
  expect(await post('/api/answer', { question: scope, text: '' })).toEqual({
    status: 422,
    body: { error: 'It needs a text.' },
  });
});

test('a plan of the side is shown, and applied under its run', async () => {
  const { post } = await openFilled();
  const shown = await post('/api/plan', {});
  expect(shown).toMatchObject({ status: 200, body: { conflicts: [], save: [] } });
  const { id } = (shown as { body: { id: string } }).body;
  expect(await post('/api/apply', { id })).toMatchObject({ body: { isApplied: true } });
  expect(await post('/api/apply', { id: 'none' })).toMatchObject({ status: 404 });
});

test('a side that fails is told of under its own name, and tried again', async () => {
  const { engine, titleInMap, toy, type } = await openFilled();
  toy.beforeLook = () => Promise.reject(new Error('The map is locked.'));
  const failing = () => engine.problems.list().map(({ source }) => source);
  await until('it is told', async () => failing().includes('toy'));
  type('Typed meanwhile');
  toy.beforeLook = async () => undefined;
  await until('all is well', async () => failing().length === 0);
  expect(titleInMap()).toBe('Typed meanwhile');
});

test('nothing is read from the CRM for a command that goes on after the stop of the engine', async () => {
  const { engine, stage } = await openFilled();
  const reading = engine.pullAll(() => {
    void engine.stop(5_000);
  });
  await expect(reading).rejects.toThrow('after the stop');
  const asked = stage.model.requests().length;
  await expect(engine.pullAll(() => undefined)).rejects.toThrow('after the stop');
  expect(stage.model.requests()).toHaveLength(asked);
});

test('S3: a create that waited for the one before it is not sent after the stop of the engine', async () => {
  const { link } = await openLinkStage(counts);
  const turn = Promise.withResolvers<void>();
  let creates = 0;
  const createRecord: Crm['createRecord'] = async (...order) => {
    creates += 1;
    await turn.promise;
    return link.crm.createRecord(...order);
  };
  const own: Link = { ...link, crm: { ...link.crm, createRecord } };
  const toy = new ToySide(own);
  const engine = new Engine(own, [toy]);
  for (const id of ['new-1', 'new-2']) {
    const step = { kind: 'create', fields: { title: id }, base: {} } as const;
    const key = { entity: 'lead', id } as const;
    toy.mirror.saveOutboxItem(waitingStep({ now: link.clock.now(), run: id }, key, step));
  }
  await engine.start();
  await until('the first is on its way', async () => creates === 1);
  const stopped = engine.stop(5_000);
  turn.resolve();
  await stopped;
  expect(creates).toBe(1);
});

test('nothing is done at a side after the stop of its engine', async () => {
  const { engine, toy } = await openFilled();
  let looks = 0;
  toy.beforeLook = async () => {
    looks += 1;
  };
  await until('it looks', async () => looks > 0);
  await engine.stop(5_000);
  const before = looks;
  engine.kick();
  await expect(engine.cycle()).rejects.toThrow('after the stop');
  expect(looks).toBe(before);
  expect(engine.runners.map(({ mode }) => mode)).toEqual(['stopped']);
});
