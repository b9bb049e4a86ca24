import type { Command } from 'commander';
import { errorsTable } from '../app/errors-table.ts';
import type { CommandContext } from './command.ts';

export function addErrorsCommand(program: Command, _context: CommandContext): void {
  program
    .command('errors')
    .description('list every error code with who mends it and how')
    .action(() => {
      console.log(errorsTable());
    });
}
