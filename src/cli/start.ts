import process from 'node:process';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { type Environment, loadSettings } from '../app/config.ts';
import { startDaemon } from '../app/daemon.ts';
import { createLog } from '../app/logger.ts';
import { createRereadKeys } from '../app/reread-keys.ts';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { followFill } from './fill-progress.ts';
import { ProgressLine } from './progress-line.ts';
import { stopRequested } from './signals.ts';

export function addStartCommand(program: Command, { environment }: CommandContext): void {
  program
    .command('start')
    .description('run the daemon until SIGTERM or Ctrl-C')
    .action(async () => {
      const settings = loadSettings(environment);
      const line = new ProgressLine();
      const isWatched = line.isInPlace && process.stdout.isTTY;
      const log = createLog(settings.log.level, isWatched ? { destination: writeAbove(line) } : {});
      const daemon = await startDaemon(settings, log, createRereadKeys(environment, log));
      const stopping = new AbortController();
      const order = { line, log, stopping: stopping.signal };
      // Whoever wants to hear of troubles alone has no use for it.
      if (['debug', 'info'].includes(settings.log.level))
        void followFill(() => askStatus(environment, daemon.url), order);
      await stopRequested();
      stopping.abort();
      await daemon.stop();
    });
}

/** A daemon may have been told to take any free port. */
const askStatus = (environment: Environment, url: string): Promise<unknown> =>
  callDaemon({ ...environment, HTTP_PORT: new URL(url).port }, 'GET', '/api/status');

/** Lines of a log stand above the line of progress, which would else be written into. */
const writeAbove = (line: ProgressLine): Writable =>
  new Writable({
    write(chunk, _encoding, done) {
      line.above(() => process.stdout.write(chunk));
      done();
    },
  });
