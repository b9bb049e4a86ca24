import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
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
