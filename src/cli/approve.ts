import { type Command, Option } from 'commander';
import { answers } from '../core/waiting/answer.ts';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { print, whenDone } from './print.ts';

export function addApproveCommand(program: Command, { environment }: CommandContext): void {
  program
    .command('approve')
    .description('let something go on that waits for a person; status shows the scopes')
    .argument(
      '<scope>',
      'what waits, for example vanished:lead-42, conflict:lead-42:title or brake:lead:emptied',
    )
    .addOption(
      new Option(
        '--choice <choice>',
        'approve a brake; trash the record or restore the row; take the value of the crm or the sheet; make a copy a new record; retry, revert or ignore what the CRM refused',
      )
        .choices(answers)
        .default('approve'),
    )
    .option('--json', 'print the answer as JSON')
    .action(async (scope: string, { choice, json }: { choice: string; json?: true }) => {
      const answer = await callDaemon(environment, 'POST', '/api/approve', { scope, choice });
      if (json) print(JSON.stringify(answer));
      else print(`${scope}: ${choice}. ${whenDone}`);
    });
}
