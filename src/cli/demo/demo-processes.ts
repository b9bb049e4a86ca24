import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../app/config.ts';

const mainFile = fileURLToPath(new URL('../../main.ts', import.meta.url));

/** The port if it is free, else any free one. */
export async function freePort(wanted: number): Promise<number> {
  const server = createServer();
  const listen = (port: number) => once(server.listen(port, '127.0.0.1'), 'listening');
  await listen(wanted).catch(() => listen(0));
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** A child process that ends with the demo. */
export type Child = ReturnType<typeof toChild>;

/** Whether a process is over, by itself or because it got a signal. */
const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

function toChild(child: ChildProcess, graceMs: number) {
  return {
    process: child,
    async stop(): Promise<void> {
      if (hasEnded(child)) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Runs one of our own commands as a process of its own, as an operator would. A quiet one says no more than what goes wrong. */
export function spawnCommand(
  words: readonly string[],
  environment: Environment,
  output: 'inherit' | 'ignore' = 'inherit',
): Child {
  const child = spawn(process.execPath, [mainFile, ...words], {
    env: { ...environment },
    stdio: ['ignore', output, 'inherit'],
  });
  return toChild(child, 30_000);
}

/** Runs one of our own commands to its end, quietly: what it advises to do next is done here. */
export async function runCommand(words: readonly string[], environment: Environment): Promise<void> {
  const child = spawnCommand(words, environment, 'ignore');
  const [code] = await once(child.process, 'exit');
  if (code !== 0) throw new Error(`The command ${words.join(' ')} ended with exit code ${code}.`);
}

export const hasRedisServer = (): boolean => spawnSync('redis-server', ['--version']).status === 0;

/** Starts a private Redis that keeps nothing on disk; the daemon must not need it to. */
export async function startRedis(port: number, directory: string): Promise<Child> {
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', [...flags, '--dir', directory, '--maxmemory-policy', 'noeviction'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      if (String(chunk).includes('Ready to accept connections')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`redis-server ended with exit code ${code}.`)));
  });
  return toChild(child, 5_000);
}

/** Waits until the address answers 200; fails when the process ends before, or after the time. */
export async function waitUntilOk(url: string, child: Child, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    if (hasEnded(child.process))
      throw new Error('The daemon ended before it was ready; its last lines say why.');
    const isOk = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isOk) return;
    await sleep(200);
  }
  throw new Error(`${url} was not ready after ${limitMs / 1000} s.`);
}
