import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { showControls } from '../../core/text/visible-text.ts';
import { print } from '../command.ts';

/** Somebody at a terminal who can be asked. Every question fails with {@link InputEnded} when they leave. */
export type Person = NonNullable<ReturnType<typeof findPerson>>;

/** Ctrl-C, or the end of what is typed. */
export class InputEnded extends Error {
  override readonly name = 'InputEnded';
}

/** The person at this process's terminal; `undefined` where it has none. */
export function findPerson() {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  /** Returns what was typed, without blanks around it. */
  const ask = (question: string) => readLine(showControls(question), process.stdout);
  return {
    tell: print,
    ask,
    /** The same for a secret. */
    async askSecretly(question: string) {
      // The reader comes first, so that what is typed or pasted as soon as the question shows is not echoed by the terminal.
      const answer = readLine('', nowhere());
      process.stdout.write(question);
      const text = await answer;
      process.stdout.write('\n');
      return text;
    },
    /** Nothing typed counts as no. */
    agrees: async (question: string) => /^y(es)?$/i.test(await ask(`${question} [y/N] `)),
  };
}

/** What is typed comes back from here, so what goes nowhere is not seen. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

async function readLine(question: string, output: Writable): Promise<string> {
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  const left = new AbortController();
  reader.once('close', () => left.abort());
  try {
    return (await reader.question(question, { signal: left.signal })).trim();
  } catch (cause) {
    throw new InputEnded('The questions were not answered.', { cause });
  } finally {
    reader.close();
  }
}
