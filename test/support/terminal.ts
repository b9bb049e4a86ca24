import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { until } from './until.ts';

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Whether the machine can lend a process a terminal: script(1) belongs to util-linux. */
export const hasTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false;

/** One of our own commands at a terminal, with somebody in front of it. */
export interface Terminal {
  /** Resolves once the text stands there, behind all that was waited for before. */
  shows(text: string): Promise<void>;
  /** Types a line and the return key. */
  type(line: string): void;
  /** Presses Ctrl and a letter. */
  pressControl(letter: string): void;
  /** All that stood there, without colours and moves of the cursor. */
  screen(): string;
  readonly ended: Promise<number | null>;
}

/** Runs a command at a terminal of its own, in the given directory. */
export function openTerminal(
  words: readonly string[],
  environment: Environment,
  directory: string,
): Terminal {
  const line = [process.execPath, mainFile, ...words].map((word) => `'${word}'`).join(' ');
  // Without a shell in between, which Ctrl-C would reach as well.
  const child = spawn('script', ['-qfec', `exec ${line}`, '/dev/null'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], TERM: 'xterm', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [shown, seen] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const screen = () => stripVTControlCharacters(shown).replaceAll('\r', '');
  return {
    async shows(text) {
      const find = async () => screen().indexOf(text, seen) >= 0;
      await until(`the terminal shows “${text}”`, find, { describe: async () => screen().slice(seen) });
      seen = screen().indexOf(text, seen) + text.length;
    },
    type: (text) => void child.stdin.write(`${text}\r`),
    pressControl: (letter) => void child.stdin.write(String.fromCharCode(letter.charCodeAt(0) - 64)),
    screen,
    ended: once(child, 'close').then(([code]) => code),
  };
}
