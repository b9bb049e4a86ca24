import type { Command } from 'commander';
import { errorsTable } from '../app/errors-table.ts';
import { settingsTable } from '../app/settings-table.ts';

export function addTableCommands(program: Command): void {
  program
    .command('settings')
    .description('list every setting with its variable, kind, default and meaning')
    .action(() => console.log(settingsTable()));
  program
    .command('errors')
    .description('list every error code with who mends it and how')
    .action(() => console.log(errorsTable()));
}
