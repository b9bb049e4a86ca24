import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ClusterPlace, dataIn } from './cluster.ts';
import type { Guard } from './guard.ts';

/** Settings of PostgreSQL, by their names. */
export type Settings = Readonly<Record<string, string | number>>;

const portTriesMax = 5;

/** Starts it on the port, else on any: one that was free a moment ago may be taken meanwhile, then another is tried. */
export async function startOnPort(
  place: ClusterPlace,
  port: number | undefined,
  settings: Settings,
  guard: Guard,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  for (let tries = 1; ; tries += 1) {
    const chosen = port ?? (await findFreePort());
    try {
      return { port: chosen, child: await startPostmaster(place, chosen, settings, guard) };
    } catch (error) {
      const isPortTaken = error instanceof Error && error.message.includes('Address already in use');
      if (port !== undefined || !isPortTaken || tries >= portTriesMax) throw error;
    }
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** Resolves when the server takes connections; fails with what it said when it ends before. */
export async function startPostmaster(
  { directory, bin, account }: ClusterPlace,
  port: number,
  settings: Settings,
  guard: Guard,
): Promise<ChildProcess> {
  const all = { ...settings, listen_addresses: '127.0.0.1', port, unix_socket_directories: '' };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', dataIn(directory), ...flags], {
    ...account,
    cwd: '/',
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Its own session keeps it from the Ctrl-C that ends its parent, which stops it in its own order.
    detached: true,
  });
  if (child.pid !== undefined) guard.watch(child.pid);
  child.once('exit', () => guard.rest());
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`PostgreSQL did not start:\n${said.join('\n')}`)));
    const lines = createInterface(child.stderr).on('line', (line) => {
      said.push(line);
      if (!line.includes('database system is ready to accept')) return;
      lines.close();
      resolve();
    });
  });
  child.stderr.resume();
  child.unref();
  if ('unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref();
  return child;
}
