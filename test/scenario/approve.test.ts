import { expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { listWaiting } from '../../src/sync/status.ts';
import { withCrm } from '../support/changed-crm.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { serve } from '../support/served.ts';

/** An engine whose cycles the test begins, with a tab for its leads, and the HTTP side of it. */
async function openServed(leads: number) {
  const stage = await openLinkStage({ leads, opportunities: 0, tasks: 0 });
  await stage.layOut();
  const engine = stage.createEngine();
  const { get, post } = await serve(engine);
  const readConflicts = async () =>
    (await (await get('/api/status')).json()) as { readonly waiting: unknown };
  const readWaiting = async () => (await readConflicts()).waiting;
  const approve = (scope: string, choice: string, seen?: unknown) =>
    post('/api/answer', { question: scope, answer: choice, seen });
  await engine.pullAll(() => {});
  return { approve, engine, get, link: stage.link, post, readConflicts, readWaiting, stage };
}

/** The same with the tab filled. */
async function openFilled(leads: number) {
  const served = await openServed(leads);
  await served.engine.cycle();
  return served;
}

test('an answer that does not fit what waits, or was shown something else, is refused and changes nothing', async () => {
  const { approve, engine, get, link, stage } = await openFilled(12);
  const [first, ...others] = (await stage.readSheet())['Leads'] ?? [];
  const vanished = `vanished:lead-${first?.['ID']}`;
  const [one, two, three] = others.slice(2, 5).map(({ Title }) => [String(Title)]);
  const rotated = [two ?? [], three ?? [], one ?? []];
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
  await engine.cycle();
  await engine.cycle();
  const status = await (await get('/api/status')).json();
  expect(status).toMatchObject({ waiting: [{ scope: vanished, answers: ['trash', 'restore'] }] });
  expect(await approve(vanished, 'approve')).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('Choose trash or restore.') },
  });
  await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 3, column: 'Title', rows: rotated });
  await engine.cycle();
  await engine.cycle();
  expect(engine.lastPlan?.brakes).toMatchObject([{ scope: 'brake:lead:torn' }]);
  expect(await approve('brake:lead:torn', 'restore')).toMatchObject({ status: 400 });
  const { about, what } = listWaiting(engine).find(({ scope }) => scope === 'brake:lead:torn') ?? {};
  const less = { what: 'Fewer values stand in other rows.', about };
  expect(await approve('brake:lead:torn', 'approve', less)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining(`It says now: ${what}`) },
  });
  expect(link.mirror.readDecisions()).toEqual([]);
  expect(await approve('brake:lead:torn', 'approve', { what, about })).toMatchObject({ status: 200 });
  expect(link.mirror.readDecisions()).toMatchObject([
    { scope: 'brake:lead:torn', choice: expect.stringMatching(/^approve:/) },
  ]);
});

test('an answer is told with its question until it is carried out, and no more once it was outrun, though the words are the same', async () => {
  const { approve, engine, readWaiting, stage } = await openFilled(40);
  const scope = 'brake:lead:column';
  const typed = Array.from({ length: 30 }, (_, index) => [`Typed ${index}`]);
  await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows: typed });
  await engine.cycle();
  await engine.cycle();
  expect(await readWaiting()).toEqual([expect.not.objectContaining({ answered: expect.anything() })]);
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 35, column: 'Title', text: 'Typed as well' });
  await engine.cycle();
  expect(await approve(scope, 'approve')).toMatchObject({ status: 200 });
  expect(await readWaiting()).toMatchObject([{ scope, answered: 'approve' }]);
  await engine.cycle();
  expect(engine.lastPlan?.brakes).toMatchObject([{ scope, changes: { count: 31 } }]);
  expect(await readWaiting()).toEqual([expect.not.objectContaining({ answered: expect.anything() })]);
  expect(await approve(scope, 'approve')).toMatchObject({ status: 200 });
  await engine.cycle();
  expect(await readWaiting()).toEqual([]);
});

