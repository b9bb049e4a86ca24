import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createLine, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createWebhook } from '../../src/alerts/webhook.ts';
import { post } from '../../src/app/proxies.ts';
import { realClock } from '../support/real-clock.ts';

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const alert = {
  event: 'began',
  link: 'north',
  condition: { name: 'SWEEP_LATE', since: 0, words: 'Not read.', makes: 'notReady' },
} as const;

const send = (url: string, stopping: AbortSignal) =>
  createWebhook({ url, title: 'test', clock: realClock, post })(alert, stopping);

test('a receiver of alerts that says something else than an answer, or nothing until the stop, holds nothing up', async () => {
  const never = new AbortController();
  const switching = createServer().on('upgrade', (_request, socket) => socket.destroy());
  switching.on('request', (_request, response) => response.writeHead(101).end());
  await expect(send(await listen(switching), never.signal)).rejects.toMatchObject({ code: 'ALERT_UNSENT' });
  const lines: { destroy(): void }[] = [];
  const silent = await listen(createLine((socket) => lines.push(socket)));
  const stop = new AbortController();
  const sent = send(silent, stop.signal);
  await expect.poll(() => lines.length).toBe(1);
  stop.abort();
  await expect(sent).rejects.toMatchObject({ code: 'ALERT_UNSENT' });
  for (const line of lines) line.destroy();
});
