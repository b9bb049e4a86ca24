import { readFileSync } from 'node:fs';
import process from 'node:process';
import { z } from 'zod';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { until } from '../support/until.ts';

/** What a process holds, in bytes. */
export interface Memory {
  /** Objects that are still reachable: measured after a collection, so that what V8 has not tidied up yet does not count. */
  readonly heap: number;
  /** Buffers and what native code holds for objects. */
  readonly external: number;
  /** What the system has given to the process. */
  readonly resident: number;
}

/** Where Node opens its inspector when it is asked by a signal. */
const inspectorUrl = 'http://127.0.0.1:9229/json/list';

const targets = z.array(z.object({ webSocketDebuggerUrl: z.string() }));

const evaluated = z.object({
  result: z.object({ result: z.object({ value: z.string() }) }),
});

const usage = z.object({ pid: z.number(), heapUsed: z.number(), external: z.number() });

const answerMaxMs = 30_000;

const expression = 'JSON.stringify({ pid: process.pid, ...process.memoryUsage() })';

/** Collects the daemon's garbage through its inspector and reads what is left. The daemon itself knows nothing of it. */
export async function measureMemory({ process: child }: DaemonProcess): Promise<Memory> {
  if (child.pid === undefined) throw new Error('There is no daemon to measure');
  process.kill(child.pid, 'SIGUSR1');
  const socket = new WebSocket(await until('the inspector listens', findInspector));
  // An inspector that does not answer, or leaves, is no reason to wait for ever.
  const hears = async (type: 'open' | 'message', isWanted: (event: Event) => boolean): Promise<Event> => {
    const heard = Promise.withResolvers<Event>();
    socket.addEventListener(type, (event) => isWanted(event) && heard.resolve(event));
    socket.addEventListener('close', () => heard.reject(new Error('The inspector has left.')));
    const timer = setTimeout(() => heard.reject(new Error('The inspector does not answer.')), answerMaxMs);
    return heard.promise.finally(() => clearTimeout(timer));
  };
  await hears('open', () => true);
  const ask = async (id: number, method: string, params: object): Promise<unknown> => {
    const contentOf = (event: Event) => JSON.parse((event as MessageEvent).data) as { readonly id?: number };
    const answer = hears('message', (event) => contentOf(event).id === id);
    socket.send(JSON.stringify({ id, method, params }));
    return contentOf(await answer);
  };
  await ask(1, 'HeapProfiler.collectGarbage', {});
  const answer = await ask(2, 'Runtime.evaluate', { expression });
  socket.close();
  const { pid, heapUsed, external } = usage.parse(JSON.parse(evaluated.parse(answer).result.result.value));
  if (pid !== child.pid)
    throw new Error(`The process ${pid} listens where the daemon ${child.pid} was asked to`);
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  return { heap: heapUsed, external, resident: Number(kilobytes) * 1024 };
}

async function findInspector(): Promise<string | undefined> {
  const answer = await fetch(inspectorUrl).catch(() => undefined);
  return answer && targets.parse(await answer.json())[0]?.webSocketDebuggerUrl;
}
