import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setInterval as ticks } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openMirror } from '../../src/sqlite/open.ts';
import { controlToken, openStage } from '../support/process-stage.ts';

const lines = 500_000;
const slowReaders = 50;
const requestsPerSecond = 5;
const seconds = 30;
/** For so long the image waits for an answer of the health before it counts as none. */
const healthTimeoutMs = 5_000;

/** A year of history of some leads, each line as long as that of an edit with a note. */
function writeHistory(directory: string): void {
  const { mirror } = openMirror({ directory });
  const now = Date.now();
  const line = {
    run: 'r',
    kind: 'update',
    side: 'crm',
    before: {},
    lost: {},
    cause: 'edited in the sheet',
  } as const;
  for (let begin = 0; begin < lines; begin += 10_000)
    mirror.appendJournal(
      Array.from({ length: 10_000 }, (_, offset) => ({
        ...line,
        at: now - 1_000 * (lines - begin - offset),
        key: { entity: 'lead', id: String((begin + offset) % 5_000) },
        after: { title: `Lead ${begin + offset}`, 'custom.note': 'What was said on the phone. '.repeat(8) },
      })),
    );
  mirror.close();
}

/** Asks for a long page of the history, and takes nothing of it. */
async function openSlowReader(url: string, number: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: `127.0.1.${number % 5}` });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET /api/history?limit=1000 HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  return socket;
}

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/** The value that so large a share of them does not exceed. */
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;

test('half a million lines, fifty slow readers and five requests a second let each look at the health have its answer, and take no memory', async () => {
  const { environment, startDaemon } = await openStage({ counts: { leads: 50, opportunities: 0, tasks: 0 } });
  writeHistory(environment['STATE_DIR'] ?? '');
  const daemon = await startDaemon();
  await daemon.answers('/readyz');
  const headers = { authorization: `Bearer ${controlToken}` };
  const ask = async (path: string, signal?: AbortSignal): Promise<number> => {
    const begunAt = performance.now();
    const answer = await fetch(daemon.url + path, { headers, ...(signal && { signal }) });
    await answer.arrayBuffer();
    expect(answer.status, path).toBeLessThanOrEqual(503);
    return performance.now() - begunAt;
  };
  const questions = [
    '/api/status',
    '/api/history?record=lead-7',
    '/api/history?field=title&limit=200',
    '/metrics',
  ];
  const readers = Array.from({ length: slowReaders }, (_, number) => openSlowReader(daemon.url, number));
  await Promise.all(readers);
  const healthMs: number[] = [];
  const memory: number[] = [];
  let number = 0;
  for await (const _tick of ticks(1_000 / requestsPerSecond)) {
    await ask(questions[number % questions.length] ?? '');
    healthMs.push(await ask('/healthz', AbortSignal.timeout(healthTimeoutMs)));
    memory.push(residentMb(daemon.process.pid ?? 0));
    number += 1;
    if (number === seconds * requestsPerSecond) break;
  }
  const [first, last] = [memory.slice(0, memory.length / 3), memory.slice(-memory.length / 3)];
  const grownMb = quantile(last, 0.5) - quantile(first, 0.5);
  console.log(
    `/healthz: half within ${quantile(healthMs, 0.5).toFixed(1)} ms, 95 of 100 within ${quantile(healthMs, 0.95).toFixed(1)} ms; memory grew by ${grownMb.toFixed(0)} MB to ${quantile(last, 0.5).toFixed(0)} MB`,
  );
  expect(grownMb).toBeLessThan(30);
});
