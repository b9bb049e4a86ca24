import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { SyncError } from '../core/errors.ts';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { progressShape } from './fill/fill-progress.ts';
import { ProgressLine } from './fill/progress-line.ts';
import { exitCodes } from './outcome.ts';
import { print } from './print.ts';

const reportShape = z.looseObject({
  state: z.enum(['running', 'done', 'failed']),
  startedAt: z.number(),
  finishedAt: z.number().optional(),
  records: z.record(z.string(), z.number()),
  tableSteps: z.number(),
  crmWrites: z.number(),
  waiting: z.number(),
  unapplied: z.number(),
  problem: z.string().optional(),
});
export type ResyncAnswer = z.infer<typeof reportShape>;

const statusShape = z.looseObject({
  resync: reportShape.optional(),
  progress: z.array(progressShape),
});

const askEveryMs = 500;

export function addResyncCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('resync')
    .description('read everything again and bring both sides together, in the running daemon')
    .option('--json', 'print the result as one line of JSON')
    .action(async ({ json }: { json?: true }) => {
      let report = reportShape.parse(await callDaemon(environment, 'POST', '/api/resync'));
      const line = new ProgressLine();
      while (report.state === 'running') {
        await sleep(askEveryMs);
        const { progress, resync } = statusShape.parse(await callDaemon(environment, 'GET', '/api/status'));
        if (!resync) throw new SyncError('DAEMON_REFUSED', 'The daemon was started anew during the resync.');
        report = resync;
        const work = progress.find((each) => each.work === 'resync');
        if (work && !json) line.show({ ...work, startedAt: report.startedAt });
      }
      line.end();
      print(json ? JSON.stringify(report) : describeReport(report));
      if (report.state === 'failed') finish(exitCodes.failed);
    });
}

function describeReport(report: ResyncAnswer): string {
  if (report.state === 'failed') return `The resync failed: ${report.problem}`;
  const seconds = (((report.finishedAt ?? report.startedAt) - report.startedAt) / 1000).toFixed(1);
  const read = Object.entries(report.records).map(([entity, count]) => `${count} of kind ${entity}`);
  const isSame = report.tableSteps + report.crmWrites + report.waiting + report.unapplied === 0;
  const wrote = isSame
    ? 'Both sides were the same: nothing was written.'
    : `${report.tableSteps} rows of the sheet and ${report.crmWrites} records of the CRM were written.`;
  const waits =
    report.waiting === 0 ? '' : ` Not done: ${report.waiting}; status says what waits and for whom.`;
  const planned =
    report.unapplied === 0
      ? ''
      : ` To be written: ${report.unapplied} records; see them with plan, and do it with apply.`;
  return `Read ${read.join(', ')} in ${seconds} s. ${wrote}${waits}${planned}`;
}
