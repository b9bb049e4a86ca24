import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { type FrontOptions, startFront } from '../../src/http/front.ts';
import type { Condition } from '../../src/sync/conditions.ts';
import { healthOf } from '../support/health.ts';
import { watchIdle } from '../support/idle-watch.ts';
import { openLeadsStage } from '../support/leads-stage.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';

const controlToken = 'links-test-token';
const authorization = `Bearer ${controlToken}`;
const limit = { timeout: 60_000 };

/** A front with one link that runs here, one that runs elsewhere, and one that nobody runs. */
async function openFront(options: Partial<FrontOptions> = {}) {
  const stage = await openLeadsStage();
  const { engine } = stage;
  const side = { engine, health: healthOf(engine), watch: watchIdle(engine), backUp: () => 'the-backup' };
  const down: Condition = { name: 'STATE_BROKEN', since: 0, words: 'It is damaged.', makes: 'notReady' };
  const conditions: Condition[] = [];
  const front = await startFront({
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    controlToken,
    clock: realClock,
    log: createRecordingLog(),
    readConditions: () => [],
    readLinks: () => [
      { name: 'here', side, url: 'http://127.0.0.1:1', conditions: [] },
      { name: 'there', url: 'http://127.0.0.1:2', conditions: [] },
      { name: 'nowhere', conditions },
    ],
    ...options,
  });
  onTestFinished(() => front.close());
  await front.open('here', side);
  const ask = async (path: string, request: RequestInit = {}) => {
    const answer = await fetch(front.url + path, { redirect: 'manual', ...request });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') };
  };
  return { ask, front, breakNowhere: () => conditions.push(down), engine };
}

