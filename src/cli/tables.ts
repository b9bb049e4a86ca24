import type { Command } from 'commander';
import { errorsTable, settingsTable } from '../app/tables.ts';

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
