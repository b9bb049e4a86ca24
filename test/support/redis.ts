import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from './free-port.ts';

/** A Redis of its own, without persistence, that ends with its test. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly directory: string;
  readonly process: ChildProcess;
}

/** Starts a Redis on the port, or on a free one, and resolves when it takes connections. */
export async function startRedis(port?: number, password?: string): Promise<RedisServer> {
  const ownPort = port ?? (await findFreePort());
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  const settings = ['--port', String(ownPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  if (password !== undefined) settings.push('--requirepass', password);
  const process = spawn('redis-server', [...settings, '--dir', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  for await (const line of createInterface(process.stdout)) {
    said.push(line);
    if (line.includes('Ready to accept connections')) {
      process.stdout.resume();
      return {
        port: ownPort,
        url: `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${ownPort}`,
        directory,
        process,
      };
    }
  }
  throw new Error(`redis-server did not start:\n${said.join('\n')}`);
}

/** Ends the server at once, as a crash does, and resolves when it is gone. */
export async function stopRedis({ process, directory }: RedisServer): Promise<void> {
  if (process.exitCode === null && process.signalCode === null) {
    process.kill('SIGKILL');
    await once(process, 'exit');
  }
  rmSync(directory, { recursive: true, force: true });
}

/** Takes everything out of the server. */
export async function flushRedis(redis: RedisServer): Promise<void> {
  await commandRedis(redis, 'FLUSHALL');
}

/** Gives the server a command; answers the beginning of what it says, as it stands on the wire. */
export async function commandRedis({ port }: RedisServer, ...words: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${words.join(' ')}\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  if (String(answer).startsWith('-')) throw new Error(`${words.join(' ')} answered ${answer}`);
  return String(answer);
}

/** A port where nobody answers. The system gives it to nobody: one that is free now may be another test's in the next moment. */
export const silentPort = 1;
