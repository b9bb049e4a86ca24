import type { Command } from 'commander';
import { loadSettings } from '../app/config.ts';
import { backUpStopped } from '../app/link.ts';
import { isSyncError } from '../core/errors.ts';
import { type CommandContext, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';

export function addBackupCommand(program: Command, { environment }: CommandContext): void {
  program
    .command('backup')
    .description('copy the mirror into backups/ of the state directory, with the daemon running or stopped')
    .option('--json', 'print the name of the file as JSON')
    .addHelpText(
      'after',
      '\nTo go back to a backup: stop the daemon, move mirror.db, mirror.db-wal and mirror.db-shm away, copy the backup to mirror.db, and' +
        '\nstart. The daemon then writes nothing until brake:<entity>:rebase is approved.',
    )
    .action(async ({ json }: { json?: true }) => {
      const file = (await backUpRunning()) ?? backUpStopped(loadSettings(environment));
      print(json ? JSON.stringify({ file }) : `The mirror was copied to ${file}.`);
    });

  async function backUpRunning(): Promise<string | undefined> {
    try {
      return (await callDaemon<{ file: string }>(environment, 'POST', '/api/backup')).file;
    } catch (error) {
      if (isSyncError(error, 'DAEMON_UNREACHABLE')) return undefined;
      throw error;
    }
  }
}
