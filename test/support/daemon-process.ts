import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/app/config.ts';
import { until } from './until.ts';

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** What Node has compiled once, it need not compile for each process anew: that is half of what a start takes. */
const compiled = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
};

/** How a process ended and what it said. */
export interface Ending {
  /** Exit code; `null` when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One of our own commands as a process of its own, as an operator runs it. */
export interface CommandProcess {
  readonly process: ChildProcess;
  readonly ended: Promise<Ending>;
  /** What it wrote to its standard output so far. */
  said(): string;
  /** Ends it at once, as a crash of the machine does, and resolves when it is gone. */
  kill(): Promise<Ending>;
  /** Asks it to end, as a process manager does. */
  terminate(): Promise<Ending>;
  /** Ends it with all that it has started, as Ctrl-C in a terminal does, if it was spawned as a group of its own. */
  interrupt(): Promise<Ending>;
}

/**
 * Runs it in the directory, in that of this process where absent; as a group of its own only if that is wanted. What it says is kept here
 * unless it goes into the file of a descriptor.
 */
export function spawnCommand(
  words: readonly string[],
  environment: Environment,
  directory?: string,
  isGroup = false,
  output: 'pipe' | number = 'pipe',
): CommandProcess {
  const child = spawn(process.execPath, [mainFile, ...words], {
    ...(directory === undefined ? {} : { cwd: directory }),
    env: { PATH: process.env['PATH'], ...compiled, ...environment },
    stdio: ['ignore', output, 'pipe'],
    detached: isGroup,
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  // `close` comes after the last output, `exit` may come before it.
  const ended = once(child, 'close').then(([code]): Ending => ({ code, ...said }));
  const signal = (name: NodeJS.Signals) => {
    child.kill(name);
    return ended;
  };
  return {
    process: child,
    ended,
    said: () => said.stdout,
    kill: () => signal('SIGKILL'),
    terminate: () => signal('SIGTERM'),
    interrupt: () => {
      process.kill(-child.pid!, 'SIGINT');
      return ended;
    },
  };
}

/** A daemon with the address of its HTTP side. */
export interface DaemonProcess extends CommandProcess {
  readonly url: string;
  /** Resolves when the address answers 200; fails with what the daemon said when it ended before. */
  answers(path: '/healthz' | '/readyz'): Promise<void>;
}

/** Starts a daemon on the port that the environment names; its log goes into the file of a descriptor where one is given. */
export function spawnDaemon(environment: Environment, output?: number): DaemonProcess {
  const command = spawnCommand(['start'], environment, undefined, false, output);
  const url = `http://127.0.0.1:${environment['HTTP_PORT']}`;
  const isEnded = () => command.process.exitCode !== null || command.process.signalCode !== null;
  const ask = async (path: string) => {
    if (isEnded()) throw new Error(`The daemon ended:\n${Object.values(await command.ended).join('\n')}`);
    return fetch(url + path).then(
      async (response) => ({ isOk: response.ok, text: await response.text() }),
      (error: unknown) => ({ isOk: false, text: String(error) }),
    );
  };
  const answers = async (path: string) => {
    const describe = async () => (await ask(path)).text;
    await until(`${path} answers 200`, async () => (await ask(path)).isOk, { describe, everyMs: 100 });
  };
  return { ...command, url, answers };
}
