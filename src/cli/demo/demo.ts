import type { Command } from 'commander';
import { runChecks } from '../check/checks.ts';
import { type CommandContext, exitCodes } from '../command.ts';
import { stopRequested } from '../signals.ts';
import { startDemoPage } from './demo-page.ts';
import { setStage } from './demo-stage.ts';

export function addDemoCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('demo')
    .description('try it: a sandbox CRM, a sandbox sheet and the daemon between them')
    .option('--check', 'drive edits on both sides, print what happened, and end')
    .option('--no-redis', 'run the queue in process even when there is a redis-server')
    .action(async ({ check, redis }: { check?: true; redis: boolean }) => {
      // From the first moment on: stopped half-way, the processes of the stage have to end too.
      let isStopped = false;
      const stopped = stopRequested().then(() => {
        isStopped = true;
      });
      console.log('Starting a CRM, a sheet and the daemon…');
      const stage = await setStage(redis, environment).catch((error: unknown) => {
        // Ctrl-C ends also what is being started: that it has ended tells nothing new.
        if (isStopped) return undefined;
        throw error;
      });
      if (!stage) return finish(check ? exitCodes.failed : exitCodes.done);
      try {
        console.log(
          stage.hasRedis
            ? 'The queue is BullMQ on a private Redis.'
            : 'The queue runs in process (with a redis-server on this machine it would be BullMQ).',
        );
        if (check) {
          const isGood = await Promise.race([runChecks(stage), stopped.then(() => false)]);
          return finish(isGood ? exitCodes.done : exitCodes.failed);
        }
        const page = await startDemoPage(stage);
        console.log(`
Both sides next to each other:  ${page.url}
The CRM alone:                  ${stage.crm.pageUrl}
The sheet alone:                ${stage.sheets.gridUrl}
The daemon's status page:       ${stage.daemonUrl}/

Change something on one side and watch the other. Ctrl-C ends the demo.`);
        await stopped;
        await page.close();
      } finally {
        await stage.stop();
      }
    });
}
