import type { Command } from 'commander';
import { settingsTable } from '../app/settings-table.ts';
import type { CommandContext } from './command.ts';

export function addSettingsCommand(program: Command, _context: CommandContext): void {
  program
    .command('settings')
    .description('list every setting with its variable, kind, default and meaning')
    .action(() => {
      console.log(settingsTable());
    });
}
