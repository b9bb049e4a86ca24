import process from 'node:process';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { StatusAnswer } from '../app/answers.ts';
import { type Environment, linkVariable, loadLinks } from '../app/config.ts';
import { startDaemon } from '../app/daemon.ts';
import { createRereadKeys } from '../app/link.ts';
import { startLinksDaemon } from '../app/links-daemon.ts';
import { createLog } from '../app/logger.ts';
import type { LinkSettings } from '../app/settings.ts';
import { type CommandContext, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { followFill, LinkFill } from './fill/fill-progress.ts';
import { LinksFill } from './fill/links-fill.ts';
import { ProgressLine } from './fill/progress-line.ts';
import { stopRequested } from './signals.ts';

export function addStartCommand(program: Command, { environment }: CommandContext): void {
  program
    .command('start')
    .description('run the daemon until SIGTERM or Ctrl-C')
    .action(async () => {
      const links = loadLinks(environment);
      const [only] = links;
      const { level } = only.log;
      const line = new ProgressLine();
      const isWatched = line.isInPlace && process.stdout.isTTY;
      const log = createLog(level, isWatched ? { destination: writeAbove(line) } : {});
      const daemon = await (only.link === undefined
        ? startDaemon(only, log, createRereadKeys(environment, log))
        : startLinksDaemon(links, log, (link) => createRereadKeys(environment, log, link)));
      if (isWatched) print(`The daemon runs until Ctrl-C. Its page: ${daemon.url}/`);
      const stopping = new AbortController();
      // Whoever wants to hear of troubles alone has no use for it, and where plans are applied by a person nothing is filled by itself.
      if (['debug', 'info'].includes(level) && links.some(({ writes }) => writes === 'automatic'))
        void followFill(readFillOf(links, environment, daemon.url), line, log, stopping.signal);
      await stopRequested();
      stopping.abort();
      await daemon.stop();
    });
}

/** How the first fill of all links is read. A daemon may have been told to take any free port. */
function readFillOf([only]: LinkSettings, environment: Environment, url: string) {
  const HTTP_PORT = new URL(url).port;
  const ask = <Answer>(path: string, link = '') =>
    callDaemon<Answer>({ ...environment, HTTP_PORT, [linkVariable]: link }, 'GET', path);
  if (only.link === undefined) {
    const fill = new LinkFill();
    return async () => fill.read(await ask<StatusAnswer>('/api/status'));
  }
  const fills = new LinksFill();
  return () => fills.read(ask);
}

/** Lines of a log stand above the line of progress, which would else be written into. */
const writeAbove = (line: ProgressLine): Writable =>
  new Writable({
    write(chunk, _encoding, done) {
      line.above(() => process.stdout.write(chunk));
      done();
    },
  });
