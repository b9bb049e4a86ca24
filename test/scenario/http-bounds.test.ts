import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { serve } from '../support/served.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';

const megabyte = 1024 * 1024;

/** A daemon's HTTP side on a clock that only the test moves. */
async function open() {
  const stage = await openLinkStage({ leads: 0, opportunities: 0, tasks: 0 });
  const clock = createManualClock();
  const engine = stage.createEngine({ clock });
  return { clock, engine, url: (await serve(engine)).url };
}

/** Appends lines to the history that hold texts of such a length each. */
function write({ link }: SheetEngine, lines: number, length: number): void {
  const line = { at: 1, run: 'run', key: { entity: 'lead', id: '1' }, kind: 'update', side: 'crm' } as const;
  const values = { before: {}, after: { title: 'x'.repeat(length) }, lost: {}, cause: 'edited' };
  link.mirror.appendJournal(Array.from({ length: lines }, () => ({ ...line, ...values })));
}

const pageShape = z.object({
  entries: z.array(z.looseObject({ id: z.number() })),
  next: z.number().optional(),
});

async function readPage(url: string, query: string) {
  const answer = await fetch(`${url}/api/history?${query}`);
  const text = await answer.text();
  const { entries, next } = pageShape.parse(JSON.parse(text));
  return { bytes: text.length, ids: entries.map(({ id }) => id), next };
}

/** Asks, and reads nothing but what comes with the head of the answer. */
async function askWithoutReading(url: string, path: string): Promise<{ head: string; socket: Socket }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await once(socket, 'readable');
  const head = String(socket.read(200));
  return { head, socket };
}

/** What is left to read once the other side has closed. */
async function readToEnd(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(socket, 'close');
  return bytes;
}

test('a page of the history holds a megabyte at most, however many lines are asked for, and the next one goes on', async () => {
  const { engine, url } = await open();
  write(engine, 20, megabyte / 8);
  const first = await readPage(url, 'limit=1000');
  expect(first.bytes).toBeLessThan(1.1 * megabyte);
  expect(first).toMatchObject({ ids: [20, 19, 18, 17, 16, 15, 14], next: 14 });
  const second = await readPage(url, `limit=1000&before=${first.next}`);
  expect(second).toMatchObject({ ids: [13, 12, 11, 10, 9, 8, 7], next: 7 });
  expect(await readPage(url, 'limit=1000&before=7')).toMatchObject({
    ids: [6, 5, 4, 3, 2, 1],
    next: undefined,
  });
  expect(await readPage(url, 'limit=2&before=3')).toMatchObject({ ids: [2, 1], next: undefined });
  expect((await fetch(`${url}/api/history?before=0`)).status).toBe(400);
});

test('the status holds as much of the latest changes as anybody reads, however long they are', async () => {
  const { engine, url } = await open();
  write(engine, 20, megabyte);
  const status = await (await fetch(`${url}/api/status`)).text();
  expect(status.length).toBeLessThan(1.1 * megabyte);
  expect(JSON.parse(status).latest).toHaveLength(1);
});

test('who does not read a long answer is cut off, and until then others are asked to come again', async () => {
  const { clock, engine, url } = await open();
  write(engine, 1, 40 * megabyte);
  const { head, socket } = await askWithoutReading(url, '/api/history');
  expect(head).toContain('200 OK');
  const refused = await fetch(`${url}/api/history`);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toEqual({ error: expect.stringContaining('Try again in a moment.') });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await clock.advance(200_000);
  expect(await readToEnd(socket)).toBeLessThan(40 * megabyte);
  expect((await fetch(`${url}/api/history`)).status).toBe(200);
});

test('a page that does not read its events is cut off, and others go on', async () => {
  const { clock, engine, url } = await open();
  write(engine, 1, 12 * megabyte);
  const { head, socket } = await askWithoutReading(url, '/api/events');
  expect(head).toContain('200 OK');
  await clock.advance(90_000);
  expect(await readToEnd(socket)).toBeLessThan(12 * megabyte);
  expect((await fetch(`${url}/api/history`)).status).toBe(200);
});

const statusShape = z.looseObject({ refusals: z.array(z.unknown()), toMend: z.array(z.unknown()) });
const partShape = z.object({
  items: z.array(z.looseObject({ position: z.number() })),
  next: z.number().optional(),
});

test('a status has the first of what waits, however much that is, and the others are asked for part by part', async () => {
  const stage = await openLinkStage({ leads: 1, opportunities: 430, tasks: 0 });
  await stage.layOut();
  const engine = stage.createEngine({});
  const rest = async () => {
    for (let plan = await engine.cycle(); !isQuiet(plan) || plan.restlessRows > 0; )
      plan = await engine.cycle();
  };
  await engine.pullAll(() => undefined);
  await rest();
  const edits = Array.from(
    { length: 430 },
    (_, index) =>
      ({ kind: 'edit', sheet: 'Opportunities', row: index + 1, column: 'Value', text: 'much' }) as const,
  );
  await stage.editSheet(...edits);
  await rest();
  const { get } = await serve(engine);
  const status = statusShape.parse(await (await get('/api/status')).json());
  expect(status).toMatchObject({ counts: { refusals: 430, toMend: 430, waiting: 0 }, forUser: 430 });
  expect([status.refusals.length, status.toMend.length]).toEqual([200, 200]);
  const partFrom = async (from: number) =>
    partShape.parse(await (await get(`/api/status/refusals?from=${from}`)).json());
  const [first, second, third] = [await partFrom(0), await partFrom(200), await partFrom(400)];
  expect([first.next, second.next, third.next]).toEqual([200, 400, undefined]);
  const all = [first, second, third].flatMap(({ items }) => items.map(({ position }) => position));
  expect(new Set(all).size).toBe(430);
  expect((await get('/api/status/everything')).status).toBe(404);
  expect((await get('/api/status/refusals?from=-1')).status).toBe(400);
});
