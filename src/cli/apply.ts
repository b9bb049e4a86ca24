import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { exitCodes } from './outcome.ts';
import { print } from './print.ts';

const answerShape = z.object({
  isApplied: z.boolean(),
  differences: z.array(
    z.object({ place: z.string(), planned: z.string().optional(), now: z.string().optional() }),
  ),
});

export function addApplyCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('apply')
    .description('do exactly what a plan showed, or say what is not as it was and do nothing')
    .argument('<id>', 'the id that plan printed')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: { json?: true }) => {
      const answer = await callDaemon(environment, 'POST', '/api/apply', { id });
      const { differences, isApplied } = answerShape.parse(answer);
      if (json) print(JSON.stringify(answer));
      else if (isApplied) print(`Plan ${id} is applied. To take it back: undo --run ${id}`);
      else {
        const lines = differences.map(
          ({ place, planned = 'nothing', now = 'nothing' }) => `${place}: planned ${planned}, now ${now}`,
        );
        print('Nothing was done, because it is not as it was planned:', ...lines);
        print('Make a new plan to see how things stand.');
      }
      if (!isApplied) finish(exitCodes.needsPerson);
    });
}
