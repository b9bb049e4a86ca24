import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { print, whenDone } from './print.ts';

const answerShape = z.object({ records: z.array(z.string()), left: z.array(z.string()) });

interface RefusedOptions {
  readonly all?: true;
  readonly json?: true;
}

const words = [
  ['retry', 'send once more what the CRM refused', 'is sent once more'],
  [
    'revert',
    "put the CRM's values back into a row of which the CRM refused something; the row's own stay in the history",
    "gets the CRM's values back",
  ],
  [
    'ignore',
    'leave both sides as they are where the CRM refused something, until either changes',
    'stays as it is on both sides until either changes',
  ],
] as const;

/** What can be done about what the CRM did not take. */
export function addRefusedCommands(program: Command, { environment }: CommandContext): void {
  for (const [name, description, becomes] of words) {
    program
      .command(name)
      .description(description)
      .argument('[record]', 'for example lead-42; status shows them')
      .option('--all', 'everything that was refused')
      .option('--json', 'print the answer as JSON')
      .action(async (record: string | undefined, { all, json }: RefusedOptions, command: Command) => {
        if ((record === undefined) === (all === undefined)) command.error('Name a record, or --all.');
        const body = all ? { all } : { record };
        const answer = await callDaemon(environment, 'POST', `/api/${name}`, body);
        if (json) return print(JSON.stringify(answer));
        const { records, left } = answerShape.parse(answer);
        const lines = [
          ...records.map((text) => `${text} ${becomes}.`),
          ...left.map(
            (text) => `${text} is left: it is not in the CRM yet. Retry, ignore or delete its row.`,
          ),
          ...(records.length > 0 ? [whenDone] : []),
        ];
        print(...(lines.length > 0 ? lines : ['The CRM refused nothing.']));
      });
  }
}