describe('the HTTP side of several links', limit, () => {
  test('serves each below its name as a link alone is served, commands and page too', async () => {
    const { ask } = await openFront();
    expect(JSON.parse((await ask('/links/here/api/status')).text)).toMatchObject({ tabs: expect.anything() });
    const post = { method: 'POST', headers: { authorization } };
    expect(await ask('/links/here/api/backup', { ...post, headers: {} })).toMatchObject({ status: 401 });
    expect(await ask('/links/here/api/backup', post)).toMatchObject({
      status: 200,
      text: '{"file":"the-backup"}',
    });
    expect((await ask('/links/here/')).text).toContain('<h2 id="tabs-title">');
    expect(await ask('/links/here')).toMatchObject({ status: 302, location: '/links/here/' });
    expect((await ask('/')).text).toContain('<h2 id="links-title">');
  });

  test('says at the root which links there are, and of a link elsewhere whom to ask', async () => {
    const { ask } = await openFront();
    expect(await ask('/api/status')).toMatchObject({
      status: 404,
      text: expect.stringContaining('There are here, there, nowhere.'),
    });
    expect(await ask('/links/there/api/status')).toMatchObject({
      status: 503,
      text: expect.stringContaining('Ask http://127.0.0.1:2 instead.'),
    });
    expect(await ask('/links/nowhere/api/status')).toMatchObject({ status: 503 });
    expect(await ask('/links/lost/api/status')).toMatchObject({
      status: 404,
      text: expect.stringContaining('There is no link lost.'),
    });
    expect(JSON.parse((await ask('/api/links')).text)).toMatchObject({
      links: [
        { name: 'here', isHere: true },
        { name: 'there', isHere: false, url: 'http://127.0.0.1:2' },
        { name: 'nowhere', isHere: false },
      ],
    });
  });

  test('is as well as the worst of them, and says of which link every condition and every number is', async () => {
    const { ask, breakNowhere } = await openFront();
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    breakNowhere();
    const ready = await ask('/readyz');
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text).conditions).toContainEqual(
      expect.objectContaining({ link: 'nowhere', name: 'STATE_BROKEN' }),
    );
    const { text } = await ask('/metrics');
    expect(text).toMatch(/^crm_sheet_sync_records\{tab="Leads",side="crm",link="here"\} 5$/m);
    expect(text).toMatch(/^crm_sheet_sync_ready\{link="nowhere"\} 0$/m);
    expect(text).toMatch(/^crm_sheet_sync_condition\{condition="STATE_BROKEN",link="nowhere"\} 1$/m);
    expect(text).not.toContain('link="there"');
    expect(text.match(/^crm_sheet_sync_[^{\n]*[ {](?!.*link=).*$/gm) ?? []).toEqual([
      'crm_sheet_sync_info{version="1.2.3"} 1',
      'crm_sheet_sync_refused_tokens_total 0',
    ]);
  });

  test('tells of the others, and goes on, while the mirror of one can not be read any more', async () => {
    const { ask, engine } = await openFront();
    const { mirror } = engine.link;
    const fail = () => {
      throw new SyncError('STATE_BROKEN', 'The mirror is damaged.');
    };
    for (const name of ['readOutbox', 'readRecords', 'readSweeps'] as const)
      vi.spyOn(mirror, name).mockImplementation(fail);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(JSON.parse((await ask('/api/links')).text)).toMatchObject({
      links: [
        { name: 'here', standing: { state: 'failing' }, conditions: [{ name: 'STATE_BROKEN' }] },
        { name: 'there' },
        { name: 'nowhere' },
      ],
    });
    expect((await ask('/metrics')).text).toMatch(
      /^crm_sheet_sync_condition\{condition="STATE_BROKEN",link="here"\} 1$/m,
    );
    expect(() => watchIdle(engine).look()).not.toThrow();
  });

  test('names no link, and shows nothing of one, to those without the token where other machines reach it', async () => {
    const { ask, breakNowhere } = await openFront({ host: '0.0.0.0' });
    breakNowhere();
    for (const path of ['/api/links', '/metrics', '/links/here/api/status', '/links/there/', '/api/status'])
      expect({ path, ...(await ask(path)) }).toMatchObject({ path, status: 401 });
    expect(await ask('/api/plan', { method: 'POST' })).toMatchObject({ status: 401 });
    for (const path of ['/livez', '/healthz', '/readyz', '/links/here/readyz']) {
      const { text } = await ask(path);
      expect({ path, keys: Object.keys(JSON.parse(text)) }).toEqual({ path, keys: ['status'] });
    }
    const withToken = { headers: { authorization } };
    expect((await ask('/readyz', withToken)).text).toContain('It is damaged.');
    expect(await ask('/links/here/api/status', withToken)).toMatchObject({ status: 200 });
    expect(await ask('/api/links', withToken)).toMatchObject({ status: 200 });
    expect(await ask('/api/access', { method: 'POST', ...withToken })).toMatchObject({ status: 200 });
  });

  test('refuses odd addresses and bodies, and goes on', async () => {
    const { ask } = await openFront();
    const addresses = [
      '/links/here/%zz',
      '/links/%zz/api/status',
      '/links//api/status',
      '/links/here//',
      '/links/__proto__/api/status',
      '/links/here/api/history?record=%zz',
      `/links/here/${'a'.repeat(10_000)}`,
      `/links/${'a'.repeat(10_000)}/api/status`,
    ];
    for (const address of addresses) {
      const { status } = await ask(address);
      expect({ address, isRefused: status >= 400 && status < 500 }).toEqual({ address, isRefused: true });
    }
    const huge = { method: 'POST', headers: { authorization }, body: 'x'.repeat(1_000_000) };
    expect((await ask('/links/here/api/answer', huge)).status).toBe(413);
    expect(await ask('/links/here/api/status')).toMatchObject({ status: 200 });
  });

  test('serves a link no more once it has been left', async () => {
    const { ask, front } = await openFront();
    await front.shut('here');
    expect(await ask('/links/here/api/status')).not.toMatchObject({ status: 200 });
    expect((await ask('/metrics')).text).not.toContain('link="here"');
  });
});
