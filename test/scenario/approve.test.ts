import { expect, onTestFinished, test } from 'vitest';
import { startHttp } from '../../src/http/server.ts';
import { currentLayout } from '../../src/sync/layout.ts';
import { pullCatalog } from '../../src/sync/pull.ts';
import { listWaiting } from '../../src/sync/status.ts';
import { healthOf } from '../support/health.ts';
import { watchIdle } from '../support/idle-watch.ts';
import { openLinkStage } from '../support/link-stage.ts';

const controlToken = 'approve-test-token';

/** An engine whose cycles the test begins, with a filled tab of leads, and the HTTP side of it. */
async function openFilled(leads: number) {
  const stage = await openLinkStage({ leads, opportunities: 0, tasks: 0 });
  const { link } = stage;
  await pullCatalog(link, 'newest');
  await link.table.layOut(currentLayout(link), 'create');
  const engine = stage.createEngine();
  const http = await startHttp({
    host: '127.0.0.1',
    port: 0,
    controlToken,
    engine,
    health: healthOf(engine),
    backUp: () => '',
    watch: watchIdle(engine),
  });
  onTestFinished(() => http.close());
  const readWaiting = async () => {
    const { waiting }: { waiting: unknown } = JSON.parse(
      await (await fetch(`${http.url}/api/conflicts`)).text(),
    );
    return waiting;
  };
  const approve = async (scope: string, choice: string, seen?: unknown) => {
    const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ scope, choice, seen });
    const answer = await fetch(`${http.url}/api/approve`, { method: 'POST', headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  await engine.pullAll(() => {});
  await engine.cycle();
  return { approve, engine, http, link, readWaiting, stage };
}

test('an answer that does not fit what waits, or was shown something else, is refused and changes nothing', async () => {
  const { approve, engine, http, link, stage } = await openFilled(12);
  const [first, ...others] = (await stage.readSheet())['Leads'] ?? [];
  const vanished = `vanished:lead-${first?.['ID']}`;
  const [one, two, three] = others.slice(2, 5).map(({ Title }) => [String(Title)]);
  const rotated = [two ?? [], three ?? [], one ?? []];
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
  await engine.cycle();
  await engine.cycle();
  const status = await (await fetch(`${http.url}/api/status`)).json();
  expect(status).toMatchObject({ waiting: [{ scope: vanished, answers: ['trash', 'restore'] }] });
  expect(await approve(vanished, 'approve')).toMatchObject({
    status: 400,
    text: expect.stringContaining('Choose trash or restore.'),
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
    text: expect.stringContaining(`It says now: ${what}`),
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
