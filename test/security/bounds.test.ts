import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { spawnDaemon } from '../support/daemon-process.ts';
import { controlToken, openStage } from '../support/process-stage.ts';
import { type Script, startScriptedServer } from '../support/scripted-server.ts';

const counts = { leads: 3, opportunities: 0, tasks: 0 };
const megabyte = 1024 * 1024;

/** Writes so many bytes of a repeated text, as fast as they are taken. */
async function pour(response: ServerResponse, begin: string, part: string, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(begin);
  const chunk = part.repeat(Math.ceil(megabyte / part.length));
  for (let sent = 0; sent < bytes && !response.destroyed; sent += chunk.length)
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  response.end();
}

/** Scripts of a server whose answer begins as a true one, and would take all memory. */
const hugeAnswers = (begin: string): [string, Script][] => [
  ['nests a million levels deep', (response) => void pour(response, begin, '[', megabyte)],
  ['holds twenty million values', (response) => void pour(response, `${begin}[`, '{},', 60 * megabyte)],
  ['never ends', (response) => void pour(response, `${begin}"`, 'x', Number.POSITIVE_INFINITY)],
];

/** A daemon with the memory that a small machine has, while a side answers by the script. Returns what its status says once that was asked. */
async function statusBeside(script: Script, nameSide: (baseUrl: string) => Readonly<Record<string, string>>) {
  const side = await startScriptedServer(script);
  onTestFinished(() => side.close());
  const { environment } = await openStage({ counts });
  const daemon = spawnDaemon({
    ...environment,
    NODE_OPTIONS: '--max-old-space-size=300',
    ...nameSide(side.baseUrl),
    STATE_DIR: `${environment['STATE_DIR']}-own`,
  });
  onTestFinished(async () => void (await daemon.kill()));
  await daemon.answers('/healthz');
  await side.arrived(3);
  await daemon.answers('/healthz');
  expect(daemon.process.exitCode).toBeNull();
  const headers = { authorization: `Bearer ${controlToken}` };
  return async () => (await fetch(`${daemon.url}/api/status`, { headers })).text();
}

test.each(hugeAnswers('{"data":'))(
  'an answer of the CRM that %s is not read, and the daemon goes on',
  async (_, script) => {
    const status = await statusBeside(script, (baseUrl) => ({ CRM_BASE_URL: baseUrl }));
    expect(await status()).toContain('CRM_UNREADABLE');
  },
);

test.each(hugeAnswers('{"sheets":'))(
  'an answer of Google that %s is not read, and the daemon goes on',
  async (_, script) => {
    const status = await statusBeside(script, (baseUrl) => ({ GOOGLE_API_ROOT_URL: baseUrl }));
    await expect.poll(status).toContain('SHEET_UNREADABLE');
  },
);

/** A connection that stays open without asking for anything. */
async function openLine(url: string, localAddress: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('an address that holds all the connections it can get does not keep others out', async () => {
  const { startDaemon } = await openStage({ counts });
  const daemon = await startDaemon();
  const lines = await Promise.all(Array.from({ length: 150 }, () => openLine(daemon.url, '127.0.0.9')));
  const closed = (socket: Socket) => socket.destroyed || socket.readableEnded;
  for (const socket of lines) socket.resume();
  await expect.poll(() => lines.filter(closed).length).toBe(50);
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
});

test('an address opens half of all streams of events, and not one more', async () => {
  const { startDaemon } = await openStage({ counts });
  const daemon = await startDaemon();
  const over = new AbortController();
  const ask = () => fetch(`${daemon.url}/api/events`, { signal: over.signal });
  // Held until all are asked for: the stream of an answer that is collected as garbage is closed.
  const answers: Response[] = [];
  for (let count = 0; count < 26; count += 1) answers.push(await ask());
  const statuses = answers.map(({ status }) => status);
  over.abort();
  expect(statuses).toEqual([...Array<number>(25).fill(200), 503]);
});

test('a body that is too large or nests too deep is refused, and nothing of it is done', async () => {
  const { startDaemon } = await openStage({ counts });
  const daemon = await startDaemon();
  const post = async (body: string) => {
    const headers = { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' };
    return (await fetch(`${daemon.url}/api/answer`, { method: 'POST', headers, body })).status;
  };
  expect(await post(JSON.stringify({ question: 'x'.repeat(megabyte) }))).toBe(413);
  expect(await post(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)).toBe(400);
  expect(await post(`{"question":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`)).toBe(400);
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
});