test('an answer that the key does not let through is told as given no more, so that another one can be', async () => {
  const { approve, engine, link, readWaiting, stage } = await openFilled(3);
  const forbidden = new SyncError('CRM_FORBIDDEN', 'The key lacks the scope delete:leads.');
  const restricted = withCrm(link, {
    deleteRecord: () => Promise.reject(forbidden),
  });
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
  await engine.cycle();
  await engine.cycle();
  const [question] = listWaiting(engine);
  if (!question) throw new Error('Nobody is asked about the row.');
  await approve(question.scope, 'trash');
  expect(await readWaiting()).toMatchObject([{ answered: 'trash' }]);
  await engine.cycle();
  for (const { key } of link.mirror.readOutbox()) await pushRecord(restricted, key);
  await engine.cycle();
  expect(await readWaiting()).toEqual([
    expect.objectContaining({ scope: question.scope, what: expect.stringContaining('delete:leads') }),
  ]);
  expect(await readWaiting()).toEqual([expect.not.objectContaining({ answered: expect.anything() })]);
});

test('before both sides were compared nobody is told that nothing waits', async () => {
  const { approve, engine, post, readConflicts } = await openServed(3);
  expect(await readConflicts()).toMatchObject({ waiting: [] });
  expect(await readConflicts()).not.toHaveProperty('lastCycleAt');
  const refused = { status: 503, body: { error: expect.stringContaining('it is not known what waits') } };
  expect(await approve('vanished:lead-1', 'trash')).toEqual(refused);
  expect(await post('/api/answer', { all: 'crm' })).toEqual(refused);
  expect(await post('/api/answer', { all: 'retry' })).toEqual(refused);
  await engine.cycle();
  expect(await readConflicts()).toMatchObject({ waiting: [], lastCycleAt: engine.lastCycleAt });
  expect(await approve('vanished:lead-1', 'trash')).toMatchObject({ status: 404 });
});

test('who answers what somebody else has settled is told so, and who mistypes is not told of all that waits', async () => {
  const { approve, engine, stage } = await openFilled(150);
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 15 });
  await engine.cycle();
  await engine.cycle();
  const [question, ...others] = listWaiting(engine);
  expect(others.length).toBe(14);
  const { about, scope = '', what } = question ?? {};
  expect(await approve('vanished:lead-0', 'trash')).toEqual({
    status: 404,
    body: { error: expect.stringMatching(/^.{10,490} and 3 more\.$/) },
  });
  await approve(scope, 'restore');
  await engine.cycle();
  expect(await approve(scope, 'trash', { what, about })).toEqual({
    status: 409,
    body: { error: expect.stringContaining('This does not wait any more') },
  });
});

test('what is asked although it was answered, because the key may not do that, can be answered otherwise', async () => {
  const { approve, engine, link, readWaiting, stage } = await openFilled(12);
  const [first] = (await stage.readSheet())['Leads'] ?? [];
  const scope = `vanished:lead-${first?.['ID']}`;
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  for (const _turn of [1, 2]) await engine.cycle();
  await approve(scope, 'trash');
  await engine.cycle();
  const [item] = link.mirror.readOutbox();
  if (item?.kind !== 'delete') throw new Error('No delete waits.');
  link.mirror.saveOutboxItem({ ...item, error: { code: 'CRM_FORBIDDEN', message: 'Insufficient scope.' } });
  await engine.cycle();
  expect(await readWaiting()).toMatchObject([{ scope, answers: ['trash', 'restore'] }]);
  expect(await readWaiting()).toEqual([expect.not.objectContaining({ answered: expect.anything() })]);
  await approve(scope, 'restore');
  expect(await readWaiting()).toMatchObject([{ scope, answered: 'restore' }]);
  await engine.cycle();
  expect((await stage.readSheet())['Leads']?.map(({ ID }) => ID)).toContain(first?.['ID']);
});
