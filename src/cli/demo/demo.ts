import type { Command } from 'commander';
import { runChecks } from '../check/checks.ts';
import { type CommandContext, exitCodes } from '../command.ts';
import { stopRequested } from '../signals.ts';
import { startDemoPage } from './demo-page.ts';
import { type Stage, setStage, statusPageUrl } from './demo-stage.ts';
import { isMissing } from './demo-warehouse.ts';

export function addDemoCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('demo')
    .description('try it: a sandbox CRM, a sandbox sheet, a warehouse and the daemon between them')
    .option('--check', 'drive edits on all sides, print what happened, and end')
    .option('--no-redis', 'run the queue in process even when there is a redis-server')
    .action(async ({ check, redis }: { check?: true; redis: boolean }) => {
      // From the first moment on: stopped half-way, the processes of the stage have to end too.
      let isStopped = false;
      const stopped = stopRequested().then(() => {
        isStopped = true;
      });
      console.log('Starting a CRM, a sheet, a warehouse and the daemon…');
      const stage = await setStage(redis, environment).catch((error: unknown) => {
        // Ctrl-C ends also what is being started: that it has ended tells nothing new.
        if (isStopped) return undefined;
        throw error;
      });
      if (!stage) return finish(check ? exitCodes.failed : exitCodes.done);
      try {
        describeStage(stage);
        if (check) {
          const isGood = await Promise.race([runChecks(stage), stopped.then(() => false)]);
          return finish(isGood ? exitCodes.done : exitCodes.failed);
        }
        const page = await startDemoPage(stage);
        describePlaces(stage, page.url);
        await stopped;
        await page.close();
      } finally {
        await stage.stop();
      }
    });
}

function describeStage({ hasRedis, warehouse }: Stage): void {
  console.log(
    hasRedis
      ? 'The queue is BullMQ on a private Redis.'
      : 'The queue runs in process (with a redis-server on this machine it would be BullMQ).',
  );
  console.log(
    isMissing(warehouse)
      ? `The demo goes without a warehouse: ${warehouse.why}.`
      : `The warehouse is a private PostgreSQL ${warehouse.version}.`,
  );
}

function describePlaces(stage: Stage, pageUrl: string): void {
  const { crm, sheets, warehouse } = stage;
  const inSql = isMissing(warehouse)
    ? ''
    : `
The warehouse alone:            ${warehouse.pageUrl}
The warehouse in SQL:           psql '${warehouse.url}'`;
  console.log(`
All sides next to each other:   ${pageUrl}
The CRM alone:                  ${crm.pageUrl}
The sheet alone:                ${sheets.gridUrl}${inSql}
The daemon's status page:       ${statusPageUrl(stage)}

Change something in any of them and watch the rest. Ctrl-C ends the demo.`);
}
