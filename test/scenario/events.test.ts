import { expect, onTestFinished, test } from 'vitest';
import { Watch } from '../../src/sync/watch.ts';
import { healthOf } from '../support/health.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { serve } from '../support/served.ts';

const sent = { settle: 0, edit: 0, newest: 0, sweep: 0 };

/** A daemon's HTTP side on a clock that only the test moves. */
async function open() {
  const stage = await openLinkStage({ leads: 3, opportunities: 0, tasks: 0 });
  const clock = createManualClock(Date.now());
  await stage.layOut();
  const engine = stage.createEngine({ clock });
  const usage = {
    requests: 50,
    windowMs: 30_000,
    taken: 0,
    waiting: sent,
    parkedMs: 0,
    limitReplies: 0,
    sent: { ...sent },
  };
  const health = healthOf(engine);
  const watch = new Watch(engine, health, () => ({ ...usage, sent: { ...usage.sent } }));
  const watching = health.run(() => watch.look());
  const http = await serve(engine, { controlToken: undefined, health, watch });
  onTestFinished(async () => {
    health.stop();
    await watching;
  });
  return { stage, clock, engine, http, usage, watch };
}

/** Reads a stream of events, one call for each message. */
async function listen(url: string) {
  const answer = await fetch(`${url}/api/events`);
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  return async (): Promise<{ name?: string; content: unknown } | 'ended'> => {
    while (!rest.includes('\n\n')) {
      const { done, value } = await reader.read();
      if (done) return 'ended';
      rest += value;
    }
    const end = rest.indexOf('\n\n');
    const message = rest.slice(0, end);
    rest = rest.slice(end + 2);
    const [, name, text] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? [];
    return { ...(name ? { name } : {}), content: JSON.parse(text ?? 'null') };
  };
}

test('a page is told the status at once, and again when it changed, but not for the clock alone', async () => {
  const { clock, engine, http } = await open();
  const next = await listen(http.url);
  expect(await next()).toMatchObject({
    name: 'status',
    content: { cycles: 0, standing: { state: 'filling' } },
  });
  await clock.advance(10_000);
  expect(await next()).toMatchObject({ name: 'samples' });
  await engine.pullAll(() => {});
  await engine.cycle();
  await clock.advance(2_000);
  const tabs = [{ recordsInCrm: 3, recordsInTable: 3 }, {}, {}];
  expect(await next()).toMatchObject({ name: 'status', content: { cycles: 1, tabs } });
  await engine.cycle();
  await clock.advance(2_000);
  expect(await next()).toMatchObject({ name: 'status', content: { standing: { state: 'inStep' } } });
});

test('a new page is told the whole hour, and from then on what is new', async () => {
  const { clock, http, usage, watch } = await open();
  await clock.advance(20_000);
  usage.sent.edit = 7;
  await clock.advance(10_000);
  expect(watch.samples).toHaveLength(3);
  const next = await listen(http.url);
  await next();
  expect(await next()).toMatchObject({
    name: 'samples',
    content: [{ sent }, { sent }, { sent: { ...sent, edit: 7 }, allowed: 100 }],
  });
  await clock.advance(10_000);
  expect(await next()).toMatchObject({ name: 'samples', content: [{ sent }] });
});

test('who asks for the head of the stream alone keeps no place from a page', async () => {
  const { http } = await open();
  for (let asked = 0; asked < 50; asked += 1) await fetch(`${http.url}/api/events`, { method: 'HEAD' });
  const next = await listen(http.url);
  expect(await next()).toMatchObject({ name: 'status' });
});

test('stopping ends the streams that are open', async () => {
  const { http } = await open();
  const next = await listen(http.url);
  await next();
  await http.close();
  expect(await next()).toBe('ended');
});

test('how long a change took to the other side is told for the stretch in which it arrived, and for its direction alone', async () => {
  const { clock, engine, stage, watch } = await open();
  await engine.pullAll(() => {});
  await engine.cycle();
  await clock.advance(10_000);
  await stage.editCrm('/leads/1001', { title: 'Changed in the CRM' });
  await engine.pullAll(() => {});
  await clock.advance(4_000);
  await engine.cycle();
  await clock.advance(10_000);
  expect(watch.samples.at(-1)).toMatchObject({ toTableMs: expect.any(Number) });
  expect(watch.samples.at(-1)?.toCrmMs).toBeUndefined();
});
