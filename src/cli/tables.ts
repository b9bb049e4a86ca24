import process from 'node:process';
import type { Command } from 'commander';
import { listErrors, listSettingsOnce, type SettingRow } from '../app/tables.ts';
import { print } from './command.ts';
import { renderTable, wrapWords } from './terminal-table.ts';

/** Where the output is no terminal. */
const plainWidth = 100;

export function addTableCommands(program: Command): void {
  const width = process.stdout.columns ?? plainWidth;
  program
    .command('settings')
    .description('list every setting with its variable, kind, default and meaning')
    .action(() => print(...listSettingsOnce().flatMap((row) => describeSetting(row, width))));
  program
    .command('errors')
    .description('list every error code with who mends it and how')
    .action(() => print(...renderTable([['code', 'mended by', 'what to do'], ...listErrors()], width)));
}

/** A path and a variable beside each other would leave no room for what they mean. */
function describeSetting(
  { path, variable, kind, initial, isRequired, description }: SettingRow,
  width: number,
) {
  const value = initial === undefined ? [] : [`by default ${initial}`];
  const facts = [variable, kind, ...(isRequired ? ['needed'] : value)].filter((fact) => fact !== undefined);
  const lines = [description, facts.join(' · ')].filter((text) => text !== '');
  return [path, ...lines.flatMap((text) => wrapWords(text, width - 4)).map((line) => `    ${line}`)];
}
