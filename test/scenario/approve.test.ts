import { expect, onTestFinished, test } from 'vitest';
import { startHttp } from '../../src/http/server.ts';
import { currentLayout } from '../../src/sync/layout.ts';
import { pullCatalog } from '../../src/sync/pull.ts';
import { listWaiting } from '../../src/sync/status.ts';
import { healthOf } from '../support/health.ts';
import { watchIdle } from '../support/idle-watch.ts';
import { openLinkStage } from '../support/link-stage.ts';

const controlToken = 'approve-test-token';

test('an answer that does not fit what waits, or was shown something else, is refused and changes nothing', async () => {
  const stage = await openLinkStage({ leads: 12, opportunities: 0, tasks: 0 });
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
  const approve = async (scope: string, choice: string, seen?: unknown) => {
    const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ scope, choice, seen });
    const answer = await fetch(`${http.url}/api/approve`, { method: 'POST', headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  await engine.pullAll(() => {});
  await engine.cycle();
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
