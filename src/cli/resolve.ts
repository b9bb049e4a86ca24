import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { print, whenDone } from './print.ts';

const winners = ['theirs', 'ours'] as const;
const sides = { theirs: 'crm', ours: 'sheet' } as const;
const isWinner = (word: string | undefined): word is (typeof winners)[number] =>
  winners.some((winner) => winner === word);

const answerShape = z.object({ scopes: z.array(z.string()) });

interface ResolveOptions {
  readonly value?: string;
  readonly all?: (typeof winners)[number];
  readonly json?: true;
}

export function addResolveCommand(program: Command, { environment }: CommandContext): void {
  const command = program.command('resolve');
  command
    .description('settle a conflict: theirs takes what the CRM has, ours what the sheet has')
    .argument('[words...]', 'a scope, or a record and a field, and then theirs or ours')
    .option('--value <value>', 'put this value on both sides, read like one typed into the cell')
    .addOption(new Option('--all <winner>', 'settle every conflict that waits').choices(winners))
    .option('--json', 'print the answer as JSON')
    .action(async (words: readonly string[], options: ResolveOptions) => {
      const order = readOrder(words, options);
      if (!order) return command.error('error: name one conflict, and theirs, ours or --value; or --all.');
      const answer = await callDaemon(environment, 'POST', '/api/resolve', order);
      if (options.json) return print(JSON.stringify(answer));
      const { scopes } = answerShape.parse(answer);
      for (const scope of scopes) print(`${scope}: settled. ${whenDone}`);
      if (scopes.length === 0) print('No conflict waits.');
    });
}

/** The body of the request; `undefined` where the words do not say exactly one thing. */
function readOrder(words: readonly string[], { all, value }: ResolveOptions): object | undefined {
  if (all !== undefined) return words.length === 0 && value === undefined ? { all: sides[all] } : undefined;
  const subject = value === undefined ? words.slice(0, -1) : words;
  const [first, field, ...others] = subject;
  if (first === undefined || others.length > 0) return undefined;
  const scope = field === undefined ? first : `conflict:${first}:${field}`;
  if (value !== undefined) return { scope, text: value };
  const winner = words.at(-1);
  return isWinner(winner) ? { scope, side: sides[winner] } : undefined;
}
