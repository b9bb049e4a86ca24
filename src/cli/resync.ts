import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { exitCodes } from './outcome.ts';

const reportShape = z.looseObject({
  state: z.enum(['running', 'done', 'failed']),
  startedAt: z.number(),
  finishedAt: z.number().optional(),
  records: z.record(z.string(), z.number()),
  tableSteps: z.number(),
  crmWrites: z.number(),
  waiting: z.number(),
  problem: z.string().optional(),
});
export type ResyncAnswer = z.infer<typeof reportShape>;

const statusShape = z.looseObject({ resync: reportShape.optional() });

const askEveryMs = 500;

export function addResyncCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('resync')
    .description('read everything again and bring both sides together, in the running daemon')
    .option('--json', 'print the result as one line of JSON')
    .addHelpText(
      'after',
      '\nNeeds CONTROL_TOKEN, and HTTP_HOST and HTTP_PORT where they differ from 127.0.0.1 and 8080.',
    )
    .action(async ({ json }: { json?: true }) => {
      let report = reportShape.parse(await callDaemon(environment, 'POST', '/api/resync'));
      while (report.state === 'running') {
        await sleep(askEveryMs);
        report = statusShape.parse(await callDaemon(environment, 'GET', '/api/status')).resync ?? report;
      }
      console.log(json ? JSON.stringify(report) : describeReport(report));
      if (report.state === 'failed') finish(exitCodes.failed);
    });
}

function describeReport(report: ResyncAnswer): string {
  if (report.state === 'failed') return `The resync failed: ${report.problem}`;
  const seconds = (((report.finishedAt ?? report.startedAt) - report.startedAt) / 1000).toFixed(1);
  const read = Object.entries(report.records).map(([entity, count]) => `${count} of kind ${entity}`);
  const wrote =
    report.tableSteps + report.crmWrites === 0
      ? 'Both sides were the same: nothing was written.'
      : `${report.tableSteps} rows of the sheet and ${report.crmWrites} records of the CRM were written.`;
  const waiting = report.waiting === 0 ? '' : ` ${report.waiting} changes still wait.`;
  return `Read ${read.join(', ')} in ${seconds} s. ${wrote}${waiting}`;
}
