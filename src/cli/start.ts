import type { Command } from 'commander';
import { loadSettings } from '../app/config.ts';
import { startDaemon } from '../app/daemon.ts';
import { createLog } from '../app/logger.ts';
import { createRereadKeys } from '../app/reread-keys.ts';
import type { CommandContext } from './command.ts';
import { stopRequested } from './signals.ts';

export function addStartCommand(program: Command, { environment }: CommandContext): void {
  program
    .command('start')
    .description('run the daemon until SIGTERM or Ctrl-C')
    .action(async () => {
      const settings = loadSettings(environment);
      const log = createLog(settings.log.level);
      const daemon = await startDaemon(settings, log, createRereadKeys(environment, log));
      await stopRequested();
      await daemon.stop();
    });
}
